"""The measures of predictions and of texts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.report.formulas import FORMULAS

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


_TEXT: Final = {
    "BLEU": "n-gram precision with a brevity penalty, of the corpus (sacrebleu's numbers).",
    "sentBLEU": "the mean of BLEU over sentences, with the effective order.",
    "chrF": "F of n-grams of characters (sacrebleu's numbers).",
    "chrF++": "chrF with words and pairs of words.",
    "TER": "edits and shifts for each 100 words of the reference.",
    "ROUGE-1": "F of n-grams; ROUGE-2 … ROUGE-9 of longer ones.",
    "ROUGE-L": "F of the longest common subsequence.",
    "ROUGE-Lsum": "the same, lines being sentences.",
    "METEOR": "matched words (exact, stem, synonym) with a penalty for broken order.",
    "ExactMatch": "share of answers that are a reference, after the rules of SQuAD.",
    "TokenF1": "F of the words of answer and reference, after the rules of SQuAD.",
    "Perplexity": "exp of minus the mean log-probability of tokens; needs no references.",
    "Embedding": "similarity of word vectors: average, greedy or extrema.",
}


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
    every = [*_predictions(), *_texts()]
    if not names:
        return every
    wanted = {_plain(name.partition("(")[0]) for name in names}
    return [one for one in every if wanted & {_plain(two) for two in (one.name, *one.also)}]


def _plain(name: str) -> str:
    return name.strip().lower().replace("-", "").replace("_", "").replace("²", "2")


def _predictions() -> list[TaskMeasure]:
    from heldout.measure.names import definitions

    tasks: tuple[Task, ...] = ("classification", "regression")
    return [_of(one) for task in tasks for one in definitions(task).values()]


_EXAMPLES: Final = {"class": "=NAME", "undefined": "=0"}
"""Values of parameters that have none by default."""


def _of(definition: Definition) -> TaskMeasure:
    settings = []
    for one in definition.parameters:
        words = " | ".join(one.choices)
        default = "" if one.default is None else f"={one.default}"
        settings.append(words or f"{one.name}{default or _EXAMPLES[one.name]}")
    if definition.task == "regression":
        given = "true and predicted numbers"
    else:
        given = (
            f"true classes and {definition.needs}"
            if definition.needs
            else "true and predicted classes"
        )
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


_TEXT_INPUTS: Final = {
    "Perplexity": "log-probabilities of tokens",
    "Embedding": "references, texts and word vectors",
}


def _texts() -> list[TaskMeasure]:
    from dataclasses import MISSING, fields

    from heldout.measure.text.names import text_measure_kinds

    found = []
    for name, (kind, fixed, also) in text_measure_kinds().items():
        if name not in _TEXT:
            continue  # ROUGE-2 … are told of with ROUGE-1
        settings = [
            one.name if one.default is MISSING else f"{one.name}={one.default!r}"
            for one in fields(kind)
            if one.name not in fixed
        ]
        words = _TEXT[name]
        found.append(
            TaskMeasure(
                name,
                "text",
                ", ".join(settings),
                words,
                kind.higher_is_better,
                also,
                _TEXT_INPUTS.get(name, "references and texts"),
                FORMULAS["text"][name],
            )
        )
    return found
