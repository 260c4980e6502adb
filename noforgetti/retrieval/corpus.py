"""A corpus: passages that can be searched by their words and by their meaning.

SQLite FTS5 keeps which passage holds which term; numpy does the arithmetic. A search has two steps. The first is cheap
and looks at every passage: the terms' weights summed (FTS5's own `bm25` takes 2 µs a matching row, seven times as
long), and the cosine with every vector. The second takes the best few hundred with their neighbours and lets `ranking`
judge them by everything that is known. What does not reach the floor is no hit.

The arrays in memory follow the database by its generation: what another process or thread added is read, not all.
"""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from noforgetti.retrieval import analysis, ranking
from noforgetti.retrieval.base import Hit, Passage
from noforgetti.retrieval.database import Database
from noforgetti.retrieval.matrix import Matrix

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from contextlib import AbstractContextManager

    import numpy.typing as npt

    from noforgetti.retrieval.analysis import QueryTerm
    from noforgetti.retrieval.base import Floats
    from noforgetti.retrieval.ranking import Profile
    from noforgetti.retrieval.vectors import Vectors

    Integers = npt.NDArray[np.int64]

_SCHEMA = """
create table passage(id integer primary key autoincrement, key text not null unique, grp text not null,
    place integer not null, at text not null, digest text not null, text text not null, terms text not null,
    asks integer not null);
create index passage_group on passage(grp);
create table dropped(id integer primary key);
create table meta(key text primary key, value text not null);
create virtual table search using fts5(terms, content='passage', content_rowid='id', detail=none, columnsize=0,
    tokenize="unicode61 remove_diacritics 0")
"""
_VERSION = 2  # 2: days and questions
_WORDS = 70  # passages of the first step's best by words that the second step judges: 300 find no more in either set
_MEANING = 35  # and by meaning: 150 find no more
_AROUND = 2  # neighbours on each side of each of them
_MADE = 256  # missing vectors that a search itself looks up and, with a quick model, makes: some 10 ms
_SAMPLE = 8_192  # cosines that tell which are worth a look
_SPARE = 8  # times as many as wanted are looked at: those of sessions that are left out may be among them
_POSTINGS = 128  # terms whose passages are kept in memory: the words of the last few questions
_ASKED = 500  # parameters in one statement
_DROPPED = 5_000  # dropped passages that are remembered for whoever follows; past that, everybody reads everything


@dataclass(frozen=True, slots=True)
class Found:
    """What a search found: `hits` above the floor, best first; `groups` the score of each group that holds one."""

    hits: tuple[Hit, ...] = ()
    groups: tuple[tuple[str, float], ...] = ()


