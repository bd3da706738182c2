"""BLEU, chrF and TER: sacrebleu counts, and scores are computed here from its counts.

Counts are kept rather than scores so that a hundred thousand resampled corpora can be scored at
once. The methods of sacrebleu that count have a leading underscore, but have not changed since its
version 2.0 and are used by its own significance tests. Tests compare every score with sacrebleu.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import quotient
from heldout.measure.text.base import CorpusMeasure, import_extra, one_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.segments import Segments
    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate

__all__ = ["Bleu", "ChrF", "Ter"]

SMOOTHINGS: Final = ("exp", "none", "floor", "add-k", "add-one")
SMOOTH_VALUES: Final = {"floor": 0.1, "add-k": 1.0}
"""Default smoothing values of sacrebleu, after Chen and Cherry (2014)."""

BLOCK: Final = 5000
"""Number of segments whose n-grams are held at a time."""

TOKENIZERS: Final = ("13a", "intl", "char", "zh", "none", "ja-mecab", "ko-mecab")


@dataclass(frozen=True, slots=True, repr=False)
class _Sacrebleu(CorpusMeasure):
    """A measure with counts from sacrebleu."""

    def _metric(self, references: list[list[str | None]]) -> Any:
        raise NotImplementedError

    def statistics(self, references: Segments, system: Segments) -> Floats:
        """Return the counts of each segment."""
        return self.tables(references, [system])[0]

    def tables(self, references: Segments, systems: Sequence[Segments]) -> list[Floats]:
        """Return the counts of several systems; n-grams of the references are extracted once."""
        parts = [
            self._counts(
                references.texts[at : at + BLOCK], [one.texts[at : at + BLOCK] for one in systems]
            )
            for at in range(0, len(references.texts), BLOCK)
        ]
        return [self._of_segments(np.concatenate(one)) for one in zip(*parts, strict=True)]

    def _counts(
        self, references: Sequence[Sequence[str]], systems: list[Sequence[Sequence[str]]]
    ) -> list[Floats]:
        """Return the counts of some segments: sacrebleu holds all reference n-grams in memory."""
        most = max(len(texts) for texts in references)
        metric = self._metric(
            [[texts[at] if at < len(texts) else None for texts in references] for at in range(most)]
        )
        extract = metric._extract_corpus_statistics  # noqa: SLF001 - see above
        return [np.array(extract([texts[0] for texts in one], None), np.float64) for one in systems]

    def _of_segments(self, counts: Floats) -> Floats:
        """Return the statistics for the counts of segments."""
        return counts

    def engine(self) -> str:
        """Return the version of sacrebleu."""
        return f"sacrebleu-{import_extra('sacrebleu', self.family).__version__}"


@dataclass(frozen=True, slots=True, repr=False)
class Bleu(_Sacrebleu):
    """BLEU [1]_, of the corpus or the mean over sentences.

    Parameters
    ----------
    order
        The maximum n-gram length.
    smooth
        Smoothing of n-gram orders without a match: ``exp``, ``none``, ``floor`` or ``add-k`` as in
        sacrebleu (``add-k`` does not change unigrams); ``add-one`` adds 1 to matches and
        totals of every order.
    smooth_value
        For ``floor`` (0.1) and ``add-k`` (1).
    tokenize
        A tokenizer of sacrebleu.
    lowercase
        Whether case is ignored.
    effective_order
        Whether n-gram orders longer than a text are left out, as is usual for sentences.
    level
        ``corpus``: counts are summed first; ``sentence``: the mean over segments.
    scale
        The score of a perfect match.

    References
    ----------
    .. [1] Papineni, K., Roukos, S., Ward, T., Zhu, W.-J. (2002). BLEU: a method for automatic
       evaluation of machine translation. ACL 2002, 311-318.

    Examples
    --------
    Matched and total unigrams 1 of 2, bigrams 0 of 1; two words against three.

    >>> counts = np.array([[2.0, 3.0, 1.0, 0.0, 2.0, 1.0]])
    >>> Bleu(order=2, smooth="add-one", scale=1).score(counts).round(4).tolist()
    [0.3502]
    >>> Bleu(order=2, smooth="none").score(counts).tolist()
    [0.0]
    """

    order: int = 4
    smooth: str = "exp"
    smooth_value: float | None = None
    tokenize: str = "13a"
    lowercase: bool = False
    effective_order: bool = False
    level: str = "corpus"
    scale: float = 100.0

    def __post_init__(self) -> None:
        one_of("BLEU", "order", self.order, range(1, 10))
        one_of("BLEU", "smooth", self.smooth, SMOOTHINGS)
        one_of("BLEU", "tokenize", self.tokenize, TOKENIZERS)
        one_of("BLEU", "lowercase", self.lowercase, (False, True))
        one_of("BLEU", "effective_order", self.effective_order, (False, True))
        one_of("BLEU", "level", self.level, ("corpus", "sentence"))
        one_of("BLEU", "scale", self.scale, (1, 100))
        if self.smooth not in SMOOTH_VALUES and self.smooth_value is not None:
            raise MeasureError(f"BLEU: smooth={self.smooth!r} takes no smooth_value")
        if self.smooth in SMOOTH_VALUES:
            value = SMOOTH_VALUES[self.smooth] if self.smooth_value is None else self.smooth_value
            if isinstance(value, bool) or not 0 < value < 1e9:
                raise MeasureError(f"BLEU: smooth_value={value!r}, expected a number above 0")
            object.__setattr__(self, "smooth_value", float(value))  # so that 1 and 1.0 are equal

    @property
    def family(self) -> str:
        """BLEU."""
        return "BLEU"

    @property
    def range(self) -> tuple[float, float]:
        """From 0 to the scale."""
        return 0.0, float(self.scale)

    @property
    def aggregate(self) -> Aggregate:
        """A mean over sentences, or a function of sums."""
        return "mean" if self.level == "sentence" else "sums"

    def labels(self) -> list[tuple[str, Any]]:
        """Return the keys of sacrebleu's signature and further parameters."""
        value = "" if self.smooth_value is None else f"[{self.smooth_value!r}]"
        return [
            ("case", "lc" if self.lowercase else "mixed"),
            ("eff", self.effective_order),
            ("tok", self.tokenize),
            ("smooth", f"{self.smooth}{value}"),
            ("order", self.order),
            ("level", self.level),
            ("scale", self.scale),
        ]

    def _metric(self, references: list[list[str | None]]) -> Any:
        sacrebleu = import_extra("sacrebleu", "BLEU")
        try:
            return sacrebleu.BLEU(
                lowercase=self.lowercase,
                force=True,  # do not log advice about tokenized input
                tokenize=self.tokenize,
                max_ngram_order=self.order,
                references=references,
            )
        except (ImportError, RuntimeError) as error:
            reason = " ".join(str(error).split())
            raise MissingExtraError(
                f"BLEU: the tokenizer {self.tokenize} is missing: {reason}"
            ) from None

    def _of_segments(self, counts: Floats) -> Floats:
        """Return lengths, matched and total n-grams; for sentences their BLEU."""
        if self.level == "corpus":
            return counts
        return np.column_stack([self._of_counts(counts), np.ones(len(counts))])

    def score(self, sums: Floats) -> Floats:
        """Return BLEU of summed counts, or the mean over sentences."""
        if self.level == "corpus":
            return self._of_counts(sums)
        return quotient(sums[:, 0], sums[:, 1])

    def _of_counts(self, counts: Floats) -> Floats:
        matched, total = self._smoothed(counts)
        reached = np.logical_and.accumulate(total > 0, axis=1)
        safe = np.where(reached, total, 1.0)
        zero = reached & (matched == 0)
        if self.smooth == "exp":  # the n-th order without a match counts 1 / 2^n
            matched = np.where(zero, 0.5 ** zero.cumsum(axis=1), matched)
        elif self.smooth == "floor":
            matched = np.where(zero, self.smooth_value or 0.0, matched)
        used = reached if self.effective_order else np.ones_like(reached)
        precision = np.where(reached, matched / safe, 0.0)
        with np.errstate(divide="ignore"):  # log 0 = -inf is a BLEU of 0
            logs = np.where(used, np.log(precision), 0.0)
        mean = logs.sum(axis=1) / np.maximum(used.sum(axis=1), 1)
        found: Floats = self.scale * _brevity(counts[:, 0], counts[:, 1]) * np.exp(mean)
        if self.smooth == "add-one":
            return found
        return np.where(counts[:, 2 : 2 + self.order].any(axis=1), found, 0.0)

    def _smoothed(self, counts: Floats) -> tuple[Floats, Floats]:
        matched, total = counts[:, 2 : 2 + self.order], counts[:, 2 + self.order :]
        more = np.zeros(self.order)
        if self.smooth == "add-one":
            more[:] = 1.0
        elif self.smooth == "add-k":
            more[1:] = self.smooth_value
        return matched + more, total + more


