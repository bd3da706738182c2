"""The measures of predictions and of texts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.measure.parameters import show_value

if TYPE_CHECKING:
    from heldout.measure.base import Definition, Task

__all__ = ["TaskMeasure", "task_measures"]


class TaskMeasure(NamedTuple):
    """A measure of a task.

    Parameters
    ----------
    name
        As it is asked for.
    task
        ``classification``, ``regression`` or ``text``.
    settings
        What may stand in brackets behind its name.
    summary
        What it is, in a sentence.
    higher_is_better
        Its direction.
    also
        Names of other tools, and other spellings.
    input
        What it is computed from.
    formula
        Its formula.
    """

    name: str
    task: str
    settings: str
    summary: str
    higher_is_better: bool = True
    also: tuple[str, ...] = ()
    input: str = ""
    formula: str = ""


def task_measures(names: list[str]) -> list[TaskMeasure]:
    """All measures of predictions and texts, or those that go by one of these names.

    Parameters
    ----------
    names
        With or without settings; upper and lower case do not matter.

    Examples
    --------
    >>> [one.name for one in task_measures(["rougel", "F1(macro)"])]
    ['F1', 'ROUGE-L', 'TokenF1']
    """
    from heldout.measure.names import definitions

    tasks: tuple[Task, ...] = ("classification", "regression", "text")
    every = [_of(one) for task in tasks for one in definitions(task).values()]
    if not names:
        return every
    wanted = {_plain(name.partition("(")[0]) for name in names}
    return [one for one in every if wanted & {_plain(two) for two in (one.name, *one.also)}]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace("²", "2")


_EXAMPLES: Final = {"class": "NAME", "undefined": "0", "vectors": "FILE"}
"""Values of parameters that have none by default."""

_INPUTS: Final = {
    "classification": "true and predicted classes",
    "regression": "true and predicted numbers",
    "text": "references and texts",
}


def _of(definition: Definition) -> TaskMeasure:
    settings = []
    for one in definition.parameters:
        words = " | ".join(one.choices) if definition.task == "classification" else ""
        value = _EXAMPLES.get(one.name) if one.default is None else show_value(one.default)
        settings.append(words or (one.name if value is None else f"{one.name}={value}"))
    given = _INPUTS[definition.task]
    if definition.task == "classification" and definition.needs:
        given = f"true classes and {definition.needs}"
    elif definition.needs:
        given = definition.needs
    return TaskMeasure(
        definition.name,
        definition.task,
        ", ".join(settings),
        definition.summary,
        definition.higher_is_better is not False,
        definition.aliases,
        given,
        definition.formula,
    )
