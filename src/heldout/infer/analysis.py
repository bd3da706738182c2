"""How systems are compared: the settings asked for, the analysis that fits the design, and why.

Two systems are compared by Fisher's randomization test (`_tests` has the exceptions), three or more
by Romano-Wolf. The reasons are in ``docs/validation.md`` with the measured error rates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.errors import Argument, InputError
from heldout.infer.results import alpha_of, check_alternative, check_level
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.results import Alternative
    from heldout.infer.scoring import Scoring

TESTS: Final = (
    *("randomization", "t", "bootstrap-shift", "wilcoxon", "sign", "mcnemar"),
    *("corrected-t", "retuned-t", "prediction-powered"),
)
OTHER_NAMES: Final = {  # of tests, used elsewhere
    **dict.fromkeys(("fisher", "permutation"), "randomization"),
    **dict.fromkeys(("student", "ttest", "t-test", "paired-t"), "t"),
    "bootstrap": "bootstrap-shift",
}
BY_RANK: Final = ("sign", "wilcoxon")  # not about means; McNemar's is: of zeros and ones
CORRECTIONS: Final = ("romano-wolf", "tukey", "holm", "bonferroni", "bh")
OWN_TEST: Final = ("romano-wolf", "tukey")  # they are tests; others adjust the p-values of a test
STEPWISE: Final = ("romano-wolf", "holm")  # may reject although the simultaneous interval has 0
INTERVALS: Final = ("t", "percentile", "bca", "z")
REPLICATES: Final = 100_000
MANY_DIFFERENCES: Final = 200_000  # pairs x units above which pairs get only a t test by default

_WHAT_IT_DOES: Final = {
    "romano-wolf": (
        "the Romano-Wolf step-down bootstrap controls the familywise error rate without assuming "
        "equal variances"
    ),
    "tukey": "Tukey's test (pooled error of the block design) controls the familywise error rate",
    "bh": "bh controls the false discovery rate",
}


class Analysis(NamedTuple):
    """The ten settings of `heldout.compare`; after `choose`, what is used, and why."""

    baseline: str | None = None
    tests: Sequence[str] = ()
    alternative: Alternative = "two-sided"
    level: float = 0.95
    correction: str = ""
    interval: str = ""
    test_share: float | None = None
    tuned: Sequence[str] = ()
    replicates: int = REPLICATES
    seed: int = 0
    why: str = ""
    asked: Analysis | None = None  # before `choose`

    @property
    def alpha(self) -> float:
        """The significance level."""
        return alpha_of(self.level)

    @property
    def decides(self) -> str:
        """The test that gives the verdict: a correction that is one, or the first test."""
        return self.correction if self.correction in OWN_TEST else self.tests[0]

    @property
    def coverage(self) -> Literal["single", "simultaneous", "unadjusted"]:
        """Whether the level is that of all intervals at once, of each alone, or of the only one."""
        if not self.correction:
            return "single"
        return "unadjusted" if self.correction == "bh" else "simultaneous"

    def checked(self) -> Analysis:
        """Refuse settings that are out of range; return tests by their names in heldout."""
        check_alternative(self.alternative)
        check_level(self.level, one_sided=self.alternative != "two-sided")
        if self.replicates < 100:
            raise InputError("expected at least 100", argument="replicates", value=self.replicates)
        if self.interval and self.interval not in INTERVALS:
            raise InputError(
                f"unknown interval {self.interval!r}: expected one of {', '.join(INTERVALS)}"
            )
        named = [self.tests] if isinstance(self.tests, str) else self.tests
        tests = tuple(dict.fromkeys(OTHER_NAMES.get(name, name) for name in named))
        return self._replace(tests=tests, tuned=tuple(self.tuned))


def comparison_count(systems: int, baseline: str | None) -> int:
    """Return the number of comparisons: all pairs, or all other systems with the baseline."""
    return systems - 1 if baseline is not None else systems * (systems - 1) // 2


def has_many_differences(scores: Scores, baseline: str | None) -> bool:
    """Return whether a randomization test of each pair would take too long."""
    systems = len(scores.systems)
    pairs = comparison_count(systems, baseline)
    return systems > 2 and pairs * len(scores.units) > MANY_DIFFERENCES


def includes_tuning(scoring: Scoring) -> bool:
    """Return whether the tests include that parameters were tuned in folds of the units."""
    return bool(scoring.tests and scoring.scores.choices) and not scoring.linearised


def choose(asked: Analysis, scoring: Scoring) -> Analysis:
    """Return the analysis with tests and correction that fit; refuse those that do not."""
    scores = scoring.scores
    _refuse(asked, scoring)
    several, folds = len(scores.systems) > 2, asked.test_share is not None
    if scoring.linearised:
        tests, why = tuple(asked.tests) or scoring.tests, f"{scores.measure} {scoring.why}"
    else:
        tests, why = _tests(asked, scoring)
    correction = ""
    if several:
        # Holm lets the test decide that was named, or that folds or tuning call for; of six
        # procedures Romano-Wolf is the only one that kept its level (docs/validation.md).
        by_test = bool(asked.tests) or folds or includes_tuning(scoring)
        correction = asked.correction or ("holm" if by_test else "romano-wolf")
    if several and folds and correction in OWN_TEST:
        why += f"; {correction} as requested"
    elif several:
        what = _WHAT_IT_DOES.get(correction, f"{correction} controls the familywise error rate")
        count = comparison_count(len(scores.systems), asked.baseline)
        why += f"; {what} over {count:,} comparisons"
    baseline = scores.systems[0] if asked.baseline is None and not several else asked.baseline
    return asked._replace(
        baseline=baseline, tests=tests, correction=correction, why=f"{why}.", asked=asked
    )


def _tests(asked: Analysis, scoring: Scoring) -> tuple[tuple[str, ...], str]:
    """Return the tests of means over units, of which the first decides, and why."""
    scores = scoring.scores
    folds, many = asked.test_share is not None, has_many_differences(scores, asked.baseline)
    if asked.tests:
        # Folds are not independent: corrected-t is shown beside any test that ignores that.
        beside = ("corrected-t",) if folds else ()
        return tuple(dict.fromkeys((*asked.tests, *beside))), "Tests as requested"
    if scoring.tests:
        return scoring.tests[:1] if many else scoring.tests, scoring.why
    if folds:
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


# Refusals


def _refuse(asked: Analysis, scoring: Scoring) -> None:
    scores = scoring.scores
    if len(scores.systems) < 2:
        raise InputError("one system cannot be compared: give at least two")
    if len(scores.units) < 2:
        raise InputError(f"the systems have only {scores.size} in common: expected at least 2")
    if scoring.linearised:
        _refuse_tests_of_means(asked, scoring)
    else:
        _refuse_unknown_tests(asked, scores)
    if asked.interval == "z" and asked.test_share is None:
        raise InputError(
            Argument("interval", "'z'"),
            " is the plain interval over folds: pass test_share, or 't'",
        )
    several, known = len(scores.systems) > 2, ", ".join(CORRECTIONS)
    if several and asked.alternative != "two-sided" and asked.baseline is None:
        raise InputError(
            Argument("alternative", repr(asked.alternative)),
            " needs a baseline that the systems are better or worse than: pass ",
            Argument("baseline", "NAME"),
        )
    if several and asked.correction == "none":
        raise InputError(
            "uncorrected p-values of several comparisons mislead (with 15 pairs of equal systems "
            f"one is significant in 54 % of cases); expected one of {known}",
            argument="correction",
            value="none",
        )
    if asked.correction not in ("", "none", *CORRECTIONS):
        raise InputError(f"unknown correction {asked.correction!r}: expected one of {known}")
    if several and asked.correction == "tukey" and asked.baseline is not None:
        raise InputError(
            Argument("correction", "'tukey'"),
            " compares all pairs: with a baseline use romano-wolf or holm",
        )


def _refuse_unknown_tests(asked: Analysis, scores: Scores) -> None:
    for test in asked.tests:
        if test == "anova":
            raise InputError(
                "anova does not test pairs of systems: ",
                Argument("correction", "'tukey'"),
                " shows the analysis of variance with Tukey's test",
            )
        if test not in TESTS:
            raise InputError(f"unknown test {test!r}: expected one of {', '.join(TESTS)}")
    odd = (scores.values != 0) & (scores.values != 1)
    if "mcnemar" in asked.tests and odd.any():
        row, column = np.argwhere(odd)[0].tolist()
        raise InputError(
            f"mcnemar needs scores of 0 and 1, but {scores.systems[column]} has "
            f"{scores.values[row, column]:g} on unit {scores.units[row]}: use randomization, t or "
            "wilcoxon, or a measure that is 0 or 1, such as Success@k"
        )


def _refuse_tests_of_means(asked: Analysis, scoring: Scoring) -> None:
    measure = scoring.scores.measure
    if asked.interval:
        raise InputError(
            Argument("interval", repr(asked.interval)),
            f" is for means, but {measure} is not a mean: leave it out",
        )
    for test in asked.tests:
        if test not in scoring.tests:
            raise InputError(
                f"{test} is a test of means, but {measure} {scoring.why}: use "
                f"{' or '.join(scoring.tests)}"
            )
    if asked.correction == "tukey":
        raise InputError(
            f"tukey is a test of means, but {measure} is not a mean: use romano-wolf, holm, "
            "bonferroni or bh"
        )
