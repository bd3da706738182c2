"""How the names of measures are written: ``Name(word, parameter=value, …)@cutoff``.

Nothing is evaluated on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import MeasureError
from heldout.measure.base import Measure
from heldout.measure.named import MeasureName
from heldout.measure.parameters import NUMBER, NUMERAL, whole_number

if TYPE_CHECKING:
    from heldout.measure.parameters import Gains, Value

__all__ = [
    "is_function",
    "is_one_measure",
    "listed_measures",
    "read_arguments",
    "read_value",
    "split_cutoffs",
    "split_names",
    "written_name",
]

# A bare value begins and ends with no blank: else a thousand blanks could be cut in a million ways.
_BARE: Final = r"[^,'\"{}\s](?:[^,'\"{}]*[^,'\"{}\s])?"
_ARGUMENT: Final = re.compile(
    rf"\s*(?:(\w+)\s*=\s*)?('[^']*'|\"[^\"]*\"|\{{[^}}]*\}}|{_BARE})\s*(?:,|$)"
)
_CUTOFFS: Final = re.compile(rf"(.*)@\s*\[\s*({NUMERAL}(?:\s*,\s*{NUMERAL})*)\s*\]\s*", re.DOTALL)


def split_names(name: str) -> list[str]:
    """Split ``"AP nDCG@10"`` at blanks and semicolons outside brackets, not before brackets."""
    parts, depth, current = list[str](), 0, ""
    for character in [*name, " "]:
        depth += (character in "([") - (character in ")]")
        if depth > 0 or not (character.isspace() or character == ";"):
            current += character
            continue
        if current.startswith("(") and parts:
            parts[-1] += current
        elif current:
            parts.append(current)
        current = ""
    return [*parts, *([current] if current.strip() else [])] or [name]


def split_cutoffs(name: str) -> list[str]:
    """One name for each cutoff of ``P@[1,5,10]``; any other name is left as it is.

    Examples
    --------
    >>> split_cutoffs("P(rel=2)@[1, 5]")
    ['P(rel=2)@1', 'P(rel=2)@5']
    """
    match = _CUTOFFS.fullmatch(name)
    if match is None:
        return [name]
    return [f"{match[1]}@{cutoff.strip()}" for cutoff in match[2].split(",")]


def read_arguments(name: str, text: str | None, *, words: bool = False) -> dict[str, str]:
    """Parameters in brackets and their values as they are written.

    Parameters
    ----------
    name
        The whole name, for messages.
    text
        What is between the brackets.
    words
        Whether a word without a name is allowed, as in ``F1(macro)``; it is its own name.
    """
    found: dict[str, str] = {}
    rest = (text or "").strip()
    while rest:
        match = _ARGUMENT.match(rest)
        if not match or not (match[1] or words):
            raise MeasureError(f"{name!r}: cannot read {rest!r}, expected parameter=value, …")
        key = match[1] or match[2]
        if key in found:
            raise MeasureError(f"{name!r}: {key} is given twice")
        found[key] = match[2]
        rest = rest[match.end() :]
    return found


def read_value(name: str, text: str, *, bare: bool = False) -> Value:
    """The value of a parameter.

    Parameters
    ----------
    name
        The whole name, for messages.
    text
        The value as it is written.
    bare
        Whether any text without quotes is a text; else it has letters, digits, _ and - only.
    """
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "{":
        return _read_gains(name, text[1:-1])
    if text in {"True", "False", "None"}:
        return {"True": True, "False": False, "None": None}[text]
    if NUMBER.fullmatch(text):
        return whole_number(text, name) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    if bare or re.fullmatch(r"[\w-]+", text):
        return text
    raise MeasureError(f"{name!r}: cannot read the value {text!r}")


def _read_gains(name: str, text: str) -> Gains:
    gains: dict[int, float] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([+-]?\d+)\s*[:=]\s*(\S+)", pair)
        if not match or not NUMBER.fullmatch(match[2]):
            raise MeasureError(f"{name!r}: cannot read the gain {pair!r}, expected grade: gain")
        grade = whole_number(match[1], name)
        if grade in gains:
            raise MeasureError(f"{name!r}: grade {match[1]} has two gains")
        gains[grade] = float(match[2])
    return tuple(sorted(gains.items()))


def written_name(given: object) -> str:
    """The name as text; measures of ir_measures (``nDCG @ 10``) and `heldout.measures` have one."""
    if not isinstance(given, str | MeasureName) and not _is_of_ir_measures(given):
        raise MeasureError(f"{given!r} is not the name of a measure: give a text such as AP")
    return str(given)


def _is_of_ir_measures(given: object) -> bool:
    """Whether an object is a measure of ir_measures; that package is not imported for it."""
    return any(kind.__module__.split(".")[0] == "ir_measures" for kind in type(given).__mro__)


def listed_measures(given: Any) -> list[Any]:
    """Measures in a list, whether one or several were given."""
    if is_one_measure(given):
        return [given]
    if not isinstance(given, Iterable):
        raise MeasureError(f"{given!r} is not a measure: give a name such as nDCG@10, or a list")
    return list(given)


def is_one_measure(given: object) -> bool:
    """Whether this is a single measure or name, not several."""
    known = isinstance(given, str | Measure | MeasureName) or _is_of_ir_measures(given)
    return known or is_function(given)


def is_function(given: object) -> bool:
    """Whether this is a function of the user's: what can be called and is nothing else."""
    named = isinstance(given, str | Measure | MeasureName) or _is_of_ir_measures(given)
    return callable(given) and not named
