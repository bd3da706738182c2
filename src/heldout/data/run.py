"""Runs: the ranked lists of one system."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from heldout.data.frames import Library, frame_of, is_frame, is_nested
from heldout.data.ids import repeats
from heldout.data.parallel import run_threads
from heldout.data.run_files import (
    Format,
    is_record,
    nested,
    read_rows,
    refuse_duplicate,
    write_rows,
)
from heldout.data.trec import run_lines
from heldout.data.words import distinct, query_keys
from heldout.errors import InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from heldout.data.frames import Frame
    from heldout.data.ids import Ids
    from heldout.data.words import Floats, Ints

    Path_: TypeAlias = str | os.PathLike[str]
    RunLike: TypeAlias = "Run | Mapping[str, Mapping[str, float]] | Frame | Path_ | Iterable[Any]"
    Runs: TypeAlias = RunLike | Iterable[RunLike] | Mapping[str, RunLike]

TiePolicy = Literal["docid-desc", "docid-asc", "input"]
"""The order of documents with equal scores: by id, bytewise (trec_eval: -desc), or as given."""
BLOCK = 8192  # rows searched for repeats together: few enough to stay in the processor cache


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Run:
    """One system's ranked lists; make one with `Run.of` or `read_run`.

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
    docs: Ids
    scores: Floats
    ties: TiePolicy = "docid-desc"

    def __post_init__(self) -> None:
        for array in (self.offsets, self.scores):
            array.flags.writeable = False
        self.docs.freeze()

    @classmethod
    def of(
        cls,
        given: Any,
        name: str | None = None,
        *,
        ties: TiePolicy = "docid-desc",
        single_precision: bool = False,
    ) -> Run:
        """Make a run from any accepted form.

        Parameters
        ----------
        given
            ``{query: {document: score}}`` (pytrec_eval, ranx, BEIR), a pandas or Polars frame with
            columns such as ``query_id``, ``doc_id``, ``score`` (PyTerrier, ir_measures), a mapping
            of such columns, records of ir_measures, a run of ranx, or the path of a file
            (see `read_run`). A `Run` is returned as it is.
        name
            The name of the run (default: its tag, or the name of the file).
        ties
            How documents with equal scores are ordered.
        single_precision
            Store scores as 32-bit floats, as trec_eval 9 and pytrec_eval do: scores that are equal
            in single precision are ties.

        Examples
        --------
        >>> Run.of({"q1": {"a": 1.0, "b": 2.0}}).to_dict()
        {'q1': {'b': 2.0, 'a': 1.0}}
        """
        if isinstance(given, tuple) and len(given) == 2:
            name, given = str(given[0]), given[1]
        if isinstance(given, Run):
            return given if name is None else replace(given, name=name)
        if ties not in get_args(TiePolicy):
            raise InputError(
                f"expected one of {', '.join(get_args(TiePolicy))}", argument="ties", value=ties
            )
        rows = read_rows(given, "score")
        docs, scores, codes = rows.docs, rows.values, rows.codes
        if single_precision:
            with np.errstate(over="ignore"):
                scores = scores.astype(np.float32).astype(np.float64)
            if not np.isfinite(scores).all():
                raise InputError(f"{rows.source}: a score is too large for a 32-bit float")
        if (codes[1:] < codes[:-1]).any():  # rows of a query may be apart in the file
            order = np.argsort(codes, kind="stable")
            docs, scores, codes = docs.take(order), scores[order], codes[order]
        offsets = np.searchsorted(codes, np.arange(len(rows.queries) + 1, dtype=codes.dtype))
        put_in_order(scores, offsets, docs, ties)
        twice = duplicate_row(docs, offsets)
        if twice is not None:
            refuse_duplicate([rows], rows.queries[int(codes[twice])], docs[twice])
        name = rows.name if name is None else name
        return cls(name, tuple(rows.queries), offsets, docs, scores, ties)

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        queries = count_of(len(self.queries), "query", "queries")
        return f"Run({self.name!r}, {queries}, {count_of(len(self), 'row')})"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query: {document: score}}``, documents in ranked order."""
        return nested(self.queries, self.offsets, self.docs, self.scores)

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a frame with the columns ``query_id``, ``doc_id``, ``rank``, ``score``.

        Parameters
        ----------
        library
            The library of the frame: ``polars`` or ``pandas``.
        """
        import polars as pl  # slow to import, seldom needed

        counts = np.diff(self.offsets)
        columns = {
            "query_id": np.repeat(np.array(self.queries, dtype=object), counts).tolist(),
            "doc_id": self.docs.tolist(),
            "rank": np.arange(len(self)) - np.repeat(self.offsets[:-1], counts) + 1,
            "score": self.scores,
        }
        types = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int64, "score": pl.Float64}
        return frame_of(pl.DataFrame(columns, schema=types), library)

    def write(self, path: str | os.PathLike[str], kind: Format | None = None) -> None:
        """Write the run in the format of the file extension (see `read_run`), or as `kind`."""
        write_rows(self, path, run_lines, kind)


