"""Names of measures that are functions with a decorator.

A stem is a measure's name, an alias of it, or either with a choice behind it (``f1_macro``); upper
and lower case, ``-`` and ``_`` do not matter.
"""

from __future__ import annotations

import re
from importlib import import_module
from typing import TYPE_CHECKING, Final

from heldout.errors import MeasureError
from heldout.measure.base import DEFINITIONS
from heldout.measure.syntax import read_arguments, read_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.measure.base import DefinedMeasure, Definition, Task
    from heldout.measure.parameters import Value

_MODULES: Final[dict[Task, tuple[str, ...]]] = {
    "classification": ("prediction.classes", "prediction.probabilities", "prediction.order"),
    "regression": ("prediction.numbers", "prediction.order"),
    "text": tuple(
        f"text.{name}"
        for name in ("sacrebleu_measures", "overlap", "meteor", "perplexity", "embeddings")
    ),
}
_NAME: Final = re.compile(r"\s*([\w+²-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def definitions(task: Task) -> dict[str, Definition]:
    """Return all measures of a task by name; their modules are imported when they are needed."""
    modules = [f"heldout.measure.{name}" for name in _MODULES[task]]
    for module in modules:
        import_module(module)
    known = [one for (of, _), one in DEFINITIONS.items() if of == task]
    return {one.name: one for one in sorted(known, key=lambda one: modules.index(one.module))}


def plain(spelling: str) -> str:
    """Return a spelling without what does not matter."""
    return re.sub("[-_]", "", spelling.strip().lower()).replace("²", "2")


def find_definition(task: Task, stem: str) -> tuple[Definition, str] | None:
    """Return the measure that a stem means, and the choice in the stem; None if there is none."""
    every = definitions(task).values()
    spelled = {plain(one): known for known in every for one in (known.name, *known.aliases)}
    if plain(stem) in spelled:
        return spelled[plain(stem)], ""
    front, _, choice = stem.rpartition("_")
    known = spelled.get(plain(front))
    if known is not None and any(choice in one.choices for one in known.parameters):
        return known, choice
    return None


def parse_defined(name: str, task: Task, defaults: Mapping[str, Value]) -> DefinedMeasure:
    """Parse the name of a measure of a task; `defaults` are for parameters that it does not set."""
    match = _NAME.fullmatch(name)
    found = find_definition(task, match[1]) if match else None
    if match is None or found is None:
        there = ", ".join(definitions(task))
        raise MeasureError(f"unknown measure {name!r} of {task}: expected {there}")
    definition, choice = found
    parameters = {one.name: one for one in definition.parameters}
    words = {word: one.name for one in definition.parameters for word in one.choices}
    given: dict[str, Value] = {words[choice]: choice} if choice else {}
    for key, text in read_arguments(name, match[2], words=True).items():
        word = key.strip("'\"")
        if key == text and word not in words:
            there = f"one of {', '.join(words)}" if words else "a parameter"
            raise MeasureError(f"{name!r}: {word!r} is not {there}")
        if key == text:
            given[words[word]] = word
        elif key in parameters and parameters[key].kind is str and text[0] not in "'\"":
            given[key] = text  # the name of a class may be a number
        else:
            given[key] = read_value(name, text, bare=True)
    return definition.make(given, defaults)
