"""The bias of estimation methods: a collection is divided into a sample and unseen documents.

In every draw a share of the documents is the sample. The system is tuned on it; its score on the
unseen documents, each scored as if it were added to the sample, is the truth. Every method uses the
sample alone. Its bias is the mean of estimate − truth over the draws.

Draws are made in turns: the documents are shuffled once and cut into as many parts as fit, and each
part is the sample in its turn. Documents that are easy by chance in one draw are on the other side
in the next, so the bias is known far more precisely than from as many independent draws.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
from pydantic import Field, InstanceOf

from heldout.data.parallel import stream_threads
from heldout.errors import InputError
from heldout.experiment.documents.candidates import choose_in_folds
from heldout.experiment.documents.estimates import PRO, fold_values, per_fold, resized_means
from heldout.experiment.documents.extrapolate import check_extrapolation
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.documents.uncertainty import SAME_SIZE, document_spread, interval
from heldout.measure.base import Measure  # noqa: TC001 - pydantic reads it
from heldout.resample.groups import grouped_places
from heldout.resample.plan import FoldCount, Repeats, Seed, checked
from heldout.retrieve.sides import Side, seen_side
from heldout.retrieve.statistics import cell_statistics
from heldout.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from heldout.data.words import Flags, Floats, Ints
    from heldout.experiment.documents.candidates import Candidates
    from heldout.retrieve.kernels.types import Numbers

    _Mean = tuple[int, int, str, float, float]
    _Query = tuple[int, int, str, float, float, float]
    _Sample = tuple[list[_Mean], bool | None, list[_Query], int]

Tuning = Literal["fixed", "nested", "pre-split"]
"""``nested``: chosen on each training side. ``pre-split``: chosen once on the whole sample before
it is divided into folds, so that held-out documents influence it (it leaks; for old studies)."""

UNMATCHED = "pooled-unmatched"


@checked
class StudySettings:
    """The settings of a study."""

    measure: InstanceOf[Measure]  # to compute and to tune for
    fraction: Annotated[float, Field(gt=0, lt=1)] = 0.5  # the share of the documents in the sample
    draws: Annotated[int, Field(ge=2)] = 200  # how often the documents are divided, see `turns`
    sets: Repeats = 1  # disjoint samples that the documents of a draw are cut into
    folds: FoldCount = 5  # of each sample
    tuning: Tuning = "nested"
    replicates: int = 200  # for the interval of the default method; 0: no interval
    level: float = 0.95
    seed: Seed = 0

    def __post_init__(self) -> None:
        check_measures([self.measure])

    @property
    def turns(self) -> int:
        """Return the number of draws per order of the documents; 1 if two rounds do not fit."""
        turns = int(1 / self.fraction + 0.01)  # a sixth may be given as .1667
        return turns if self.draws >= 2 * turns else 1


@dataclass(frozen=True, slots=True)
class BiasRow:
    """The accuracy of one estimation method."""

    estimator: str
    bias: float  # mean of estimate − truth over the draws
    se: float  # its standard error
    rmse: float  # root of the mean square of the differences
    coverage: float | None  # share of the intervals that include the truth; None: no intervals
    mean: float
    truth: float
    default: bool  # whether it is the default method
    coverage_se: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BiasStudy(Shown):
    """The result of a study."""

    settings: StudySettings
    rows: tuple[BiasRow, ...]  # one per estimation method
    sample_size: int
    target_size: int  # documents of the unseen side
    means: tuple[_Mean, ...]  # draw, set, method, estimate, truth
    queries: tuple[_Query, ...]  # of the first draw: set, number, method, estimate, truth, Pro10
    left_out: float  # mean number of queries per draw without a relevant document in the sample
    system: str = ""  # the model, with its parameters or the number of its settings
    covered: tuple[bool, ...] = ()  # whether the interval of each draw and set includes the truth

    def to_dict(self) -> list[dict[str, Any]]:
        """Return one record per method, with the settings of the study in each."""
        settings, names = self.settings, ("fraction", "draws", "sets", "folds", "seed")
        shared = {
            "system": self.system,
            "measure": str(settings.measure),
            "tuning": settings.tuning,
            **{name: getattr(settings, name) for name in names},
            "sample_size": self.sample_size,
            "target_size": self.target_size,
            "queries_left_out": self.left_out,
            "estimand": "these queries on new documents",
        }
        return [{**asdict(row), **shared} for row in self.rows]

    def to_frame(self) -> pl.DataFrame:
        """Return the same as a frame."""
        import polars as pl  # slow to import

        return pl.DataFrame(self.to_dict())


def bias_study(
    candidates: Candidates,
    settings: StudySettings,
    progress: Callable[[int, int], None] | None = None,
    *,
    groups: Ints | None = None,
) -> BiasStudy:
    """Compare every estimation method with the truth; `groups` stay in one fold, or unseen."""
    if settings.tuning == "fixed" and len(candidates) > 1:
        raise InputError(f"nothing is tuned, but there are {len(candidates)} settings: give one")
    n = candidates.index.n_documents
    size = int(n * settings.fraction) // settings.sets
    target = n - int(n * settings.fraction)
    if size < 2 * settings.folds or target < 1:
        raise InputError(
            f"{n} documents at a fraction of {settings.fraction:g} in {settings.sets} sets leave "
            f"{size} to a sample and {target} unseen: too few for {settings.folds} folds"
        )
    if abs(target / size - 1) > SAME_SIZE:
        check_extrapolation([settings.measure])
    places = [(draw, number) for draw in range(settings.draws) for number in range(settings.sets)]
    samples: list[_Sample] = []
    for drawn in stream_threads(
        lambda place: _draw(candidates, settings, size, groups, *place), places
    ):
        samples.append(drawn)
        if progress:
            progress(len(samples), len(places))
    each, hits, queries, left_out = zip(*samples, strict=True)
    means = [mean for sample in each for mean in sample]
    covered = tuple(hit for hit in hits if hit is not None)
    shuffles = np.array([draw // settings.turns for draw, _ in places])
    rows = []
    for name in dict.fromkeys(name for _, _, name, _, _ in means):
        values, truths = np.array([mean[3:] for mean in means if mean[2] == name]).T
        error, covers = values - truths, covered if name == "pooled" else ()
        rows.append(
            BiasRow(
                name,
                float(error.mean()),
                standard_error(error, shuffles),
                float(np.sqrt((error**2).mean())),
                float(np.mean(covers)) if covers else None,
                float(values.mean()),
                float(truths.mean()),
                name == "pooled",
                coverage_error(covers, shuffles, settings.level) if covers else None,
            )
        )
    models = candidates.models
    order = ["pooled", UNMATCHED, "training", "per-fold", "per-fold-zero"]
    rows.sort(key=lambda row: order.index(row.estimator) if row.estimator in order else len(order))
    return BiasStudy(
        settings,
        tuple(rows),
        size,
        target,
        tuple(means),
        tuple(row for sample in queries for row in sample),
        float(np.mean(left_out)),
        str(models[0]) if len(models) == 1 else f"{models[0].name}, {len(models)} settings",
        covered,
    )


def _division(
    n: int, settings: StudySettings, size: int, draw: int, number: int, groups: Ints | None = None
) -> tuple[Numbers, Flags]:
    """Return the folds of the sample (−1: not in it), and which documents are unseen."""
    shuffle, turn = divmod(draw, settings.turns)
    order = np.random.default_rng([settings.seed, shuffle]).permutation(n)
    seen = int(n * settings.fraction)
    place = grouped_places(order, np.arange(n) if groups is None else groups)
    place = (place - turn * seen) % n  # of a document, or of the first of its group
    sample = (place >= number * size) & (place < (number + 1) * size)
    folds = np.full(n, -1, np.int32)
    _, nth = np.unique(place[sample], return_inverse=True)
    folds[sample] = nth % settings.folds
    return folds, place >= seen


def unseen_values(
    candidates: Candidates, sample: Flags, unseen: Flags, value: int, measure: Measure
) -> Floats:
    """Return values per query on unseen documents, scored with the statistics of the sample."""
    cells = np.where(sample, 0, -1).astype(np.int32)
    known = cell_statistics(candidates.index, candidates.vocabulary, cells, 1)
    ranked = np.where(unseen, 0, -1).astype(np.int32)
    # Likelihoods as in a pooled ranking: a word that only this document has must count in both, or
    # the truth would be that of a different system.
    side = Side(ranked, np.zeros_like(ranked), 1, known, added=True, relative=True)
    values: Floats = candidates.evaluate(side, [measure], [value])[0, 0]
    return values


def _draw(
    candidates: Candidates,
    settings: StudySettings,
    size: int,
    groups: Ints | None,
    draw: int,
    number: int,
) -> _Sample:
    """Return the means, whether the default interval includes the truth, queries, and left out."""
    n, measure, table = candidates.index.n_documents, settings.measure, candidates.table
    folds, unseen = _division(n, settings, size, draw, number, groups)
    sample, target = folds >= 0, n - int(n * settings.fraction)
    ratio, seed = target / size, settings.seed + draw
    each, final = choose_in_folds(candidates, folds, settings.folds, measure)
    if settings.tuning == "pre-split":
        each = [final] * settings.folds
    chosen = [choice.number for choice in each]
    truth = unseen_values(candidates, sample, unseen, final.number, measure)
    pooled = pool(candidates, folds, chosen, final.number, candidates.depth)
    counted = sample[table.documents]
    merged = measure_lists(table, pooled, counted, [measure], candidates.depth)[0]
    for side, values in {"unseen": truth, "seen": merged}.items():
        if np.isnan(values).all():
            raise InputError(
                f"draw {draw}: no query has a relevant document on the {side} side; choose another "
                "fraction, fewer sets, or a collection with more judgements"
            )
    everything = seen_side(candidates.index, candidates.vocabulary, sample)
    training = candidates.evaluate(everything, [measure], [final.number])[0, 0]
    per_query = {"training": training, "pooled": merged}
    parts = fold_values(candidates, folds, chosen, [measure], target)
    for name in ("per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff"):
        per_query[name] = per_fold(parts, name)[0]
    estimates = {name: float(np.nanmean(values)) for name, values in per_query.items()}
    if abs(ratio - 1) > SAME_SIZE:
        estimates[UNMATCHED] = estimates["pooled"]
        resized = resized_means(candidates, folds, chosen, pooled, [measure], ratio, seed=seed)
        estimates["pooled"] = float(resized[0])
    expected, covered = float(np.nanmean(truth)), None
    if settings.replicates:
        (spread,) = document_spread(
            table,
            pooled.documents,
            np.flatnonzero(sample).astype(np.int32),
            [measure],
            merged[None],
            depth=candidates.depth,
            replicates=settings.replicates,
            seed=seed,
            ratio=ratio,
            groups=groups,
        )
        low, high = interval(
            estimates["pooled"], spread, "documents", level=settings.level, bounds=measure.range
        )
        covered = low <= expected <= high
    shown = []
    if draw == 0:  # the figures show each query once
        pro = np.minimum(table.relevant(counted), PRO) / PRO
        shown = [
            (number, query, name, float(values[query]), float(truth[query]), float(pro[query]))
            for name, values in per_query.items()
            for query in np.flatnonzero(np.isfinite(values) & np.isfinite(truth)).tolist()
        ]
    truths = {"per-fold-zero": float(np.nan_to_num(truth).mean())}  # as the method defines it
    means = [
        (draw, number, name, estimate, truths.get(name, expected))
        for name, estimate in estimates.items()
    ]
    return means, covered, shown, int(np.isnan(merged).sum())


def standard_error(error: Floats, shuffles: NDArray[np.int64]) -> float:
    """Return the standard error of a mean; draws with one order of the documents are a cluster."""
    totals = np.bincount(shuffles, error - error.mean())
    return float(np.sqrt((totals**2).sum() * len(totals) / (len(totals) - 1)) / len(error))


def coverage_error(covers: Sequence[bool], shuffles: NDArray[np.int64], level: float) -> float:
    """Return the standard error of the share of intervals that include the truth.

    >>> round(coverage_error([True] * 6, np.arange(6), 0.95), 3)
    0.089
    """
    # Not below that at exactly this level: six hits of six do not show 100 % without error.
    nominal = np.sqrt(level * (1 - level) / len(covers))
    return float(max(nominal, standard_error(np.array(covers, np.float64), shuffles)))
