"""The bias of estimation methods: a collection is divided into a sample and unseen documents.

In every draw a share of the documents is the sample. The system is tuned on it; its score on the
unseen documents, each scored as if it were added to the sample, is the truth. Every method uses the
sample alone. Its bias is the mean of estimate − truth over the draws.

Draws are made in turns: the documents are shuffled once and cut into as many parts as fit, and each
part is the sample in its turn. Documents that are easy by chance in one draw are on the other side
in the next, so the bias is known far more precisely than from as many independent draws.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from heldout.data.parallel import stream_threads
from heldout.errors import InputError
from heldout.experiment.documents.choose_in_document_folds import choose_values
from heldout.experiment.documents.extrapolate import check_extrapolation, extrapolate
from heldout.experiment.documents.methods import fold_values, per_fold
from heldout.experiment.documents.pooling import pool
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.documents.uncertainty import SAME_SIZE, document_spread, interval
from heldout.measure.names import parse_measure
from heldout.notes import count_of
from heldout.resample.groups import grouped_places
from heldout.resample.plan import check_seed
from heldout.retrieve.sides import Side, seen_side
from heldout.retrieve.statistics import cell_statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.base import Measure

    Flags = NDArray[np.bool_]
    Floats = NDArray[np.float64]
    Groups = NDArray[np.int64]
    Numbers = NDArray[np.int32]

__all__ = [
    "BiasRow",
    "BiasStudy",
    "StudySettings",
    "Tuning",
    "bias_study",
    "coverage_error",
    "standard_error",
    "unseen_values",
]

Tuning = Literal["fixed", "nested", "pre-split"]
"""``nested``: chosen on each training side. ``pre-split``: chosen once on the whole sample before
it is divided into folds, so that held-out documents influence it (it leaks; for old studies)."""

_PRO = 10
UNMATCHED = "pooled-unmatched"


@dataclass(frozen=True, slots=True)
class StudySettings:
    """The settings of a study.

    Parameters
    ----------
    measure
        The measure to compute and to tune for.
    fraction
        The share of the documents in the sample.
    draws
        How often the documents are divided, see `turns`.
    sets
        Number of disjoint samples that the documents of a draw are cut into.
    folds
        Number of folds of each sample.
    tuning
        How parameters are chosen.
    replicates
        Replicates for the interval of the default method; 0: no interval.
    """

    measure: Measure
    fraction: float = 0.5
    draws: int = 200
    sets: int = 1
    folds: int = 5
    tuning: Tuning = "nested"
    replicates: int = 200
    level: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.fraction < 1:
            raise InputError(f"fraction {self.fraction:g}: expected a number between 0 and 1")
        if self.draws < 2:
            raise InputError(
                f"{count_of(self.draws, 'draw')}: at least 2 are needed for a standard error"
            )
        if self.sets < 1 or self.folds < 2:
            raise InputError("expected at least 1 set and 2 folds")
        if self.tuning not in get_args(Tuning):
            raise InputError(
                f"tuning={self.tuning!r}: expected one of {', '.join(get_args(Tuning))}"
            )
        check_seed(self.seed)
        object.__setattr__(
            self, "measure", parse_measure(self.measure, "ranking")
        )  # frozen, not yet made
        check_measures([self.measure])

    @property
    def turns(self) -> int:
        """Return the number of draws per order of the documents; 1 if two rounds do not fit."""
        turns = int(1 / self.fraction + 0.01)  # a sixth may be given as .1667
        return turns if self.draws >= 2 * turns else 1


@dataclass(frozen=True, slots=True)
class BiasRow:
    """The accuracy of one estimation method.

    Parameters
    ----------
    bias, se
        Mean of estimate − truth over the draws, and its standard error.
    rmse
        Root of the mean square of the differences.
    coverage
        Share of the intervals that include the truth; None: no intervals.
    default
        Whether it is the default method.
    coverage_se
        The standard error of `coverage`; see `coverage_error`.
    """

    estimator: str
    bias: float
    se: float
    rmse: float
    coverage: float | None
    mean: float
    truth: float
    default: bool
    coverage_se: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class BiasStudy:
    """The result of a study.

    Parameters
    ----------
    rows
        One per estimation method.
    sample_size, target_size
        Number of documents of a sample, and of the unseen side.
    means
        (draw, set, method, estimate, truth) of every draw.
    queries
        (set, query number, method, estimate, truth, Pro10) of the first draw.
    left_out
        The mean number of queries per draw without a relevant document in the sample.
    covered
        For every method with an interval: whether that of each draw and set includes the truth,
        in the order of `means`.
    """

    settings: StudySettings
    rows: tuple[BiasRow, ...]
    sample_size: int
    target_size: int
    means: tuple[tuple[int, int, str, float, float], ...]
    queries: tuple[tuple[int, int, str, float, float, float], ...]
    left_out: float
    covered: Mapping[str, tuple[bool, ...]] = field(default_factory=dict)

    def _repr_html_(self) -> str:
        """Show the methods as a table and a chart in a notebook."""
        from heldout.notebook import charts, table_html
        from heldout.report.study import study_table  # the report reads results

        return table_html(study_table(self), charts(self))


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """One sample: estimates, truths, and whether intervals include them."""

    estimates: dict[str, float]
    truth: float
    truth_zero: float
    covered: dict[str, bool] = field(default_factory=dict)
    queries: tuple[tuple[int, str, float, float, float], ...] = ()
    left_out: int = 0

    def truth_for(self, estimator: str) -> float:
        """Return the truth; `per-fold-zero` counts queries without relevant documents as 0."""
        return self.truth_zero if estimator == "per-fold-zero" else self.truth


def bias_study(
    candidates: Candidates,
    settings: StudySettings,
    progress: Callable[[int, int], None] | None = None,
    *,
    groups: Groups | None = None,
) -> BiasStudy:
    """Compare every estimation method with the truth.

    Parameters
    ----------
    candidates
        The parameter settings of the system; a single one: a fixed system.
    progress
        Called with the number of finished draws and of all draws.
    groups
        The group of each document (`Splits.groups`): a group is in one fold of the sample,
        or unseen. Sizes then differ by at most the size of a group.
    """
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
    tasks = [(draw, number) for draw in range(settings.draws) for number in range(settings.sets)]
    done: list[_Drawn] = []
    for found in stream_threads(
        lambda task: _draw(candidates, settings, size, groups, *task), tasks
    ):
        done.append(found)
        if progress:
            progress(len(done), len(tasks))
    return _summary(settings, tasks, done, size, target)


def _division(
    n: int, settings: StudySettings, size: int, draw: int, one: int, groups: Groups | None = None
) -> tuple[Numbers, Flags]:
    """Return the folds of the sample (−1: not in it), and which documents are unseen."""
    shuffle, turn = divmod(draw, settings.turns)
    generator = np.random.default_rng([settings.seed, shuffle])
    seen = int(n * settings.fraction)
    order = generator.permutation(n)
    place = grouped_places(order, np.arange(n) if groups is None else groups)
    place = (place - turn * seen) % n  # of a document, or of the first of its group
    sample = (place >= one * size) & (place < (one + 1) * size)
    folds = np.full(n, -1, np.int32)
    _, number = np.unique(place[sample], return_inverse=True)
    folds[sample] = number % settings.folds
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
    found: Floats = candidates.evaluate(side, [measure], [value])[0, 0]
    return found


def _draw(
    candidates: Candidates,
    settings: StudySettings,
    size: int,
    groups: Groups | None,
    draw: int,
    one: int,
) -> _Drawn:
    n, measure = candidates.index.n_documents, settings.measure
    folds, unseen = _division(n, settings, size, draw, one, groups)
    sample, target = folds >= 0, n - int(n * settings.fraction)
    choices = choose_values(candidates, folds, settings.folds, measure)
    chosen = choices.chosen
    if settings.tuning == "pre-split":
        chosen = (choices.final,) * settings.folds
    truth = unseen_values(candidates, sample, unseen, choices.final, measure)
    table, depth = candidates.table, candidates.depth
    counted = sample[table.documents]
    pooled = pool(candidates, folds, chosen, choices.final, depth)
    parts = fold_values(candidates, folds, chosen, [measure], target)
    training = candidates.evaluate(
        seen_side(candidates.index, candidates.vocabulary, sample), [measure], [choices.final]
    )[0, 0]
    merged = table.evaluate(pooled.ranks[:, None], counted, pooled.retrieved, [measure], depth)[
        0, 0
    ]
    if np.isnan(truth).all() or np.isnan(merged).all():
        side = "unseen" if np.isnan(truth).all() else "seen"
        raise InputError(
            f"draw {draw}: no query has a relevant document on the {side} side; choose another "
            "fraction, fewer sets, or a collection with more judgements"
        )
    per_query = {"training": training, "pooled": merged}
    per_query |= {
        name: per_fold(parts, name)[0]
        for name in ("per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff")
    }
    estimates = {name: float(np.nanmean(values)) for name, values in per_query.items()}
    if abs(target / size - 1) > SAME_SIZE:
        estimates[UNMATCHED] = estimates["pooled"]
        estimates["pooled"] = float(
            extrapolate(
                table.rows(pooled.ranks, counted),
                table.n_queries,
                target / size,
                [measure],
                n_documents=size,
                depth=depth,
                seed=settings.seed + draw,
                answered=table.answered(),
            )[0]
        )
    expected = float(np.nanmean(truth))
    covered = {}
    if settings.replicates:
        spread = document_spread(
            table,
            pooled.documents,
            np.flatnonzero(sample).astype(np.int32),
            [measure],
            merged[None],
            depth=depth,
            replicates=settings.replicates,
            seed=settings.seed + draw,
            ratio=target / size,
            groups=groups,
        )[0]
        low, high = interval(
            estimates["pooled"], spread, "documents", level=settings.level, bounds=measure.range
        )
        covered["pooled"] = low <= expected <= high
    return _Drawn(
        estimates,
        expected,
        float(np.nan_to_num(truth).mean()),
        covered,
        _figure_rows(per_query, truth, table.relevant(counted)) if draw == 0 else (),
        int(np.isnan(merged).sum()),
    )


def _figure_rows(
    per_query: dict[str, Floats], truth: Floats, relevant: NDArray[np.int64]
) -> tuple[tuple[int, str, float, float, float], ...]:
    """Return per-query differences with Pro10, for the figures of the study."""
    pro = np.minimum(relevant, _PRO) / _PRO
    return tuple(
        (query, name, float(values[query]), float(truth[query]), float(pro[query]))
        for name, values in per_query.items()
        for query in np.flatnonzero(np.isfinite(values) & np.isfinite(truth)).tolist()
    )


def _summary(
    settings: StudySettings,
    tasks: list[tuple[int, int]],
    done: list[_Drawn],
    size: int,
    target: int,
) -> BiasStudy:
    rows = []
    shuffles = np.array([draw // settings.turns for draw, _ in tasks])
    for name in done[0].estimates:
        truths = np.array([one.truth_for(name) for one in done])
        values = np.array([one.estimates[name] for one in done])
        error = values - truths
        covers = [one.covered[name] for one in done if name in one.covered]
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
    order = ["pooled", UNMATCHED, "training", "per-fold", "per-fold-zero"]
    rows.sort(key=lambda row: order.index(row.estimator) if row.estimator in order else len(order))
    means = tuple(
        (*task, name, value, one.truth_for(name))
        for task, one in zip(tasks, done, strict=True)
        for name, value in one.estimates.items()
    )
    queries = tuple(
        (task[1], *row) for task, one in zip(tasks, done, strict=True) for row in one.queries
    )
    left_out = float(np.mean([one.left_out for one in done]))
    covered = {name: tuple(one.covered[name] for one in done) for name in done[0].covered}
    return BiasStudy(settings, tuple(rows), size, target, means, queries, left_out, covered)


def standard_error(error: Floats, shuffles: NDArray[np.int64]) -> float:
    """Return the standard error of a mean; draws with one order of the documents are a cluster."""
    totals = np.bincount(shuffles, error - error.mean())
    return float(np.sqrt((totals**2).sum() * len(totals) / (len(totals) - 1)) / len(error))


def coverage_error(covers: Sequence[bool], shuffles: NDArray[np.int64], level: float) -> float:
    """Return the standard error of the share of intervals that include the truth.

    It is at least that of intervals with exactly this level: six hits of six do not show a
    coverage of 100 % without error.

    Examples
    --------
    >>> round(coverage_error([True] * 6, np.arange(6), 0.95), 3)
    0.089
    """
    nominal = np.sqrt(level * (1 - level) / len(covers))
    return float(max(nominal, standard_error(np.array(covers, np.float64), shuffles)))