def _brevity(length: Floats, wanted: Floats) -> Floats:
    """Return the brevity penalty; empty text gets 0."""
    written = np.where(length > 0, length, 1.0)
    short = np.where(length > 0, np.exp(np.minimum(1 - wanted / written, 0.0)), 0.0)
    return np.where(length < wanted, short, 1.0)


@dataclass(frozen=True, slots=True, repr=False)
class ChrF(_Sacrebleu):
    """chrF [1]_: the F-score of character n-grams; chrF++ adds word unigrams and bigrams.

    Parameters
    ----------
    char_order, word_order
        The maximum lengths of character and word n-grams; ``word_order=2`` is chrF++.
    beta
        Weight of recall relative to precision.
    lowercase
        Whether case is ignored.
    whitespace
        Whether blanks count as characters.
    eps_smoothing
        Smoothing as in chrF++.py, NLTK and Moses, instead of leaving out empty orders.

    References
    ----------
    .. [1] Popović, M. (2015). chrF: character n-gram F-score for automatic MT evaluation. WMT
       2015, 392-395.
    """

    char_order: int = 6
    word_order: int = 0
    beta: int = 2
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    bounds: ClassVar[tuple[float, float]] = (0.0, 100.0)

    def __post_init__(self) -> None:
        one_of("chrF", "char_order", self.char_order, range(1, 21))
        one_of("chrF", "word_order", self.word_order, range(11))
        one_of("chrF", "beta", self.beta, range(1, 101))
        for name in ("lowercase", "whitespace", "eps_smoothing"):
            one_of("chrF", name, getattr(self, name), (False, True))

    @property
    def family(self) -> str:
        """``chrF``; with a word order of 2 it is chrF++."""
        return "chrF"

    def labels(self) -> list[tuple[str, Any]]:
        """Return the keys of sacrebleu's signature, and beta."""
        return [
            ("case", "lc" if self.lowercase else "mixed"),
            ("eff", not self.eps_smoothing),
            ("nc", self.char_order),
            ("nw", self.word_order),
            ("space", self.whitespace),
            ("beta", self.beta),
        ]

    def _metric(self, references: list[list[str | None]]) -> Any:
        return import_extra("sacrebleu", "chrF").CHRF(
            char_order=self.char_order,
            word_order=self.word_order,
            beta=self.beta,
            lowercase=self.lowercase,
            whitespace=self.whitespace,
            eps_smoothing=self.eps_smoothing,
            references=references,
        )

    def score(self, sums: Floats) -> Floats:
        """Return the F-score of summed n-gram counts: system, reference, matched, per order."""
        written, wanted, matched = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
        least, square = 1e-16, float(self.beta**2)
        precision = np.where(written > 0, matched / np.where(written > 0, written, 1.0), least)
        recall = np.where(wanted > 0, matched / np.where(wanted > 0, wanted, 1.0), least)
        if self.eps_smoothing:
            found: Floats = 100 * _f_value(precision, recall, square, least).mean(axis=1)
            return found
        used = (written > 0) & (wanted > 0)
        count = np.maximum(used.sum(axis=1), 1)
        average = [np.where(used, one, 0.0).sum(axis=1) / count for one in (precision, recall)]
        return 100 * _f_value(average[0], average[1], square, 0.0)


