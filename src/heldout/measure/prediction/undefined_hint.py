"""What to do where a measure of classes does not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.measure.prediction.classification import NEVER_PREDICTED, NO_UNIT

if TYPE_CHECKING:
    from heldout.measure.base import Measure

__all__ = ["undefined_hint"]


def undefined_hint(measure: Measure, reason: str, option: str = " (--undefined 0)") -> str:
    """How to count a class for which a measure does not exist, if that is the reason.

    Parameters
    ----------
    measure, reason
        What does not exist, and why.
    option
        How to say it on the command line, where there is such an option.

    Examples
    --------
    >>> from heldout import parse_measure
    >>> undefined_hint(parse_measure("F1"), NEVER_PREDICTED)
    '; F1(macro, undefined=0) (--undefined 0) counts such a class 0, as scikit-learn does'
    """
    counted = measure.counting(0.0)
    if counted == measure or not reason.endswith((NEVER_PREDICTED, NO_UNIT)):
        return ""
    return f"; {counted}{option} counts such a class 0, as scikit-learn does"
