"""Which test and which correction are used: the defaults, and checks of what a user chose.

Two systems are compared by Fisher's randomization test (`_choose_tests` has the exceptions), three
or more by `DEFAULT_CORRECTION`. The reasons are in ``docs/methods.md`` with the measured error
rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.errors import InputError
from heldout.infer.analyses import (
    CORRECTIONS,
    OWN_TEST,
    TESTS,
    comparison_count,
    tests_named,
)
from heldout.infer.analysis_warnings import design_warnings
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.scoring import Scoring
    from heldout.notes import Note

__all__ = [
    "CORRECTION_OF_TESTS",
    "DEFAULT_CORRECTION",
    "Advice",
    "advise",
]

DEFAULT_CORRECTION: Final = "romano-wolf"
"""For three or more systems: of six procedures the only one that kept its level (docs/methods.md).
"""

CORRECTION_OF_TESTS: Final = "holm"
"""For three or more systems whose test is given: by the user, or by the design (folds, tuning)."""

MANY_DIFFERENCES: Final = 200_000
"""Pairs x units above which pairs get only a t test, unless other tests are requested."""

_WHAT_IT_DOES: Final = {
    "romano-wolf": (
        "the Romano-Wolf step-down bootstrap controls the familywise error rate without assuming "
        "equal variances"
    ),
    "tukey": "Tukey's test (pooled error of the block design) controls the familywise error rate",
    "bh": "bh controls the false discovery rate",
}


class Advice(NamedTuple):
    """The analysis of a design.

    Parameters
    ----------
    tests
        The tests to run on each pair; the first gives the verdict.
    correction
        How p-values are adjusted for the number of comparisons; empty for one comparison.
    why
        The reason, in one sentence.
    warnings
        Warnings and notes about the design.
    """

    tests: tuple[str, ...]
    correction: str
    why: str
    warnings: tuple[Note, ...]


def advise(
    scores: Scores,
    *,
    tests: Sequence[str] = (),
    correction: str = "",
    alternative: str = "two-sided",
    baseline: str | None = None,
    test_share: float | None = None,
    tuned: Sequence[str] = (),
    scoring: Scoring | None = None,
) -> Advice:
    """Choose the analysis, or check the requested one.

    Parameters
    ----------
    scores
        The scores to compare.
    tests, correction
        Requested tests and correction; empty to choose them here.
    alternative
        The alternative.
    baseline
        The system that all others are compared with; None for all pairs.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned.
    scoring
        How systems are scored; by default the score is the mean over units.
    """
    tests = tests_named(tests)
    linear = scoring if scoring is not None and scoring.linearised else None
    if linear is None:
        _check_tests(tests)
    else:
        _check_linearised(scores, linear, tests, correction)
    several = len(scores.systems) > 2
    if several and alternative != "two-sided" and baseline is None:
        raise InputError(
            f"alternative={alternative!r} needs a baseline that the systems are better or worse "
            "than: pass baseline=NAME"
        )
    own = scoring if scoring is not None and scoring.tests and linear is None else None
    many = _many_differences(scores, baseline)
    if own is not None:
        fitting = own.tests[:1] if many else own.tests
        chosen = tests or fitting
        why = "Tests as requested" if tests else own.why
    elif linear is None:
        chosen, why = _choose_tests(scores, tests, test_share, many)
    else:
        chosen = tests or linear.tests
        why = f"{scores.measure} {linear.why}"
    # With machine judgements the bootstrap resamples both sets of queries; it cannot tune again.
    retuned = own is not None and (scores.machine is None or bool(scores.choices))
    given_test = bool(tests) or retuned or test_share is not None
    adjusted = _choose_correction(several, correction, baseline, given_test)
    if several and test_share is not None and adjusted in OWN_TEST:
        why += f"; {adjusted} as requested"
    elif several:
        why += f"; {_why_correction(adjusted, comparison_count(len(scores.systems), baseline))}"
    warnings = design_warnings(
        scores,
        alternative=alternative,
        asked=tests,
        chosen=chosen,
        asked_correction=correction,
        correction=adjusted,
        baseline=baseline,
        tuned=tuned,
        folds=test_share is not None,
        linearised=linear is not None,
        retuned=retuned,
        many=many,
    )
    return Advice(chosen, adjusted, why + ".", tuple(warnings))


def _many_differences(scores: Scores, baseline: str | None) -> bool:
    """Return whether a randomization test of each pair would take too long."""
    pairs = comparison_count(len(scores.systems), baseline)
    return len(scores.systems) > 2 and pairs * len(scores.units) > MANY_DIFFERENCES


def _choose_tests(
    scores: Scores, tests: Sequence[str], test_share: float | None, many: bool
) -> tuple[tuple[str, ...], str]:
    """Return the tests of means over units, and why."""
    if tests:
        # Folds are not independent: corrected-t is shown beside any test that ignores that.
        beside = ("corrected-t",) if test_share is not None else ()
        return tuple(dict.fromkeys((*tests, *beside))), "Tests as requested"
    if test_share is not None:
        return ("corrected-t", "t"), (
            "The units are folds with overlapping training data: corrected resampled t test "
            "(Nadeau & Bengio 2003)"
        )
    if many:
        return ("t",), "Paired t test of each pair shown for reference"
    if ((scores.values == 0) | (scores.values == 1)).all():
        return ("mcnemar",), "Paired scores of 0 and 1: McNemar's exact test"
    return ("randomization", "t"), (
        f"{count_of(len(scores.units), 'paired unit')}: Fisher's randomization test; paired t test "
        "shown for reference"
    )


def _choose_correction(
    several: bool, correction: str, baseline: str | None, given_test: bool
) -> str:
    """Return the correction for several comparisons; empty for one."""
    if correction == "none" and several:
        raise InputError(
            "correction='none': uncorrected p-values of several comparisons mislead (with 15 pairs "
            "of equal systems one is significant in 54 % of cases); expected one of "
            + ", ".join(CORRECTIONS)
        )
    if correction and correction not in (*CORRECTIONS, "none"):
        raise InputError(
            f"unknown correction {correction!r}: expected one of {', '.join(CORRECTIONS)}"
        )
    if not several:
        return ""
    if baseline is not None and correction == "tukey":
        raise InputError(
            "correction='tukey' compares all pairs: with a baseline use romano-wolf or holm"
        )
    # Holm lets the test that was requested, or that the design calls for, decide.
    return correction or (CORRECTION_OF_TESTS if given_test else DEFAULT_CORRECTION)


def _why_correction(correction: str, comparisons: int) -> str:
    what = _WHAT_IT_DOES.get(correction, f"{correction} controls the familywise error rate")
    return f"{what} over {comparisons:,} comparisons"


def _check_tests(tests: Sequence[str]) -> None:
    for test in tests:
        if test == "anova":
            raise InputError(
                "anova does not test pairs of systems: correction='tukey' shows the analysis of "
                "variance with Tukey's test"
            )
        if test not in TESTS:
            raise InputError(f"unknown test {test!r}: expected one of {', '.join(TESTS)}")


def _check_linearised(
    scores: Scores, scoring: Scoring, tests: Sequence[str], correction: str
) -> None:
    """Refuse tests and corrections that are for means only."""
    for test in tests:
        if test not in scoring.tests:
            raise InputError(
                f"{test} is a test of means, but {scores.measure} {scoring.why}: use "
                f"{' or '.join(scoring.tests)}"
            )
    if correction == "tukey":
        raise InputError(
            f"tukey is a test of means, but {scores.measure} is not a mean: use romano-wolf, holm, "
            "bonferroni or bh"
        )
