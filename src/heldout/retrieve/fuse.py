"""Fusion: one ranked list per query from the ranked lists of several systems.

A method turns scores or ranks of each run into contributions, and combines the contributions of a
document. Adding a method is a row in `METHODS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.compiled import announce
from heldout.data.given import as_run, as_runs
from heldout.data.ids import id_numbers, stack_ids
from heldout.data.notes import count_of
from heldout.data.ordering import put_in_order
from heldout.data.parallel import run_threads
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.retrieve.contributions import NORMS, borda_points, check_norm, no_absent, normalise
from heldout.retrieve.joined import Aligned
from heldout.retrieve.kernels import fusion as kernels

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.given import Runs
    from heldout.data.ids import IdColumn
    from heldout.data.run import Qrels, TiePolicy
    from heldout.data.words import Floats, Ints
    from heldout.retrieve.contributions import Contributions
    from heldout.retrieve.joined import Joined

__all__ = ["METHODS", "Fusion", "fuse", "judged_ranks"]

How = Literal[
    *("rrf", "wsum", "combsum", "combmnz", "combmax", "combmin", "combanz", "combmed"),
    *("isr", "logisr", "bordafuse", "condorcet", "rbc"),
]
Norm = Literal["minmax", "max", "sum", "zscore", "rank", "borda", "none"]


class Method(NamedTuple):
    """A way to combine runs.

    Parameters
    ----------
    combination
        How contributions are combined: a code of the compiled loop.
    of_ranks
        What a rank is worth, for methods that use ranks alone; None: scores are normalised.
    parameters
        Its parameters beside the normalisation.
    summary, policy
        What it computes, and how documents that a run lacks are treated.
    """

    combination: int
    of_ranks: Callable[[Floats, Fusion], Floats] | None
    parameters: tuple[str, ...]
    summary: str
    policy: str

    @property
    def uses_scores(self) -> bool:
        """Whether scores count, not ranks alone."""
        return self.of_ranks is None


def _reciprocal(ranks: Floats, fusion: Fusion) -> Floats:
    return 1 / (fusion.k + ranks)


def _inverse_square(ranks: Floats, fusion: Fusion) -> Floats:
    del fusion
    return 1 / ranks**2


def _rank_biased(ranks: Floats, fusion: Fusion) -> Floats:
    phi = 0.0 if fusion.phi is None else fusion.phi
    return (1 - phi) * phi ** (ranks - 1)


def _unused(ranks: Floats, fusion: Fusion) -> Floats:
    """For methods that count points or votes: they need more than the rank."""
    del fusion
    return ranks


_ZERO: Final = "a document that a run lacks gets 0 from it"
_HAVING: Final = "only runs that have a document count"
_SHARED: Final = "documents that a run lacks share its remaining points equally"
_BELOW: Final = "a document that a run lacks is ranked below all that it has"

METHODS: Final[dict[str, Method]] = {
    "rrf": Method(kernels.SUM, _reciprocal, ("k",), "Σ 1 / (k + rank)", _ZERO),
    "wsum": Method(kernels.SUM, None, ("weights",), "Σ weight · score", _ZERO),
    "combsum": Method(kernels.SUM, None, (), "sum of the scores", _ZERO),
    "combmnz": Method(kernels.MNZ, None, (), "sum × number of runs that have it", _HAVING),
    "combmax": Method(kernels.MAX, None, (), "highest score", _HAVING),
    "combmin": Method(kernels.MIN, None, (), "lowest score", _HAVING),
    "combanz": Method(kernels.ANZ, None, (), "mean of the scores", _HAVING),
    "combmed": Method(kernels.MED, None, (), "median of the scores", _HAVING),
    "isr": Method(
        kernels.MNZ, _inverse_square, (), "n · Σ 1 / rank², n runs that have it", _HAVING
    ),
    "logisr": Method(kernels.LOGMNZ, _inverse_square, (), "log(n) · Σ 1 / rank²", _HAVING),
    "bordafuse": Method(kernels.SUM, _unused, (), "Borda count", _SHARED),
    "condorcet": Method(kernels.SUM, _unused, (), "sorted by majority of the runs", _BELOW),
    "rbc": Method(
        kernels.SUM, _rank_biased, ("phi",), "rank-biased centroid, Σ (1 − φ) φ^(rank − 1)", _ZERO
    ),
}
"""Fusion methods by name."""

_SPELLINGS: Final = {
    **{name.removeprefix("comb"): name for name in METHODS},  # as ranx has them
    **{name: name for name in METHODS},
    "borda": "bordafuse",
}
_NORM_SPELLINGS: Final = {**{name: name for name in NORMS}, "zmuv": "zscore", "z": "zscore"}


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fusion method with its parameters, checked; see `fuse`."""

    how: str = "rrf"
    norm: str | None = None
    weights: tuple[float, ...] | None = None
    k: float = 60
    phi: float | None = None

    def __post_init__(self) -> None:
        how = _spelled(self.how, _SPELLINGS, "how", METHODS)
        method = METHODS[how]
        object.__setattr__(self, "how", how)
        object.__setattr__(self, "norm", _checked_norm(self.norm, how))
        if self.weights is not None and "weights" not in method.parameters:
            raise InputError(f"{how} has no weights: use wsum")
        if self.phi is None and "phi" in method.parameters:
            raise InputError(f"{how} needs phi between 0 and 1, such as phi=0.9")
        if self.phi is not None:
            if "phi" not in method.parameters:
                raise InputError(f"{how} has no phi: it is a parameter of rbc")
            _check_number("phi", self.phi, 0, 1)
        _check_number("k", self.k, 0, math.inf)
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights))

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
            raise InputError(f"wsum needs a weight per run, such as weights={example}")
        if self.weights is not None and len(self.weights) != count:
            given = count_of(len(self.weights), "weight")
            raise InputError(f"{given} for {count} runs: give one per run")

    def policy(self) -> str:
        """Say how documents that a run lacks are treated."""
        return _SHARED if self.norm == "borda" else self.method.policy

    def __str__(self) -> str:
        """Method and parameters, such as ``wsum(norm=minmax, weights=0.3/0.7)``."""
        shown = [] if self.norm is None else [f"norm={self.norm}"]
        if self.weights is not None:
            shown.append("weights=" + "/".join(f"{one:g}" for one in self.weights))
        shown += [
            f"{name}={getattr(self, name):g}"
            for name in ("k", "phi")
            if name in self.method.parameters
        ]
        return f"{self.how}({', '.join(shown)})" if shown else self.how

    def weights_of(self, count: int) -> Floats:
        """The weight of each run."""
        return np.ones(count) if self.weights is None else np.array(self.weights)

    def contributions(self, joined: Joined) -> Contributions:
        """What each row gives to its document, and each run to documents that it lacks."""
        method = self.method
        if self.how == "bordafuse":
            return borda_points(joined)
        if self.norm is not None:
            return normalise(self.norm, joined)
        values = method.of_ranks(joined.ranks().astype(np.float64), self)  # type: ignore[misc]
        return values, no_absent(joined)

    def without_weights(self) -> Fusion:
        """The same; all that contributions depend on."""
        return replace(self, weights=None)


