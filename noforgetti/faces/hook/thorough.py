"""What a hook does when its kept text does not fit: the memory is opened, as everywhere else."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from noforgetti.faces.hook import kept
from noforgetti.service.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from noforgetti.faces.hook.asked import Asked
    from noforgetti.service.memory import Memory

_MOST = 7_500  # code points: Claude Code shows the beginning of what is much longer, about 10,000 arrive whole


def report(asked: Asked, branch: str, environ: Mapping[str, str], stamp: str, path: str) -> kept.Kept:
    """The situation report of the branch, kept for the next hook unless it holds what ends by itself."""
    from noforgetti.policy import guards
    from noforgetti.service import scoped
    from noforgetti.service.turns import Sections

    with _opened(asked.folder, environ) as memory:
        told = Sections(memory).of(branch, session=asked.session)
        places = told.report.places if told.report else {}
        now = memory.snapshot(branch)
        others = [one.text for one in now if one.id not in places and not guards.unsafe(one.text)]
        made = kept.Kept(stamp, _bounded(told.text), _words(others))
        if not scoped.held(memory, branch, session=asked.session) and not now.damaged:
            kept.write(path, made)
        return made


def fitting(asked: Asked, branch: str, environ: Mapping[str, str]) -> str:
    """What fits the prompt, of the memory alone: past sessions would have to be listed, and a hook never does that."""
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.recall import Recall
    from noforgetti.service.recalling import at_once
    from noforgetti.service.turns import Turns

    with _opened(asked.folder, environ) as memory:
        memory.settings = replace(memory.settings, past_sessions=False, injection="auto")
        recall = Recall(memory, Embedding(memory.settings.embedding, memory.places, environ))
        try:
            return Turns(memory, at_once(recall)).start(branch, asked.prompt, asked.session).ephemeral
        finally:
            recall.close()


def trace(environ: Mapping[str, str], folder: str, sentence: str) -> None:
    """Leave a sentence where `status` shows it; in a folder without a memory nothing is made for it."""
    with _opened(folder, environ) as memory:
        if memory.exists:
            memory.state.trace("warning", sentence)


@contextmanager
def _opened(folder: str, environ: Mapping[str, str]) -> Iterator[Memory]:
    memory = open_memory(folder, environ)
    try:
        yield memory
    finally:
        memory.close()


def _words(texts: list[str]) -> str:
    """The words of the texts, each behind a blank, lower case."""
    letters = "".join(one if one.isalnum() else " " for one in " ".join(texts).lower())
    return " " + " ".join(dict.fromkeys(letters.split())) if letters.strip() else ""


def _bounded(text: str) -> str:
    """Whole lines, as many as may be told."""
    while len(text) > _MOST:
        text = text[:_MOST].rpartition("\n")[0] or text[:_MOST]
    return text
