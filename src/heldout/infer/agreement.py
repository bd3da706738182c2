"""The agreement of machine judgements with human ones: what `heldout.agree` returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.infer.bounded import UNBOUNDED, inside
from heldout.infer.results import Interval, t_quantile
from heldout.measure.agreement import (
    alpha_of_confusion,
    binary_confusion,
    cohen_kappa,
    mean_over_pairs,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import polars as pl

    from heldout.data.words import Floats
    from heldout.infer.comparison import Comparison
    from heldout.infer.order_agreement import OrderAgreement, VerdictChange
    from heldout.notes import Note

__all__ = [
    "Agreement",
    "JudgeAgreement",
    "JudgeStatistics",
    "JudgedOrder",
    "QueryAgreement",
    "agreement_statistics",
]

JACKKNIFE: Final = "t, jackknife over queries"

_BLOCK: Final = 2**20
"""Numbers of confusion matrices in memory at a time."""

_SHARE: Final = (0.0, 1.0)
_CORRELATION: Final = (-1.0, 1.0)


class QueryAgreement(NamedTuple):
    """The agreement on one query.

    Parameters
    ----------
    query
        Its id.
    pairs
        Documents that both judged.
    exact
        The share with the same grade.
    difference
        The mean grade of the machine minus that of the human.
    """

    query: str
    pairs: int
    exact: float
    difference: float


class JudgedOrder(NamedTuple):
    """The systems under human and under machine judgements, in one measure.

    Parameters
    ----------
    measure
        Its name.
    human, machine
        The comparisons of the systems, on the queries that both judged.
    agreement
        How far the orders of the systems agree; the human one is the truth.
    changes
        Pairs of systems whose verdicts differ.
    """

    measure: str
    human: Comparison
    machine: Comparison
    agreement: OrderAgreement
    changes: tuple[VerdictChange, ...]


class JudgeStatistics(NamedTuple):
    """The statistics of one machine, with intervals that treat queries as the units.

    Parameters
    ----------
    exact
        The share of pairs with the same grade.
    kappa, kappa_linear, kappa_quadratic
        Cohen's kappa, plain and weighted by the distance of the grades or its square.
    kappa_binary
        Cohen's kappa of relevant (grades from `Agreement.rel` on) and not relevant.
    alpha
        Krippendorff's alpha for ordinal grades.
    overrated, underrated
        The shares of pairs that the machine grades higher, and lower.
    difference
        The mean grade of the machine minus that of the human.
    """

    exact: Interval
    kappa: Interval
    kappa_linear: Interval
    kappa_quadratic: Interval
    kappa_binary: Interval
    alpha: Interval
    overrated: Interval
    underrated: Interval
    difference: Interval


@dataclass(frozen=True, slots=True, eq=False)
class JudgeAgreement:
    """The agreement of one machine with the human.

    Parameters
    ----------
    name
        The machine.
    pairs, queries
        Numbers of pairs of query and document that both judged, and of their queries.
    only_human, only_machine
        Numbers of pairs that one of them judged.
    counts
        The confusion matrix: one row per human grade, one column per machine grade.
    mean_human, mean_machine
        Mean grades.
    statistics
        The statistics, with intervals.
    by_query
        The agreement on each query.
    orders
        The systems under both, one per measure; empty without runs.
    """

    name: str
    pairs: int
    queries: int
    only_human: int
    only_machine: int
    counts: Floats
    mean_human: float
    mean_machine: float
    statistics: JudgeStatistics
    by_query: tuple[QueryAgreement, ...]
    orders: tuple[JudgedOrder, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """The agreement of machines with a human; see `heldout.agree`.

    Parameters
    ----------
    judges
        The machines.
    grades
        The grades of rows and columns of the confusion matrices.
    rel
        The lowest grade that counts as relevant.
    level
        The confidence level of the intervals, which treat queries as the units.
    notes
        Warnings.
    """

    judges: tuple[JudgeAgreement, ...]
    grades: tuple[int, ...]
    rel: int
    level: float
    notes: tuple[Note, ...] = ()

    def judge(self, name: str) -> JudgeAgreement:
        """Return the agreement of one machine by its name."""
        for one in self.judges:
            if one.name == name:
                return one
        raise KeyError(f"no judge {name!r}; there are {', '.join(j.name for j in self.judges)}")

    def to_frame(self) -> pl.DataFrame:
        """Return a Polars frame with one row per judge and statistic."""
        import polars as pl  # slow to import, seldom needed

        rows = [
            {"judge": judge.name, "statistic": name, **interval._asdict()}
            for judge in self.judges
            for name, interval in judge.statistics._asdict().items()
        ]
        return pl.DataFrame(rows)

    def __repr__(self) -> str:
        names = ", ".join(one.name for one in self.judges)
        return f"<Agreement of {names} with human judgements>"

    def __str__(self) -> str:
        """Return the result as tables."""
        from heldout.report.agreement import agreement_text  # the report reads results

        return agreement_text(self, "table")

    def _repr_html_(self) -> str:
        """Show the result as tables in a notebook."""
        from heldout.report.agreement import agreement_text  # the report reads results

        return agreement_text(self, "html")


def _statistics(
    grades: Sequence[int], rel: int
) -> dict[str, tuple[Callable[[Floats], Floats], tuple[float, float]]]:
    """Return each statistic as a function of confusion matrices, and its range."""
    gaps = np.subtract.outer(grades, grades).T  # the grade of the second judge minus the first's
    return {
        "exact": (lambda table: mean_over_pairs(table, gaps == 0), _SHARE),
        "kappa": (lambda table: cohen_kappa(table, grades), _CORRELATION),
        "kappa_linear": (lambda table: cohen_kappa(table, grades, "linear"), _CORRELATION),
        "kappa_quadratic": (lambda table: cohen_kappa(table, grades, "quadratic"), _CORRELATION),
        "kappa_binary": (
            lambda table: cohen_kappa(binary_confusion(table, grades, rel), (0, 1)),
            _CORRELATION,
        ),
        "alpha": (alpha_of_confusion, _CORRELATION),
        "overrated": (lambda table: mean_over_pairs(table, gaps > 0), _SHARE),
        "underrated": (lambda table: mean_over_pairs(table, gaps < 0), _SHARE),
        "difference": (lambda table: mean_over_pairs(table, gaps), UNBOUNDED),
    }


def agreement_statistics(
    tables: Floats, grades: Sequence[int], rel: int, level: float
) -> JudgeStatistics:
    """Return every statistic of a judge with its interval.

    Documents of a query are not independent, so that queries are the units: the standard error is
    that of the jackknife, which leaves out one query after the other, with a t quantile.

    Parameters
    ----------
    tables
        The confusion matrix of each query.
    grades, rel, level
        As for `Agreement`.
    """
    total = tables.sum(axis=0)
    size = max(1, _BLOCK // total.size)  # many queries with many grades would fill the memory
    starts = range(0, len(tables), size)
    found = {}
    for name, (function, ends) in _statistics(grades, rel).items():
        parts = [function(total - tables[at : at + size]) for at in starts]
        estimate = float(function(total))
        found[name] = _jackknife(estimate, np.concatenate(parts), level, ends)
    return JudgeStatistics(**found)


def _jackknife(
    estimate: float, without: Floats, level: float, ends: tuple[float, float]
) -> Interval:
    count = len(without)
    if count < 2 or not (np.isfinite(estimate) and np.isfinite(without).all()):
        return Interval(estimate, np.nan, np.nan, level, JACKKNIFE)
    error = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    half = t_quantile(count - 1, (1 - level) / 2) * float(error)
    found = Interval(estimate, estimate - half, estimate + half, level, JACKKNIFE)
    return inside(found, ends)