def _spelled(given: Any, spellings: dict[str, str], what: str, known: Iterable[str]) -> str:
    plain = str(given).lower().replace("-", "").replace("_", "")
    if plain not in spellings:
        raise InputError(f"{what}={given!r}: expected one of {', '.join(known)}")
    return spellings[plain]


def _checked_norm(norm: str | None, how: str) -> str | None:
    if not METHODS[how].uses_scores:
        if norm is not None:
            raise InputError(f"{how} uses ranks alone: leave out norm={norm}")
        return None
    return "minmax" if norm is None else _spelled(norm, _NORM_SPELLINGS, "norm", NORMS)


def _check_number(name: str, value: Any, low: float, high: float) -> None:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not low <= value <= high or math.isinf(value):
        limits = f"between {low} and {high}" if math.isfinite(high) else f"of at least {low}"
        raise InputError(f"{name}={value!r}: expected a number {limits}")


def _checked_weights(weights: Any) -> tuple[float, ...]:
    listed = [weights] if isinstance(weights, int | float) else weights
    if not isinstance(listed, Sequence | np.ndarray) or isinstance(listed, str):
        raise InputError(f"weights={weights!r}: expected a number per run")
    for one in listed:
        _check_number("weights", one, 0, math.inf)
    if not any(listed):
        raise InputError("all weights are 0: nothing would be ranked")
    return tuple(float(one) for one in listed)


