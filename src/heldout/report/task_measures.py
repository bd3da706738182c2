"""The measures of predictions and of texts, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.report.formulas import FORMULAS

if TYPE_CHECKING:
    from heldout.measure.base import Task
    from heldout.measure.prediction.names import PredictionTask

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


_OVER: Final = "macro | micro | weighted | class=NAME"
_CLASS: Final = {
    "accuracy": ("", "share of units whose class is right."),
    "error": ("", "share of units whose class is wrong."),
    "balanced-accuracy": ("", "mean over classes of the share that is right (per-class accuracy)."),
    "precision": (_OVER, "share of what was predicted a class that is of it."),
    "recall": (_OVER, "share of a class that was predicted so."),
    "F": (f"beta=1, {_OVER}", "(1+β²)PR/(β²P+R) of precision and recall."),
    "F1": (_OVER, "harmonic mean of precision and recall."),
    "specificity": (_OVER, "share of the other classes that was not predicted this one."),
    "FP-rate": (_OVER, "share of the other classes that was predicted this one."),
    "MCC": ("", "Matthews' correlation of truth and prediction, for any number of classes."),
    "kappa": (
        "linear | quadratic",
        "Cohen's agreement beyond what the shares of the classes give by chance.",
    ),
    "log-loss": ("", "mean of minus the logarithm of the probability of the true class."),
    "Brier": ("", "mean squared distance of probabilities from the truth."),
    "ECE": ("bins=10", "distance of probability and accuracy, averaged over bins of equal width."),
    "AUC": (
        "macro | weighted",
        "area under the ROC curve: chance that a positive unit scores higher, ties being half.",
    ),
    "average-precision": ("class=NAME", "precision at each rise of recall, without interpolation."),
    "top-k-accuracy": ("k=2", "share of units whose class is among the k highest scores."),
}
_NUMBER: Final = {
    "RMSE": "root of the mean squared error.",
    "MSE": "mean squared error.",
    "MAE": "mean absolute error.",
    "median-AE": "median absolute error.",
    "MAPE": "mean error as a share of the truth; a truth of 0 is refused.",
    "sMAPE": "mean of 2|a-p|/(|a|+|p|), a share from 0 to 2.",
    "R2": "share of the variance of the truth that is explained.",
    "explained-variance": "R2 without a constant error.",
    "MSLE": "mean squared error of logarithms of 1 + x; numbers of -1 or less are refused.",
    "pinball": "quantile loss: errors below the alpha quantile cost 1 - alpha, above it alpha.",
    "Pearson": "linear correlation of truth and prediction.",
    "Spearman": "correlation of the ranks of truth and prediction.",
    "Kendall": "concordant minus discordant pairs of units, as a share (tau-b).",
}
_NUMBER_SETTINGS: Final = {"pinball": "alpha=0.5"}
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
    from heldout.measure.prediction.names import input_of, scikit_learn_names

    rows: list[tuple[PredictionTask, str, str, str]] = [
        ("classification", name, settings, words) for name, (settings, words) in _CLASS.items()
    ]
    rows += [
        ("regression", name, _NUMBER_SETTINGS.get(name, ""), words)
        for name, words in _NUMBER.items()
    ]
    return [
        TaskMeasure(
            name,
            task,
            settings,
            words,
            _better(name, task),
            scikit_learn_names(task, name),
            input_of(task, name),
            FORMULAS[task][name],
        )
        for task, name, settings, words in rows
    ]


_TEXT_INPUTS: Final = {
    "Perplexity": "log-probabilities of tokens",
    "Embedding": "references, texts and word vectors",
}


def _better(name: str, task: Task) -> bool:
    from heldout.measure.parse import parse_measure  # NumPy comes with it

    return parse_measure(name, task).higher_is_better is not False


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
