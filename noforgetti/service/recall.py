"""Finding again: in the memory of a branch, and in the project's past sessions. Everything used here is derived.

The entries are indexed in the process, because that costs a hundredth of a second for a hundred of them and nothing can
be stale; past sessions are indexed in the cache. A missing, failing or slow model means search by words alone, with one
reason that `status` shows.
"""

from __future__ import annotations

import sqlite3
import time
from itertools import islice
from typing import TYPE_CHECKING

from noforgetti.model.entry import MAIN
from noforgetti.policy import guards
from noforgetti.retrieval.base import EmbeddingError, FoundEntry, FoundSession, Passage
from noforgetti.retrieval.corpus import Corpus, Found
from noforgetti.retrieval.queries import trivial
from noforgetti.retrieval.ranking import ASKED, ASKED_NEAR, ENTRIES, SESSIONS
from noforgetti.retrieval.vectors import Vectors
from noforgetti.service import index_state, scoped
from noforgetti.service.index_state import file_of

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from noforgetti.model.entry import BlobId, Category, CommitId, Entry, Snapshot, Stored
    from noforgetti.retrieval.ranking import Profile
    from noforgetti.service.embedding import Embedding
    from noforgetti.service.memory import Memory
    from noforgetti.service.past import Past

PATIENCE = 5.0  # seconds that a command waits for the index to be complete
_BATCH = 64  # texts embedded at a time; half a second with a local model on two processors
_SLICE = 1.0  # seconds of reading session files at a time
_READING = "reading"  # kept in the index while session files wait to be read
_CORPORA = 4  # branches whose index is kept in the process
_PIECES = 2  # of a past session that are shown
_SHOWN = 600  # code points of a past session's passage that are shown


