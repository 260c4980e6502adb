"""Which project a folder belongs to.

A project is the nearest enclosing git root, of the worktree one stands in, else the exact launch folder. The
answer depends on the disk alone: `GIT_*` variables and git's configuration of the user are not read, git is
not started, and every spelling of a folder (through symbolic links, with `..`, with a trailing slash, in
another letter case where the volume ignores case) gives the same root. A bind mount is a different root;
`same_folder` recognises it.

What counts as a git root:

* a `.git` file that begins with `gitdir:`, also when the place it names is gone: the folder stays the same
  project while its repository is broken;
* a `.git` folder that holds anything, also when git would refuse it. An empty one, or one that holds only
  what file managers leave behind, is a stray and does not count;
* a `.git` that is there and cannot be looked at, so that a passing permission fault moves nobody to another
  memory.

Inside `<root>/.git/...` the root is `<root>`, also below `.git/modules`. A bare repository has no worktree:
there, and in a git folder kept elsewhere by `--separate-git-dir`, the rule for plain folders holds.

Sharing needs consent from both sides. A linked worktree names its main repository, and that one must name the
worktree in turn; a superproject must hold the submodule's git folder or list it in `.gitmodules`. Otherwise
an unpacked archive with a crafted `.git` file could ask for the memory of another project. Where consent or
the metadata is missing, the folder stays separate.

The module lies on the start-up path of every hook, so what it imports is measured: nothing here beyond `os`,
and the rest inside the functions that need it.
"""

from __future__ import annotations

import errno
import os

from noforgetti.errors import Kind, NoForgettiError

SHARING = ("separate", "shared")
KEY_DIGITS = 16
NAME_LIMIT = 40
_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", ".directory"})
_SMALL_FILE = 65_536  # git's own pointer files hold one path; a path is at most 4,096 bytes on Linux
_UNREADABLE = frozenset({errno.EACCES, errno.EPERM, errno.EIO, errno.ESTALE, errno.ENOTCONN})


class MissingFolder(NoForgettiError):
    """The launch folder does not exist, or is not a folder."""

    kind = Kind.USER
    reason = "no-such-folder"

    def __init__(self, folder: str) -> None:
        hint = "start in an existing folder, or name one with `-C DIR`"
        if _looks_foreign(folder):
            hint = "name the folder the way this system spells it"
        super().__init__(f"There is no folder {_shown(folder)}.", hint=hint)
        self.folder = folder


class UnreadableFolder(NoForgettiError):
    """The launch folder is there but may not be looked into."""

    kind = Kind.USER
    reason = "unreadable-folder"

    def __init__(self, folder: str) -> None:
        super().__init__(
            f"The folder {_shown(folder)} cannot be read.",
            hint="allow reading and entering it, or start elsewhere",
        )
        self.folder = folder


class Project:
    """One project: a value, equal when all its facts are equal.

    `root` is where the memory belongs and the only source of `key` and `name`. `checkout` is the root one
    stands in; it differs from `root` only when a setting shares memory. `worktree_of` and `superproject`
    speak about `checkout`.
    """

    __slots__ = ("checkout", "key", "kind", "name", "root", "superproject", "worktree_of")

    root: str
    key: str
    name: str
    kind: str  # "git" or "folder"; "none" for the user-wide memory, which belongs to no project
    checkout: str
    worktree_of: str | None
    superproject: str | None

    def __init__(
        self,
        root: str,
        *,
        kind: str,
        checkout: str | None = None,
        worktree_of: str | None = None,
        superproject: str | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "root", root)
        put(self, "key", project_key(root))
        put(self, "name", readable_name(root))
        put(self, "kind", kind)
        put(self, "checkout", root if checkout is None else checkout)
        put(self, "worktree_of", worktree_of)
        put(self, "superproject", superproject)

    @property
    def repository_name(self) -> str:
        """The folder name of this project's bare repository."""
        return f"{self.name}-{self.key}.git"

    def _facts(self) -> tuple[str | None, ...]:
        return (self.root, self.kind, self.checkout, self.worktree_of, self.superproject)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a Project does not change, so `{name}` cannot be set"
        raise AttributeError(msg)

    def __eq__(self, other: object) -> bool:
        return self._facts() == other._facts() if isinstance(other, Project) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._facts())

    def __repr__(self) -> str:
        return f"Project(root={self.root!r}, kind={self.kind!r}, key={self.key!r})"


def discover(start: str, *, worktrees: str = "separate", submodules: str = "separate") -> Project:
    """The project that the folder `start` belongs to.

    Raises MissingFolder or UnreadableFolder when `start` cannot be a launch folder, and ValueError
    for a sharing mode that is not one of `SHARING`.
    """
    if worktrees not in SHARING or submodules not in SHARING:
        msg = f"sharing is one of {SHARING}, not worktrees={worktrees!r}, submodules={submodules!r}"
        raise ValueError(msg)
    launch = _launch_folder(start)
    checkout = _enclosing_root(launch)
    if checkout is None:
        return Project(launch, kind="folder")
    worktree_of = main_checkout(checkout)
    superproject = None if worktree_of else superproject_of(checkout)
    root = _shared_root(checkout, worktrees=worktrees == "shared", submodules=submodules == "shared")
    return Project(root, kind="git", checkout=checkout, worktree_of=worktree_of, superproject=superproject)


