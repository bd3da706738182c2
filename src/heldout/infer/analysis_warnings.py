"""Warnings and notes about a comparison: about its design, and about its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.analyses import (
    BY_RANK,
    OWN_TEST,
    STEPWISE,
    comparison_count,
)
from heldout.infer.machine_warnings import machine_warnings
from heldout.infer.paired import constant_columns
from heldout.infer.results import drop_noise
from heldout.infer.romano_wolf import FEW
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import Scores
    from heldout.infer.blocks import Sphericity
    from heldout.infer.claim_tests import Design
    from heldout.infer.comparison import Claim, SystemRow

__all__ = ["LETTERED", "TAKEN_AS_GIVEN", "design_warnings", "result_warnings", "skewed_means"]

TAKEN_AS_GIVEN: Final = "covered 80-94 % where 95 % was promised"
"""Intervals of tuned systems on query folds; benchmarks/fold_coverage.py, docs/methods.md."""

FEW_UNITS: Final = 10
SHIFT_NEEDS: Final = 100
"""Units below which the bootstrap-shift test is too liberal; benchmarks/error_rates.py."""

MANY_TIES: Final = 0.5
JUDGED_APART: Final = 0.05
SHOWN: Final = 5
"""Pairs that each kind of warning names at most."""

LETTERED: Final = 50
"""Systems that get letters at most: the number of letters can grow exponentially."""

ONE_TEST_PER_PAIR: Final = ("holm", "bonferroni", "bh")
SKEW_NEEDS: Final = 200
"""Units below which corrections of t tests claimed too much; benchmarks/several_systems.py."""

MANY_SYSTEMS: Final = 20
"""Systems from which comparing all pairs costs much power, or with such tests many false claims."""

LEAST_EPSILON: Final = 0.9
SKEWED_NEED: Final = 50
"""Units from which intervals of means of skewed scores had their nominal coverage."""


def design_warnings(
    scores: Scores,
    *,
    alternative: str,
    asked: Sequence[str],
    chosen: Sequence[str],
    asked_correction: str,
    correction: str,
    baseline: str | None,
    tuned: Sequence[str],
    folds: bool,
    linearised: bool,
    retuned: bool,
    many: bool,
) -> list[Note]:
    """Return what is known before anything is tested.

    Parameters
    ----------
    scores
        The scores to compare.
    alternative, baseline, tuned
        As for `heldout.compare`.
    asked, asked_correction
        The tests and the correction that the user named.
    chosen, correction
        Those that are used.
    folds
        Whether the units are folds.
    linearised
        Whether the score is not a mean over units.
    retuned
        Whether systems were tuned in folds of the units.
    many
        Whether there are too many pairs to run a randomization test on each.
    """
    notes = [*scores.notes, *machine_warnings(scores)]
    notes += _about_units(scores, alternative)
    notes += _about_tests(scores, chosen, linearised=linearised)
    notes += _about_values(scores)
    notes += _about_correction(scores, asked, asked_correction, correction)
    if not (linearised or folds):
        notes += _about_false_claims(scores, chosen[0], correction, baseline)
    if many and not asked and tuple(chosen) in {("t",), ("retuned-t",)}:
        pairs = comparison_count(len(scores.systems), baseline)
        text = (
            f"no randomization test of each of {pairs:,} pairs: it would take long; name it as the "
            "test to run it"
        )
        notes.append(Note("many-pairs", text, "info"))
    if folds:
        notes += _about_folds(chosen, correction)
    if retuned:
        notes += _about_tuning_in_folds(asked, correction)
    return notes + _about_tuning(scores, tuned)


def _about_units(scores: Scores, alternative: str) -> list[Note]:
    notes = []
    if len(scores.units) < FEW_UNITS:
        text = f"only {scores.size}: too few to conclude anything"
        notes.append(Note("few-units", text))
    if alternative != "two-sided":
        text = "one-sided test: valid only if the direction was fixed in advance"
        notes.append(Note("one-tail", text))
    return notes


def _about_tests(scores: Scores, tests: Sequence[str], *, linearised: bool) -> list[Note]:
    notes = []
    units = len(scores.units)
    if "bootstrap-shift" in tests and units < SHIFT_NEEDS:
        text = f"bootstrap-shift is too liberal below {SHIFT_NEEDS} units (here {units})"
        if linearised:
            text += ", and the bootstrap intervals are too narrow"
            text += f"; {tests[0]} decides" if tests[0] != "bootstrap-shift" else ""
        else:
            text += ": 6.8 % instead of 5 % false alarms at 25 units; use randomization"
        notes.append(Note("bootstrap-shift", text))
    if not linearised and {"wilcoxon", "sign"}.intersection(tests):
        text = "wilcoxon and sign do not test whether the means are equal"
        notes.append(Note("other-hypothesis", text))
    return notes


def _about_values(scores: Scores) -> list[Note]:
    notes = []
    if scores.dropped:
        shown = ", ".join(scores.dropped[:3]) + (", …" if len(scores.dropped) > 3 else "")
        text = (
            f"{count_of(len(scores.dropped), 'unit')} left out because a system has no score for "
            f"{'it' if len(scores.dropped) == 1 else 'them'}: {shown}"
        )
        notes.append(Note("missing-left-out", text))
    notes += _equal_scores(scores)
    if scores.judged and max(scores.judged) - min(scores.judged) > JUDGED_APART:
        shares = ", ".join(
            f"{name} {share:.0%}" for name, share in zip(scores.systems, scores.judged, strict=True)
        )
        text = f"unequal judging: {shares} of the top documents judged"
        notes.append(Note("judged-apart", text))
    return notes


def _equal_scores(scores: Scores) -> list[Note]:
    """Name pairs that agree on most units, or differ by the same amount on all."""
    ties: list[Note] = []
    constant: list[Note] = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        shares = np.mean(gaps == 0, axis=0)
        flat = constant_columns(gaps)
        for first in np.flatnonzero((shares > MANY_TIES) | flat).tolist():
            earlier, later = scores.systems[first], scores.systems[second]
            if shares[first] > MANY_TIES:
                text = (
                    f"{earlier} and {later} have equal scores on {shares[first]:.0%} of the units"
                )
                ties.append(Note("many-ties", text))
            else:
                text = (
                    f"{later} - {earlier} is {gaps[0, first]:+.4g} on every unit: without variance "
                    "no test is meaningful; check the scores"
                )
                constant.append(Note("constant-difference", text))
    return ties[:SHOWN] + constant[:SHOWN]


def _about_correction(
    scores: Scores, asked: Sequence[str], asked_correction: str, correction: str
) -> list[Note]:
    if len(scores.systems) < 3:
        if asked_correction in ("", "none"):
            return []
        text = f"{asked_correction} was not used: two systems are a single comparison"
        return [Note("nothing-to-correct", text, "info")]
    notes = []
    if asked and correction in OWN_TEST:
        text = f"{correction} is a test itself and decides; {asked[0]} is shown beside it"
        notes.append(Note("own-test", text, "info"))
    if correction == "bh":
        text = (
            "bh adjusts only the p-values: the intervals are unadjusted, and those of "
            "significant differences miss more often than their level says (Benjamini & Yekutieli "
            "2005)"
        )
        notes.append(Note("unadjusted-intervals", text))
    units = len(scores.units)
    if correction == "romano-wolf" and units < FEW:
        text = f"romano-wolf finds only very large differences below {FEW} units (here {units})"
        notes.append(Note("few-resampled", text))
    return notes


def _about_false_claims(
    scores: Scores, test: str, correction: str, baseline: str | None
) -> list[Note]:
    """Say what was measured of corrections that claim too much, and of the default's power."""
    systems, units = len(scores.systems), len(scores.units)
    if systems < 3 or scores.machine is not None:
        return []
    few = units < SKEW_NEEDS or systems >= MANY_SYSTEMS
    if few and correction in ONE_TEST_PER_PAIR and test in {"t", "randomization"}:
        text = (
            f"{correction} over {test} claims too much if differences are skewed: all pairs of 10 "
            "real systems had a false claim in up to 13.6 % of cases with 25 units, 9.3 % with 50 "
            "and 6.1 % with 100, instead of 5 %; romano-wolf (the default) in at most 5.4 %"
        )
        return [Note("liberal-correction", text)]
    if correction == "romano-wolf" and baseline is None and systems >= MANY_SYSTEMS:
        text = (
            f"comparing all pairs of {systems} systems costs power: of the 1,830 pairs of 61 TREC "
            "runs romano-wolf found 30, holm 583, but with 61 systems holm made a false claim in "
            "27 % of cases; to compare all with one system pass baseline=NAME"
        )
        return [Note("many-systems", text, "info")]
    return []


