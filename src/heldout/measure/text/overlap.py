"""Word overlap: ROUGE, exact match and token F1."""

from __future__ import annotations

import re
import string
from collections import Counter
from dataclasses import dataclass, fields
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

import numpy as np

from heldout.measure.base import mean_of_sums
from heldout.measure.text.base import CorpusMeasure, SegmentMean, import_extra, one_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.segments import Segments
    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate

__all__ = ["ExactMatch", "Rouge", "TokenF1", "porter_stem"]

KINDS: Final = (*"123456789", "L", "Lsum")
_NO_WORD: Final = re.compile(r"[^a-z0-9]+")
_WORD: Final = re.compile(r"[a-z0-9]+")
_ARTICLES: Final = re.compile(r"\b(a|an|the)\b")


class _Overlap(NamedTuple):
    """Numbers of matched words, of the system's words and of the reference's words."""

    matched: int
    written: int
    wanted: int

    @property
    def precision(self) -> float:
        return self.matched / max(self.written, 1)

    @property
    def recall(self) -> float:
        return self.matched / max(self.wanted, 1)

    @property
    def f(self) -> float:
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both > 0 else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Rouge(CorpusMeasure):
    """ROUGE [1]_, identical to the package rouge-score.

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
    level
        ``segment``: the mean over segments, as usual; ``corpus``: counts are summed first.

    References
    ----------
    .. [1] Lin, C.-Y. (2004). ROUGE: a package for automatic evaluation of summaries. Workshop on
       text summarization branches out, 74-81.

    Examples
    --------
    >>> from heldout.data.segments import Segments
    >>> references = Segments.of(["The quick brown fox jumps over the lazy dog"])
    >>> system = Segments.of(["The quick brown dog jumps on the log."])
    >>> measure = Rouge("L")
    >>> measure.score(measure.statistics(references, system)).round(4).tolist()
    [0.5882]
    """

    kind: str = "1"
    stem: bool = False
    value: str = "f"
    level: str = "segment"

    _in_family: ClassVar[tuple[str, ...]] = ("kind",)

    def __post_init__(self) -> None:
        one_of("ROUGE", "kind", self.kind, KINDS)
        one_of("ROUGE", "stem", self.stem, (False, True))
        one_of("ROUGE", "value", self.value, ("f", "precision", "recall"))
        one_of("ROUGE", "level", self.level, ("segment", "corpus"))

    @property
    def family(self) -> str:
        """``ROUGE-`` and its kind."""
        return f"ROUGE-{self.kind}"

    @property
    def aggregate(self) -> Aggregate:
        """A mean over segments, or a function of sums."""
        return "mean" if self.level == "segment" else "sums"

    def labels(self) -> list[tuple[str, Any]]:
        """Return the meaning of the parameters; the kind is in the family."""
        stem = f"porter-nltk-{import_extra('nltk', 'stem=True').__version__}" if self.stem else "no"
        return [
            ("tok", "rouge-a-z0-9"),
            ("stem", stem),
            ("value", self.value),
            ("level", self.level),
            ("multi", "best-f"),
        ]

    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Return the value and 1, or counts: matched, system, reference."""
        found = [
            max(self._overlaps(texts, written[0]), key=lambda one: one.f)
            for texts, written in zip(references.texts, system.texts, strict=True)
        ]
        if self.level == "corpus":
            return np.array(found, np.float64).reshape(-1, 3)
        return np.array([(getattr(one, self.value), 1.0) for one in found]).reshape(-1, 2)

    def _overlaps(self, texts: tuple[str, ...], written: str) -> list[_Overlap]:
        if self.kind == "Lsum":
            lines = self._lines(written)
            return [_longest_of_lines(self._lines(text), lines) for text in texts]
        mine = self._words(written)
        if self.kind == "L":
            return [_longest(self._words(text), mine) for text in texts]
        return [_ngram_overlap(self._words(text), mine, int(self.kind)) for text in texts]

    def _words(self, text: str) -> list[str]:
        words = _NO_WORD.sub(" ", text.lower()).split()
        if self.stem:
            words = [porter_stem(word) if len(word) > 3 else word for word in words]
        return [word for word in words if _WORD.fullmatch(word)]

    def _lines(self, text: str) -> list[list[str]]:
        return [self._words(line) for line in text.split("\n") if line]

    def score(self, sums: Floats) -> Floats:
        """Return the mean, or the value of summed counts."""
        if self.level == "segment":
            return mean_of_sums(sums)
        matched, written, wanted = sums.T
        precision: Floats = matched / np.maximum(written, 1)
        recall: Floats = matched / np.maximum(wanted, 1)
        if self.value != "f":
            return precision if self.value == "precision" else recall
        both = precision + recall
        return np.where(both > 0, 2 * precision * recall / np.where(both > 0, both, 1.0), 0.0)


@cache
def porter_stem(word: str) -> str:
    """Return the stem of a word by NLTK's variant of the Porter stemmer, as used by rouge-score."""
    stem: str = _porter().stem(word)
    return stem


@cache
def _porter() -> Any:
    return import_extra("nltk.stem.porter", "stemming").PorterStemmer()


def _ngrams(words: list[str], size: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(words[at:] for at in range(size)), strict=False))


def _ngram_overlap(wanted: list[str], written: list[str], size: int) -> _Overlap:
    one, other = _ngrams(wanted, size), _ngrams(written, size)
    return _Overlap((one & other).total(), other.total(), one.total())


def _lengths(wanted: Sequence[str], written: Sequence[str]) -> list[list[int]]:
    """Return the lengths of the longest common subsequences of all prefixes."""
    rows = [[0] * (len(written) + 1)]
    for word in wanted:
        above, row = rows[-1], [0]
        for at, mine in enumerate(written):
            row.append(above[at] + 1 if word == mine else max(above[at + 1], row[at]))
        rows.append(row)
    return rows


def _longest(wanted: list[str], written: list[str]) -> _Overlap:
    return _Overlap(_lengths(wanted, written)[-1][-1], len(written), len(wanted))


def _longest_places(wanted: list[str], written: list[str]) -> Iterator[int]:
    """Yield positions in `wanted` of one longest common subsequence, the same as in rouge-score."""
    table = _lengths(wanted, written)
    row, column = len(wanted), len(written)
    while row and column:
        if wanted[row - 1] == written[column - 1]:
            row, column = row - 1, column - 1
            yield row
        elif table[row][column - 1] > table[row - 1][column]:
            column -= 1
        else:
            row -= 1


def _longest_of_lines(wanted: list[list[str]], written: list[list[str]]) -> _Overlap:
    """Count the words of each reference line that any system line has in order, each once."""
    mine = Counter(word for line in written for word in line)
    sizes = mine.total(), sum(map(len, wanted))
    matched = 0
    for line in wanted:
        places = {place for other in written for place in _longest_places(line, other)}
        for word in (line[place] for place in sorted(places)):
            if mine[word] > 0:
                matched += 1
                mine[word] -= 1
    return _Overlap(matched, *sizes)


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
        return _Overlap((one & other).total(), other.total(), one.total()).f
