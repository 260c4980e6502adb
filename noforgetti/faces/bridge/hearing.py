"""What settled prompts leave behind beside the conversation: stated preferences, one after the other in one thread."""

from __future__ import annotations

import threading
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from noforgetti.service.memory import Memory

_Heard = tuple[str, str, "Sequence[str]"]


class Hearing:
    """The ears of one bridge. A write lock that somebody else holds delays only this thread."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._waiting: SimpleQueue[_Heard | None] = SimpleQueue()
        self._thread: threading.Thread | None = None

    def hear(self, branch: str, session: str, prompts: Sequence[str]) -> None:
        """Listen to prompts of the user; answers at once."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="noforgetti-hearing", daemon=True)
            self._thread.start()
        self._waiting.put((branch, session, prompts))

    def end(self, wait: float) -> None:
        """Give what was heard `wait` seconds to reach the disk."""
        if self._thread is not None:
            self._waiting.put(None)
            self._thread.join(wait)

    def _run(self) -> None:
        from noforgetti.service.preferences import hear

        memory = self._memory.twin()
        try:
            while (heard := self._waiting.get()) is not None:
                branch, session, prompts = heard
                try:
                    hear(memory, branch, prompts, session)
                except Exception as error:  # noqa: BLE001 - nobody asked for it, so nobody is disturbed; `status` tells
                    reason = str(error) if hasattr(error, "hint") else type(error).__name__
                    memory.state.trace("warning", f"what the user stated could not be queued: {reason}")
        finally:
            memory.close()
