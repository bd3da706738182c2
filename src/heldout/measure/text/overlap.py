"""Word overlap: ROUGE by the package rouge-score, and exact match and token F1 as in SQuAD."""

from __future__ import annotations

import re
import string
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from heldout.measure.base import Means, measure
from heldout.measure.text.packages import import_extra, versions

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.segments import Texts

Side = Literal["f", "precision", "recall"]
Normalise = Literal["squad", "none"]
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


def _signature(kind: str, **options: Any) -> dict[str, Any]:
    del kind  # is in the name
    return {**options, "multi": "best-f", "version": versions("rouge-score", "nltk")}


@measure("ROUGE-4", "text", fixed={"kind": "4"}, labels=_signature)
@measure("ROUGE-3", "text", fixed={"kind": "3"}, labels=_signature)
@measure("ROUGE-2", "text", fixed={"kind": "2"}, labels=_signature)
@measure("ROUGE-1", "text", fixed={"kind": "1"}, labels=_signature)
def rouge(given: Texts, *, kind: str = "1", stem: bool = False, value: Side = "f") -> Means:
    """Mean F (or precision, or recall) of common n-grams of words, by rouge-score (Lin 2004).

    Formula: 2 P R / (P + R), P = common / n-grams of the text, R = common / n-grams of the
    reference; of several references the one with the best F
    """
    module, name = import_extra("rouge_score.rouge_scorer", "ROUGE"), f"rouge{kind}"
    score = module.RougeScorer([name], use_stemmer=stem).score_multi
    field = "fmeasure" if value == "f" else value
    pairs = zip(given.references.texts, given.system.texts, strict=True)
    return Means(np.array([getattr(score(texts, text)[name], field) for texts, (text,) in pairs]))


@measure("ROUGE-Lsum", "text", fixed={"kind": "Lsum"}, labels=_signature)
@measure("ROUGE-L", "text", fixed={"kind": "L"}, labels=_signature)
def rouge_l(given: Texts, *, kind: str = "L", stem: bool = False, value: Side = "f") -> Means:
    """Mean F of the longest common subsequence of words (Lsum: of lines), by rouge-score.

    Formula: 2 P R / (P + R), P = LCS / words of the text, R = LCS / words of the reference
    """
    return rouge(given, kind=kind, stem=stem, value=value)


@measure("ExactMatch", "text", aliases=("EM",), labels=partial(dict, multi="best"))
def exact_match(given: Texts, *, normalise: Normalise = "squad") -> Means:
    """Share of answers that are equal to a reference, by the rules of SQuAD (Rajpurkar 2016).

    Formula: Σ [normalised text = a normalised reference] / n
    """
    return _best(given, normalise, lambda wanted, written: float(wanted == written))


@measure("TokenF1", "text", aliases=("F1",), labels=partial(dict, multi="best"))
def token_f1(given: Texts, *, normalise: Normalise = "squad") -> Means:
    """Mean F of the words of answer and reference, by the rules of SQuAD (Rajpurkar 2016).

    Formula: mean of 2 P R / (P + R) of words; without words on one side 1 if both have none
    """

    def compare(wanted: str, written: str) -> float:
        left, right = Counter(wanted.split()), Counter(written.split())
        if not left or not right:
            return float(left == right)
        return 2 * (left & right).total() / (left.total() + right.total())

    return _best(given, normalise, compare)


def _best(given: Texts, normalise: str, compare: Callable[[str, str], float]) -> Means:
    """Return the best value over the references of each segment."""
    clean = normalise_answer if normalise == "squad" else str
    pairs = zip(given.references.texts, given.system.texts, strict=True)
    values = []
    for texts, (written,) in pairs:
        answer = clean(written)
        values.append(max(compare(clean(text), answer) for text in texts))
    return Means(np.array(values))


def normalise_answer(text: str) -> str:
    """Return lower-case text without punctuation, articles and extra blanks, in that order."""
    kept = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", kept).split())
