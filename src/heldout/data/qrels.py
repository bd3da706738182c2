"""Relevance judgements, of documents and of documents by subtopic.

The TREC Web tracks write the subtopic into the second column of the qrels. `Qrels` keep one row per
document; `Subtopics` hold the grades behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from heldout.data.frames import Library, check_library, frame_of
from heldout.data.ids import Ids, repeats
from heldout.data.notes import count_of, named_few
from heldout.data.rows import Rows, Stretches
from heldout.data.run_files import nested, read_rows, refuse_duplicate, write_rows
from heldout.data.trec import qrels_lines
from heldout.data.words import Ints, Words, query_keys
from heldout.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.frames import Frame

    Path_: TypeAlias = str | os.PathLike[str]
    QrelsLike: TypeAlias = "Qrels | Mapping[str, Mapping[str, int]] | Frame | Path_ | Iterable[Any]"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subtopics:
    """The grades of documents by subtopic, sorted by row of the qrels and by subtopic."""

    row: Ints  # the row of the qrels (a query and a document) that each grade belongs to
    subtopic: Ints  # a number in `names`
    grade: Ints
    names: tuple[str, ...]  # queries share them

    def take(self, rows: Ints) -> Subtopics | None:
        """Return the grades that belong to some rows of the qrels, in ascending order."""
        if not len(rows):
            return None
        place = np.minimum(np.searchsorted(rows, self.row), len(rows) - 1)
        kept = rows[place] == self.row
        return Subtopics(place[kept], self.subtopic[kept], self.grade[kept], self.names)

    def fingerprint(self, order: Ints) -> bytes:
        """Return all grades as bytes; `order` is an order of the rows that all copies share."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        sorted_names = np.argsort(np.argsort(self.names, kind="stable"), kind="stable")
        columns = (place[self.row], sorted_names[self.subtopic], self.grade)
        table = np.stack([column[np.lexsort(columns[1::-1])] for column in columns])
        return table.tobytes() + "\0".join(sorted(self.names)).encode()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels:
    """Relevance judgements; make them with `Qrels.of` or `read_qrels`.

    Parameters
    ----------
    queries
        Query ids in bytewise order, as in trec_eval.
    offsets
        Rows ``offsets[i]`` to ``offsets[i + 1]`` are the judgements of query ``i``.
    docs, grades
        The judged documents and their grades; a negative grade means "pooled, not judged".
    repeated
        The number of judgements that were repeated with the same grade (and count once).
    subtopics
        The grades by subtopic, for measures of diversity; the grade of a document is then its
        highest.
    """

    queries: tuple[str, ...]
    offsets: Ints
    docs: Ids
    grades: Ints
    repeated: int = 0
    subtopics: Subtopics | None = None
    keys: Words = field(init=False, repr=False)
    rows_by_key: Ints = field(init=False, repr=False)

    def __post_init__(self) -> None:
        keys = query_keys(self.docs.hashes(0, len(self)), self.query_of_row())
        order = np.argsort(keys, kind="stable")
        object.__setattr__(self, "keys", keys[order])
        object.__setattr__(self, "rows_by_key", order)
        for array in (self.offsets, self.grades, self.keys, self.rows_by_key):
            array.flags.writeable = False
        self.docs.freeze()

    @classmethod
    def of(cls, given: Any, *more: Any, subtopics: bool = False) -> Qrels:
        """Make judgements from any accepted form.

        Parameters
        ----------
        given, more
            ``{query: {document: grade}}`` (pytrec_eval, ranx, BEIR), a pandas or Polars frame with
            columns such as ``query_id``, ``doc_id``, ``relevance``, a mapping of such columns,
            records of ir_measures, qrels of ranx, or the path of a file (see `read_qrels`).
            `Qrels` are returned as they are; several are joined.
        subtopics
            Also use the subtopics of a file, a frame or records of ir_measures.

        Examples
        --------
        >>> judged = {"query": "qqq", "doc": ["a", "a", "b"], "grade": [1, 2, 1], "subtopic": "122"}
        >>> Qrels.of({key: list(cells) for key, cells in judged.items()}, subtopics=True).to_dict()
        {'q': {'b': 1, 'a': 2}}
        """
        if isinstance(given, Qrels) and not more:
            return given
        parts = [read_rows(one, "grade", subtopics=subtopics) for one in (given, *more)]
        return cls.assemble(parts[0] if len(parts) == 1 else _joined(parts))

    @classmethod
    def assemble(cls, rows: Rows) -> Qrels:
        """Sort checked columns and make qrels; equal judgements are merged, conflicts refused."""
        names = tuple(sorted(set(rows.queries.names), key=str.encode))
        codes, docs = rows.queries.codes(names), rows.docs
        grades, subtopics = rows.values.astype(np.int64), rows.subtopics
        if subtopics is not None:  # by document id, so that ties in ideal lists are those of ndeval
            order = docs.order(np.arange(len(codes)), codes, descending=True)
            codes, docs, grades = codes[order], docs.take(order), grades[order]
            subtopics = [subtopics[row] for row in order.tolist()]
        elif (codes[1:] < codes[:-1]).any():
            order = np.argsort(codes, kind="stable")
            codes, docs, grades = codes[order], docs.take(order), grades[order]
        qrels = cls(names, np.searchsorted(codes, np.arange(len(names) + 1)), docs, grades)
        pairs = repeats(docs, qrels.rows_by_key, qrels.keys)
        by_subtopic = None
        if subtopics is not None:
            keep, grades, by_subtopic, repeated = _merge_subtopics(qrels, pairs, subtopics, rows)
        elif pairs:
            _refuse_conflicts(qrels, pairs, rows)
            again = [row for _, row in pairs]
            keep, repeated = np.delete(np.arange(len(grades)), again), len(again)
            grades = grades[keep]
        else:
            return qrels
        offsets = np.searchsorted(codes[keep], np.arange(len(names) + 1))
        return cls(names, offsets, docs.take(keep), grades, repeated, by_subtopic)

    def fingerprint(self) -> str:
        """Return a short hash of all judgements."""
        import hashlib  # seldom needed

        digest = hashlib.blake2b("\0".join(self.queries).encode(), digest_size=8)
        digest.update(self.keys.tobytes())  # sorted: the order of the file does not matter
        digest.update(self.grades[self.rows_by_key].tobytes())
        if self.subtopics is not None:
            digest.update(self.subtopics.fingerprint(self.rows_by_key))
        return digest.hexdigest()

    def query_of_row(self) -> Ints:
        """Return the number of the query of each judgement."""
        return np.repeat(np.arange(len(self.queries)), np.diff(self.offsets))

    def __len__(self) -> int:
        return len(self.grades)

    def __repr__(self) -> str:
        queries = count_of(len(self.queries), "query", "queries")
        return f"Qrels({queries}, {count_of(len(self), 'judgement')})"

    def select(self, queries: Iterable[str]) -> Qrels:
        """Return the judgements of some queries only."""
        known = {query: number for number, query in enumerate(self.queries)}
        wanted = sorted({known[query] for query in queries if query in known})
        if not wanted:
            raise InputError(
                "none of the given queries has judgements; judged queries are "
                f"{named_few(self.queries, len(self.queries), 3)}"
            )
        return self.take(np.concatenate([np.arange(*self.offsets[n : n + 2]) for n in wanted]))

    def take(self, rows: Ints) -> Qrels:
        """Return some judgements, in ascending order; queries without any are dropped."""
        if len(rows) == len(self):
            return self
        counts = np.bincount(self.query_of_row()[rows], minlength=len(self.queries))
        staying = np.flatnonzero(counts)
        offsets = np.concatenate(([0], np.cumsum(counts[staying]))).astype(np.int64)
        names = tuple(self.queries[number] for number in staying.tolist())
        by_subtopic = None if self.subtopics is None else self.subtopics.take(rows)
        return Qrels(names, offsets, self.docs.take(rows), self.grades[rows], subtopics=by_subtopic)

    def columns(self) -> dict[str, Any]:
        """Return the columns query, doc and grade, and subtopic if there are any."""
        owner, docs = self.query_of_row(), self.docs.tolist()
        by_subtopic = self.subtopics
        if by_subtopic is None:
            queries = [self.queries[number] for number in owner.tolist()]
            return {"query": queries, "doc": docs, "grade": self.grades}
        rows = by_subtopic.row
        return {
            "query": [self.queries[number] for number in owner[rows].tolist()],
            "doc": [docs[row] for row in rows.tolist()],
            "grade": by_subtopic.grade,
            "subtopic": [by_subtopic.names[code] for code in by_subtopic.subtopic.tolist()],
        }

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{query: {document: grade}}``."""
        return nested(self.queries, self.offsets, self.docs, self.grades)

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a frame with the columns ``query_id``, ``doc_id``, ``relevance``.

        Judgements by subtopic have one row for each, and a column ``subtopic``.

        Parameters
        ----------
        library
            The library of the frame: ``polars`` or ``pandas``.
        """
        check_library(library)
        import polars as pl  # slow to import, seldom needed

        names = {"query": "query_id", "doc": "doc_id", "grade": "relevance"}
        columns = {names.get(role, role): column for role, column in self.columns().items()}
        types = {name: pl.Int64 if name == "relevance" else pl.String for name in columns}
        return frame_of(pl.DataFrame(columns, schema=types), library)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the qrels in the format of the file extension (see `read_qrels`)."""
        write_rows(self, path, qrels_lines)


def _joined(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several files one after another."""
    begins = np.cumsum([0, *(part.queries.rows for part in parts)])
    starts = [part.queries.starts + begin for part, begin in zip(parts, begins[:-1], strict=True)]
    names = [name for part in parts for name in part.queries.names]
    subtopics = [name for part in parts for name in part.subtopics or ()]
    return Rows(
        parts[0].source,
        Stretches(np.concatenate(starts), names, int(begins[-1])),
        Ids.stack([part.docs for part in parts]),
        np.concatenate([part.values for part in parts]),
        lambda query, doc: [place for part in parts for place in part.places(query, doc)],
        subtopics=subtopics or None,
    )


