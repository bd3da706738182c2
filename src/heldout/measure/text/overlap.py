"""Word overlap: ROUGE, exact match and token F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass, fields
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar, Final

from heldout.measure.text.base import SegmentMean, import_extra, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.segments import Segments

__all__ = ["ExactMatch", "Rouge", "TokenF1", "porter_stem"]

KINDS: Final = (*"123456789", "L", "Lsum")
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True, slots=True, repr=False)
class Rouge(SegmentMean):
    """ROUGE [1]_ by the package rouge-score: the mean over segments.

    With several references the one with the best F counts.

    Parameters
    ----------
    kind
        ``1`` to ``9``: n-grams; ``L``: the longest common subsequence of the texts; ``Lsum``: of
        their lines, combined over all lines of the other side.
    stem
        Whether words of more than three letters are stemmed, by NLTK's Porter stemmer.
    value
        ``f``, ``precision`` or ``recall``.

    References
    ----------
    .. [1] Lin, C.-Y. (2004). ROUGE: a package for automatic evaluation of summaries. Workshop on
       text summarization branches out, 74-81.

    Examples
    --------
    >>> from heldout.data.segments import Segments
    >>> references = Segments.of(["The quick brown fox jumps over the lazy dog"])
    >>> system = Segments.of(["The quick brown dog jumps on the log."])
    >>> [round(value, 4) for value in Rouge("L").values(references, system)]
    [0.5882]
    """

    kind: str = "1"
    stem: bool = False
    value: str = "f"

    _in_family: ClassVar[tuple[str, ...]] = ("kind",)

    def __post_init__(self) -> None:
        one_of("ROUGE", "kind", self.kind, KINDS)
        one_of("ROUGE", "stem", self.stem, (False, True))
        one_of("ROUGE", "value", self.value, ("f", "precision", "recall"))

    @property
    def family(self) -> str:
        """``ROUGE-`` and its kind."""
        return f"ROUGE-{self.kind}"

    def engine(self) -> str:
        """Return the version of rouge-score, and that of NLTK, whose stemmer it uses."""
        stemmer = f",nltk-{import_extra('nltk', 'ROUGE').__version__}" if self.stem else ""
        return f"rouge-score-{version('rouge-score')}{stemmer}"

    def labels(self) -> list[tuple[str, Any]]:
        """Return the meaning of the parameters; the kind is in the family."""
        return [("stem", self.stem), ("value", self.value), ("multi", "best-f")]

    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return the value of each segment."""
        module = import_extra("rouge_score.rouge_scorer", "ROUGE")
        name = f"rouge{self.kind}"
        scorer = module.RougeScorer([name], use_stemmer=self.stem)
        field = "fmeasure" if self.value == "f" else self.value
        for texts, written in zip(references.texts, system.texts, strict=True):
            yield float(getattr(scorer.score_multi(texts, written[0])[name], field))


@cache
def porter_stem(word: str) -> str:
    """Return the stem of a word by NLTK's variant of the Porter stemmer, as used by rouge-score."""
    stem: str = _porter().stem(word)
    return stem


@cache
def _porter() -> Any:
    return import_extra("nltk.stem.porter", "stemming").PorterStemmer()


@dataclass(frozen=True, slots=True, repr=False)
class _Answer(SegmentMean):
    """A measure of short answers.

    Parameters
    ----------
    normalise
        ``squad``: lower case, no punctuation, no articles, single blanks, as in the evaluation
        of SQuAD [1]_; ``none``: unchanged.

    References
    ----------
    .. [1] Rajpurkar, P., Zhang, J., Lopyrev, K., Liang, P. (2016). SQuAD: 100,000+ questions for
       machine comprehension of text. EMNLP 2016, 2383-2392.
    """

    normalise: str = "squad"

    def __post_init__(self) -> None:
        one_of(self.family, "normalise", self.normalise, ("squad", "none"))

    def labels(self) -> list[tuple[str, Any]]:
        """Return the normalisation, and how several references are used."""
        return [(one.name, getattr(self, one.name)) for one in fields(self)] + [("multi", "best")]

    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return the best value over the references of each segment."""
        clean = normalise_answer if self.normalise == "squad" else str
        for texts, written in zip(references.texts, system.texts, strict=True):
            mine = clean(written[0])
            yield max(self.compare(clean(text), mine) for text in texts)

    def compare(self, wanted: str, written: str) -> float:
        """Return the value for one reference."""
        raise NotImplementedError


def normalise_answer(text: str) -> str:
    """Return lower-case text without punctuation, articles and extra blanks, in that order.

    Examples
    --------
    >>> normalise_answer("The  Theory of an Atom's size.")
    'theory of atoms size'
    """
    kept = "".join(one for one in text.lower() if one not in string.punctuation)
    return " ".join(_ARTICLES.sub(" ", kept).split())


@dataclass(frozen=True, slots=True, repr=False)
class ExactMatch(_Answer):
    """The share of segments that are equal to a reference."""

    @property
    def family(self) -> str:
        """ExactMatch."""
        return "ExactMatch"

    def compare(self, wanted: str, written: str) -> float:
        """Return 1 if the texts are equal, else 0."""
        return float(wanted == written)


@dataclass(frozen=True, slots=True, repr=False)
class TokenF1(_Answer):
    """The F1 of words in any order; if one side is empty, 1 if both are, as in SQuAD 2."""

    @property
    def family(self) -> str:
        """TokenF1."""
        return "TokenF1"

    def compare(self, wanted: str, written: str) -> float:
        """Return the F1 for one reference."""
        one, other = Counter(wanted.split()), Counter(written.split())
        if not one or not other:
            return float(one == other)
        return 2 * (one & other).total() / (one.total() + other.total())
