"""All charts of agreement: of judges, and of measures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.report.charts.agreement import (
    draw_grade_confusion,
    draw_score_agreement,
    grade_confusion_data,
    score_agreement_data,
    score_agreement_of_measures,
)
from heldout.report.charts.named import NamedChart

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.infer.comparison import Comparison

__all__ = ["charts_of_agreement", "charts_of_measures"]


def charts_of_agreement(record: Mapping[str, Any]) -> tuple[NamedChart, ...]:
    """Return the charts of the agreement of judges.

    Parameters
    ----------
    record
        Of `heldout.report.agreement.agreement_dict`, or the JSON of ``heldout agree``.

    Returns
    -------
    tuple of NamedChart
        grade-confusion; with runs also score-agreement, one per measure.
    """
    frame = grade_confusion_data(record)
    caption = (
        "Share of each human grade (row) that the machine gave each of its grades (column). Equal "
        "grades are on the diagonal, overrating is to its right."
    )
    title = "Machine grades by human grade"
    drawing = draw_grade_confusion(frame)
    charts = [NamedChart("grade-confusion", title, caption, frame, drawing)]
    for number, order in enumerate(record["judges"][0]["orders"]):
        charts.append(_scores(record, order["measure"], number))
    return tuple(charts)


def _scores(record: Mapping[str, Any], measure: str, number: int) -> NamedChart:
    frame = score_agreement_data(record, measure)
    caption = (
        f"{measure} of each system under human (x) and machine (y) judgements, with "
        f"{record['level']:.0%} confidence intervals. Dashed: equal scores."
    )
    title = f"{measure} under human and machine judgements"
    labels = (f"{measure}, human", f"{measure}, machine")
    drawing = draw_score_agreement(frame, *labels, same_scale=True)
    key = "score-agreement" if not number else f"score-agreement-{number + 1}"
    return NamedChart(key, title, caption, frame, drawing)


def charts_of_measures(comparisons: Sequence[Comparison]) -> tuple[NamedChart, ...]:
    """Return the chart of the agreement of measures; empty for one measure or two systems.

    Parameters
    ----------
    comparisons
        Of the same systems, one per measure.
    """
    if len(comparisons) < 2 or len(comparisons[0].systems) < 3:
        return ()
    frame = score_agreement_of_measures(comparisons)
    first = comparisons[0].scores.measure
    others = [one.scores.measure for one in comparisons[1:]]
    caption = (
        f"Mean of each system in {first} (x) and {', '.join(others)} (y), with "
        f"{comparisons[0].level:.0%} confidence intervals."
    )
    label = others[0] if len(others) == 1 else "other measure"
    drawing = draw_score_agreement(frame, first, label, same_scale=False)
    title = f"{first} and {', '.join(others)} of each system"
    return (NamedChart("score-agreement", title, caption, frame, drawing),)
