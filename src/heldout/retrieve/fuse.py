"""Fusion: one ranked list per query from the ranked lists of several systems.

Runs are put side by side: each document of a query becomes one entry, with its row in every run. A
method turns scores or ranks into what each run gives to its documents, and combines what a document
gets. Adding a method is a row in `METHODS`.

References
----------
* Lee (1997), Analyses of multiple evidence combination (min-max).
* Montague & Aslam (2001), Relevance score normalization for metasearch (sum, zero mean and unit
  variance).
* Renda & Straccia (2003), Web metasearch: rank vs. score based rank aggregation methods (rank).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar, get_args

import numpy as np

from heldout.compiled import announce
from heldout.data.ids import Ids
from heldout.data.parallel import run_threads
from heldout.data.run import Run, TiePolicy, as_runs, put_in_order
from heldout.data.words import offsets_of
from heldout.errors import Argument, InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from numpy.typing import NDArray

    from heldout.data.qrels import Qrels
    from heldout.data.run import Runs
    from heldout.data.words import Floats, Ints

    Lists = Sequence[tuple[Ints, Ids, Floats]]

_T = TypeVar("_T")
NORMS: Final = ("minmax", "max", "sum", "zscore", "rank", "none")
BLOCK: Final = 1 << 18
"""Rows that are joined together: few enough that what is made of them stays small."""


class Method(NamedTuple):
    """A way to combine runs.

    `combination` is a name in `heldout.retrieve.kernels.fuse`; a method that `uses_scores` has
    them normalised, others use ranks alone; `policy` says what becomes of documents that a run
    lacks.
    """

    combination: str
    uses_scores: bool
    parameters: tuple[str, ...]
    summary: str
    policy: str


_ZERO: Final = "get 0 from the run"
_HAVING: Final = "only runs that have them count"
METHODS: Final[dict[str, Method]] = {
    "rrf": Method("SUM", False, ("k",), "Σ 1 / (k + rank)", _ZERO),
    "wsum": Method("SUM", True, ("weights",), "Σ weight · score", _ZERO),
    "combsum": Method("SUM", True, (), "sum of the scores", _ZERO),
    "combmnz": Method("MNZ", True, (), "sum × number of runs that have it", _HAVING),
    "combmax": Method("MAX", True, (), "highest score", _HAVING),
    "combmin": Method("MIN", True, (), "lowest score", _HAVING),
    "combanz": Method("ANZ", True, (), "mean of the scores", _HAVING),
    "combmed": Method("MED", True, (), "median of the scores", _HAVING),
}


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fusion method with its parameters, checked; see `fuse`."""

    how: str = "rrf"
    norm: str | None = None
    weights: tuple[float, ...] | None = None
    k: float | None = None

    def __post_init__(self) -> None:
        _refuse_unknown("how", self.how, METHODS)
        if not self.method.uses_scores:
            if self.norm is not None:
                raise InputError(
                    f"{self.how} uses ranks alone: leave out ", Argument("norm", self.norm)
                )
        elif self.norm is None:
            object.__setattr__(self, "norm", "minmax")
        else:
            _refuse_unknown("norm", self.norm, NORMS)
        for name, owner in (("weights", "wsum"), ("k", "rrf")):
            if getattr(self, name) is not None and name not in self.method.parameters:
                raise InputError(f"{self.how} has no {name}: it is a parameter of {owner}")
        if self.how == "rrf":
            object.__setattr__(self, "k", _number("k", 60 if self.k is None else self.k))
        if self.weights is not None:
            given: Any = self.weights
            if not isinstance(given, Sequence | np.ndarray) or isinstance(given, str):
                raise InputError("expected a number per run", argument="weights", value=given)
            object.__setattr__(self, "weights", tuple(_number("weights", each) for each in given))
            if not any(self.weights):
                raise InputError("all weights are 0: nothing would be ranked")

    @property
    def method(self) -> Method:
        """Its definition."""
        return METHODS[self.how]

    def check_runs(self, count: int) -> None:
        """Refuse a number of runs that it cannot combine."""
        if count < 2:
            raise InputError(f"fusion needs two or more runs, got {count}")
        if self.how == "wsum" and self.weights is None:
            example = ",".join([str(round(1 / count, 2))] * count)
            raise InputError("wsum needs a weight per run, such as ", Argument("weights", example))
        if self.weights is not None and len(self.weights) != count:
            given = count_of(len(self.weights), "weight")
            raise InputError(f"{given} for {count} runs: give one per run")

    def __str__(self) -> str:
        """Method and parameters, such as ``wsum(norm=minmax, weights=0.3/0.7)``."""
        shown = [] if self.norm is None else [f"norm={self.norm}"]
        if self.weights is not None:
            shown.append("weights=" + "/".join(f"{weight:g}" for weight in self.weights))
        if self.k is not None:
            shown.append(f"k={self.k:g}")
        return f"{self.how}({', '.join(shown)})" if shown else self.how


