"""Learning curve: the held-out score for growing training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, overload

import numpy as np

from heldout.errors import InputError
from heldout.experiment.documents.estimate import mean_of
from heldout.experiment.documents.rank_table import check_measures
from heldout.experiment.studies.bias import unseen_values
from heldout.measure.names import parse_measure
from heldout.notes import count_of
from heldout.resample.groups import grouped_places
from heldout.resample.plan import check_seed
from heldout.retrieve.sides import seen_side, whole_side

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from heldout.experiment.documents.candidates import Candidates
    from heldout.measure.base import Measure

    Floats = NDArray[np.float64]

__all__ = ["CurvePoint", "LearningCurve", "learning_curve"]

_UNITS: Final = {"document": "documents", "query": "queries"}


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """The held-out score for one size of the training data.

    Parameters
    ----------
    share, size
        Share and size of the training data.
    train, held_out, se
        Mean scores over the draws on training and held-out data, and the standard error of the
        latter over the draws.
    """

    share: float
    size: int
    train: float
    held_out: float
    se: float


@dataclass(frozen=True, slots=True, eq=False)
class LearningCurve(Sequence[CurvePoint]):
    """The points of a learning curve, with what it shows.

    Parameters
    ----------
    points
        In the order of the shares.
    measure
        The measure.
    by
        What was held out.
    """

    points: tuple[CurvePoint, ...]
    measure: str
    by: Literal["document", "query"]

    def __len__(self) -> int:
        return len(self.points)

    @overload
    def __getitem__(self, at: int) -> CurvePoint: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[CurvePoint, ...]: ...

    def __getitem__(self, at: int | slice) -> CurvePoint | tuple[CurvePoint, ...]:
        return self.points[at]

    def _repr_html_(self) -> str:
        """Show the points as a table and a chart in a notebook."""
        from heldout.notebook import charts, table_html
        from heldout.report.study import curve_table  # the report reads results

        unit = {"document": "documents", "query": "queries"}[self.by]
        return table_html(curve_table(self.points, unit), charts(self))


def learning_curve(
    candidates: Candidates,
    measure: str | Measure,
    shares: Sequence[float],
    *,
    by: Literal["document", "query"] = "document",
    test: float = 0.2,
    draws: int = 50,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
    groups: NDArray[np.int64] | None = None,
) -> LearningCurve:
    """Tune on growing parts of the training data, and evaluate on the same held-out data.

    Parameters
    ----------
    shares
        Shares of the training data, each above 0 and at most 1.
    by
        What is held out: documents, or queries.
    test
        The held-out share.
    draws
        Number of random divisions.
    groups
        The group of each document, if documents are held out: a group is in the training data or
        held out.
    """
    if not shares or any(not 0 < share <= 1 for share in shares):
        raise InputError("expected shares above 0 and at most 1, such as 0.1, 0.25, 0.5, 1")
    if not 0 < test < 1:
        raise InputError(f"held-out share {test:g}: expected a number between 0 and 1")
    if draws < 2:
        raise InputError(f"{count_of(draws, 'draw')}: at least 2 are needed for a standard error")
    check_seed(seed)
    measure = parse_measure(measure, "ranking")
    check_measures([measure])
    make = (
        _DocumentDraw(candidates, measure) if by == "document" else _QueryDraw(candidates, measure)
    )
    n = make.units
    if n < 2:
        units = count_of(n, by, _UNITS[by])
        raise InputError(f"{units} with a relevant document: at least 2 are needed")
    codes = groups if groups is not None and by == "document" else np.arange(n)
    kept_out = max(1, round(n * test))
    results = np.full((len(shares), draws, 2), np.nan)
    for draw in range(draws):
        order = np.random.default_rng([seed, draw]).permutation(n)
        first = grouped_places(order, codes)
        order = order[np.argsort(first[order], kind="stable")]
        begins = first[order]  # a group goes where its first unit is
        held = order[begins < kept_out]
        rest, begins = order[len(held) :], begins[len(held) :]
        if not len(rest):
            raise InputError("a group of documents is so large that no training data are left")
        for place, share in enumerate(shares):
            seen = rest[begins < begins[0] + max(1, round(len(rest) * share))]
            results[place, draw] = make.score(seen, held)
        if progress:
            progress(draw + 1, draws)
    kept = n - kept_out
    points = tuple(
        _point(share, max(1, round(kept * share)), own, by)
        for share, own in zip(shares, results, strict=True)
    )
    return LearningCurve(points, str(measure), by)


def _point(share: float, size: int, scores: Floats, by: str) -> CurvePoint:
    """Return the point of one size, over the draws with relevant documents on both sides."""
    train, held_out = scores[np.isfinite(scores).all(axis=1)].T
    if len(held_out) < 2:
        raise InputError(
            f"{size} {_UNITS[by]}: fewer than 2 of {len(scores)} draws have a relevant document in "
            "both training and held-out data; leave out the small shares"
        )
    return CurvePoint(
        share,
        size,
        float(train.mean()),
        float(held_out.mean()),
        float(held_out.std(ddof=1) / np.sqrt(len(held_out))),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _DocumentDraw:
    candidates: Candidates
    measure: Measure

    @property
    def units(self) -> int:
        return self.candidates.index.n_documents

    def score(self, seen: NDArray[np.int64], held: NDArray[np.int64]) -> tuple[float, float]:
        own, mask = self.candidates, np.zeros((2, self.units), np.bool_)
        mask[0, seen], mask[1, held] = True, True
        values = own.evaluate(seen_side(own.index, own.vocabulary, mask[0]), [self.measure])[0]
        best = _best(values, self.measure)
        if best is None:
            return np.nan, np.nan
        unseen = unseen_values(own, mask[0], mask[1], best, self.measure)
        return float(np.nanmean(values[best])), mean_of(unseen)


class _QueryDraw:
    def __init__(self, candidates: Candidates, measure: Measure) -> None:
        side = whole_side(candidates.index, candidates.vocabulary)
        values = candidates.evaluate(side, [measure])[0]
        self.values = values[:, np.isfinite(values[0])]
        self.measure = measure
        self.units = self.values.shape[1]

    def score(self, seen: NDArray[np.int64], held: NDArray[np.int64]) -> tuple[float, float]:
        best = _best(self.values[:, seen], self.measure)
        if best is None:
            return np.nan, np.nan
        return mean_of(self.values[best, seen]), mean_of(self.values[best, held])


def _best(values: Floats, measure: Measure) -> int | None:
    from heldout.tune.choice import choose

    if not np.isfinite(values).any():
        return None
    higher = measure.higher_is_better is not False
    return int(choose(values, None, higher_is_better=higher).number)
