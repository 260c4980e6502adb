"""Which reviewer does a review: what the settings name, else the host's model, else the offline rules.

The host's model is asked through the host where one is running (Pi), else through the program of the host that the
session was held in, where that program is installed.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from shutil import which
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.review.reviewers.host import Ask, HostReviewer
from noforgetti.service.places import child_of, places
from noforgetti.service.settings import CHOICES, HOSTS

if TYPE_CHECKING:
    from pathlib import Path

    from noforgetti.review.reviewer import Proposer, Reviewer
    from noforgetti.review.reviewers.programs import ProgramReviewer
    from noforgetti.service.settings import Settings


class BadReviewer(NoForgettiError):
    """The reviewer that was asked for cannot be used as the settings stand."""

    kind = Kind.USER
    reason = "bad-reviewer"


@dataclass(slots=True)
class Suited:
    """Reviewer `auto` without a running host: for each session the program of its own host, else the rules."""

    settings: Settings
    _chosen: Reviewer | Proposer | None = field(default=None, init=False)
    _stopped: bool = field(default=False, init=False)

    def of(self, host: str) -> Reviewer | Proposer:
        """Who reads a session of `host` (a format's name)."""
        path = _installed(host)
        self._chosen = _program(self.settings, host, path) if path else _rules()
        if self._stopped:
            self.stop()
        return self._chosen

    def stop(self) -> None:
        """Call off what the chosen one does, from another thread, and whatever is chosen after it."""
        self._stopped = True
        getattr(self._chosen, "stop", lambda: None)()


def choose(settings: Settings, *, name: str = "", ask: Ask | None = None, host: str = "") -> Reviewer | Proposer:
    """The reviewer called `name` (empty: the settings'). `ask` runs the host's model, where there is a host; `host` is
    the host that the session was held in (a format's name), whose program `auto` asks where it is installed.

    Raises `BadReviewer` when the settings lack what it needs.
    """
    wanted = name or settings.review.reviewer
    if wanted == "auto":
        wanted = "host" if ask is not None else host if _installed(host) else "rules"
    if wanted == "rules":
        return _rules()
    if wanted == "host":
        if ask is None:
            raise BadReviewer(
                "Reviewer `host` needs a host that runs its model, and there is none here. Nothing was reviewed.",
                hint="use it inside Pi, or name another reviewer: " + ", ".join(f"`{one}`" for one in CHOICES),
            )
        return HostReviewer(ask)
    if wanted in HOSTS:
        return _named(settings, wanted)
    return _command(settings) if wanted == "command" else _http(settings)


def suiting(settings: Settings, *, name: str = "") -> Reviewer | Proposer | Suited:
    """Like `choose`, for whoever reviews sessions of several hosts: `auto` is decided for each of them by `one_for`."""
    if (name or settings.review.reviewer) == "auto":
        return Suited(settings)
    return choose(settings, name=name)


def one_for(by: Reviewer | Proposer | Suited, file: Path | None = None) -> Reviewer | Proposer:
    """Who reads the session in `file`; without one, who dreams."""
    if not isinstance(by, Suited):
        return by
    from noforgetti.transcripts.base import format_of

    return by.of(format_of(file) if file else "")


def _rules() -> Proposer:
    from noforgetti.review.reviewers.rules import RulesReviewer

    return RulesReviewer()


def _installed(host: str) -> str:
    """The path of a host's program, or empty. For a reviewer's own process none is: it would ask itself."""
    if host not in HOSTS or child_of(os.environ):
        return ""
    from noforgetti.review.reviewers.programs import PROGRAMS

    return which(PROGRAMS[host].binary) or ""


def _named(settings: Settings, name: str) -> ProgramReviewer:
    path = _installed(name)
    if not path:
        from noforgetti.review.reviewers.programs import PROGRAMS

        raise BadReviewer(
            f"Reviewer `{name}` needs the program `{PROGRAMS[name].binary}`, which is not on the path. "
            "Nothing was reviewed.",
            hint="install it, or name another reviewer",
        )
    return _program(settings, name, path)


def _program(settings: Settings, name: str, path: str) -> ProgramReviewer:
    from noforgetti.review.reviewers.programs import PROGRAMS, ProgramReviewer

    folder = os.path.join(places(os.environ).state, "reviewer")
    return ProgramReviewer(PROGRAMS[name], path, os.environ, folder, timeout=settings.review.timeout)


def _command(settings: Settings) -> Reviewer:
    from noforgetti.review.reviewers.command import CommandReviewer

    if not settings.review.command:
        raise BadReviewer(
            "Reviewer `command` has no program. Nothing was reviewed.", hint='set `review.command = ["program", …]`'
        )
    return CommandReviewer(settings.review.command, os.environ, timeout=settings.review.timeout)


def _http(settings: Settings) -> Reviewer:
    from noforgetti.review.reviewers.http import Api, HttpReviewer

    http = settings.review.http
    if not http.model:
        raise BadReviewer("Reviewer `http` has no model. Nothing was reviewed.", hint="set `review.http.model`")
    key = os.environ.get(http.key_env, "") if http.key_env else ""
    if http.key_env and not key:
        raise BadReviewer(
            f"Reviewer `http` reads its key from `{http.key_env}`, which is not set. Nothing was reviewed.",
            hint="set that variable, or correct `review.http.key_env`",
        )
    return HttpReviewer(Api(http.api), http.model, url=http.url, key=key, timeout=settings.review.timeout)
