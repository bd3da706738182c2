"""Points of curves as a table, and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from heldout.as_json import json_text
from heldout.measure.undefined import Undefined
from heldout.report.tables import Table, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.measure.prediction.curves import Curve

__all__ = ["curve_grid", "curve_notes", "json_curves"]

_AXES = {"roc": ("FP rate", "TP rate"), "pr": ("recall", "precision")}


def curve_grid(several: Sequence[Curve]) -> Table:
    """One row a point; thresholds with all digits that tell them apart."""
    rows = []
    for one in several:
        columns = (one.thresholds.tolist(), one.x.tolist(), one.y.tolist(), one.on_hull)
        for mark, x, y, corner in zip(*columns, strict=True):
            shown = repr(mark) if math.isfinite(mark) else "—"
            rows.append([one.name, shown, f"{x:.6f}", f"{y:.6f}", "yes" if corner else "no"])
    return Table(["system", "threshold", *_AXES[several[0].kind], "on hull"], rows)


def curve_notes(several: Sequence[Curve]) -> list[str]:
    """What the points are of, and the areas."""
    lines = [f"positive: {several[0].positive}; a unit is positive from the threshold on"]
    for one in several:
        precise = one.average_precision
        shown = "—" if isinstance(precise, Undefined) else f"{precise:.4f}"
        lines.append(f"{one.name}: AUC {one.area:.4f}, average precision {shown}")
    return [plain_text(line) for line in lines]


def json_curves(several: Sequence[Curve]) -> str:
    """All points at full precision; the threshold of nothing positive is null."""
    content = [
        {
            "system": one.name,
            "curve": one.kind,
            "positive": one.positive,
            "auc": one.area,
            "average_precision": None
            if isinstance(one.average_precision, Undefined)
            else one.average_precision,
            "points": [
                {
                    "threshold": mark,
                    _AXES[one.kind][0].replace(" ", "_").lower(): x,
                    _AXES[one.kind][1].replace(" ", "_").lower(): y,
                    "on_hull": corner,
                }
                for mark, x, y, corner in zip(
                    one.thresholds.tolist(),
                    one.x.tolist(),
                    one.y.tolist(),
                    one.on_hull.tolist(),
                    strict=True,
                )
            ],
        }
        for one in several
    ]
    return json_text(content)