def _query(qrels: Qrels, row: int) -> str:
    return qrels.queries[int(np.searchsorted(qrels.offsets, row, "right")) - 1]


def _refuse_conflicts(qrels: Qrels, pairs: list[tuple[int, int]], rows: Rows) -> None:
    for first, row in pairs:
        if qrels.grades[first] != qrels.grades[row]:
            detail = f" with grades {qrels.grades[first]} and {qrels.grades[row]}"
            refuse_duplicate(rows, _query(qrels, row), qrels.docs[row], detail)


def _merge_subtopics(
    qrels: Qrels, pairs: list[tuple[int, int]], names: Sequence[str], rows: Rows
) -> tuple[Ints, Ints, Subtopics, int]:
    """Merge rows of one document into one, which keeps its highest grade.

    Returns the rows that stay, their grades, the grades by subtopic, and the number of judgements
    that were repeated with the same grade.
    """
    first = np.arange(len(qrels))
    for earlier, later in pairs:
        first[later] = earlier
    keep = np.flatnonzero(first == np.arange(len(qrels)))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    code = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
    order = np.lexsort((code, first))
    row, code, grade = np.searchsorted(keep, first[order]), code[order], qrels.grades[order]
    again = np.zeros(len(row), np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (code[1:] == code[:-1])
    for place in np.flatnonzero(again & (grade != np.roll(grade, 1)))[:1].tolist():
        number = int(keep[row[place]])
        subtopic = names[int(order[place])]
        detail = f" and subtopic {subtopic} with grades {grade[place - 1]} and {grade[place]}"
        refuse_duplicate(rows, _query(qrels, number), qrels.docs[number], detail)
    row, code, grade = row[~again], code[~again], grade[~again]
    highest = qrels.grades[keep]
    np.maximum.at(highest, row, grade)
    return keep, highest, Subtopics(row, code, grade, tuple(numbers)), int(again.sum())


def empty_qrels() -> Qrels:
    """Return Qrels without a judgement."""
    return Qrels((), np.zeros(1, np.int64), Ids.of([]), np.zeros(0, np.int64))


def read_qrels(
    path: str | os.PathLike[str], *more: str | os.PathLike[str], subtopics: bool = False
) -> Qrels:
    """Read one qrels file, or join several.

    Parameters
    ----------
    path, more
        TREC qrels of three or four columns, CSV or TSV tables with a header (BEIR), JSON objects
        ``{query: {document: grade}}``, JSON lines or Parquet tables, compressed or not; ``-`` is
        standard input.
    subtopics
        Read the second column of TREC qrels, or the column ``subtopic`` of a table, as subtopics;
        needed for measures of diversity, such as alpha_nDCG@20. By default it is ignored.
    """
    return Qrels.of(path, *more, subtopics=subtopics)