def fuse(
    runs: Runs,
    how: How | str = "rrf",
    *,
    norm: Norm | str | None = None,
    weights: Sequence[float] | None = None,
    k: float = 60,
    phi: float | None = None,
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
        The method. Of ranks: ``rrf`` (reciprocal rank fusion), ``isr``, ``logisr``, ``bordafuse``,
        ``condorcet``, ``rbc``. Of normalised scores: ``wsum``, ``combsum``, ``combmnz``,
        ``combmax``, ``combmin``, ``combanz``, ``combmed``.
    norm
        How scores are normalised per query: ``minmax`` (the default), ``max``, ``sum``, ``zscore``,
        ``rank``, ``borda`` or ``none``; only for methods that use scores.
    weights
        For ``wsum``: one number per run. Only their ratios matter for the ranking.
    k
        For ``rrf``: a higher value lowers the influence of the first ranks.
    phi
        For ``rbc``: between 0 and 1; a higher value raises the influence of deep ranks.
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
    Documents that a run lacks get 0 from it in ``rrf``, ``wsum``, ``combsum`` and ``rbc``; the
    other ``comb`` methods and ``isr`` count only the runs that have the document; Borda shares the
    remaining points of a run among them; Condorcet ranks them below all that the run has.

    References
    ----------
    * Fox & Shaw (1994), Combination of multiple searches (the ``comb`` methods).
    * Cormack, Clarke & Büttcher (2009), Reciprocal rank fusion outperforms Condorcet and individual
      rank learning methods.
    * Mourão, Martins & Magalhães (2015), Multimodal medical information retrieval with unsupervised
      rank fusion (ISR, log-ISR).
    * Aslam & Montague (2001), Models for metasearch (Borda); Montague & Aslam (2002), Condorcet
      fusion for improved retrieval.
    * Bailey, Moffat, Scholer & Thomas (2017), Retrieval consistency in the presence of query
      variations (RBC).

    Examples
    --------
    >>> bm25 = {"q1": {"a": 12.0, "b": 9.0, "c": 2.0}}
    >>> dense = {"q1": {"b": 0.9, "d": 0.7, "a": 0.5}}
    >>> fuse([bm25, dense], "wsum", weights=[0.5, 0.5]).to_dict()
    {'q1': {'b': 0.85, 'a': 0.5, 'd': 0.25, 'c': 0.0}}
    >>> list(fuse([bm25, dense]).to_dict()["q1"])
    ['b', 'a', 'd', 'c']
    """
    fusion = Fusion(how, norm, None if weights is None else tuple(weights), k, phi)
    parts = [as_run(one) for one in as_runs(runs)]
    if depth is not None and (isinstance(depth, bool) or depth < 1):
        raise InputError(f"depth={depth!r}: expected a positive integer")
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
    _check(runs, fusion)
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
        stack_ids([docs for _, docs, _ in blocks]),
        scores,
        ties,
    )


def _check(runs: Sequence[Run], fusion: Fusion) -> None:
    fusion.check_runs(len(runs))
    for run in runs:
        if fusion.norm is not None:
            check_norm(fusion.norm, run)
    announce("fusion", kernels.join, kernels.combine)


def _fuse_block(
    aligned: Aligned, fusion: Fusion, depth: int | None, ties: TiePolicy, block: tuple[int, int]
) -> tuple[Ints, IdColumn, Floats]:
    """Fuse some queries: how many documents each has, the documents, their scores."""
    joined = aligned.join(*block)
    docs, offsets = joined.entry_docs(), joined.entry_offsets
    scores = _scores(joined, fusion, fusion.contributions(joined), ties)
    put_in_order(scores, offsets, docs, ties)
    counts = np.diff(offsets)
    if depth is not None and (counts > depth).any():
        place = np.arange(len(scores)) - np.repeat(offsets[:-1], counts)
        keep = np.flatnonzero(place < depth)
        return np.minimum(counts, depth), docs.take(keep), scores[keep]
    return counts, docs, scores


def _scores(
    joined: Joined, fusion: Fusion, contributions: Contributions, ties: TiePolicy = "docid-desc"
) -> Floats:
    """The fused score of each entry."""
    scores = np.empty(len(joined))
    if fusion.how == "condorcet":
        order = np.arange(len(joined))
        if ties != "input":
            groups = np.repeat(
                np.arange(len(joined.entry_offsets) - 1), np.diff(joined.entry_offsets)
            )
            descending = ties == "docid-desc"
            order = joined.entry_docs().order(order, groups, descending=descending)
        kernels.majority(joined.row_of, joined.entry_offsets, order.astype(np.int32), scores)
        return scores
    values, absent = contributions
    weights = fusion.weights_of(len(joined.counts))
    combination = fusion.method.combination
    kernels.combine(
        joined.row_of, joined.entry_offsets, values, weights, absent, combination, scores
    )
    return scores


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
    for fusion in fusions:
        _check(runs, fusion)
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
    whole = aligned.join(*block)
    runs = len(aligned.lists) - 1
    ranked = (whole.row_of[:, :runs] >= 0).any(axis=1)
    joined = whole.first(runs)
    ids = id_numbers(joined.docs.take(joined.first_rows()))
    judged = whole.row_of[ranked, runs]
    first = int(whole.counts[:runs].sum())
    judged = np.where(judged >= 0, judged - first, -1).astype(np.int32)
    found = np.zeros((len(fusions), int(whole.counts[runs].sum())), np.int64)
    known: dict[Fusion, Contributions] = {}
    offsets = joined.entry_offsets
    for fusion, own in zip(fusions, found, strict=True):
        plain = fusion.without_weights()
        if plain not in known:
            known = {plain: fusion.contributions(joined)}
        scores = _scores(joined, fusion, known[plain])
        kernels.ranks(scores, ids, offsets, judged, own)
    return np.ascontiguousarray(found.T), np.diff(offsets)