def _refuse_unknown(what: str, given: object, known: Collection[str]) -> None:
    if given not in known:
        raise InputError(f"expected one of {', '.join(known)}", argument=what, value=given)


def _number(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not value >= 0 or math.isinf(value):
        raise InputError(f"{name} is {value!r}: expected a number of at least 0")
    return float(value)


def fuse(
    runs: Runs,
    how: str = "rrf",
    *,
    norm: str | None = None,
    weights: Sequence[float] | None = None,
    k: float | None = None,
    depth: int | None = None,
    ties: TiePolicy = "docid-desc",
    name: str | None = None,
) -> Run:
    """Fuse the ranked lists of several runs into one run.

    Parameters
    ----------
    runs
        Two or more runs: `Run` objects, ``{query: {document: score}}``, frames or paths.
    how
        The method. Of ranks: ``rrf`` (reciprocal rank fusion). Of normalised scores: ``wsum``,
        ``combsum``, ``combmnz``, ``combmax``, ``combmin``, ``combanz``, ``combmed``.
    norm
        How scores are normalised per query: ``minmax`` (the default), ``max``, ``sum``, ``zscore``,
        ``rank`` or ``none``; only for methods that use scores.
    weights
        For ``wsum``: one number per run. Only their ratios matter for the ranking.
    k
        For ``rrf``: 60 by default; a higher value lowers the influence of the first ranks.
    depth
        Documents to keep per query; by default all.
    ties
        How documents with equal fused scores are ordered; see `TiePolicy`. ``input`` is the order
        of first appearance in the runs.
    name
        Name of the fused run; by default the method.

    Returns
    -------
    Run
        All queries of all runs. A run that lacks a query lacks all of its documents.

    Notes
    -----
    Documents that a run lacks get 0 from it in ``rrf``, ``wsum`` and ``combsum``; the other
    ``comb`` methods count only the runs that have the document.

    References
    ----------
    * Fox & Shaw (1994), Combination of multiple searches (the ``comb`` methods).
    * Cormack, Clarke & Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual
      rank learning methods.

    Examples
    --------
    >>> bm25 = {"q1": {"a": 12.0, "b": 9.0, "c": 2.0}}
    >>> dense = {"q1": {"b": 1.0, "d": 0.75, "a": 0.5}}
    >>> fuse([bm25, dense], "wsum", weights=[0.5, 0.5]).to_dict()
    {'q1': {'b': 0.85, 'a': 0.5, 'd': 0.25, 'c': 0.0}}
    >>> list(fuse([bm25, dense]).to_dict()["q1"])
    ['b', 'a', 'd', 'c']
    """
    fusion = Fusion(how, norm, weights, k)  # type: ignore[arg-type] # it makes a tuple
    _refuse_unknown("ties", ties, get_args(TiePolicy))
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise InputError("expected a positive integer", argument="depth", value=depth)
    parts = [Run.of(run) for run in as_runs(runs)]
    return fuse_runs(parts, fusion, depth=depth, ties=ties, name=name)


def fuse_runs(
    runs: Sequence[Run],
    fusion: Fusion,
    *,
    depth: int | None = None,
    ties: TiePolicy = "docid-desc",
    name: str | None = None,
) -> Run:
    """Fuse runs; see `fuse`."""

    def work(joined: _Joined) -> tuple[Ints, Ids, Floats]:
        docs, offsets, (scores,) = joined.docs(), joined.offsets, _scores(joined, [fusion])
        put_in_order(scores, offsets, docs, ties)
        counts = np.diff(offsets)
        if depth is not None and (counts > depth).any():
            place = np.arange(len(scores)) - np.repeat(offsets[:-1], counts)
            keep = np.flatnonzero(place < depth)
            return np.minimum(counts, depth), docs.take(keep), scores[keep]
        return counts, docs, scores

    queries, lists = _by_blocks(runs, [fusion], work)
    run = _stacked(name or fusion.how, queries, lists, ties)
    if not np.isfinite(run.scores).all():
        raise InputError("a fused score is not a finite number: the scores of a run are too large")
    return run


def judged_ranks(runs: Sequence[Run], qrels: Qrels, fusions: Sequence[Fusion]) -> tuple[Ints, Ints]:
    """Rank the judged documents under several fusions; runs are joined and normalised once.

    Returns the rank of each judged document (judgements × fusions), as in the run that `fuse` would
    make (0: no run has it), and how many documents the fused list of each judged query has.
    """
    from heldout.retrieve.kernels.fuse import ranks

    def work(joined: _Joined) -> tuple[Ints, Ints]:
        # Judgements are the last list. What they alone have is no entry of the runs.
        judged = int(joined.counts[-1].sum())
        first = len(joined.scores) - judged
        ranked = np.asarray((joined.row_of[:, :-1] >= 0).any(axis=1))
        of_entry = np.maximum(joined.row_of[ranked, -1] - first, -1).astype(np.int32)
        runs_alone = _Joined(
            joined.row_docs,
            joined.scores[:first],
            joined.counts[:-1],
            np.ascontiguousarray(joined.row_of[ranked, :-1]),
            offsets_of(ranked)[joined.offsets],
        )
        ids, offsets = runs_alone.docs().ranks(), runs_alone.offsets
        found = np.zeros((len(fusions), judged), np.int64)
        for own, scores in zip(found, _scores(runs_alone, fusions), strict=True):
            ranks(scores, ids, offsets, of_entry, own)
        return np.ascontiguousarray(found.T), np.diff(offsets)

    _, blocks = _by_blocks(runs, fusions, work, qrels)
    found, counts = zip(*blocks, strict=True)
    return np.concatenate(found), np.concatenate(counts)


def _stacked(
    name: str, queries: Sequence[str], lists: Lists, ties: TiePolicy = "docid-desc"
) -> Run:
    """Return lists of all blocks (how many documents each query has, which, scores) as a run."""
    counts, docs, scores = zip(*lists, strict=True)
    offsets = offsets_of(np.concatenate(counts))
    return Run(name, tuple(queries), offsets, Ids.stack(docs), np.concatenate(scores), ties)


class _Joined(NamedTuple):
    """Ranked lists of a few queries, joined.

    Rows (`row_docs`, `scores`) are documents of a list: all queries of the first list, then those
    of the second, …; `counts` (lists × queries) says how many. Entries are documents of a query,
    each once: those of query ``q`` are ``offsets[q]`` to ``offsets[q + 1]``. `row_of` (entries ×
    lists) is the row of the document in each list; −1: the list lacks it.
    """

    row_docs: Ids
    scores: Floats
    counts: Ints
    row_of: NDArray[np.int32]
    offsets: Ints

    def first_rows(self) -> NDArray[np.int32]:
        """Return the row of each entry in the first list that has it."""
        first = self.row_of[:, 0].copy()
        for rows in self.row_of.T[1:]:
            np.copyto(first, rows, where=first < 0)
        return first

    def docs(self) -> Ids:
        """Return the document of each entry."""
        return self.row_docs.take(self.first_rows())


def _by_blocks(
    runs: Sequence[Run],
    fusions: Sequence[Fusion],
    work: Callable[[_Joined], _T],
    qrels: Qrels | None = None,
) -> tuple[Sequence[str], list[_T]]:
    """Join runs (and judgements, for whose queries alone), and do some work on each block of them.

    Returns the queries, by default in the order of first appearance, and the results.
    """
    from heldout.retrieve.kernels import fuse as kernels

    for fusion in fusions:
        fusion.check_runs(len(runs))
    if any(fusion.norm == "max" for fusion in fusions):
        for run in runs:
            _check_positive(run)
    announce("fusion", kernels.join, kernels.spread)
    lists: list[Run | Qrels] = [*runs]
    if qrels is None:
        queries: Sequence[str] = tuple(
            dict.fromkeys(query for run in runs for query in run.queries)
        )
    else:
        lists, queries = [*runs, qrels], qrels.queries
    begins, counts = np.zeros((2, len(lists), len(queries)), np.int64)
    for number, each in enumerate(lists):
        known = {query: place for place, query in enumerate(each.queries)}
        places = np.array([known.get(query, -1) for query in queries], np.int64)
        there = places >= 0
        begins[number, there] = each.offsets[places[there]]
        counts[number, there] = np.diff(each.offsets)[places[there]]
    ends, cuts = np.cumsum(counts.sum(axis=0)), [0]
    while cuts[-1] < len(queries):
        done = int(ends[cuts[-1] - 1]) if cuts[-1] else 0
        last = max(int(np.searchsorted(ends, done + BLOCK)), cuts[-1] + 1)
        cuts.append(min(last, len(queries)))

    def of_block(block: tuple[int, int]) -> _T:
        own = slice(*block)
        return work(_join(lists, begins[:, own], counts[:, own]))

    return queries, run_threads(of_block, pairwise(cuts))


def _check_positive(run: Run) -> None:
    """Refuse scores that cannot be divided by the highest one."""
    wrong = np.flatnonzero(run.scores[run.offsets[:-1]] <= 0)
    if len(wrong):
        query = int(wrong[0])
        raise InputError(
            f"run {run.name}, query {run.queries[query]}: ",
            Argument("norm", "max"),
            " divides by the highest score, "
            f"which is {run.scores[run.offsets[query]]:g}: use minmax, zscore or rank",
        )


def _join(lists: Sequence[Run | Qrels], begins: Ints, counts: Ints) -> _Joined:
    """Join the lists of some queries; `begins` and `counts` say where they are."""
    from heldout.retrieve.kernels.fuse import join

    columns, scores = [], []
    for each, first, own in zip(lists, begins, counts, strict=True):
        rows = np.repeat(first - (np.cumsum(own) - own), own) + np.arange(int(own.sum()))
        columns.append(each.docs.take(rows))
        scores.append(each.scores[rows] if isinstance(each, Run) else np.zeros(len(rows)))
    docs = Ids.stack(columns)
    ends = np.cumsum(counts).reshape(counts.shape)
    row_of = np.full((len(docs), len(lists)), -1, np.int32)
    offsets = np.empty(counts.shape[1] + 1, np.int64)
    row_offsets = np.concatenate([ends[:, :1] - counts[:, :1], ends], axis=1)
    join(docs.hashes(0, len(docs)), row_offsets, row_of, offsets)
    joined = _Joined(docs, np.concatenate(scores), counts, row_of[: offsets[-1]], offsets)
    if len(docs.words) == 1:  # ids of eight bytes that differ have different hashes of 64 bits
        return joined
    first = joined.first_rows().astype(np.int64)
    for rows in joined.row_of.T.astype(np.int64):
        there = np.flatnonzero(rows >= 0)
        other = there[~docs.same(rows[there], docs, first[there])]
        if len(other):  # of ids that were made for it: that does not happen by chance
            pair = f"{docs[int(first[other[0]])]} and {docs[int(rows[other[0]])]}"
            raise InputError(f"documents {pair} have the same 64-bit hash: rename one of them")
    return joined


def _scores(joined: _Joined, fusions: Iterable[Fusion]) -> Iterator[Floats]:
    """Yield the scores of all entries under each fusion; what only weights change is kept."""
    from heldout.retrieve.kernels import fuse as kernels

    known, table = None, np.empty(joined.row_of.shape)
    for fusion in fusions:
        plain = replace(fusion, weights=None)
        if plain != known:  # only the last is kept: a table for each k would not fit
            known = plain
            kernels.spread(joined.row_of, _given(fusion, joined), table)
        weights = np.array(fusion.weights or [1.0] * joined.row_of.shape[1])
        scores = np.empty(len(table))
        kernels.combine(table, weights, getattr(kernels, fusion.method.combination), scores)
        yield scores


def _given(fusion: Fusion, joined: _Joined) -> Floats:
    """Return what each row gives to its document. Scores of a list descend."""
    scores, sizes = joined.scores, joined.counts[joined.counts > 0]
    ends = np.cumsum(sizes)
    starts = ends - sizes
    ranks = np.arange(1, len(scores) + 1) - np.repeat(starts, sizes)

    def each(of_list: NDArray[Any]) -> Floats:
        return np.repeat(of_list, sizes)

    if fusion.k is not None:
        return 1 / (fusion.k + ranks.astype(np.float64))
    if fusion.norm == "none" or not len(scores):
        return scores
    if fusion.norm == "rank":
        return 1 - (ranks - 1) / each(sizes.astype(np.float64))
    high, low = scores[starts], scores[ends - 1]
    with np.errstate(over="ignore", invalid="ignore"):
        if fusion.norm == "max":
            return scores / each(high)
        centre, constant = low, np.ones(len(sizes))
        if fusion.norm == "minmax":
            width = high - low
        elif fusion.norm == "sum":
            width, constant = np.add.reduceat(scores - each(low), starts), 1 / sizes
        else:
            centre, constant = np.add.reduceat(scores, starts) / sizes, np.zeros(len(sizes))
            squares = (scores - each(centre)) ** 2
            width = np.sqrt(np.add.reduceat(squares, starts) / sizes)
            width[high == low] = 0.0  # where rounding leaves a spread
        flat = width == 0
        values = scores - each(centre)
        values /= each(np.where(flat, 1.0, width))
        return np.where(each(flat), each(constant), values)
