"""The syntax of measure names: ``Name(word, parameter=value, …)@cutoff``.

No part of a name is evaluated as code.
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

# A bare value has no blanks at its ends: otherwise many blanks could match in many ways.
_BARE: Final = r"[^,'\"{}\s](?:[^,'\"{}]*[^,'\"{}\s])?"
_ARGUMENT: Final = re.compile(
    rf"\s*(?:(\w+)\s*=\s*)?('[^']*'|\"[^\"]*\"|\{{[^}}]*\}}|{_BARE})\s*(?:,|$)"
)
_CUTOFFS: Final = re.compile(rf"(.*)@\s*\[\s*({NUMERAL}(?:\s*,\s*{NUMERAL})*)\s*\]\s*", re.DOTALL)


def split_names(name: str) -> list[str]:
    """Split ``"AP nDCG@10"`` at blanks and semicolons outside brackets, but not before brackets."""
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
    """Return one name for each cutoff of ``P@[1,5,10]``; any other name is left as it is.

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
    """Return the parameters in brackets with their values as text.

    Parameters
    ----------
    name
        The whole name, for messages.
    text
        The text between the brackets.
    words
        Whether a word without a name is allowed, as in ``F1(macro)``; the word is then its own
        name.
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
    """Parse the value of a parameter.

    Parameters
    ----------
    name
        The whole name, for messages.
    text
        The value as text.
    bare
        Whether unquoted text may have any characters; otherwise only letters, digits, _ and -.
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
    """Return the name of a measure as text, also for measures of ir_measures."""
    if not isinstance(given, str | MeasureName) and not _is_of_ir_measures(given):
        raise MeasureError(f"{given!r} is not the name of a measure: give a string such as 'AP'")
    return str(given)


def _is_of_ir_measures(given: object) -> bool:
    """Return whether an object is a measure of ir_measures, without importing that package."""
    return any(kind.__module__.split(".")[0] == "ir_measures" for kind in type(given).__mro__)


def listed_measures(given: Any) -> list[Any]:
    """Return measures as a list, given one or several."""
    if is_one_measure(given):
        return [given]
    if not isinstance(given, Iterable):
        raise MeasureError(f"{given!r} is not a measure: give a name such as nDCG@10, or a list")
    return list(given)


def is_one_measure(given: object) -> bool:
    """Return whether this is a single measure or name, not several."""
    known = isinstance(given, str | Measure | MeasureName) or _is_of_ir_measures(given)
    return known or is_function(given)


def is_function(given: object) -> bool:
    """Return whether this is a user-defined function: callable, and nothing else."""
    named = isinstance(given, str | Measure | MeasureName) or _is_of_ir_measures(given)
    return callable(given) and not named
