"""Advice for measures of classes that are undefined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.measure.prediction.classification import NEVER_PREDICTED, NO_UNIT

if TYPE_CHECKING:
    from heldout.measure.base import Measure

__all__ = ["undefined_hint"]


def undefined_hint(measure: Measure, reason: str) -> str:
    """Return how to count a class for which a measure is undefined, if that is the reason.

    Parameters
    ----------
    measure, reason
        The measure, and the reason why it is undefined.

    Examples
    --------
    >>> from heldout import parse_measure
    >>> undefined_hint(parse_measure("F1"), NEVER_PREDICTED)
    '; F1(macro, undefined=0) counts such a class as 0, like scikit-learn'
    """
    counted = measure.counting(0.0)
    if counted == measure or not reason.endswith((NEVER_PREDICTED, NO_UNIT)):
        return ""
    return f"; {counted} counts such a class as 0, like scikit-learn"