def _about_folds(tests: Sequence[str], correction: str) -> list[Note]:
    """Name the tests that treat folds as independent: all but corrected-t."""
    naive = [test for test in tests if test != "corrected-t"]
    naive += [correction] if correction in OWN_TEST else []
    if not naive:
        return []
    verb = "treats" if len(naive) == 1 else "treat"
    text = f"{' and '.join(naive)} {verb} folds as independent; rely on corrected-t"
    return [Note("folds-independent", text)]


def _about_tuning_in_folds(asked: Sequence[str], correction: str) -> list[Note]:
    """Name the deciding test if it ignores the selection of parameters: all but retuned-t."""
    decides = correction if correction in OWN_TEST else "".join(asked[:1])
    if decides in ("", "retuned-t"):
        return []
    text = (
        f"{decides} ignores that the folds selected parameters on nearly the same queries; such "
        f"intervals {TAKEN_AS_GIVEN}; retuned-t includes the selection"
    )
    return [Note("shared-choices", text)]


def _about_tuning(scores: Scores, tuned: Sequence[str]) -> list[Note]:
    for name in tuned:
        scores.index(name)
    rest = [name for name in scores.systems if name not in tuned]
    if not tuned or not rest:
        return []
    text = f"{_was(tuned)} tuned but {_was(rest)} not: the difference may be due to tuning"
    return [Note("tuned-one", text)]