class Corpus:
    """Passages in the database at `path`, or in memory (`None`). Belongs to one thread."""

    def __init__(self, path: str | None, profile: Profile) -> None:
        self.profile = profile
        self._database = Database(path, _SCHEMA, _VERSION)
        self._clear()

    def _clear(self) -> None:
        self._generation = self._epoch = ""
        self._total, self._average = 0, 1.0
        self._rough: Floats = np.empty(0, dtype=np.float32)
        self._column: Integers = np.empty(0, dtype=np.int64)
        self._ids: Integers = np.empty(0, dtype=np.int64)
        self._lengths: Floats = np.empty(0, dtype=np.float32)
        self._live: npt.NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._asks: npt.NDArray[np.bool_] = np.empty(0, dtype=bool)
        self._places: Integers = np.empty(0, dtype=np.int64)
        self._groups: Integers = np.empty(0, dtype=np.int64)
        self._group_names: list[str] = []
        self._group_numbers: dict[str, int] = {}
        self._digests: list[str] = []
        self._last_dropped = 0
        self._order: Integers | None = None
        self._at: Integers | None = None
        self._index_of: Integers = np.empty(0, dtype=np.int64)
        self._postings: dict[str, Integers] = {}
        self._matrix = Matrix()
        self._lacking: Integers = np.empty(0, dtype=np.int64)
        self._lacking_as_of: tuple[str, int, str] = ("", 0, "")

    @property
    def trouble(self) -> str:
        """What happened to the database, as a sentence; empty while it is well."""
        return self._database.trouble

    def __len__(self) -> int:
        self._follow()
        return int(self._live.sum())

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    # ---- what is in it

    def transaction(self) -> AbstractContextManager[sqlite3.Connection]:
        """Several changes, all or none. Raises `sqlite3.OperationalError` while another process is writing."""
        self._database.renewed()
        return self._database.transaction()

    def put(self, passages: Iterable[Passage]) -> int:
        """Add passages; one whose key is there already replaces it when its digest differs. Answers how many did."""
        done = 0
        with self.transaction():
            for passage in passages:
                done += self._put(passage)
            self._changed(done)
        return done

    def drop(self, keys: Iterable[str]) -> int:
        """Take out the passages with these keys."""
        with self.transaction():
            return self._changed(sum(self._drop("key = ?", key) for key in keys))

    def tidy(self) -> None:
        """Let what was dropped leave the file, not only the searches."""
        with suppress(sqlite3.Error):
            with self.transaction() as db:
                db.execute("insert into search(search) values ('optimize')")
            self._database.db.execute("pragma wal_checkpoint(truncate)")

    def drop_group(self, group: str) -> int:
        """Take out every passage of a group."""
        with self.transaction():
            return self._changed(self._drop("grp = ?", group))

    def keys(self) -> dict[str, str]:
        """The digest of every passage, by key."""
        return dict(self._database.db.execute("select key, digest from passage"))

    def group_names(self) -> set[str]:
        """The groups that have passages."""
        return {name for (name,) in self._database.db.execute("select distinct grp from passage")}

    def meta_get(self, key: str) -> str | None:
        """A text kept beside the passages, or None."""
        row = self._database.db.execute("select value from meta where key = ?", (key,)).fetchone()
        return row[0] if row else None

    def meta_put(self, key: str, value: str | None) -> None:
        """Keep a text beside the passages; None drops it."""
        if value is None:
            self._database.db.execute("delete from meta where key = ?", (key,))
        else:
            self._database.db.execute("insert or replace into meta values (?, ?)", (key, value))

    def meta_keys(self, prefix: str) -> list[str]:
        """The keys of kept texts that begin with `prefix`."""
        return [
            key
            for (key,) in self._database.db.execute("select key from meta where key >= ? order by key", (prefix,))
            if key.startswith(prefix)
        ]

    def sync(self, passages: Mapping[str, Passage]) -> int:
        """Make the corpus hold exactly these passages, by key. Costs the difference. Answers what changed."""
        have = self.keys()
        gone = [key for key in have if key not in passages]
        new = [one for key, one in passages.items() if have.get(key) != one.digest]
        if not gone and not new:
            return 0
        with self.transaction():
            return self.drop(gone) + self.put(new)

    # ---- searching

    def search(
        self,
        query: str,
        *,
        vectors: Vectors | None = None,
        limit: int = 10,
        profile: Profile | None = None,
        skip: Collection[str] = (),
    ) -> Found:
        """The best passages for a query, at most `limit`, none below the floor. `skip` leaves out groups.

        Without `vectors` by words alone. Missing vectors are made here only up to a small number; more is the work of
        `embed`. Raises `EmbeddingError` when the query cannot be embedded.
        """
        try:
            return self._search(query, vectors, limit, profile or self.profile, skip)
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            self._database.begin_anew(error)
            self._clear()
            return Found()

    def mend(self) -> bool:
        """Begin the database anew if it cannot be read. True when it was."""
        try:
            found = self._database.db.execute("pragma quick_check(1)").fetchone()
        except sqlite3.OperationalError:
            return False
        except sqlite3.DatabaseError as error:
            found = (str(error),)
        if found == ("ok",):
            return False
        self._database.begin_anew(sqlite3.DatabaseError(found[0]))
        self._clear()
        return True

    def embed(self, vectors: Vectors, most: int) -> int:
        """Make missing vectors, `most` at a time; answers how many are still missing. Raises `EmbeddingError`."""
        lacking = self._lacking_of(vectors)
        batch, rest = lacking[:most], lacking[most:]
        vectors.make(self._texts(batch))
        self._lacking = rest
        return len(rest)

    def embedded(self, vectors: Vectors) -> tuple[int, int]:
        """How many passages have a vector, and how many there are."""
        lacking = len(self._lacking_of(vectors))
        there = int(self._live.sum())
        return there - lacking, there

    # ---- inside: changing

    def _put(self, passage: Passage) -> int:
        db = self._database.db
        row = db.execute("select digest, grp, place, at from passage where key = ?", (passage.key,)).fetchone()
        if row == (passage.digest, passage.group, passage.place, passage.at):
            return 0
        if row is not None:
            self._drop("key = ?", passage.key)
        day = analysis.dated(passage.at) if passage.group else []  # what was said on a day is asked for by it
        terms = " ".join(analysis.terms(passage.text) + day)
        made = db.execute(
            "insert into passage(key, grp, place, at, digest, text, terms, asks) values (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                passage.key,
                passage.group,
                passage.place,
                passage.at,
                passage.digest,
                passage.text,
                terms,
                analysis.asks(passage.text),
            ),
        )
        db.execute("insert into search(rowid, terms) values (?, ?)", (made.lastrowid, terms))
        return 1

    def _drop(self, where: str, value: str) -> int:
        db = self._database.db
        rows = db.execute(f"select id, terms from passage where {where}", (value,)).fetchall()  # noqa: S608
        for number, terms in rows:
            db.execute("insert into search(search, rowid, terms) values ('delete', ?, ?)", (number, terms))
            db.execute("delete from passage where id = ?", (number,))
            db.execute("insert into dropped values (?)", (number,))
        return len(rows)

    def _changed(self, done: int) -> int:
        if done:
            self._count("generation")
            if self._database.db.execute("select count(*) from dropped").fetchone()[0] > _DROPPED:
                self._database.db.execute("delete from dropped")
                self._count("epoch")
        return done

    def _count(self, key: str) -> None:
        self._database.db.execute(
            "insert into meta values (?, 1) on conflict(key) do update set value = value + 1", (key,)
        )

    # ---- inside: arrays that follow the database

    def _follow(self) -> None:
        if self._database.renewed():
            self._clear()
        generation = self.meta_get("generation") or ""
        if generation == self._generation:
            return
        epoch = self.meta_get("epoch") or ""
        if epoch != self._epoch:
            self._clear()
            self._epoch = epoch
        last = int(self._ids[-1]) if len(self._ids) else 0
        rows = self._database.db.execute(
            "select id, grp, place, digest, length(terms) - length(replace(terms, ' ', '')) + (terms != ''), asks "
            "from passage where id > ? order by id",
            (last,),
        ).fetchall()
        if rows:
            for _, name, _, digest, _, _ in rows:
                if name not in self._group_numbers:
                    self._group_numbers[name] = len(self._group_names)
                    self._group_names.append(name)
                self._digests.append(digest)
            groups = [self._group_numbers[row[1]] if row[1] else -1 for row in rows]
            self._ids = np.append(self._ids, np.array([row[0] for row in rows], dtype=np.int64))
            self._groups = np.append(self._groups, np.array(groups, dtype=np.int64))
            self._places = np.append(self._places, np.array([row[2] for row in rows], dtype=np.int64))
            self._lengths = np.append(self._lengths, np.array([row[4] for row in rows], dtype=np.float32))
            self._asks = np.append(self._asks, np.array([row[5] for row in rows], dtype=bool))
            self._live = np.append(self._live, np.ones(len(rows), dtype=bool))
        gone = np.array([one for (one,) in self._database.db.execute("select id from dropped")], dtype=np.int64)
        if len(gone):
            self._live[np.isin(self._ids, gone, assume_unique=True)] = False
        self._index_of = np.full(int(self._ids[-1]) + 1 if len(self._ids) else 0, -1, dtype=np.int64)
        self._index_of[self._ids] = np.arange(len(self._ids))
        self._generation = generation
        self._total = int(self._live.sum())
        self._average = float(self._lengths[self._live].mean()) if self._total else 1.0
        # Reused by every search: fresh pages for half a megabyte each cost a third of the time in a thread of its own.
        self._rough = np.zeros(len(self._ids), dtype=np.float32)
        self._column = np.full(len(self._ids), -1, dtype=np.int64)
        self._order = None
        self._postings.clear()

    def _in_order(self) -> tuple[Integers, Integers]:
        """Indices of the live passages, group by group in their order, and where each index stands in that list."""
        if self._order is None or self._at is None:
            live = np.flatnonzero(self._live)
            self._order = live[np.lexsort((self._places[live], self._groups[live]))]
            self._at = np.full(len(self._ids), -1, dtype=np.int64)
            self._at[self._order] = np.arange(len(self._order))
        return self._order, self._at

    def _lacking_of(self, vectors: Vectors) -> Integers:
        """Indices of the live passages without a stored vector; looked up once for each model and state."""
        self._follow()
        of = (vectors.embedder.name, vectors.embedder.width, self._generation)
        if self._lacking_as_of != of:
            stored = vectors.stored(self._digests)
            live = np.flatnonzero(self._live)
            self._lacking = np.array([at for at in live.tolist() if self._digests[at] not in stored], dtype=np.int64)
            self._lacking_as_of = of
        return self._lacking

    def _texts(self, indices: Integers) -> dict[str, str]:
        found: dict[str, str] = {}
        for number, row in self._select("id, text", self._ids[indices]).items():
            found[self._digests[int(np.searchsorted(self._ids, number))]] = row[0]
        return found

    def _select(self, columns: str, ids: Collection[int] | Integers) -> dict[int, tuple[str, ...]]:
        wanted = [int(one) for one in ids]
        found: dict[int, tuple[str, ...]] = {}
        for start in range(0, len(wanted), _ASKED):
            batch = wanted[start : start + _ASKED]
            marks = ",".join("?" * len(batch))
            for row in self._database.db.execute(
                f"select {columns} from passage where id in ({marks})",  # noqa: S608
                batch,
            ):
                found[row[0]] = row[1:]
        return found

    # ---- inside: searching

    def _search(
        self, query: str, vectors: Vectors | None, limit: int, profile: Profile, skip: Collection[str]
    ) -> Found:
        self._follow()
        terms = analysis.query(query)
        if not self._total or not terms:
            return Found()
        allowed = self._allowed(skip)
        cosine = self._cosine(query, vectors)
        holders = [self._holders(term.term) for term in terms]
        chosen = self._candidates(holders, terms, cosine, allowed, profile)
        if not len(chosen):
            return Found()
        candidates = self._judged(chosen, terms, holders, cosine)
        weights = np.array([term.weight for term in terms], dtype=np.float32)
        scored = ranking.scores(candidates, weights, profile)
        floor = ranking.floor(candidates, scored, profile)
        return self._found(chosen, scored, candidates, terms, limit, floor)

    def _allowed(self, skip: Collection[str]) -> npt.NDArray[np.bool_]:
        left_out = [self._group_numbers[name] for name in skip if name in self._group_numbers]
        return self._live & ~np.isin(self._groups, left_out) if left_out else self._live

    def _cosine(self, query: str, vectors: Vectors | None) -> Floats | None:
        if vectors is None:
            return None
        row = vectors.query(query)
        self._matrix.follow(vectors, self._digests)
        missing = np.flatnonzero(self._live & ~self._matrix.has)
        if 0 < len(missing) <= _MADE:
            known = vectors.known(self._digests[at] for at in missing)  # made by another process or thread since
            if vectors.embedder.quick:
                texts = self._texts(missing)
                known |= vectors.make({digest: text for digest, text in texts.items() if digest not in known})
            self._matrix.take(known, self._digests, missing)
        return self._matrix.cosine(row)

    def _holders(self, term: str) -> Integers:
        """Indices of the live passages that hold a term."""
        known = self._postings.get(term)
        if known is not None:
            return known
        row = self._database.db.execute(
            "select group_concat(rowid) from search where search match ?", (f'"{term}"',)
        ).fetchone()
        if not row or row[0] is None:
            return np.empty(0, dtype=np.int64)
        ids = np.fromstring(row[0], dtype=np.int64, sep=",")  # five times as fast as rows through Python
        at = self._index_of[ids[ids < len(self._index_of)]]
        found: Integers = at[(at >= 0) & self._live[at]]
        if len(self._postings) >= _POSTINGS:
            self._postings.pop(next(iter(self._postings)))
        self._postings[term] = found
        return found

    def _candidates(
        self,
        holders: list[Integers],
        terms: list[QueryTerm],
        cosine: Floats | None,
        allowed: npt.NDArray[np.bool_],
        profile: Profile,
    ) -> Integers:
        """The first step: the best by words, the best by meaning, and who stands beside them, in corpus order."""
        total, average = self._total, self._average
        rough = self._rough
        rough.fill(0)
        for term, found in zip(terms, holders, strict=True):
            if len(found):
                idf = np.log1p((total - len(found) + 0.5) / (len(found) + 0.5))
                rough[found] += term.weight * idf / (1 - profile.b + profile.b * self._lengths[found] / average)
        rough *= allowed
        best = _best(rough, _WORDS, np.flatnonzero(rough > 0))
        if cosine is not None:
            near = np.flatnonzero(cosine > _least(cosine, _MEANING))
            best = np.union1d(best, _best(cosine, _MEANING, near[allowed[near]]))
        if not len(best):
            return best
        order, at = self._in_order()
        spread = (at[best][:, None] + np.arange(-_AROUND, _AROUND + 1)).ravel()
        around = order[np.clip(spread, 0, len(order) - 1)]
        same = self._groups[around] == np.repeat(self._groups[best], 2 * _AROUND + 1)
        grouped = np.repeat(self._groups[best] >= 0, 2 * _AROUND + 1)
        chosen = np.union1d(best, around[same & grouped])
        in_order: Integers = order[np.sort(at[chosen[allowed[chosen]]])]
        return in_order

    def _judged(
        self, chosen: Integers, terms: list[QueryTerm], holders: list[Integers], cosine: Floats | None
    ) -> ranking.Candidates:
        pairs = sum(term.weight for term in terms if term.pair) / sum(term.weight for term in terms)
        return ranking.Candidates(
            counts=self._counts(chosen, terms, holders),
            lengths=self._lengths[chosen],
            frequency=np.array([len(one) for one in holders], dtype=np.float32),
            total=self._total,
            average=self._average,
            cosine=None if cosine is None else cosine[chosen],
            group=self._groups[chosen],
            place=self._places[chosen],
            asks=self._asks[chosen],
            unrelated=0.0 if cosine is None else ranking.unrelated(cosine[self._live]),
            pairs=pairs,
        )

    def _counts(self, chosen: Integers, terms: list[QueryTerm], holders: list[Integers]) -> Floats:
        """How often each of the chosen passages holds each term, shape (n, q)."""
        counts = np.zeros((len(chosen), len(terms)), dtype=np.float32)
        self._column[chosen] = np.arange(len(chosen))
        for column, found in enumerate(holders):
            at = self._column[found]
            counts[at[at >= 0], column] = 1
        self._column[chosen] = -1
        rows, columns = (one.tolist() for one in np.nonzero(counts))
        ids = self._ids[chosen].tolist()
        stored = self._select("id, terms", [ids[row] for row in dict.fromkeys(rows)])
        said: dict[int, list[str]] = {number: found[0].split() for number, found in stored.items()}
        for row, column in zip(rows, columns, strict=True):
            counts[row, column] = said.get(ids[row], ()).count(terms[column].term) or 1
        return counts

    def _found(
        self,
        chosen: Integers,
        scored: Floats,
        candidates: ranking.Candidates,
        terms: list[QueryTerm],
        limit: int,
        floor: float,
    ) -> Found:
        above = np.flatnonzero(scored >= floor)
        ranked = above[np.argsort(-scored[above], kind="stable")]
        top = ranked[:limit].tolist()
        rows = self._select("id, key, grp, place, at, digest, text", self._ids[chosen[top]])
        hits = []
        for one in top:
            row = rows.get(int(self._ids[chosen[one]]))
            if row is None:
                continue  # dropped by another process a moment ago
            key, group, place, at, digest, text = row
            passage = Passage(key, text, digest, group, int(place), at)
            says = bool(candidates.counts[one].any())
            near = None if candidates.cosine is None else float(candidates.cosine[one])
            hits.append(Hit(passage, float(scored[one]), _why(candidates.counts[one], terms, near), says, near))
        numbers = np.unique(candidates.group[ranked])
        of_groups = ranking.groups(scored, candidates.group)
        groups = ((self._group_names[one], of_groups[one]) for one in numbers[numbers >= 0].tolist())
        return Found(tuple(hits), tuple(sorted(groups, key=lambda pair: -pair[1])))


def _best(values: Floats, most: int, at: Integers) -> Integers:
    """Those of the indices `at` with the greatest values, at most so many."""
    return at[np.argpartition(values[at], len(at) - most)[-most:]] if len(at) > most else at


def _least(values: Floats, most: int) -> float:
    """A bound that far more than `most` of the values exceed, and of many values still few: by a sample of them."""
    sample = values[:: max(1, len(values) // _SAMPLE)]
    sample = sample[~np.isnan(sample)]
    wanted = _SPARE * most * len(sample) // max(1, len(values)) + 1
    return float(np.partition(sample, len(sample) - wanted)[len(sample) - wanted]) if wanted < len(sample) else -2.0


def _why(counts: Floats, terms: list[QueryTerm], near: float | None) -> str:
    """For people: the words it shares with the query, and how near it is in meaning."""
    shared = [term.shown for term, times in zip(terms, counts, strict=True) if times]
    parts = []
    if shared:
        parts.append("words: " + ", ".join(dict.fromkeys(shared)))
    if near is not None and not np.isnan(near):
        parts.append(f"meaning: {near:.2f}")
    return "; ".join(parts) or "stands beside one that was found"
