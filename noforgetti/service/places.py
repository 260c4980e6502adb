"""Where things are: four folders, and the names of a project's files in them. Cheap to import, touches no disk."""

from __future__ import annotations

import os
import sys

from noforgetti.errors import Kind, NoForgettiError

TYPE_CHECKING = False  # a hook has no time to load `typing`
if TYPE_CHECKING:
    from collections.abc import Mapping


class BadHome(NoForgettiError):
    """`NOFORGETTI_HOME` is set to something that cannot be a folder of ours."""

    kind = Kind.USER
    reason = "bad-home"

    def __init__(self, value: str, why: str) -> None:
        super().__init__(
            f"NOFORGETTI_HOME is `{value}`, which {why}. Nothing was done.",
            hint="set it to an absolute path, or unset it",
        )


# What a reviewer's own session carries, and what Pi's subagents do: such a process neither reads nor writes memory.
CHILDREN = ("NOFORGETTI_REVIEWER", "PI_SUBAGENT_CHILD_AGENT", "PI_SUBAGENT_RUN_ID", "PI_SUBAGENT_CHILD")
WIDE = "user"  # the name of the user-wide memory's files; a project's name ends with its key, so none is called that


class Places:
    """The user's data, state, cache and configuration, as absolute paths."""

    __slots__ = ("cache", "config", "data", "state")

    def __init__(self, *, data: str, state: str, cache: str, config: str) -> None:
        self.data, self.state, self.cache, self.config = data, state, cache, config

    def repository(self, name: str) -> str:
        """The bare repository of a project (`name` is `<name>-<key>`), or the user-wide one."""
        return f"{_under(self.data, name)}.git"

    def state_of(self, name: str) -> str:
        """The memory's folder of derived and session state."""
        return _under(self.state, name)

    def cache_of(self, name: str) -> str:
        """The memory's folder of rendered files, which may vanish at any moment."""
        return _under(self.cache, name)


def _under(folder: str, name: str) -> str:
    return f"{folder}/{name}" if name == WIDE else f"{folder}/projects/{name}"


def places(environ: Mapping[str, str]) -> Places:
    """One folder when `NOFORGETTI_HOME` is set, else the platform's own. Raises `BadHome`."""
    home = environ.get("NOFORGETTI_HOME", "")
    if home:
        if not os.path.isabs(home):
            raise BadHome(home, "is no absolute path")
        if os.path.exists(home) and not os.path.isdir(home):
            raise BadHome(home, "is no folder")
        home = home.rstrip("/") or "/"
        return Places(data=f"{home}/data", state=f"{home}/state", cache=f"{home}/cache", config=f"{home}/config.toml")
    if sys.platform == "linux" and os.path.isabs(environ.get("HOME", "")) and "ANDROID_DATA" not in environ:
        return _linux(environ)
    from platformdirs import PlatformDirs

    dirs = PlatformDirs("noforgetti", appauthor=False)
    return Places(
        data=dirs.user_data_dir,
        state=dirs.user_state_dir,
        cache=dirs.user_cache_dir,
        config=f"{dirs.user_config_dir}/config.toml",
    )


def _linux(environ: Mapping[str, str]) -> Places:
    """What platformdirs answers on Linux (a test compares them): loading it costs a hook one start of Python."""

    def folder(name: str, default: str) -> str:
        named = environ.get(name, "")
        base = named if os.path.isabs(named) else os.path.join(environ["HOME"], default)
        return os.path.join(base, "noforgetti")

    return Places(
        data=folder("XDG_DATA_HOME", ".local/share"),
        state=folder("XDG_STATE_HOME", ".local/state"),
        cache=folder("XDG_CACHE_HOME", ".cache"),
        config=f"{folder('XDG_CONFIG_HOME', '.config')}/config.toml",
    )


def child_of(environ: Mapping[str, str]) -> str:
    """The variable that says this process is a reviewer or a subagent, else empty. A blank value counts as unset."""
    return next((name for name in CHILDREN if environ.get(name, "").strip()), "")
