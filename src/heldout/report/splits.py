"""Splits as text: sizes, relevant documents on each side, checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.tables import Table, note_lines, plain_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from heldout.resample.describe import Description

__all__ = ["splits_text"]

SHOWN: Final = 20
"""Splits that are listed."""

_PLURALS: Final = {"query": "queries", "document": "documents", "instance": "rows"}
_HEADINGS: Final = {
    "key": "split",
    "train": "train",
    "test": "test",
    "validation": "validation",
    "documents_train": "docs train",
    "documents_test": "docs test",
    "relevant_least": "relevant: min",
    "relevant_median": "median",
    "relevant_most": "max",
    "without_test": "none: test",
    "without_train": "train",
    "pro10": "Pro10",
}
_LEGEND: Final = (
    "relevant: relevant documents per query in the test side; none: queries without any; Pro10: "
    "mean of min(10, relevant) / 10"
)


def splits_text(description: Description) -> str:
    """Return how the units were split, a table of the splits, and what was checked.

    Parameters
    ----------
    description
        Of `heldout.resample.describe.describe_splits`.
    """
    what = _PLURALS.get(description.unit, f"{description.unit}s")
    shown = description.rows[:SHOWN]
    names = [name for name in _HEADINGS if any(getattr(row, name) is not None for row in shown)]
    cells = [[_cell(getattr(row, name)) for name in names] for row in shown]
    lines = [f"{plain_text(description.summary)}; {description.units:,} {what}.", ""]
    lines += aligned(Table([_HEADINGS[name] for name in names], cells)).splitlines()
    if description.count > len(shown):
        lines.append(f"… and {description.count - len(shown):,} more")
    lines.append("")
    if "relevant_least" in names:
        lines.append(f"{_LEGEND}.")
    lines += [f"Check: {_check(description)}.", *note_lines(description.notes)]
    lines += [f"Advice: {description.advice}.", f"Fingerprint: {description.fingerprint}"]
    return "".join(f"{line}\n" for line in lines)


def _check(description: Description) -> str:
    parts = ["no unit is on both sides of a split"]
    if description.overlapping:
        parts = [f"{count_of(description.overlapping, 'split')} with a unit on both sides"]
    if description.never_held_out:
        parts.append(f"{count_of(description.never_held_out, 'unit')} never held out")
    if description.often_held_out:
        count = count_of(description.often_held_out, "unit")
        parts.append(f"{count} held out more than once in a repeat")
    return "; ".join(parts)


def _cell(value: Any) -> str:
    if value is None:
        return "—"
    if isinstance(value, float):
        return f"{value:.2f}" if value % 1 else f"{value:.0f}"
    return f"{value:,}" if isinstance(value, int) else str(value)
