"""Parameters of measures: kinds of values, validation, and printing."""

from __future__ import annotations

import math
import re

from heldout.errors import MeasureError

__all__ = ["NUMBER", "NUMERAL", "Gains", "Value", "fit_parameter", "show_value", "whole_number"]

Gains = tuple[tuple[int, float], ...]
"""A gain for each grade, sorted by grade."""

Value = bool | int | float | str | None | Gains

NUMERAL = r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
MOST_DIGITS = 20
NUMBER = re.compile(rf"[+-]?{NUMERAL}")

# Lowest and highest allowed values of the parameters of built-in measures.
_RANGES: dict[str, tuple[float, float]] = {
    "alpha": (0.0, 1.0),
    "base": (1.0001, 1e9),
    "beta": (0.0, 1e9),
    "p": (0.0, 1.0),
    "T": (0.0, 1e9),
    "times": (0.0, 1e9),
    "top": (0, 1000),
}

_CHOICES: dict[str, dict[str, str]] = {
    "dcg": {
        "log2": "log2",
        "trec": "log2",
        "exp-log2": "exp-log2",
        "exp": "exp-log2",
        "burges": "exp-log2",
        "classic": "classic",
        "jarvelin": "classic",
    },
    "normalise": {"all": "all", "query": "query"},
}


def fit_parameter(name: str, key: str, value: Value, default: Value) -> Value:
    """Convert a parameter to the type of its default; raise an error if it does not fit."""
    choices = _CHOICES.get(key)
    if choices is not None and default in choices.values():
        fitted, expected = _fit_choice(value, choices)
    elif key == "gains":
        fitted, expected = _fit_gains(value)
    elif isinstance(default, bool):
        fitted, expected = (value if isinstance(value, bool) else None), "True or False"
    elif isinstance(default, str):
        fitted, expected = _fit_text(key, value)
    else:
        fitted, expected = _fit_number(key, value, default)
    if (name, key, fitted) == ("F", "beta", 0):
        fitted, expected = None, "a number above 0"
    if fitted is None and not (value is None and default is None):
        raise MeasureError(f"{name}: {key}={show_value(value)}, expected {expected}")
    return fitted


def _fit_choice(value: Value, choices: dict[str, str]) -> tuple[Value, str]:
    return choices.get(str(value)), "one of " + ", ".join(dict.fromkeys(choices.values()))


def _fit_gains(value: Value) -> tuple[Value, str]:
    finite = isinstance(value, tuple) and all(math.isfinite(gain) for _, gain in value)
    return (value if finite else None), "finite gains, for example {0: 0, 1: 1, 2: 3}"


def _fit_text(key: str, value: Value) -> tuple[Value, str]:
    if not isinstance(value, str):
        return None, "text in quotes"
    if key != "levels":
        return value, ""
    steps = [step.strip() for step in value.split(",")]
    fits = all(NUMBER.fullmatch(step) and 0 <= float(step) <= 1 for step in steps)
    return (value if fits else None), "numbers from 0 to 1, as '0,.5,1'"


def _fit_number(key: str, value: Value, default: Value) -> tuple[Value, str]:
    kind = "a number" if isinstance(default, float) else "an integer"
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None, kind
    low, high = _RANGES.get(key, (-math.inf, math.inf))
    if not low <= value <= high:
        return None, f"{kind} from {low:g} to {high:g}"
    if isinstance(default, float):
        return float(value), kind
    return (int(value) if value == int(value) else None), kind


def show_value(value: object) -> str:
    """Return a value as printed in a name, so that it can be parsed again."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{grade}: {show_value(gain)}" for grade, gain in value) + "}"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return repr(value)


def whole_number(text: str, name: str) -> int:
    """Return digits as an integer; Python limits their number, and no parameter needs 20."""
    if len(text) > MOST_DIGITS:
        raise MeasureError(f"{name[:60]!r}: the number {text[:20]}… is too large")
    return int(text)
