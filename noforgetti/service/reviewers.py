"""Which reviewer does a review: what the settings name, else the host's model, else the offline rules."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from noforgetti.errors import Kind, NoForgettiError
from noforgetti.review.reviewers.host import Ask, HostReviewer

if TYPE_CHECKING:
    from noforgetti.review.reviewer import Proposer, Reviewer
    from noforgetti.service.settings import Settings


class BadReviewer(NoForgettiError):
    """The reviewer that was asked for cannot be used as the settings stand."""

    kind = Kind.USER
    reason = "bad-reviewer"


def choose(settings: Settings, *, name: str = "", ask: Ask | None = None) -> Reviewer | Proposer:
    """The reviewer called `name` (empty: the settings'). `ask` runs the host's model, where there is a host.

    Raises `BadReviewer` when the settings lack what it needs.
    """
    wanted = name or settings.review.reviewer
    if wanted == "auto":
        wanted = "host" if ask is not None else "rules"
    if wanted == "rules":
        from noforgetti.review.reviewers.rules import RulesReviewer

        return RulesReviewer()
    if wanted == "host":
        if ask is None:
            raise BadReviewer(
                "Reviewer `host` needs a host that runs its model, and there is none here. Nothing was reviewed.",
                hint="use it inside Pi, or name reviewer `rules`, `command` or `http`",
            )
        return HostReviewer(ask)
    return _command(settings) if wanted == "command" else _http(settings)


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