def read_run(
    path: str | os.PathLike[str],
    *,
    name: str | None = None,
    ties: TiePolicy = "docid-desc",
    single_precision: bool = False,
) -> Run:
    """Read a run.

    Parameters
    ----------
    path
        A TREC run, a CSV or TSV table with a header, a JSON object ``{query: {document: score}}``,
        JSON lines or a Parquet table; gzip, xz, bzip2 and zstd are decompressed; ``-`` is standard
        input. Ids lose surrounding white space, and an integer in a column of floats (integers
        with gaps in pandas) is read without its decimal.
    name
        The name of the run (default: its tag, or else the name of the file).
    ties
        How documents with equal scores are ordered.
    single_precision
        Store scores as 32-bit floats, as trec_eval 9 and pytrec_eval do.
    """
    return Run.of(path, name, ties=ties, single_precision=single_precision)


def put_in_order(scores: Floats, offsets: Ints, docs: Ids, ties: str) -> None:
    """Order the rows of each query by score descending, then by the tie policy, in place."""
    # `retrieve.kernels.heaps.better` and `experiment.documents.lists` follow the same order.
    # Most files are sorted already, or nearly: only rows that must move are touched.
    same_query = np.ones(max(len(scores) - 1, 0), np.bool_)  # as the next row
    same_query[offsets[1:-1] - 1] = False
    rising = np.flatnonzero((scores[1:] > scores[:-1]) & same_query)
    for query in distinct(np.searchsorted(offsets, rising, "right") - 1).tolist():
        begin, end = int(offsets[query]), int(offsets[query + 1])
        rows = np.argsort(-scores[begin:end], kind="stable") + begin
        scores[begin:end] = scores[rows]
        docs.move(slice(begin, end), rows)
    if ties == "input":
        return
    tied = np.flatnonzero((scores[1:] == scores[:-1]) & same_query)
    against = 1 if ties == "docid-asc" else -1
    if (docs.compare(tied, tied + 1) == against).any():
        places = distinct(np.sort(np.concatenate((tied, tied + 1))))
        # A row opens a group of ties unless the row before is tied with it.
        opens = np.ones(len(places), np.bool_)
        opens[np.searchsorted(places, tied + 1)] = False
        docs.move(places, docs.order(places, np.cumsum(opens), descending=against < 0))


def duplicate_row(docs: Ids, offsets: Ints) -> int | None:
    """Return a row whose document appears twice for its query, or None."""
    # Done for every run: the keys of a block are sorted, and only equal ones are looked at.
    cuts = distinct(np.searchsorted(offsets, np.arange(0, offsets[-1] + BLOCK, BLOCK)))
    cuts[-1] = len(offsets) - 1

    def search(block: tuple[int, int]) -> int | None:
        first, last = block
        begin, end = int(offsets[first]), int(offsets[last])
        query = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        keys = query_keys(docs.hashes(begin, end), query)
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            return None
        order = np.argsort(keys, kind="stable")
        repeated = repeats(docs, order + begin, keys[order])
        return int(repeated[0][1]) if repeated else None

    blocks = [(int(a), int(z)) for a, z in pairwise(cuts) if a < z]
    return next((row for row in run_threads(search, blocks) if row is not None), None)


def as_runs(given: Any) -> list[Any]:
    """Return a list of inputs of `Run.of`; ``{name: run}`` names the runs."""
    if isinstance(given, Mapping):
        # The ranked list of one query is not nested.
        lists = [inner for inner in given.values() if isinstance(inner, Mapping)]
        is_named = given and all(inner and is_nested(inner) for inner in lists)
        return list(given.items()) if is_named else [given]
    if isinstance(given, (Run, str, os.PathLike)) or is_frame(given):
        return [given]
    runs = list(given) if isinstance(given, Iterable) else [given]
    return [runs] if runs and is_record(runs[0]) else runs
