"""All measures as Python names: ``nDCG @ 10``, ``P @ [1, 5, 10]``, ``F1("macro")``.

Every name that `heldout.parse_measure` knows is an attribute here, with ``_`` for ``-``.

Examples
--------
>>> from heldout.measures import AP, F1, P, nDCG
>>> nDCG @ 10, AP(rel=2), F1("macro")
(Measure('nDCG@10'), Measure('AP(rel=2)'), Measure('F1(macro)'))
>>> P @ [1, 5]
[Measure('P@1'), Measure('P@5')]
"""

from __future__ import annotations

from heldout.measure.named import MeasureName

__all__ = ["MeasureName"]


def __getattr__(name: str) -> MeasureName:
    from heldout.measure.parse import tasks_that_know

    if name.startswith("__") or not any(tasks_that_know(name)):
        raise AttributeError(f"module 'heldout.measures' has no measure {name!r}")
    return MeasureName(name)


def __dir__() -> list[str]:
    from heldout.measure.parse import family_names

    return sorted(name for name in map(_as_attribute, family_names()) if name.isidentifier())


def _as_attribute(name: str) -> str:
    return name.replace("-", "_")
