"""Which analysis fits a design, why, and what must not be done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.levels import refuse_old_names
from heldout.infer.results import count_of, drop_noise
from heldout.infer.simultaneous.romano_wolf import FEW
from heldout.infer.tests.paired import SAME
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.scoring.base import Scoring

__all__ = [
    "ALL_PAIRS",
    "BY_RANK",
    "CORRECTIONS",
    "OWN_TEST",
    "TAKEN_AS_GIVEN",
    "TESTS",
    "Advice",
    "advise",
    "tests_named",
]

TESTS: Final = (
    *("randomization", "t", "bootstrap-shift", "bootstrap-shift-studentized"),
    *("wilcoxon", "sign", "mcnemar", "corrected-t", "retuned-t"),
)
OTHER_NAMES: Final = {
    "fisher": "randomization",
    "permutation": "randomization",
    "student": "t",
    "ttest": "t",
    "t-test": "t",
    "paired-t": "t",
    "bootstrap": "bootstrap-shift",
}
"""Tests by names that are used elsewhere."""
UNPAIRED: Final = ("unpaired-t", "welch", "mann-whitney", "ks")
CORRECTIONS: Final = (
    "romano-wolf",
    *("tukey", "randomized-tukey", "nemenyi", "maxt", "dunnett", "dunnett-t"),
    *("holm", "hochberg", "hommel", "bonferroni", "bh", "by"),
)
ONE_BASELINE: Final = ("dunnett", "dunnett-t")
ALL_PAIRS: Final = ("tukey", "randomized-tukey", "nemenyi")

OF_MEANS: Final = ("tukey", "randomized-tukey", "nemenyi", "maxt", "dunnett", "dunnett-t")
"""Tests of several systems for which the score must be a mean over units."""

OWN_TEST: Final = ("romano-wolf", *OF_MEANS)
"""Corrections that do not adjust the p-values of a test, but are one."""

BY_RANK: Final = ("sign", "wilcoxon", "nemenyi")
"""Tests whose hypothesis is not about means. (McNemar's is: of zeros and ones.)"""

FALSE_DISCOVERIES: Final = ("bh", "by")

TAKEN_AS_GIVEN: Final = "covered 80-94 % where 95 % was promised"
"""Differences of tuned systems on query folds; benchmarks/fold_coverage.py, docs/methods.md."""

FEW_UNITS: Final = 10
SHIFT_NEEDS: Final = 100
MANY_DIFFERENCES: Final = 200_000
"""Pairs x units from which on pairs get a t test only, unless other tests are asked for."""
MANY_TIES: Final = 0.5
JUDGED_APART: Final = 0.05
SHOWN: Final = 5
"""Pairs that a kind of warning names at most."""

_HOW: Final = {
    "romano-wolf": (
        "the Romano-Wolf step-down bootstrap, which lets every pair have a variance of its own and "
        "was the only procedure to keep its level on real systems, keeps the rate of any false "
        "alarm"
    ),
    "tukey": "Tukey's test on the residuals of the block design keeps the rate of any false alarm",
    "randomized-tukey": (
        "Tukey's test by permuting the scores within each unit, which assumes no distribution, "
        "keeps the rate of any false alarm"
    ),
    "nemenyi": (
        "Nemenyi's test of the mean ranks (not of the means) keeps the rate of any false alarm"
    ),
}


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
        What a careful reader should know; infos too.
    """

    tests: tuple[str, ...]
    correction: str
    why: str
    warnings: tuple[Note, ...]


def tests_named(names: Sequence[str]) -> tuple[str, ...]:
    """Return the tests of these names, each by the name that it has in heldout.

    Examples
    --------
    >>> tests_named(["fisher", "wilcoxon"])
    ('randomization', 'wilcoxon')
    """
    listed = [names] if isinstance(names, str) else names
    return tuple(dict.fromkeys(OTHER_NAMES.get(name, name) for name in listed))


@refuse_old_names
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
    """Choose the analysis, or check the one that was asked for.

    Parameters
    ----------
    tests, correction
        What was asked for; empty to have it chosen.
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
            "a one-sided alternative asks whether systems are better than one of them: name it "
            "with --baseline"
        )
    own = scoring if scoring is not None and scoring.tests and linear is None else None
    if own is not None:
        fitting = own.tests[:1] if _many(scores, baseline) else own.tests
        chosen = tuple(dict.fromkeys(tests)) or fitting
        why = "The tests were asked for" if tests else own.why
    elif linear is None:
        chosen, why = _choose_tests(scores, tests, test_share, _many(scores, baseline))
    else:
        chosen = tuple(dict.fromkeys(tests)) or linear.tests
        why = f"{scores.measure} {linear.why}"
    adjusted = _choose_correction(several, correction, baseline)
    if several and not correction and (tests or own or test_share is not None):
        adjusted = "holm"  # so that the test that was asked for, or that fits, decides
    if several and test_share is not None and adjusted in OWN_TEST:
        why += f"; {adjusted} was asked for"
    elif several:
        why += f"; {_why_correction(adjusted, _comparisons(len(scores.systems), baseline))}"
    warnings = [
        *_warnings(scores, chosen if linear is None else (), alternative),
        *_correction_warnings(several, tests, correction, adjusted),
        *_resampling_warnings(scores, adjusted),
        *_left_out_tests(scores, tests, chosen, baseline),
        *(_fold_warnings(chosen, adjusted) if test_share is not None else []),
        *(_choice_warnings(tests, adjusted) if own is not None else []),
        *_tuning(scores, tuned),
        *(_few_to_draw(scores, chosen) if linear is not None else []),
    ]
    return Advice(chosen, adjusted, why + ".", tuple(warnings))


