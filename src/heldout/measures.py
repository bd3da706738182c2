"""All measures as Python names: ``nDCG @ 10``, ``P @ [1, 5, 10]``, ``F1("macro")``.

Every name that `heldout.parse_measure` knows is an attribute here, with ``_`` for ``-``.

Examples
--------
>>> from heldout.measures import AP, F1, P, nDCG
>>> nDCG @ 10, AP(rel=2), F1("macro")
(Measure('nDCG@10'), Measure('AP(rel=2)'), Measure('F1(macro)'))
>>> P @ [1, 5], P(rel=2) @ 5
([Measure('P@1'), Measure('P@5')], Measure('P(rel=2)@5'))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.measure.base import Measure


class MeasureName:
    """The name of a measure, possibly without its cutoff; accepted wherever a measure is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"MeasureName({self._name!r})"

    def __matmul__(self, cutoff: Any) -> Measure | list[Measure]:
        """Return the measure at a cutoff; a list of measures for a list of cutoffs."""
        from heldout.measure.names import parse_measure

        if isinstance(cutoff, int | float):
            return parse_measure(f"{self}@{cutoff!r}", "ranking")
        return [parse_measure(f"{self}@{each!r}", "ranking") for each in cutoff]

    def __call__(self, *words: str, **parameters: Any) -> Any:
        """Return the measure with parameters (``class_`` is ``class``), or a longer name."""
        from heldout.measure.names import meant, parse_measure

        shown = [f"{key.rstrip('_')}={value!r}" for key, value in parameters.items()]
        longer = MeasureName(f"{self}({', '.join([*words, *shown])})")
        known = meant(self._name, has_cutoff=False)
        needs_cutoff = all(each.cutoff in {"rank", "recall"} for each in known)
        return longer if needs_cutoff else parse_measure(str(longer))


def __getattr__(name: str) -> MeasureName:
    from heldout.measure.names import meant
    from heldout.measure.ranking.trec_names import is_trec_name

    if name.startswith("__") or not (is_trec_name(name) or meant(name, has_cutoff=False)):
        raise AttributeError(f"module 'heldout.measures' has no measure {name!r}")
    return MeasureName(name)


def __dir__() -> list[str]:
    from heldout.measure.base import TASKS, definitions

    names = {name.replace("-", "_") for task in TASKS for name in definitions(task)}
    return sorted(name for name in names if name.isidentifier())
