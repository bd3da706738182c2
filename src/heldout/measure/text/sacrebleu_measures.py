"""BLEU, chrF and TER: sacrebleu counts, and scores are computed here from its counts.

Counts are kept rather than scores so that a hundred thousand resampled corpora can be scored at
once. The methods of sacrebleu that count have a leading underscore, but have not changed since its
version 2.0 and are used by its own significance tests. Tests compare every score with sacrebleu.
"""

from __future__ import annotations

import math
from functools import partial
from inspect import signature
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import numpy as np

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import Means, Positive, Sums, Within, measure
from heldout.measure.text.packages import import_extra, versions

if TYPE_CHECKING:
    from heldout.data.segments import Texts
    from heldout.data.words import Floats

Smooth = Literal["exp", "none", "floor", "add-k", "add-one"]
Tokenizer = Literal["13a", "intl", "char", "zh", "none", "ja-mecab", "ko-mecab"]
Order = Annotated[int, Within(1, 9, "an integer from 1 to 9")]
SMOOTH_VALUES: Final = {"floor": 0.1, "add-k": 1.0}  # of sacrebleu, after Chen and Cherry (2014)
TO_100: Final = (0.0, 100.0)
BLOCK: Final = 5000  # segments at a time: sacrebleu keeps all n-grams of the references


