"""Cross-validated estimators in a table and in words."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from heldout.errors import MeasureError
from heldout.report.grid import Grid, grids_text
from heldout.report.scores import show
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from heldout.experiment.estimator_results import EstimatorResults

__all__ = ["estimators_text"]


def estimators_text(
    results: EstimatorResults, *measures: str, kind: str = "table", level: float = 0.95
) -> str:
    """One row a system or baseline, with intervals and what was chosen how often.

    Parameters
    ----------
    results
        What `heldout.cross_validate_estimators` gave.
    measures
        By default what points were chosen by; the first has its interval.
    kind
        ``table``, ``tsv``, ``md`` or ``latex``.
    level
        Of the intervals.
    """
    names = measures or (str(results.measure),)
    runs = results.spread(results.names[0], names[0]) is not None
    head = ["system", names[0], f"{level:.0%} interval"]
    head += ["sd over runs"] if runs else []
    rows = []
    for system in results.systems:
        interval = results.interval(system.name, names[0], level)
        bounds = "—" if interval is None else f"[{interval.low:.4f}, {interval.high:.4f}]"
        cells = [system.name, _mean(results, system.name, names[0]), bounds]
        cells += [show(results.spread(system.name, names[0]))] if runs else []
        cells += [_mean(results, system.name, name) for name in names[1:]]
        rows.append([*cells, _choices(results, system.name) if system.tuned else "—"])
    text = grids_text([Grid([*head, *names[1:], "chosen"], rows)], kind)
    if kind != "table":
        return text
    notes = dict.fromkeys(note for fold in results.folds for note in fold.predictions.notes)
    size = results.of(results.names[0])
    lines = [f"{len(size)} splits by {results.splits.plan}, chosen by {results.measure}", *notes]
    return text + "".join(plain_text(line) + "\n" for line in lines)


def _mean(results: EstimatorResults, system: str, measure: str) -> str:
    try:
        return show(results.mean(system, measure))
    except MeasureError:  # undefined on some split, as said of — everywhere
        return "—"


def _choices(results: EstimatorResults, system: str) -> str:
    counts = Counter(_point(point) for point in results.chosen(system))
    return "; ".join(f"{point} ×{times}" for point, times in counts.most_common())


def _point(point: Any) -> str:
    return ", ".join(f"{name}={json.dumps(value, default=str)}" for name, value in point.items())
