"""Run and Qrels: immutable columns of ranked and of judged documents."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.data.columns import (
    QRELS_COLUMNS,
    RUN_COLUMNS,
    Library,
    Stretches,
    check_library,
    frame_of,
    grade_problem,
    is_nested,
    pick_columns,
    three_columns,
    wrong_grades,
)
from heldout.data.duplicates import duplicate_row, repeats
from heldout.data.ids import as_id
from heldout.data.notes import count_of
from heldout.data.ordering import put_in_order
from heldout.data.subtopics import (
    SUBTOPIC_NAMES,
    judgement_columns,
    merge_subtopics,
    take_subtopics,
)
from heldout.data.words import Floats, Ints, Words, query_keys
from heldout.errors import DuplicateError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from heldout.data.columns import Frame
    from heldout.data.ids import IdColumn
    from heldout.data.subtopics import Subtopics

__all__ = ["Qrels", "Run", "TiePolicy"]

TiePolicy = Literal["docid-desc", "docid-asc", "input"]
"""How documents with equal scores are ordered.

``docid-desc``
    by document id, bytewise, descending: as trec_eval does, and the default;
``docid-asc``
    by document id, bytewise, ascending;
``input``
    in the order of the input.
"""


def _freeze(*arrays: NDArray[Any]) -> None:
    for array in arrays:
        array.flags.writeable = False


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """One system's ranked lists.

    Make one with `Run.read`, `Run.from_dict`, `Run.from_frame` or `Run.from_columns`.

    Parameters
    ----------
    name
        The system's name (in a TREC file the last column).
    queries
        Query ids in the order of their first appearance.
    offsets
        Rows ``offsets[i]`` to ``offsets[i + 1]`` are the documents of query ``i``.
    docs, scores
        The documents in final order: score descending, ties by `ties`.
    ties
        The tie policy.
    """

    name: str
    queries: tuple[str, ...]
    offsets: Ints
    docs: IdColumn
    scores: Floats
    ties: TiePolicy = "docid-desc"

    def __post_init__(self) -> None:
        _freeze(self.offsets, self.scores)
        self.docs.freeze()

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Read a run file; see `heldout.read_run`."""
        from heldout.data.run_files import read_run  # circular import

        return read_run(
            path,
            name=name,
            ties=ties,
            single_precision=single_precision,
        )

    @classmethod
    def from_dict(
        cls,
        ranked: Mapping[str, Mapping[str, float]],
        name: str = "run",
        *,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Make a run from ``{query: {document: score}}`` (pytrec_eval, ranx, BEIR).

        Examples
        --------
        >>> run = Run.from_dict({"q1": {"a": 1.0, "b": 2.0}})
        >>> run.to_dict()
        {'q1': {'b': 2.0, 'a': 1.0}}
        """
        if not is_nested(ranked):
            raise InputError(f"run {name}: expected {{query: {{document: score}}}}")
        queries = [query for query, docs in ranked.items() for _ in docs]
        docs = [doc for inner in ranked.values() for doc in inner]
        scores = [score for inner in ranked.values() for score in inner.values()]
        return cls.from_columns(
            queries, docs, scores, name, ties=ties, single_precision=single_precision
        )

    @classmethod
    def from_frame(
        cls,
        frame: Frame,
        name: str = "run",
        *,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Make a run from a pandas or Polars frame (column names of PyTerrier, ir_measures, …)."""
        columns = pick_columns(frame, RUN_COLUMNS, "run frame")
        return cls.from_columns(
            columns["query"],
            columns["doc"],
            columns["score"],
            name,
            ties=ties,
            single_precision=single_precision,
        )

    @classmethod
    def from_columns(
        cls,
        queries: Iterable[Any],
        docs: Iterable[Any],
        scores: Iterable[float],
        name: str = "run",
        *,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Make a run from three columns of equal length.

        Parameters
        ----------
        ties
            How documents with equal scores are ordered.
        single_precision
            Store scores as 32-bit floats, as trec_eval 9 and pytrec_eval do: scores that are equal
            in single precision are ties.
        """
        stretches, doc_column, values = three_columns(queries, docs, scores, f"run {name}", "score")
        broken = np.flatnonzero(~np.isfinite(values))
        if len(broken):
            row = int(broken[0])
            raise InputError(
                f"run {name}, document {doc_column[row]} (row {row + 1}): "
                f"score {values[row]} is not a finite number"
            )
        return cls.assemble(
            name, stretches, doc_column, values, ties=ties, single_precision=single_precision
        )

    @classmethod
    def assemble(
        cls,
        name: str,
        queries: Stretches,
        docs: IdColumn,
        scores: Floats,
        *,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Sort checked columns and make a run; the arrays belong to the run afterwards."""
        if ties not in get_args(TiePolicy):
            raise InputError(f"ties={ties!r}: expected one of {', '.join(get_args(TiePolicy))}")
        if single_precision:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
            if not np.isfinite(scores).all():
                raise InputError(f"run {name}: a score is too large for a 32-bit float")
        names = tuple(dict.fromkeys(queries.names))
        offsets = np.append(queries.starts, queries.rows)
        if len(names) < len(queries.names):  # rows of a query may be apart in the file
            codes = queries.codes(names)
            rows = np.argsort(codes, kind="stable")
            docs, scores = docs.take(rows), scores[rows]
            offsets = np.concatenate(([0], np.cumsum(np.bincount(codes))))
        put_in_order(scores, offsets, docs, ties)
        run = cls(name, names, offsets, docs, scores, ties)
        twice = duplicate_row(docs, offsets)
        if twice is not None:
            query = names[int(np.searchsorted(offsets, twice, "right")) - 1]
            raise DuplicateError(f"run {name}", query, docs[twice], "")
        return run

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        queries = count_of(len(self.queries), "query", "queries")
        return f"Run({self.name!r}, {queries}, {count_of(len(self), 'row')})"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query: {document: score}}``, documents in ranked order."""
        docs, scores = self.docs.tolist(), self.scores.tolist()
        spans = zip(
            self.queries, self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
        )
        return {q: dict(zip(docs[a:z], scores[a:z], strict=True)) for q, a, z in spans}

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a frame with the columns ``query_id``, ``doc_id``, ``rank``, ``score``.

        Parameters
        ----------
        library
            The library of the frame: ``polars`` or ``pandas``.
        """
        check_library(library)
        import polars as pl  # slow to import, seldom needed

        counts = np.diff(self.offsets)
        frame = pl.DataFrame(
            {
                "query_id": np.repeat(np.array(self.queries, dtype=object), counts).tolist(),
                "doc_id": self.docs.tolist(),
                "rank": np.arange(len(self)) - np.repeat(self.offsets[:-1], counts) + 1,
                "score": self.scores,
            },
            schema={
                "query_id": pl.String,
                "doc_id": pl.String,
                "rank": pl.Int64,
                "score": pl.Float64,
            },
        )
        return frame_of(frame, library)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the run in the format of the file extension (see `heldout.read_run`)."""
        from heldout.data.run_files import write_run  # circular import

        write_run(self, path)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Qrels:
    """Relevance judgements.

    Make one with `Qrels.read`, `Qrels.from_dict`, `Qrels.from_frame` or `Qrels.from_columns`.

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
    docs: IdColumn
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
        _freeze(self.offsets, self.grades, self.keys, self.rows_by_key)
        self.docs.freeze()

    @classmethod
    def read(
        cls,
        path: str | os.PathLike[str],
        *more: str | os.PathLike[str],
        subtopics: bool = False,
    ) -> Qrels:
        """Read and join qrels files; see `heldout.read_qrels`."""
        from heldout.data.run_files import read_qrels  # circular import

        return read_qrels(path, *more, subtopics=subtopics)

    @classmethod
    def from_dict(cls, judged: Mapping[str, Mapping[str, int]]) -> Qrels:
        """Make qrels from ``{query: {document: grade}}`` (pytrec_eval, ranx, BEIR)."""
        if not is_nested(judged):
            raise InputError("qrels: expected {query: {document: grade}}")
        queries = [query for query, docs in judged.items() for _ in docs]
        docs = [doc for inner in judged.values() for doc in inner]
        return cls.from_columns(queries, docs, [g for d in judged.values() for g in d.values()])

    @classmethod
    def from_frame(cls, frame: Frame, *, subtopics: bool = False) -> Qrels:
        """Make qrels from a pandas or Polars frame (names of PyTerrier, ir_measures, BEIR, …).

        Parameters
        ----------
        frame
            The judgements.
        subtopics
            Also use the column ``subtopic`` or ``iteration``.
        """
        known = {**QRELS_COLUMNS, "subtopic": SUBTOPIC_NAMES} if subtopics else QRELS_COLUMNS
        columns = pick_columns(frame, known, "qrels frame")
        return cls.from_columns(
            columns["query"], columns["doc"], columns["grade"], columns.get("subtopic")
        )

    @classmethod
    def from_columns(
        cls,
        queries: Iterable[Any],
        docs: Iterable[Any],
        grades: Iterable[float],
        subtopics: Iterable[Any] | None = None,
    ) -> Qrels:
        """Make qrels from three columns of equal length, or four with subtopics.

        Examples
        --------
        >>> judged = Qrels.from_columns("qqq", ["a", "a", "b"], [1, 2, 1], ["1", "2", "2"])
        >>> judged.to_dict(), len(judged.subtopics.row)
        ({'q': {'b': 1, 'a': 2}}, 3)
        """
        stretches, doc_column, values = three_columns(queries, docs, grades, "qrels", "grade")
        wrong = np.flatnonzero(wrong_grades(values))
        if len(wrong):
            row = int(wrong[0])
            raise InputError(
                f"qrels, document {doc_column[row]} (row {row + 1}): "
                f"grade {values[row]:g} {grade_problem(values[row])}"
            )
        names = None if subtopics is None else [as_id(one) for one in subtopics]
        if names is not None and len(names) != len(values):
            raise InputError(f"qrels: {len(names)} subtopics for {len(values)} judgements")
        return cls.assemble(stretches, doc_column, values.astype(np.int64), names)

    @classmethod
    def assemble(
        cls, queries: Stretches, docs: IdColumn, grades: Ints, subtopics: list[str] | None = None
    ) -> Qrels:
        """Sort checked columns and make qrels; equal judgements are merged, conflicts refused."""
        names = tuple(sorted(set(queries.names), key=str.encode))
        codes = queries.codes(names)
        if subtopics is not None:  # by document id, so that ties in ideal lists are those of ndeval
            rows = docs.order(np.arange(len(codes)), codes, descending=True)
            codes, docs, grades = codes[rows], docs.take(rows), grades[rows]
            subtopics = [subtopics[row] for row in rows.tolist()]
        elif (codes[1:] < codes[:-1]).any():
            rows = np.argsort(codes, kind="stable")
            codes, docs, grades = codes[rows], docs.take(rows), grades[rows]
        offsets = np.searchsorted(codes, np.arange(len(names) + 1))
        qrels = cls(names, offsets, docs, grades)
        by_subtopic = None
        if subtopics is None:
            again = qrels._repeated_rows()
            if not len(again):
                return qrels
            keep, repeated = np.delete(np.arange(len(grades)), again), len(again)
            grades = grades[keep]
        else:
            pairs = repeats(docs, qrels.rows_by_key, qrels.keys)
            keep, grades, by_subtopic, repeated = merge_subtopics(qrels, pairs, subtopics)
        offsets = np.searchsorted(codes[keep], np.arange(len(names) + 1))
        return cls(names, offsets, docs.take(keep), grades, repeated, by_subtopic)

    def _repeated_rows(self) -> Ints:
        """Return the rows that repeat a judgement; raise an error for two different grades."""
        pairs = repeats(self.docs, self.rows_by_key, self.keys)
        for first, row in pairs:
            if self.grades[first] != self.grades[row]:
                query = self.queries[int(np.searchsorted(self.offsets, row, "right")) - 1]
                detail = f" with grades {self.grades[first]} and {self.grades[row]}"
                raise DuplicateError("the qrels", query, self.docs[row], detail)
        return np.array([row for _, row in pairs], np.int64)

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
                f"{_some(self.queries)}"
            )
        rows = np.concatenate([np.arange(*self.offsets[n : n + 2]) for n in wanted])
        counts = np.diff(self.offsets)[wanted]
        offsets = np.concatenate(([0], np.cumsum(counts)))
        names = tuple(self.queries[number] for number in wanted)
        by_subtopic = take_subtopics(self.subtopics, rows)
        docs, grades = self.docs.take(rows), self.grades[rows]
        return Qrels(names, offsets, docs, grades, subtopics=by_subtopic)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{query: {document: grade}}``."""
        docs, grades = self.docs.tolist(), self.grades.tolist()
        spans = zip(
            self.queries, self.offsets[:-1].tolist(), self.offsets[1:].tolist(), strict=True
        )
        return {q: dict(zip(docs[a:z], grades[a:z], strict=True)) for q, a, z in spans}

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
        columns = {names.get(role, role): one for role, one in judgement_columns(self).items()}
        types = {name: pl.Int64 if name == "relevance" else pl.String for name in columns}
        frame = pl.DataFrame(columns, schema=types)
        return frame_of(frame, library)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the qrels in the format of the file extension (see `heldout.read_qrels`)."""
        from heldout.data.run_files import write_qrels  # circular import

        write_qrels(self, path)


def _some(names: Iterable[str], count: int = 3) -> str:
    """Return a few names for a message."""
    listed = list(names)
    return ", ".join(listed[:count]) + (", …" if len(listed) > count else "")
