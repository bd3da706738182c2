"""Which way a measure goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.errors import HeldoutError

if TYPE_CHECKING:
    from heldout.experiment.results import Results

__all__ = ["more_is_better"]


def more_is_better(results: Results, measure: str) -> bool:
    """Whether more is better; so it is taken where neither is.

    Parameters
    ----------
    results
        In which it was measured.
    measure
        Its name.
    """
    from heldout.measure.parse import parse_measure

    task = results.manifest["settings"]["task"]
    try:
        return parse_measure(measure, task).higher_is_better is not False
    except HeldoutError:  # a measure of somebody's own, which is not known here
        return True