def _f_value(precision: Floats, recall: Floats, square: float, otherwise: float) -> Floats:
    below = square * precision + recall
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, (1 + square) * precision * recall / safe, otherwise)


@dataclass(frozen=True, slots=True, repr=False)
class Ter(_Sacrebleu):
    """TER [1]_: edits (of words, and shifts of phrases) per 100 words of the reference.

    Parameters
    ----------
    normalized, no_punct, asian_support, case_sensitive
        As in sacrebleu.

    References
    ----------
    .. [1] Snover, M., Dorr, B., Schwartz, R., Micciulla, L., Makhoul, J. (2006). A study of
       translation edit rate with targeted human annotation. AMTA 2006, 223-231.
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    higher_is_better: ClassVar[bool] = False
    bounds: ClassVar[tuple[float, float]] = (0.0, math.inf)

    def __post_init__(self) -> None:
        for name in ("normalized", "no_punct", "asian_support", "case_sensitive"):
            one_of("TER", name, getattr(self, name), (False, True))

    @property
    def family(self) -> str:
        """TER."""
        return "TER"

    def labels(self) -> list[tuple[str, Any]]:
        """Return the keys of sacrebleu's signature."""
        return [
            ("case", "mixed" if self.case_sensitive else "lc"),
            ("tok", "tercom"),
            ("norm", self.normalized),
            ("punct", not self.no_punct),
            ("asian", self.asian_support),
        ]

    def _metric(self, references: list[list[str | None]]) -> Any:
        return import_extra("sacrebleu", "TER").TER(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
            references=references,
        )

    def score(self, sums: Floats) -> Floats:
        """Return edits over reference words (their mean number, if there are several)."""
        edits, words = sums[:, 0], sums[:, 1]
        alone = np.where(edits > 0, 100.0, 0.0)  # text without a reference to compare with
        return np.where(words > 0, 100 * edits / np.where(words > 0, words, 1.0), alone)
