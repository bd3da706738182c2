"""The direction of a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.errors import HeldoutError

if TYPE_CHECKING:
    from heldout.experiment.results.results import Results

__all__ = ["more_is_better"]


def more_is_better(results: Results, measure: str) -> bool:
    """Whether more is better; also True if the measure has no direction.

    Parameters
    ----------
    results
        With this measure.
    measure
        Its name.
    """
    try:
        return results.higher_is_better(measure) is not False
    except HeldoutError:  # a custom measure that is not defined here
        return True