def _check_tests(tests: Sequence[str]) -> None:
    for test in tests:
        if test in UNPAIRED:
            raise InputError(
                f"{test} is for independent samples, but these scores are paired by unit: it would "
                "throw the pairing away and with it most of the power; use t or wilcoxon "
                "(for different units: --unpaired)"
            )
        if test == "anova":
            raise InputError(
                "anova is not a test of pairs: correction='tukey' (--correction tukey) shows the "
                "analysis of variance with Tukey's test"
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
                f"{scores.measure} {scoring.why}: it is compared by {' or '.join(scoring.tests)}, "
                f"not by {test}"
            )
    if correction in OF_MEANS:
        raise InputError(
            f"{correction} is a test of means, and {scores.measure} is none: take romano-wolf, "
            "holm, hochberg, hommel, bonferroni, bh or by"
        )


def _few_to_draw(scores: Scores, tests: Sequence[str]) -> list[Note]:
    units = len(scores.units)
    if "bootstrap-shift" not in tests or units >= SHIFT_NEEDS:
        return []
    decides = "" if tests[0] == "bootstrap-shift" else f"; {tests[0]} decides"
    text = f"bootstrap-shift and the intervals are too sure with {units} units{decides}"
    return [Note("bootstrap-shift", text)]


def _comparisons(systems: int, baseline: str | None) -> int:
    return systems - 1 if baseline is not None else systems * (systems - 1) // 2


def _why_correction(correction: str, comparisons: int) -> str:
    """What a correction does for the verdicts."""
    over = f"over {comparisons:,} comparisons"
    if correction in FALSE_DISCOVERIES:
        return (
            f"{correction} controls the false discovery rate (the share of false alarms among the "
            f"differences found) {over}"
        )
    found = _HOW.get(correction, f"{correction} keeps the rate of any false alarm")
    return f"{found} {over}"


def _correction_warnings(
    several: bool, tests: Sequence[str], asked: str, adjusted: str
) -> list[Note]:
    if not several:
        if asked in ("", "none"):
            return []
        text = f"two systems are one comparison, with nothing to correct: {asked} was not used"
        return [Note("nothing-to-correct", text, "info")]
    found = []
    if tests and adjusted in OWN_TEST:
        text = f"{adjusted} is a test of its own and decides; {tests[0]} stands beside it"
        found.append(Note("own-test", text, "info"))
    if adjusted in FALSE_DISCOVERIES:
        text = (
            f"{adjusted} adjusts the p-values only: the intervals are unadjusted, and of those of "
            "the differences found more than their level says may miss (intervals for a false "
            "coverage rate would be wider, Benjamini & Yekutieli 2005)"
        )
        found.append(Note("unadjusted-intervals", text))
    if adjusted == "nemenyi":
        text = "the test is about ranks, the unadjusted intervals are about means"
        found.append(Note("ranks-not-means", text))
    return found


def _many(scores: Scores, baseline: str | None) -> bool:
    """Whether there are too many differences for a randomization test of each pair."""
    pairs = _comparisons(len(scores.systems), baseline)
    return len(scores.systems) > 2 and pairs * len(scores.units) > MANY_DIFFERENCES


def _left_out_tests(
    scores: Scores, tests: Sequence[str], chosen: tuple[str, ...], baseline: str | None
) -> list[Note]:
    if tests or chosen not in {("t",), ("retuned-t",)} or not _many(scores, baseline):
        return []
    text = (
        f"with {_comparisons(len(scores.systems), baseline):,} pairs, the randomization test of "
        "each pair was left out; ask for it with --test randomization"
    )
    return [Note("many-pairs", text, "info")]


def _resampling_warnings(scores: Scores, correction: str) -> list[Note]:
    units = len(scores.units)
    if correction != "romano-wolf" or units >= FEW:
        return []
    text = (
        f"{count_of(units, 'unit')} are few for romano-wolf: below {FEW} it finds only "
        "very large differences"
    )
    return [Note("few-resampled", text)]


def _fold_warnings(tests: Sequence[str], correction: str) -> list[Note]:
    """Everything but the corrected t test takes folds for independent."""
    naive = [test for test in tests if test != "corrected-t"]
    naive += [correction] if correction in OWN_TEST else []
    if not naive:
        return []
    verb = "takes" if len(naive) == 1 else "take"
    text = f"{' and '.join(naive)} {verb} folds for independent: corrected-t is the sound one"
    return [Note("folds-independent", text)]


