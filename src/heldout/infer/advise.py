"""Which analysis fits a design, why, and what must not be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.results import drop_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores

__all__ = ["ALL_PAIRS", "CORRECTIONS", "TESTS", "Advice", "advise"]

TESTS: Final = (
    *("randomization", "t", "bootstrap-shift", "bootstrap-shift-studentized"),
    *("wilcoxon", "sign", "mcnemar", "corrected-t"),
)
UNPAIRED: Final = ("unpaired-t", "welch", "mann-whitney", "ks")
CORRECTIONS: Final = (
    *("tukey", "randomized-tukey", "nemenyi", "maxt", "dunnett", "dunnett-t"),
    *("holm", "hochberg", "bonferroni", "bh", "by"),
)
ONE_BASELINE: Final = ("dunnett", "dunnett-t")
ALL_PAIRS: Final = ("tukey", "randomized-tukey", "nemenyi")

FEW_UNITS: Final = 10
SHIFT_NEEDS: Final = 100
MANY_TIES: Final = 0.5
JUDGED_APART: Final = 0.05


class Advice(NamedTuple):
    """What to do with a design.

    Parameters
    ----------
    tests
        The tests to run on each pair, the one that gives the verdict first.
    correction
        How p-values are adjusted for the number of comparisons; empty for one comparison.
    why
        The reason, in a sentence.
    warnings
        What a careful reader should know.
    """

    tests: tuple[str, ...]
    correction: str
    why: str
    warnings: tuple[str, ...]


def advise(
    scores: Scores,
    *,
    tests: Sequence[str] = (),
    correction: str = "",
    tail: str = "two",
    baseline: str | None = None,
    test_share: float | None = None,
    tuned: Sequence[str] = (),
) -> Advice:
    """Choose the analysis, or check the one that was asked for.

    Parameters
    ----------
    tests, correction
        What was asked for; empty to have it chosen.
    tail
        The alternative.
    baseline
        The system that all others are compared with; None for all pairs.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned.
    """
    for test in tests:
        if test in UNPAIRED:
            raise InputError(
                f"{test} is for independent samples, but these scores are paired by unit: it would "
                "throw the pairing away and with it most of the power; use t or wilcoxon"
            )
        if test not in TESTS:
            raise InputError(f"unknown test {test!r}: expected one of {', '.join(TESTS)}")
    several = len(scores.systems) > 2
    if several and tail != "two" and baseline is None:
        raise InputError(
            "one tail asks whether systems are better than one of them: name it with --baseline"
        )
    chosen, why = _choose_tests(scores, tests, test_share)
    adjusted = _choose_correction(several, correction, baseline)
    if several and not correction and (tests or test_share is not None):
        adjusted = "holm"  # so that the test that was asked for, or that fits folds, decides
    if several and adjusted in ALL_PAIRS:
        why += (
            "; Tukey's test on the residuals of the block design keeps the rate of any false alarm"
        )
    elif several:
        why += (
            f"; {adjusted} keeps the error rate over {len(scores.systems) - 1} or more comparisons"
        )
    warnings = [*_warnings(scores, chosen, tail, test_share), *_tuning(scores, tuned)]
    return Advice(chosen, adjusted, why + ".", tuple(warnings))


def _choose_tests(
    scores: Scores, tests: Sequence[str], test_share: float | None
) -> tuple[tuple[str, ...], str]:
    if tests:
        return tuple(dict.fromkeys(tests)), "The tests were asked for"
    if test_share is not None:
        return ("corrected-t", "t"), (
            "The units are folds with overlapping training sides, so the variance is corrected "
            "(Nadeau & Bengio 2003)"
        )
    if set(np.unique(scores.values)) <= {0.0, 1.0}:
        return (
            "mcnemar",
            "randomization",
        ), "The scores are 0 or 1 and paired: McNemar's exact test"
    return ("randomization", "t"), (
        f"{len(scores.units)} paired units: Fisher's randomization test assumes nothing but the "
        "pairing, and the t test beside it agrees where both are sound"
    )


def _choose_correction(several: bool, correction: str, baseline: str | None) -> str:
    if correction == "none" and several:
        raise InputError(
            "uncorrected p-values of several comparisons are no verdict: with 15 pairs of equal "
            "systems, one is 'significant' in 54 % of cases; choose --correction "
            + ", ".join(CORRECTIONS)
        )
    if correction and correction not in (*CORRECTIONS, "none"):
        raise InputError(
            f"unknown correction {correction!r}: expected one of {', '.join(CORRECTIONS)}"
        )
    if not several:
        return ""
    if baseline is None and correction in ONE_BASELINE:
        raise InputError(f"{correction} compares with one system: name it with --baseline")
    if baseline is not None and correction in ALL_PAIRS:
        raise InputError(f"{correction} is for all pairs: with a baseline use maxt or holm")
    return correction or ("maxt" if baseline is not None else "tukey")


def _warnings(
    scores: Scores, tests: Sequence[str], tail: str, test_share: float | None
) -> list[str]:
    found = list(scores.notes)
    units = len(scores.units)
    if units < FEW_UNITS:
        found.append(f"only {units} units: little can be shown, and nothing can be excluded")
    if tail != "two":
        found.append("one tail: fair only if a difference the other way would change nothing")
    if any(test.startswith("bootstrap-shift") for test in tests) and units < SHIFT_NEEDS:
        found.append(
            f"bootstrap-shift with {units} units finds too much (6.7 % instead of 5 % false alarms "
            "at 25 units, Urbano et al. 2019): randomization keeps its level"
        )
    if {"wilcoxon", "sign"}.intersection(tests):
        found.append("wilcoxon and sign test other hypotheses than equal means")
    if test_share is not None and {"t", "randomization"}.intersection(tests):
        found.append("t and randomization take folds for independent: corrected-t is the sound one")
    if scores.dropped:
        shown = ", ".join(scores.dropped[:3]) + (", …" if len(scores.dropped) > 3 else "")
        found.append(f"{len(scores.dropped)} units that some system lacks were left out: {shown}")
    found.extend(_ties(scores))
    if scores.judged and max(scores.judged) - min(scores.judged) > JUDGED_APART:
        shares = ", ".join(
            f"{name} {share:.2f}" for name, share in zip(scores.systems, scores.judged, strict=True)
        )
        found.append(f"the systems' top documents are not judged alike ({shares})")
    return found


def _tuning(scores: Scores, tuned: Sequence[str]) -> list[str]:
    for name in tuned:
        scores.index(name)
    rest = [name for name in scores.systems if name not in tuned]
    if not tuned or not rest:
        return []
    return [f"{', '.join(tuned)} were tuned and {', '.join(rest)} were not: it may be tuning"]


def _ties(scores: Scores) -> list[str]:
    """Pairs that agree on most units."""
    found = []
    for second in range(1, len(scores.systems)):
        for first in range(second):
            gaps = drop_noise(scores.values[:, first], scores.values[:, second])
            share = float(np.mean(gaps == 0))
            if share > MANY_TIES:
                found.append(
                    f"{scores.systems[first]} and {scores.systems[second]} have equal scores on "
                    f"{share:.0%} of the units"
                )
    return found[:5]