def _was(names: Sequence[str]) -> str:
    return f"{', '.join(names)} {'was' if len(names) == 1 else 'were'}"


def skewed_means(design: Design, systems: tuple[SystemRow, ...]) -> list[Note]:
    """Return a warning where even intervals for skewed scores may cover too little."""
    names = [row.name for row in systems if row.mean.method == "Hall"]
    if not names or len(design.scores.units) >= SKEWED_NEED:
        return []
    text = (
        f"{_some(names)}: few large scores among many small ones, or the reverse; with fewer than "
        f"{SKEWED_NEED} units, 95 % intervals of such means covered 83 to 99 %, least for means "
        "near 0"
    )
    return [Note("skewed-scores", text)]


def result_warnings(
    design: Design,
    claims: tuple[Claim, ...],
    sphericity: Sphericity | None,
    requested_interval: str,
) -> list[Note]:
    """Return what is known only after the tests.

    Parameters
    ----------
    design
        What was compared, and how.
    claims
        The results.
    sphericity
        Whether all differences vary alike; None if that was not tested.
    requested_interval
        The kind of interval that the user named.
    """
    notes = []
    if design.test_share is not None and requested_interval:
        text = (
            f"the {requested_interval} interval treats folds as independent; the default interval "
            "is corrected"
        )
        notes.append(Note("folds-independent", text))
    notes += _unequal_variances(design, sphericity)
    if design.baseline is None and len(design.scores.systems) > LETTERED:
        text = f"no letters: there are more than {LETTERED} systems"
        notes.append(Note("no-letters", text, "info"))
    return notes + _disagreements(design, claims)


def _unequal_variances(design: Design, sphericity: Sphericity | None) -> list[Note]:
    """Warn where one error term for all pairs does not fit the data."""
    if design.correction != "tukey" or sphericity is None:
        return []
    epsilon = sphericity.greenhouse_geisser
    if epsilon >= LEAST_EPSILON:
        return []
    text = (
        "tukey assumes that all differences vary alike, but they do not "
        f"(Greenhouse-Geisser epsilon {epsilon:.2f}); Tukey's test then had 5.5 to 8.5 % false "
        "alarms instead of 5 % on real systems, romano-wolf (the default) at most 5.4 %"
    )
    return [Note("unequal-variances", text)]


def _disagreements(design: Design, claims: tuple[Claim, ...]) -> list[Note]:
    """Explain intervals that include 0 beside a significant p-value, or exclude it beside none."""
    if design.correction == "bh":
        return []  # a warning of its own says so
    steps: list[str] = []
    other: list[str] = []
    for claim in claims:
        significant = claim.adjusted <= design.alpha
        excluded = not claim.difference.low <= 0 <= claim.difference.high
        if significant != excluded:
            stepwise = significant and design.correction in STEPWISE
            (steps if stepwise else other).append(f"{claim.first} - {claim.second}")
    notes = []
    if steps:
        text = (
            f"{_some(steps)}: significant although the interval includes 0, because "
            f"{design.correction} is stepwise and more powerful than simultaneous intervals"
        )
        notes.append(Note("stepwise", text))
    if other:
        why = _why_they_disagree(design, claims[0].outcomes[0].test)
        text = f"{_some(other)}: test and interval disagree: {why}"
        notes.append(Note("disagreement", text))
    return notes


def _why_they_disagree(design: Design, test: str) -> str:
    decides = design.correction if design.correction in OWN_TEST else test
    if design.test_share is not None and decides != "corrected-t":
        return f"the interval is corrected for overlapping folds, {decides} is not"
    from heldout.infer.scoring import RETUNED  # measures of predictions

    if design.scoring.tests == RETUNED and decides not in RETUNED[:1]:
        return f"the interval includes the selection of parameters in folds, {decides} does not"
    if decides in BY_RANK:
        return f"{decides} is not about the mean, the interval is"
    return "the methods differ and the result is close; the test decides"


def _some(names: list[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