class Recall:
    """Searches for one memory. Belongs to one thread; see `Memory.twin`."""

    def __init__(self, memory: Memory, embedding: Embedding) -> None:
        self.memory, self.embedding = memory, embedding
        self.by_words = False  # True: the model is not asked, because it would take too long now
        self._entries: dict[str, Corpus] = {}
        self._synced: dict[str, tuple[CommitId | BlobId | None, ...]] = {}
        self._lineages: dict[str, tuple[str, ...]] = {}
        self._past: Past | None = None
        self._past_corpus: Corpus | None = None
        self._vectors: Vectors | None = None

    # ---- entries

    def entries(
        self, branch: str, query: str, *, limit: int = 10, category: Category | None = None, asked: bool = True
    ) -> tuple[FoundEntry, ...]:
        """The entries of a branch that fit a query, best first; archived ones too. None when nothing fits.

        `asked`: somebody looks for them and reads the list, and finds what the user-wide memory and open tasks hold
        too; else they are put before an agent, who is told of those in every turn, and must fit better.
        """
        snapshot = self.memory.snapshot(branch)
        others = self._others(branch)
        corpus = self._corpus_of(branch, snapshot, others)  # of the same snapshot: somebody may be writing right now
        now = {str(stored.entry.id): stored for stored in (*others, *snapshot.entries)}
        elsewhere = {str(stored.entry.id) for stored in others} if not asked else set()
        most = limit + len(elsewhere) if category is None and not asked else len(now)
        found = self._search(corpus, query, most, (), ASKED if asked else ENTRIES)
        answers = (
            FoundEntry(now[hit.passage.key].entry, hit.score, hit.why, hit.similarity)
            for hit in found.hits
            if hit.passage.key not in elsewhere
            if not asked or hit.says or hit.score >= ASKED_NEAR
            if category is None or now[hit.passage.key].entry.category is category
        )
        return tuple(answers)[:limit]

    def corpus(self, branch: str) -> Corpus:
        """The index of a branch as it stands now."""
        return self._corpus_of(branch, self.memory.snapshot(branch), self._others(branch))

    def _others(self, branch: str) -> tuple[Stored, ...]:
        """Entries that are not the branch's: of the user-wide memory, and of open tasks."""
        memory = self.memory
        if memory.is_wide:
            return ()
        passing = scoped.live(scoped.snapshot(memory, branch)[0], memory.clock())
        return (*memory.wide.snapshot(MAIN).entries, *passing)

    def _corpus_of(self, branch: str, now: Snapshot, others: Sequence[Stored]) -> Corpus:
        corpus = self._entries.get(branch)
        if corpus is None:
            if len(self._entries) >= _CORPORA:
                oldest = next(iter(self._entries))
                self._entries.pop(oldest).close()
                self._synced.pop(oldest, None)
            corpus = self._entries[branch] = Corpus(None, ENTRIES)
        state = (now.commit, *(stored.blob for stored in others))
        if now.commit is not None and self._synced.get(branch) == state:
            return corpus
        passages = {
            str(stored.entry.id): Passage(str(stored.entry.id), searched(stored.entry), stored.blob)
            for stored in (*others, *now.entries)
            if not guards.unsafe(stored.entry.text)
        }
        corpus.sync(passages)
        self._synced[branch] = state
        return corpus

    # ---- past sessions

    def sessions(self, query: str, *, limit: int = 5, current: str = "") -> tuple[FoundSession, ...]:
        """The past sessions that fit a query, best first; `current`, the one that asks, and its ancestors not."""
        if not self.memory.settings.past_sessions:
            return ()
        past = self.past
        found = self._search(self.past_corpus, query, 8 * limit, self._lineage(current), SESSIONS)
        answers = []
        for session, score in found.groups:
            fitting = (hit for hit in found.hits if hit.passage.group == session)
            hits = list(islice((hit for hit in fitting if not guards.unsafe(hit.passage.text)), _PIECES))
            if not hits or not past.alive(hits[0]):
                continue
            about = past.describe(session)
            pieces = tuple(hit.passage.text[:_SHOWN] for hit in hits)
            at = hits[0].passage.at or about["started"]
            answers.append(FoundSession(session, score, hits[0].why, pieces, at, about["file"], about["name"]))
            if len(answers) == limit:
                break
        return tuple(answers)

    def _lineage(self, session: str) -> tuple[str, ...]:
        """The session and those it was forked from. Asked until its file is known: a session does not change its
        parents."""
        if not session:
            return ()
        known = self._lineages.get(session)
        if known is None:
            known = self.past.lineage_of(session)
            if len(known) > 1 or self.past.describe(session)["file"]:
                self._lineages[session] = known
        return known

    @property
    def past(self) -> Past:
        """The past sessions of the project, indexed in the cache."""
        if self._past is None:
            from noforgetti.service.past import Past, Where

            memory, settings = self.memory, self.memory.settings
            where = Where(
                memory.project,
                self.embedding.environ,
                folders=settings.session_folders,
                worktrees=settings.worktrees,
                submodules=settings.submodules,
            )
            self._past = Past(self.past_corpus, where, trivial=trivial)
        return self._past

    @property
    def past_corpus(self) -> Corpus:
        """The index of past sessions, in the cache."""
        if self._past_corpus is None:
            self._past_corpus = Corpus(file_of(self.memory, index_state.SESSIONS), SESSIONS)
        return self._past_corpus

    # ---- keeping up

    def complete(self, branch: str, seconds: float = PATIENCE) -> None:
        """Make missing vectors of the branch's entries, as many as `seconds` allow."""
        corpus = self.corpus(branch)
        self._embed(corpus, seconds)

    def complete_past(self, seconds: float = PATIENCE) -> None:
        """Read what past sessions have gained, and make their missing vectors, as far as `seconds` allow."""
        if not self.memory.settings.past_sessions:
            return
        end = time.monotonic() + seconds
        while self.refresh_past(_SLICE) and time.monotonic() < end:
            pass
        self._embed(self.past_corpus, end - time.monotonic())

    def refresh_past(self, seconds: float) -> bool:
        """Read what past sessions have gained for so long; True when more is left to read now. What another process is
        at work on is left to it; an index that cannot be read is begun anew, other trouble is told."""
        done = self.past.refresh(seconds)
        if done.trouble:
            if self.past_corpus.mend():
                return True
            if "locked" not in done.trouble:  # SQLite's word for busy
                self.embedding.note(done.trouble)
            return False
        self._note_reading(more=done.more)
        if done.dropped and not done.more:
            self.past_corpus.tidy()
            self._forget_dropped()
        return done.more

    def past_notes(self) -> tuple[str, ...]:
        """Why a search of past sessions may have missed something, a sentence each."""
        if not self.memory.settings.past_sessions:
            return ("Past sessions are off: the setting `past_sessions` is false.",)
        found = []
        if self.past_corpus.meta_get(_READING):
            found.append("Not all session files are read yet; ask again in a while.")
        unread = self.past.unread()
        if unread:
            path, why = unread[0]
            more = f" ({len(unread) - 1} more like it)" if len(unread) > 1 else ""
            found.append(f"`{path}` is not among them: {why}{more}")
        return tuple(found)

    def _note_reading(self, *, more: bool) -> None:
        """Let every process know whether the reading of session files has come to its end."""
        corpus = self.past_corpus
        try:
            if bool(corpus.meta_get(_READING)) != more:
                with corpus.transaction():
                    corpus.meta_put(_READING, "1" if more else None)
        except sqlite3.Error:
            return  # somebody is at work on it, and says so

    def _forget_dropped(self) -> None:
        """What a user deleted is gone from the vectors too. Kept are those of present entries and passages."""
        vectors = self.vectors
        if vectors is None:
            return
        keep = set(self.past_corpus.keys().values())
        for branch in self.memory.heads():
            keep.update(str(stored.blob) for stored in self.memory.snapshot(branch).entries)
        vectors.forget(tuple(keep))

    def _embed(self, corpus: Corpus, seconds: float) -> None:
        end = time.monotonic() + seconds
        while self.embed_some(corpus) and time.monotonic() < end:
            pass

    def embed_some(self, corpus: Corpus) -> bool:
        """Make a batch of missing vectors; True when more are missing that can be made now."""
        try:
            vectors = self.vectors
            return vectors is not None and corpus.embed(vectors, _BATCH) > 0
        except EmbeddingError as error:
            self.embedding.failed(error)
            return False

    # ---- vectors

    @property
    def vectors(self) -> Vectors | None:
        """The vectors of the model in use; None while there is none."""
        embedder = self.embedding.embedder()
        if embedder is None:
            return None
        if self._vectors is None or self._vectors.embedder is not embedder:
            self._vectors = Vectors(file_of(self.memory, index_state.VECTORS), embedder)
        return self._vectors

    def close(self) -> None:
        """Close all files."""
        for corpus in self._entries.values():
            corpus.close()
        self._entries.clear()
        if self._past_corpus is not None:
            self._past_corpus.close()
        if self._vectors is not None:
            self._vectors.close()
        self._past = self._past_corpus = self._vectors = None

    def _search(self, corpus: Corpus, query: str, limit: int, skip: Collection[str], profile: Profile) -> Found:
        try:
            vectors = None if self.by_words else self.vectors
            return corpus.search(query, vectors=vectors, limit=limit, skip=skip, profile=profile)
        except EmbeddingError as error:
            self.embedding.failed(error)
        except sqlite3.OperationalError:
            return Found()  # the disk is full or the file is locked against readers: nothing is found this time
        return corpus.search(query, limit=limit, skip=skip, profile=profile)


def searched(entry: Entry) -> str:
    """The text by which an entry is found: its key's words and its tags belong to it."""
    words = " ".join(entry.key.split(".")[1:]).replace("_", " ")
    text = "\n".join(part for part in (entry.text, words, " ".join(entry.tags)) if part)
    return text.encode("utf-8", "replace").decode()  # a key or tag made by hand may hold half a character
