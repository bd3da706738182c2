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
    try:
        return results.higher_is_better(measure) is not False
    except HeldoutError:  # a measure of somebody's own, which is not known here
        return True
