"""Fusion: one ranked list per query from the ranked lists of several systems."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, get_args

import numpy as np

from heldout.compiled import announce
from heldout.data.ids import Ids
from heldout.data.parallel import run_threads
from heldout.data.rows import put_in_order
from heldout.data.run import Run, TiePolicy, as_runs
from heldout.errors import InputError
from heldout.retrieve.contributions import check_norm
from heldout.retrieve.fusion_methods import METHODS, Fusion
from heldout.retrieve.joined import Aligned
from heldout.retrieve.kernels import fusion as kernels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.qrels import Qrels
    from heldout.data.run import Runs
    from heldout.data.words import Floats, Ints
    from heldout.retrieve.fusion_methods import How, Norm
    from heldout.retrieve.joined import Joined

__all__ = ["METHODS", "Fusion", "fuse", "fuse_runs", "fuse_tops", "judged_ranks"]


def fuse(
    runs: Runs,
    how: How | str = "rrf",
    *,
    norm: Norm | str | None = None,
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
    if ties not in get_args(TiePolicy):
        raise InputError(f"ties={ties!r}: expected one of {', '.join(get_args(TiePolicy))}")
    if depth is not None and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
        raise InputError(f"depth={depth!r}: expected a positive integer")
    parts = [Run.of(one) for one in as_runs(runs)]
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
    _check(runs, [fusion])
    aligned = Aligned.of(runs)
    work = partial(_fuse_block, aligned, fusion, depth, ties)
    blocks = run_threads(work, list(aligned.blocks()))
    counts = np.concatenate([counts for counts, _, _ in blocks])
    scores = np.concatenate([scores for _, _, scores in blocks])
    if not np.isfinite(scores).all():
        raise InputError("a fused score is not a finite number: the scores of a run are too large")
    return Run(
        name or fusion.how,
        aligned.queries,
        np.concatenate(([0], np.cumsum(counts))),
        Ids.stack([docs for _, docs, _ in blocks]),
        scores,
        ties,
    )


def _check(runs: Sequence[Run], fusions: Sequence[Fusion]) -> None:
    for fusion in fusions:
        fusion.check_runs(len(runs))
    for norm in {fusion.norm for fusion in fusions if fusion.norm is not None}:
        for run in runs:
            check_norm(norm, run)
    announce("fusion", kernels.join, kernels.spread)


def _fuse_block(
    aligned: Aligned, fusion: Fusion, depth: int | None, ties: TiePolicy, block: tuple[int, int]
) -> tuple[Ints, Ids, Floats]:
    """Fuse some queries: how many documents each has, the documents, their scores."""
    joined = aligned.join(*block)
    docs, offsets = joined.entry_docs(), joined.entry_offsets
    scores = fusion.scores(joined, fusion.table(joined))
    put_in_order(scores, offsets, docs, ties)
    counts = np.diff(offsets)
    if depth is not None and (counts > depth).any():
        place = np.arange(len(scores)) - np.repeat(offsets[:-1], counts)
        keep = np.flatnonzero(place < depth)
        return np.minimum(counts, depth), docs.take(keep), scores[keep]
    return counts, docs, scores


def judged_ranks(runs: Sequence[Run], qrels: Qrels, fusions: Sequence[Fusion]) -> tuple[Ints, Ints]:
    """Rank the judged documents under several fusions; runs are joined and normalised once.

    Returns
    -------
    ranks
        Judgements × fusions: the rank of each judged document, as in the run that `fuse` would
        make; 0: no run has it.
    retrieved
        How many documents the fused list of each judged query has.
    """
    _check(runs, fusions)
    aligned = Aligned.of([*runs, qrels], qrels.queries)
    work = partial(_rank_block, aligned, list(fusions))
    blocks = run_threads(work, list(aligned.blocks()))
    return (
        np.concatenate([found for found, _ in blocks]),
        np.concatenate([counts for _, counts in blocks]),
    )


def _rank_block(
    aligned: Aligned, fusions: list[Fusion], block: tuple[int, int]
) -> tuple[Ints, Ints]:
    """Ranks and numbers of documents for some queries; judgements are the last list."""
    joined, judged = aligned.join(*block).split_last()
    ids, offsets = joined.entry_docs().ranks(), joined.entry_offsets
    found = np.zeros((len(fusions), judged.size), np.int64)
    for own, scores in zip(found, _all_scores(joined, fusions), strict=True):
        kernels.ranks(scores, ids, offsets, judged.of_entry, own)
    return np.ascontiguousarray(found.T), np.diff(offsets)


def _all_scores(joined: Joined, fusions: Iterable[Fusion]) -> Iterator[Floats]:
    """The scores of all entries under each fusion; what only weights change is kept."""
    known: dict[Fusion, Floats] = {}
    for fusion in fusions:
        plain = fusion.without_weights()
        if plain not in known:  # only the last: a table for each k would not fit
            known = {plain: fusion.table(joined)}
        yield fusion.scores(joined, known[plain])


def fuse_tops(runs: Sequence[Run], fusions: Sequence[Fusion], depth: int) -> list[Run]:
    """Fuse runs in several ways, for the first few documents of each list; they are joined once."""
    _check(runs, fusions)
    aligned = Aligned.of(runs)
    work = partial(_top_block, aligned, list(fusions), depth)
    blocks = run_threads(work, list(aligned.blocks()))
    return [
        Run(
            fusion.how,
            aligned.queries,
            np.concatenate(([0], np.cumsum(np.concatenate([one[at][0] for one in blocks])))),
            Ids.stack([one[at][1] for one in blocks]),
            np.concatenate([one[at][2] for one in blocks]),
        )
        for at, fusion in enumerate(fusions)
    ]


def _top_block(
    aligned: Aligned, fusions: list[Fusion], depth: int, block: tuple[int, int]
) -> list[tuple[Ints, Ids, Floats]]:
    joined = aligned.join(*block)
    docs, offsets = joined.entry_docs(), joined.entry_offsets
    ids = docs.ranks()
    tops = []
    for scores in _all_scores(joined, fusions):
        found = np.full((len(offsets) - 1, depth), -1, np.int32)
        kernels.best(scores, ids, offsets, found)
        entries = found[found >= 0]
        tops.append(((found >= 0).sum(axis=1), docs.take(entries), scores[entries]))
    return tops
