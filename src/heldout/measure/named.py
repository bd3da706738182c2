"""Measures written in Python: ``nDCG @ 10``, ``P(rel=2) @ [5, 10]``, ``F1("macro")``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.errors import MeasureError
from heldout.measure.parameters import show_value

if TYPE_CHECKING:
    from heldout.measure.base import Measure

__all__ = ["MeasureName"]


class MeasureName:
    """The name of a measure, possibly incomplete: a cutoff or parameters may follow.

    Accepted wherever a measure is.

    Parameters
    ----------
    name
        A name for `heldout.parse_measure`, possibly without its cutoff.

    Examples
    --------
    >>> MeasureName("P")(rel=2) @ [1, 5]
    [Measure('P(rel=2)@1'), Measure('P(rel=2)@5')]
    >>> MeasureName("F1")("micro")
    Measure('F1(micro)')
    """

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"MeasureName({self._name!r})"

    def __matmul__(self, cutoff: Any) -> Measure | list[Measure]:
        """Return the measure at a cutoff; a list of measures for a list of cutoffs."""
        from heldout.measure.parse import parse_measure  # it reads these names

        if isinstance(cutoff, int | float):
            return parse_measure(f"{self}@{show_value(cutoff)}", "ranking")
        return [parse_measure(f"{self}@{show_value(one)}", "ranking") for one in cutoff]

    def __call__(self, *words: str, **parameters: Any) -> Any:
        """Return the measure with parameters, or a name if it still needs a cutoff.

        Parameters
        ----------
        words
            Values without a name: ``macro``, ``quadratic``.
        parameters
            Named parameters; ``class_`` is the parameter ``class``.
        """
        from heldout.measure.parse import parse_measure  # it reads these names

        shown = [f"{key.rstrip('_')}={_shown(value)}" for key, value in parameters.items()]
        longer = MeasureName(f"{self}({', '.join([*words, *shown])})")
        try:
            return parse_measure(str(longer))
        except MeasureError as error:
            if self._needs_cutoff():
                return longer
            raise error from None

    def _needs_cutoff(self) -> bool:
        from heldout.measure.parse import tasks_that_know
        from heldout.measure.ranking.names import find_family

        best = next(filter(None, tasks_that_know(self._name)), [])
        known = find_family(self._name)
        return "ranking" in best and known is not None and known.cutoff in {"rank", "recall"}


def _shown(value: Any) -> str:
    return show_value(tuple(sorted(value.items())) if isinstance(value, dict) else value)