def _metric(name: str, **options: Any) -> Any:
    """Return an object of sacrebleu."""
    try:
        return getattr(import_extra("sacrebleu", name), name)(**options)
    except (ImportError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise MissingExtraError(
            f"{name}: the tokenizer {options['tokenize']} is missing: {reason}"
        ) from None


def _counts(given: Texts, name: str, **options: Any) -> Floats:
    """Return sacrebleu's counts of segments; references are counted once for all systems."""
    key, counted, systems = (name, *options.items()), given.counted, given.together
    if counted is None:
        counted, systems = {}, (given.system,)
    if key not in counted:
        blocks = []
        for start in range(0, len(given.references.texts), BLOCK):
            part = slice(start, start + BLOCK)
            streams = list(zip_longest(*given.references.texts[part]))
            count = _metric(name, references=streams, **options)._extract_corpus_statistics  # noqa: SLF001
            texts = [[text[0] for text in system.texts[part]] for system in systems]
            blocks.append([np.array(count(written, None), np.float64) for written in texts])
        counted[key] = [np.concatenate(parts) for parts in zip(*blocks, strict=True)]
    table: Floats = counted[key][systems.index(given.system)]
    return table


def _ratio(above: Floats, below: Floats, otherwise: float | Floats = 0.0) -> Floats:
    """Divide, with another value where the divisor is 0."""
    values: Floats = np.array(np.broadcast_to(otherwise, below.shape), np.float64)
    return np.divide(above, below, out=values, where=below > 0)


def _signature(name: str, **options: Any) -> dict[str, Any]:
    """Return the labels of sacrebleu's signature, and parameters that it leaves out."""
    more: dict[str, Any] = {
        key: options.pop(key) for key in ("order", "smooth", "beta") if key in options
    }
    value = options.pop("smooth_value", None) or SMOOTH_VALUES.get(more.get("smooth", ""))
    if value is not None:
        more["smooth"] += f"[{value!r}]"
    metric = _metric(name, **options)
    metric.num_refs = 1  # is known elsewhere, but without one there is no signature
    labels = {key: label for key, label in metric.get_signature().info.items() if label is not None}
    del labels["nrefs"]
    return {**labels, **more, "version": versions("sacrebleu")}


_bleu, _chrf, _ter = (partial(_signature, name) for name in ("BLEU", "CHRF", "TER"))


@measure("BLEU", "text", bounds=TO_100, labels=_bleu)
def bleu(
    given: Texts,
    *,
    order: Order = 4,
    smooth: Smooth = "exp",
    smooth_value: Positive | None = None,
    tokenize: Tokenizer = "13a",
    lowercase: bool = False,
    effective_order: bool = False,
) -> Sums:
    """N-gram precision with a brevity penalty, of the corpus; equal to sacrebleu (Papineni 2002).

    Formula: 100 · min(1, exp(1 - r/c)) · (Π_{n≤N} p_n)^{1/N}; r, c: lengths of references and
    texts, N = order
    """
    if smooth not in SMOOTH_VALUES and smooth_value is not None:
        raise MeasureError(f"BLEU: smooth={smooth!r} takes no smooth_value")
    value = SMOOTH_VALUES.get(smooth, 1.0) if smooth_value is None else smooth_value
    more = np.zeros(order)
    more[0 if smooth == "add-one" else 1 :] = value if smooth.startswith("add-") else 0.0

    def score(counts: Floats) -> Floats:
        matched, total = counts[:, 2 : 2 + order] + more, counts[:, 2 + order :] + more
        reached = np.logical_and.accumulate(total > 0, axis=1)
        zero = reached & (matched == 0)
        if smooth == "exp":  # the n-th order without a match counts 1 / 2^n
            matched = np.where(zero, 0.5 ** zero.cumsum(axis=1), matched)
        elif smooth == "floor":
            matched = np.where(zero, value, matched)
        used = reached if effective_order else np.ones_like(reached)
        precision = _ratio(matched, total * reached)
        with np.errstate(divide="ignore"):  # log 0 = -inf is a BLEU of 0
            logs = np.where(used, np.log(precision), 0.0)
        mean = logs.sum(axis=1) / np.maximum(used.sum(axis=1), 1)
        length, wanted = counts[:, 0], counts[:, 1]
        brevity = np.where(length < wanted, np.exp(1 - _ratio(wanted, length, np.inf)), 1.0)
        scores: Floats = 100 * brevity * np.exp(mean)
        has_match = counts[:, 2 : 2 + order].any(axis=1) | (smooth == "add-one")
        return np.where(has_match, scores, 0.0)

    table = _counts(
        given, "BLEU", lowercase=lowercase, tokenize=tokenize, max_ngram_order=order, force=True
    )  # force: no advice about tokenized texts
    return Sums(table, score)


@measure("sentBLEU", "text", bounds=TO_100, labels=_bleu, fixed={"effective_order": True})
def sentence_bleu(given: Texts, **options: Any) -> Means:
    """Mean of BLEU over segments; n-grams longer than a text are left out (effective order).

    Formula: mean of BLEU over segments
    """
    return Means(bleu(given, **options).per_unit())


sentence_bleu.__signature__ = signature(bleu)  # type: ignore[attr-defined] # has its parameters


@measure(
    "chrF++", "text", aliases=("chrF2++",), bounds=TO_100, labels=_chrf, fixed={"word_order": 2}
)
@measure("chrF", "text", aliases=("chrF2",), bounds=TO_100, labels=_chrf)
def chrf(
    given: Texts,
    *,
    char_order: Annotated[int, Within(1, 20, "an integer from 1 to 20")] = 6,
    word_order: Annotated[int, Within(0, 10, "an integer from 0 to 10")] = 0,
    beta: Annotated[int, Within(1, 100, "an integer from 1 to 100")] = 2,
    lowercase: bool = False,
    whitespace: bool = False,
    eps_smoothing: bool = False,
) -> Sums:
    """F of n-grams of characters (chrF++: and words and pairs of words), equal to sacrebleu.

    Formula: 100 · (1 + β²) P R / (β² P + R); P, R: means over the lengths of n-grams
    """
    least, square = 1e-16, float(beta**2)

    def f_value(precision: Floats, recall: Floats, otherwise: float) -> Floats:
        below = square * precision + recall
        return _ratio((1 + square) * precision * recall, below, otherwise)

    def score(sums: Floats) -> Floats:
        written, wanted, matched = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
        precision = _ratio(matched, written, least)
        recall = _ratio(matched, wanted, least)
        if eps_smoothing:  # as in chrF++.py, NLTK and Moses
            means: Floats = f_value(precision, recall, least).mean(axis=1)
            return 100 * means
        used = (written > 0) & (wanted > 0)
        count = np.maximum(used.sum(axis=1), 1)
        average = [np.where(used, share, 0.0).sum(axis=1) / count for share in (precision, recall)]
        return 100 * f_value(average[0], average[1], 0.0)

    table = _counts(
        given,
        "CHRF",
        char_order=char_order,
        word_order=word_order,
        beta=beta,  # the best of several references depends on it
        lowercase=lowercase,
        whitespace=whitespace,
        eps_smoothing=eps_smoothing,
    )
    return Sums(table, score)


@measure("TER", "text", bounds=(0.0, math.inf), higher_is_better=False, labels=_ter)
def ter(
    given: Texts,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    asian_support: bool = False,
    case_sensitive: bool = False,
) -> Sums:
    """Edits (of words, and shifts of phrases) per 100 words of the reference, by sacrebleu.

    Formula: 100 · edits / words of the reference (their mean number, if there are several)
    """

    def score(sums: Floats) -> Floats:
        edits, words = sums[:, 0], sums[:, 1]
        return _ratio(100 * edits, words, np.where(edits > 0, 100.0, 0.0))  # 100: of nothing

    table = _counts(
        given,
        "TER",
        normalized=normalized,
        no_punct=no_punct,
        asian_support=asian_support,
        case_sensitive=case_sensitive,
    )
    return Sums(table, score)