def _choice_warnings(tests: Sequence[str], correction: str) -> list[Note]:
    """Everything but the t test with re-tuning takes the parameters as given."""
    decides = correction if correction in OWN_TEST else "".join(tests[:1])
    if decides in ("", "retuned-t"):
        return []
    text = (
        f"{decides} takes the parameters that the folds selected as given; all folds select from "
        f"nearly the same queries, and intervals made in this way {TAKEN_AS_GIVEN}: retuned-t is "
        "the test that includes the selection"
    )
    return [Note("shared-choices", text)]


def _choose_tests(
    scores: Scores, tests: Sequence[str], test_share: float | None, many: bool
) -> tuple[tuple[str, ...], str]:
    if tests:
        # Over folds the sound test stands beside whatever was asked for.
        beside = ("corrected-t",) if test_share is not None else ()
        return tuple(dict.fromkeys((*tests, *beside))), "The tests were asked for"
    if test_share is not None:
        return ("corrected-t", "t"), (
            "The units are folds with overlapping training sides, so the variance is corrected "
            "(Nadeau & Bengio 2003)"
        )
    if many:
        return ("t",), "The t test of each pair stands beside the verdict"
    if ((scores.values == 0) | (scores.values == 1)).all():
        return (
            "mcnemar",
            "randomization",
        ), "The scores are 0 or 1 and paired: McNemar's exact test"
    return ("randomization", "t"), (
        f"{count_of(len(scores.units), 'paired unit')}: Fisher's randomization test assumes "
        "nothing but the pairing, and the t test beside it agrees where both are sound"
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
        raise InputError(f"{correction} is for all pairs: with a baseline use romano-wolf or holm")
    return correction or "romano-wolf"


def _warnings(scores: Scores, tests: Sequence[str], alternative: str) -> list[Note]:
    found = list(scores.notes)
    units = len(scores.units)
    if units < FEW_UNITS:
        text = f"only {count_of(units, 'unit')}: little can be shown, and nothing can be excluded"
        found.append(Note("few-units", text))
    if alternative != "two-sided":
        text = "one-sided: fair only if a difference the other way would change nothing"
        found.append(Note("one-tail", text))
    if any(test.startswith("bootstrap-shift") for test in tests) and units < SHIFT_NEEDS:
        text = (
            f"bootstrap-shift with {count_of(units, 'unit')} finds too much (6.8 % instead of 5 % "
            "false alarms at 25 units in heldout's own measurements): randomization keeps its level"
        )
        found.append(Note("bootstrap-shift", text))
    if {"wilcoxon", "sign"}.intersection(tests):
        text = "wilcoxon and sign test other hypotheses than equal means"
        found.append(Note("other-hypothesis", text))
    if scores.dropped:
        shown = ", ".join(scores.dropped[:3]) + (", …" if len(scores.dropped) > 3 else "")
        were = "was" if len(scores.dropped) == 1 else "were"
        lacking = count_of(len(scores.dropped), "unit")
        text = f"{lacking} that some system lacks {were} left out: {shown}"
        found.append(Note("missing-left-out", text))
    found.extend(_alike(scores))
    if scores.judged and max(scores.judged) - min(scores.judged) > JUDGED_APART:
        shares = ", ".join(
            f"{name} {share:.2f}" for name, share in zip(scores.systems, scores.judged, strict=True)
        )
        text = f"the systems' top documents are not judged alike ({shares})"
        found.append(Note("judged-apart", text))
    return found


def _tuning(scores: Scores, tuned: Sequence[str]) -> list[Note]:
    for name in tuned:
        scores.index(name)
    rest = [name for name in scores.systems if name not in tuned]
    if not tuned or not rest:
        return []
    return [Note("tuned-one", f"{_was(tuned)} tuned and {_was(rest)} not: it may be tuning")]


def _was(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'was' if len(names) == 1 else 'were'}"


def _alike(scores: Scores) -> list[Note]:
    """Pairs that agree on most units, or differ by the same on all."""
    ties: list[Note] = []
    constant: list[Note] = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        shares = np.mean(gaps == 0, axis=0)
        flat = np.ptp(gaps, axis=0) <= SAME * np.abs(gaps).max(0)
        for first in np.flatnonzero((shares > MANY_TIES) | flat).tolist():
            one, other = scores.systems[first], scores.systems[second]
            if shares[first] > MANY_TIES:
                text = f"{one} and {other} have equal scores on {shares[first]:.0%} of the units"
                ties.append(Note("many-ties", text))
            else:
                text = (
                    f"{other} - {one} is {gaps[0, first]:+.4g} on every unit: differences that do "
                    "not vary leave nothing to judge by (are these the right scores?)"
                )
                constant.append(Note("constant-difference", text))
    return ties[:SHOWN] + constant[:SHOWN]