def same_folder(one: str, other: str) -> bool:
    """Whether two paths reach one folder now, also through a bind mount; False when either is gone."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False


def project_key(root: str) -> str:
    """The first 16 hex digits of the SHA-256 of the bytes of `root`."""
    return _sha256_hex(root.encode("utf-8", "surrogateescape"))[:KEY_DIGITS]


def _sha256_hex(data: bytes) -> str:
    # The bare C module where Python has one: `hashlib` would load OpenSSL at every start, for one digest.
    import sys

    try:
        module = __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256")
    except ImportError:
        module = __import__("hashlib")
    digest: str = module.sha256(data).hexdigest()
    return digest


def readable_name(root: str) -> str:
    """A slug of the last part of `root`: `a-z`, `0-9` and single hyphens, 1 to 40 characters."""
    base = os.path.basename(root.rstrip("/")).casefold()
    if not base.isascii():
        import unicodedata

        base = unicodedata.normalize("NFKD", base)
        base = "".join(c for c in base if not unicodedata.combining(c))
    letters = "".join(c if c.isascii() and c.isalnum() else " " for c in base)
    return "-".join(letters.split())[:NAME_LIMIT].strip("-") or "project"


# The launch folder: one spelling for every way to reach it.


def _launch_folder(start: str) -> str:
    try:
        os.stat(os.path.join(start, os.curdir) if start else start)  # also refuses a file, and the empty name
        resolved = os.path.realpath(start)
        with os.scandir(resolved):
            pass
    except ValueError:  # a NUL, or a surrogate that no file name can hold
        raise MissingFolder(start) from None
    except OSError as trouble:
        refused = trouble.errno in _UNREADABLE
        raise (UnreadableFolder(start) if refused else MissingFolder(start)) from trouble
    return spelled_on_disk(resolved)


class Disk:
    """The two questions that spelling asks; tests answer them for a volume that ignores case."""

    def identity(self, path: str) -> tuple[int, int] | None:
        """Device and inode of `path` itself, None when it is not there or may not be seen."""
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            return None
        return found.st_dev, found.st_ino

    def names(self, folder: str) -> list[str]:
        """The names in `folder`, none when it may not be listed."""
        try:
            return os.listdir(folder)
        except OSError:
            return []


def spelled_on_disk(path: str, disk: Disk | None = None) -> str:
    """An existing absolute path as its folders list it, where the volume takes other spellings for the same.

    One `lstat` per component where case matters. Folders are listed only where a second spelling (other
    letter case, other Unicode form) reaches the same folder.
    """
    if os.sep != "/":
        return path  # Windows: resolving has answered with the spelling on disk already
    disk = disk or Disk()
    spelled = "/"
    for part in path.split("/")[1:]:
        spelled = os.path.join(spelled, _listed_spelling(spelled, part, disk))
    return spelled


def _respelled(part: str) -> list[str]:
    spellings = {part.swapcase()}
    if not part.isascii():
        import unicodedata

        spellings |= {unicodedata.normalize("NFC", part), unicodedata.normalize("NFD", part)}
    return sorted(spellings - {part})


def _listed_spelling(folder: str, part: str, disk: Disk) -> str:
    def identity(name: str) -> tuple[int, int] | None:
        return disk.identity(os.path.join(folder, name))

    seconds = {identity(other) for other in _respelled(part)} - {None}
    if not seconds or identity(part) not in seconds:
        return part
    names = disk.names(folder)
    if part in names:
        return part
    return next((name for name in sorted(names) if identity(name) in seconds), part)


# Walking up.


def _enclosing_root(folder: str) -> str | None:
    """The nearest folder from `folder` upwards that has a `.git` that counts."""
    while not _has_git(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _has_git(folder: str) -> bool:
    entry = os.path.join(folder, ".git")
    try:
        with os.scandir(entry) as inside:
            return any(item.name not in _LITTER for item in inside)
    except NotADirectoryError:
        return os.path.isfile(entry) and _is_pointer(entry)  # opening a pipe would wait for its writer
    except OSError:  # missing, a link that leads nowhere, or closed to us
        return os.path.lexists(entry)


def _is_pointer(file: str) -> bool:
    try:
        with open(file, "rb") as opened:
            return opened.read(7) == b"gitdir:"
    except OSError:
        return True


# What git's own files say. A reader answers None when its file is missing, unreadable or something else.


def _text(path: str) -> str | None:
    if not os.path.isfile(path):
        return None
    try:
        with open(path, "rb") as file:
            return os.fsdecode(file.read(_SMALL_FILE))
    except (OSError, ValueError):
        return None


def _path_in(file: str, prefix: str = "") -> str | None:
    """The path that a git pointer file holds, relative ones from the folder of the file."""
    text = _text(file)
    if text is None or not text.startswith(prefix):
        return None
    value = text[len(prefix) :].lstrip(" ").rstrip("\r\n")
    if not value or "\0" in value:
        return None
    return os.path.join(os.path.dirname(file), value)


def _git_folder(root: str) -> str | None:
    """Where the repository of the checkout `root` lies, whether or not it is still there."""
    entry = os.path.join(root, ".git")
    target = entry if os.path.isdir(entry) else _path_in(entry, "gitdir:")
    return None if target is None else os.path.realpath(target)


def main_checkout(root: str) -> str | None:
    """The main checkout of the linked worktree `root`; for a bare main repository, the bare folder.

    None when `root` is no linked worktree, when the main repository does not name it in turn, or when nothing
    tells where the main checkout lies (`--separate-git-dir` leaves no trace of it).
    """
    if os.path.isdir(os.path.join(root, ".git")):
        return None
    git_folder = _git_folder(root)
    if git_folder is None:
        return None
    common = _path_in(os.path.join(git_folder, "commondir"))
    named_in_turn = _path_in(os.path.join(git_folder, "gitdir"))
    if common is None or named_in_turn is None or not same_folder(os.path.dirname(named_in_turn), root):
        return None
    return _checkout_of(os.path.realpath(common))


def _checkout_of(git_folder: str) -> str | None:
    """The folder from which a walk would find the main repository `git_folder`."""
    parent = os.path.dirname(git_folder)
    if _git_folder(parent) == git_folder:
        return spelled_on_disk(parent)
    settings = {**_settings(git_folder, "config"), **_settings(git_folder, "config.worktree")}
    worktree = settings.get("core.worktree")
    if worktree:
        checkout = os.path.realpath(os.path.join(git_folder, worktree))
        return spelled_on_disk(checkout) if _git_folder(checkout) == git_folder else None
    is_bare = settings.get("core.bare", "").lower() in {"true", "yes", "on", "1"}
    return spelled_on_disk(git_folder) if is_bare else None


def superproject_of(root: str) -> str | None:
    """The root of the project in which the checkout `root` is a submodule, None when it is none.

    The nearest enclosing git root must agree: it holds the submodule's git folder, or its `.gitmodules` lists
    the path.
    """
    parent = os.path.dirname(root)
    enclosing = _enclosing_root(parent) if parent != root else None
    if enclosing is None:
        return None
    inner, outer = _git_folder(root), _git_folder(enclosing)
    if inner and outer and inner.startswith(os.path.join(outer, "modules", "")):
        return enclosing
    listed = _settings(enclosing, ".gitmodules")
    path = os.path.relpath(root, enclosing)
    is_listed = any(
        key.startswith("submodule.") and key.endswith(".path") and os.path.normpath(value) == path
        for key, value in listed.items()
    )
    return enclosing if is_listed else None


def _shared_root(checkout: str, *, worktrees: bool, submodules: bool) -> str:
    """Follow the shared relations until they end, so that every member of a family arrives at one root."""
    seen = set[str]()
    root = checkout
    while root not in seen:
        seen.add(root)
        main = main_checkout(root) if worktrees or submodules else None
        above = superproject_of(root) if submodules and main is None else None
        root = (main if worktrees else None) or above or root
    return root


def _settings(folder: str, file: str) -> dict[str, str]:
    """The values of a git configuration file by `section.key` or `section.subsection.key`, last ones."""
    found: dict[str, str] = {}
    section = ""
    for raw in (_text(os.path.join(folder, file)) or "").split("\n"):
        line = raw.strip()
        if line.startswith("["):
            section = _section(line)
        elif line and line[0] not in "#;":
            key, equals, value = line.partition("=")
            found[f"{section}.{key.strip().lower()}"] = _unquoted(value.strip()) if equals else "true"
    return found


def _section(line: str) -> str:
    name, quote, rest = line[1:].partition('"')
    if not quote:
        return name.partition("]")[0].strip().lower()
    subsection = rest.rpartition('"')[0]
    return f"{name.strip().lower()}.{subsection}"


def _unquoted(value: str) -> str:
    """A configuration value without its quotes, escapes and comment."""
    out: list[str] = []
    quoted = False
    characters = iter(value)
    for c in characters:
        if c == "\\":
            escaped = next(characters, "")
            out.append({"n": "\n", "t": "\t", "b": "\b"}.get(escaped, escaped))
        elif c == '"':
            quoted = not quoted
        elif c in "#;" and not quoted:
            break
        else:
            out.append(c)
    return "".join(out).rstrip() if not value.endswith('"') else "".join(out)


# Words about paths.


def _shown(path: str) -> str:
    """A path inside a one-line message: quoted, without control characters or broken text, not endless."""
    if not path:
        return "with an empty name"
    printable = "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in path)
    return f"`{printable if len(printable) <= 300 else printable[:140] + '…' + printable[-140:]}`"


def _looks_foreign(path: str) -> bool:
    return path.startswith(("\\\\", "file:")) or (path[1:2] == ":" and path[:1].isalpha())
