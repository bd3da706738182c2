"""Relevance judgements, of documents and of documents by subtopic.

The TREC Web tracks write the subtopic into the second column of the qrels. `Qrels` keep one row per
document; `Subtopics` hold the grades behind it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from heldout.data.frames import Library, frame_of
from heldout.data.ids import Ids, repeats
from heldout.data.run_files import nested, read_rows, refuse_duplicate, write_rows
from heldout.data.trec import qrels_lines
from heldout.data.words import Ints, Words, offsets_of, query_keys
from heldout.errors import InputError
from heldout.notes import count_of, named_few

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.data.frames import Frame
    from heldout.data.trec import Rows

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
        parts = [read_rows(source, "grade", subtopics=subtopics) for source in (given, *more)]
        names = tuple(sorted({name for part in parts for name in part.queries}, key=str.encode))
        numbers = {name: number for number, name in enumerate(names)}
        codes = np.concatenate(
            [np.array([numbers[name] for name in part.queries])[part.codes] for part in parts]
        )
        docs = Ids.stack([part.docs for part in parts])
        topics = [name for part in parts for name in part.subtopics or ()]
        if 0 < len(topics) < len(codes):
            raise InputError(
                "subtopics: some judgements have none, such as {query: {document: grade}}: give a "
                "frame or a file with a column of subtopics"
            )
        if topics:  # by document id, so that ties in ideal lists are those of ndeval
            order = docs.order(np.arange(len(codes)), codes, descending=True)
            topics = [topics[row] for row in order.tolist()]
        else:
            order = np.argsort(codes, kind="stable")
        grades = np.concatenate([part.values for part in parts]).astype(np.int64)[order]
        offsets = np.searchsorted(codes[order], np.arange(len(names) + 1))
        qrels = cls(names, offsets, docs.take(order), grades)
        pairs = repeats(qrels.docs, qrels.rows_by_key, qrels.keys)
        return _merged(qrels, pairs, topics, parts) if pairs or topics else qrels

    def fingerprint(self) -> str:
        """Return a short hash of all judgements."""
        import hashlib  # seldom needed

        digest = hashlib.blake2b("\0".join(self.queries).encode(), digest_size=8)
        digest.update(self.keys.tobytes())  # sorted: the order of the file does not matter
        digest.update(self.grades[self.rows_by_key].tobytes())
        if self.subtopics is not None:
            digest.update(repr(sorted(zip(*self.columns().values(), strict=True))).encode())
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
        wanted = np.isin(self.queries, list(queries))
        if not wanted.any():
            few = named_few(self.queries, len(self.queries), 3)
            raise InputError(f"none of the given queries has judgements; judged queries are {few}")
        return self.take(np.flatnonzero(wanted[self.query_of_row()]))

    def take(self, rows: Ints) -> Qrels:
        """Return some judgements, in ascending order; queries without any are dropped."""
        if len(rows) == len(self):
            return self
        counts = np.bincount(self.query_of_row()[rows], minlength=len(self.queries))
        staying = np.flatnonzero(counts)
        offsets = offsets_of(counts[staying])
        names = tuple(self.queries[number] for number in staying.tolist())
        by_subtopic = None if self.subtopics is None else self.subtopics.take(rows)
        return Qrels(names, offsets, self.docs.take(rows), self.grades[rows], subtopics=by_subtopic)

    def columns(self) -> dict[str, Any]:
        """Return the columns of a frame; judgements by subtopic have one row for each."""
        by_subtopic = self.subtopics
        rows = np.arange(len(self)) if by_subtopic is None else by_subtopic.row
        columns: dict[str, Any] = {
            "query_id": [self.queries[number] for number in self.query_of_row()[rows].tolist()],
            "doc_id": self.docs.take(rows).tolist(),
            "relevance": (self.grades if by_subtopic is None else by_subtopic.grade).tolist(),
        }
        if by_subtopic is not None:
            names = by_subtopic.names
            columns["subtopic"] = [names[code] for code in by_subtopic.subtopic.tolist()]
        return columns

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
        import polars as pl  # slow to import, seldom needed

        columns = self.columns()
        types = {name: pl.Int64 if name == "relevance" else pl.String for name in columns}
        return frame_of(pl.DataFrame(columns, schema=types), library)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the qrels in the format of the file extension (see `read_qrels`)."""
        write_rows(self, path, qrels_lines)


def _merged(
    qrels: Qrels, pairs: list[tuple[int, int]], topics: Sequence[str], parts: Sequence[Rows]
) -> Qrels:
    """Merge rows of one document; it keeps its highest grade, unless two of them conflict."""
    first = np.arange(len(qrels))
    for earlier, later in pairs:
        first[later] = earlier
    keep = np.flatnonzero(first == np.arange(len(qrels)))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(topics))}
    code = np.array([numbers[name] for name in topics] or np.zeros(len(qrels)), np.int64)
    order = np.lexsort((code, first))
    row, code, grade = np.searchsorted(keep, first[order]), code[order], qrels.grades[order]
    again = np.zeros(len(row), np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (code[1:] == code[:-1])
    for place in np.flatnonzero(again & (grade != np.roll(grade, 1)))[:1].tolist():
        number = int(keep[row[place]])
        query = qrels.queries[int(qrels.query_of_row()[number])]
        detail = f" and subtopic {topics[int(order[place])]}" if topics else ""
        detail += f" with grades {grade[place - 1]} and {grade[place]}"
        refuse_duplicate(parts, query, qrels.docs[number], detail)
    row, code, grade = row[~again], code[~again], grade[~again]
    highest = qrels.grades[keep]
    np.maximum.at(highest, row, grade)
    offsets = np.searchsorted(qrels.query_of_row()[keep], np.arange(len(qrels.queries) + 1))
    by_subtopic = Subtopics(row, code, grade, tuple(numbers)) if topics else None
    docs, repeated = qrels.docs.take(keep), int(again.sum())
    return Qrels(qrels.queries, offsets, docs, highest, repeated, by_subtopic)


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
