"""Measures in a Python file: ``my.py:FirstGrade@10``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, cast

from heldout.errors import MeasureError
from heldout.experiment.systems.references import load_reference
from heldout.measure.base import Measure
from heldout.measure.names import is_function, parse_measure

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.measure.base import Task

__all__ = ["load_measure", "loaded"]

_REFERENCE: Final = re.compile(r"(.*\.py):([A-Za-z_]\w*)(.*)", re.DOTALL)


def loaded(given: Any, task: str, folder: Path | None = None) -> Any:
    """Return the measure that a reference names; anything else as it is."""
    if isinstance(given, str) and _REFERENCE.fullmatch(given.strip()):
        return load_measure(given, task, folder)
    return given


def load_measure(reference: str, task: str, folder: Path | None = None) -> Measure:
    """Load a measure from a Python file.

    Parameters
    ----------
    reference
        ``file.py:name``, perhaps with parameters and a cutoff: ``my.py:TopGrade(scale=2)@10``.
        The name is that of a function, as `heldout.define_measure` takes it, or of a `Measure`.
    task
        The task, such as ``ranking``.
    folder
        Where a relative path starts.
    """
    from heldout.measure.custom import define_measure, registered_name  # rarely needed

    match = _REFERENCE.fullmatch(reference.strip())
    if match is None:
        raise MeasureError(f"{reference}: expected file.py:name")
    place, name, rest = match.groups()
    found = load_reference(f"{place}:{name}", folder)
    if isinstance(found, Measure):
        if rest:
            raise MeasureError(f"{name} is a Measure already; leave {rest} out")
        return parse_measure(found, task)
    if not is_function(found):
        raise MeasureError(f"{name} is neither a function nor a Measure")
    if registered_name(task, found) is None:
        define_measure(task=cast("Task", task))(found)
    return parse_measure(f"{registered_name(task, found)}{rest}", task)
