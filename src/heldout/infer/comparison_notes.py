"""Warnings and notes about a comparison: about its design, and about its results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.infer.analysis import (
    BY_RANK,
    OWN_TEST,
    STEPWISE,
    Analysis,
    comparison_count,
    has_many_differences,
    includes_tuning,
)
from heldout.infer.results import Estimate, do_not_vary, drop_noise, mean_estimate
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.scores import MachineScores, Scores
    from heldout.data.words import Floats
    from heldout.infer.comparison import Claim, Comparison
    from heldout.infer.scoring import Scoring

# Of intervals of tuned systems on query folds; benchmarks/fold_coverage.py, docs/validation.md.
TAKEN_AS_GIVEN: Final = "covered 80-94 % where 95 % was promised"
PLUS_FOUR: Final = "plus four"  # ends the method of intervals that are wider as few units differ

FEW_UNITS: Final = 10
SHIFT_NEEDS: Final = 100  # below, bootstrap-shift is too liberal; benchmarks/error_rates.py
MANY_TIES: Final = 0.5
JUDGED_APART: Final = 0.05
SHOWN_PAIRS: Final = 5  # that each kind of warning names at most
LETTERED: Final = 50  # systems at most: the number of letters can grow exponentially
SKEW_NEEDS: Final = 200  # below, corrected t tests claim too much; benchmarks/several_systems.py
MANY_SYSTEMS: Final = 20  # from here on all pairs cost much power, or many false claims
LEAST_EPSILON: Final = 0.9
SKEWED_NEED: Final = 50  # units from which intervals of skewed means had their coverage
HUMAN_QUERIES: Final = 25  # from which coverage was measured; benchmarks/machine_judgements.py
SUSPICIOUS: Final = 0.01  # p-value below which a check of the assumptions is worth a warning


# About the design


def design_notes(scoring: Scoring, analysis: Analysis) -> Iterator[Note]:
    """Yield what is known before anything is tested."""
    yield from scoring.scores.notes
    yield from machine_notes(scoring.scores)
    yield from _about_tests(scoring, analysis)
    yield from _about_values(scoring.scores)
    yield from _about_correction(scoring, analysis)
    yield from _about_training(scoring, analysis)


def _about_tests(scoring: Scoring, analysis: Analysis) -> Iterator[Note]:
    tests, units = analysis.tests, len(scoring.scores.units)
    if units < FEW_UNITS:
        yield Note("few-units", f"only {scoring.scores.size}: too few to conclude anything")
    if analysis.alternative != "two-sided":
        yield Note("one-tail", "one-sided test: valid only if the direction was fixed in advance")
    if "bootstrap-shift" in tests and units < SHIFT_NEEDS:
        text = f"bootstrap-shift is too liberal below {SHIFT_NEEDS} units (here {units})"
        if scoring.linearised:
            text += ", and the bootstrap intervals are too narrow"
            text += f"; {tests[0]} decides" if tests[0] != "bootstrap-shift" else ""
        else:
            text += ": 6.8 % instead of 5 % false alarms at 25 units; use randomization"
        yield Note("bootstrap-shift", text)
    if not scoring.linearised and set(BY_RANK).intersection(tests):
        yield Note("other-hypothesis", "wilcoxon and sign do not test whether the means are equal")


def _about_values(scores: Scores) -> Iterator[Note]:
    names = scores.systems
    if scores.dropped:
        shown = ", ".join(scores.dropped[:3]) + (", …" if len(scores.dropped) > 3 else "")
        text = (
            f"{count_of(len(scores.dropped), 'unit')} left out because a system has no score for "
            f"{'it' if len(scores.dropped) == 1 else 'them'}: {shown}"
        )
        yield Note("missing-left-out", text)
    ties, constant = [], []
    for second, gaps in _differences(scores):
        shares = np.mean(gaps == 0, axis=0)
        for first in np.flatnonzero((shares > MANY_TIES) | do_not_vary(gaps)).tolist():
            if shares[first] > MANY_TIES:
                pair = f"{names[first]} and {names[second]}"
                ties.append(f"{pair} have equal scores on {shares[first]:.0%} of the units")
            else:
                constant.append(
                    f"{names[second]} - {names[first]} is {gaps[0, first]:+.4g} on every unit: "
                    "without variance no test is meaningful; check the scores"
                )
    yield from (Note("many-ties", text) for text in ties[:SHOWN_PAIRS])
    yield from (Note("constant-difference", text) for text in constant[:SHOWN_PAIRS])
    if scores.judged and max(scores.judged) - min(scores.judged) > JUDGED_APART:
        judged = zip(names, scores.judged, strict=True)
        shares_judged = ", ".join(f"{name} {share:.0%}" for name, share in judged)
        yield Note("judged-apart", f"unequal judging: {shares_judged} of the top documents judged")


def _differences(scores: Scores) -> Iterator[tuple[int, Floats]]:
    """Yield the number of each system, and its differences from all earlier ones."""
    for number in range(1, len(scores.systems)):
        yield number, drop_noise(scores.values[:, number, None], scores.values[:, :number])


def _about_correction(scoring: Scoring, analysis: Analysis) -> Iterator[Note]:
    from heldout.infer.romano_wolf import FEW  # slow to import

    scores, how, asked = scoring.scores, analysis.correction, analysis.asked or analysis
    if len(scores.systems) < 3:
        if asked.correction not in ("", "none"):
            text = f"{asked.correction} was not used: two systems are a single comparison"
            yield Note("nothing-to-correct", text, "info")
        return
    if asked.tests and how in OWN_TEST:
        text = f"{how} is a test itself and decides; {asked.tests[0]} is shown beside it"
        yield Note("own-test", text, "info")
    if how == "bh":
        text = (
            "bh adjusts only the p-values: the intervals are unadjusted, and those of "
            "significant differences miss more often than their level says (Benjamini & Yekutieli "
            "2005)"
        )
        yield Note("unadjusted-intervals", text)
    if how == "romano-wolf" and (units := len(scores.units)) < FEW:
        text = f"romano-wolf finds only very large differences below {FEW} units (here {units})"
        yield Note("few-resampled", text)
    if not (scoring.linearised or analysis.test_share is not None or scores.machine is not None):
        yield from _about_false_claims(scores, analysis)
    many = has_many_differences(scores, analysis.baseline)
    if many and not asked.tests and analysis.tests in {("t",), ("retuned-t",)}:
        pairs = comparison_count(len(scores.systems), analysis.baseline)
        text = (
            f"no randomization test of each of {pairs:,} pairs: it would take long; name it as the "
            "test to run it"
        )
        yield Note("many-pairs", text, "info")


def _about_false_claims(scores: Scores, analysis: Analysis) -> Iterator[Note]:
    """Say what was measured of corrections that claim too much, and of the default's power."""
    systems, how, test = len(scores.systems), analysis.correction, analysis.tests[0]
    few = len(scores.units) < SKEW_NEEDS or systems >= MANY_SYSTEMS
    if few and how not in OWN_TEST and test in {"t", "randomization"}:
        text = (
            f"{how} over {test} claims too much if differences are skewed: all pairs of 10 "
            "real systems had a false claim in up to 13.6 % of cases with 25 units, 9.3 % with 50 "
            "and 6.1 % with 100, instead of 5 %; romano-wolf (the default) in at most 5.4 %"
        )
        yield Note("liberal-correction", text)
    if how == "romano-wolf" and analysis.baseline is None and systems >= MANY_SYSTEMS:
        text = (
            f"comparing all pairs of {systems} systems costs power: of the 1,830 pairs of 61 TREC "
            "runs romano-wolf found 30, holm 583, but with 61 systems holm made a false claim in "
            "27 % of cases; with a baseline all are compared with one system only"
        )
        yield Note("many-systems", text, "info")


def _about_training(scoring: Scoring, analysis: Analysis) -> Iterator[Note]:
    """Name tests that ignore how folds or tuning make scores dependent, and who was tuned."""
    own = [analysis.correction] if analysis.correction in OWN_TEST else []
    naive = [*(test for test in analysis.tests if test != "corrected-t"), *own]
    if analysis.test_share is not None and naive:
        verb = "treats" if len(naive) == 1 else "treat"
        text = f"{' and '.join(naive)} {verb} folds as independent; rely on corrected-t"
        yield Note("folds-independent", text)
    decides = (*own, *(analysis.asked or analysis).tests, "retuned-t")[0]
    if includes_tuning(scoring) and decides != "retuned-t":
        text = (
            f"{decides} ignores that the folds selected parameters on nearly the same queries; "
            f"such intervals {TAKEN_AS_GIVEN}; retuned-t includes the selection"
        )
        yield Note("shared-choices", text)
    for name in analysis.tuned:
        scoring.scores.index(name)
    rest = [name for name in scoring.scores.systems if name not in analysis.tuned]
    if analysis.tuned and rest:
        were, others = (
            f"{', '.join(names)} {'was' if len(names) == 1 else 'were'}"
            for names in (analysis.tuned, rest)
        )
        text = f"{were} tuned but {others} not: the difference may be due to tuning"
        yield Note("tuned-one", text)


# About human and machine judgements


def machine_notes(scores: Scores) -> Iterator[Note]:
    """Yield what could mislead about estimates from human and machine judgements."""
    from heldout.infer.intervals import DIFFERING, from_commonest  # rarely needed

    if scores.machine is None:
        return
    if len(scores.units) < HUMAN_QUERIES:
        text = (
            f"only {len(scores.units)} queries with human judgements: combined intervals were "
            f"checked from {HUMAN_QUERIES} on, and may be too narrow"
        )
        yield Note("few-human-queries", text)
    yield from _unlike(scores, scores.machine)
    if len(scores.systems) > 1:
        yield from _favours(scores, scores.machine)
    few = [
        f"{scores.systems[second]} - {scores.systems[first]} {differ}"
        for second, gaps in _differences(scores)
        for first, differ in enumerate(np.count_nonzero(from_commonest(gaps), axis=0).tolist())
        if differ < DIFFERING
    ]
    advice = "; judge more queries, or use a measure that tells more systems apart"
    yield from _few_differ(few, f"{len(scores.units)} queries with human judgements", advice)


def _unlike(scores: Scores, machine: MachineScores) -> Iterator[Note]:
    """Warn if the machine's scores of human queries are unlike those of the others (Welch's t)."""
    known, extra = machine.known.mean(1), machine.extra.mean(1)
    if do_not_vary(np.concatenate([known, extra])):
        return
    sizes = np.array([len(known), len(extra)])
    variances = np.array([known.var(ddof=1), extra.var(ddof=1)]) / sizes
    rest = (variances**2 / (sizes - 1)).sum()
    df = variances.sum() ** 2 / rest if rest else float(sizes.sum() - 2)
    p = Estimate(known.mean() - extra.mean(), np.sqrt(variances.sum()), df, "Welch").p()
    if p < SUSPICIOUS:
        text = (
            "the queries with human judgements are not like the others: under machine judgements "
            f"the mean {scores.measure} is {known.mean():.4f} on them and {extra.mean():.4f} on "
            f"the others (p = {p:.2g}); combined estimates need a random sample of all queries"
        )
        yield Note("unlike-queries", text)


def _favours(scores: Scores, machine: MachineScores) -> Iterator[Note]:
    """Warn if the machine prefers a system that people do not prefer as much.

    Errors at random make all differences smaller, which is no preference for the worse systems:
    the system must be ahead of the others under machine judgements.
    """
    systems = len(scores.systems)
    scale = systems / (systems - 1) * (1 if scores.higher_is_better else -1)
    by_people, by_machine = (  # minus the mean score of the other systems
        (part - part.mean(1, keepdims=True)) * scale for part in (scores.values, machine.known)
    )
    preferred = mean_estimate(drop_noise(by_machine, by_people))
    ahead = by_machine.mean(0) > np.maximum(by_people.mean(0), 0)
    tests = systems if systems > 2 else 1  # of two, one mirrors the other
    p = np.where(ahead, tests * preferred.p(), 1.0)
    system = int(np.argmin(p))
    if p[system] < SUSPICIOUS:
        text = (
            f"the machine overrates {scores.systems[system]} by {preferred.value[system]:.4f} "
            f"{scores.measure} compared with the other systems (p = {p[system]:.2g}): do not "
            "use scores under machine judgements alone, least of all if a system uses the model "
            "that judges; the combined estimates correct it"
        )
        yield Note("machine-favours", text)


# About the results


def result_notes(comparison: Comparison, scoring: Scoring) -> Iterator[Note]:
    """Yield what is known only after the tests."""
    scores, analysis, claims = comparison.scores, comparison.analysis, comparison.claims
    skewed = [row.name for row in comparison.systems if row.mean.method == "Hall"]
    if skewed and len(scores.units) < SKEWED_NEED:
        text = (
            f"{_some(skewed)}: few large scores among many small ones, or the reverse; with fewer "
            f"than {SKEWED_NEED} units, 95 % intervals of such means covered 83 to 99 %, least for "
            "means near 0"
        )
        yield Note("skewed-scores", text)
    if analysis.test_share is not None and analysis.interval:
        text = (
            f"the {analysis.interval} interval treats folds as independent; the default interval "
            "is corrected"
        )
        yield Note("folds-independent", text)
    epsilon = comparison.sphericity.greenhouse_geisser if comparison.sphericity else 1.0
    if analysis.correction == "tukey" and epsilon < LEAST_EPSILON:
        text = (
            "tukey assumes that all differences vary alike, but they do not (Greenhouse-Geisser "
            f"epsilon {epsilon:.2f}); Tukey's test then had 5.5 to 8.5 % false alarms instead of "
            "5 % on real systems, romano-wolf (the default) at most 5.4 %"
        )
        yield Note("unequal-variances", text)
    if analysis.baseline is None and len(scores.systems) > LETTERED:
        text = f"no letters: there are more than {LETTERED} systems"
        yield Note("no-letters", text, "info")
    if analysis.correction != "bh":  # a warning of its own says so
        yield from _disagreements(scoring, analysis, claims)
    few = [
        f"{claim.first} - {claim.second} {claim.effects.wins + claim.effects.losses}"
        for claim in claims
        if claim.difference.method.endswith(PLUS_FOUR)
    ]
    yield from _few_differ(few, f"{len(scores.units)} units")


def _disagreements(scoring: Scoring, analysis: Analysis, claims: Sequence[Claim]) -> Iterator[Note]:
    """Explain intervals that include 0 beside a significant p-value, or exclude it beside none."""
    steps: list[str] = []
    other: list[str] = []
    for claim in claims:
        significant = claim.adjusted <= analysis.alpha
        excluded = not claim.difference.low <= 0 <= claim.difference.high
        if significant != excluded:
            stepwise = significant and analysis.correction in STEPWISE
            (steps if stepwise else other).append(f"{claim.first} - {claim.second}")
    if steps:
        text = (
            f"{_some(steps)}: significant although the interval includes 0, because "
            f"{analysis.correction} is stepwise and more powerful than simultaneous intervals"
        )
        yield Note("stepwise", text)
    decides, why = analysis.decides, "the methods differ and the result is close; the test decides"
    if analysis.test_share is not None and decides != "corrected-t":
        why = f"the interval is corrected for overlapping folds, {decides} is not"
    elif "retuned-t" in scoring.tests and decides != "retuned-t":
        why = f"the interval includes the selection of parameters in folds, {decides} does not"
    elif decides in BY_RANK:
        why = f"{decides} is not about the mean, the interval is"
    if other:
        yield Note("disagreement", f"{_some(other)}: test and interval disagree: {why}")


def _few_differ(pairs: Sequence[str], of: str, advice: str = "") -> Iterator[Note]:
    """Warn about pairs that differ on few units: their variance is hardly known."""
    if pairs:
        text = (
            f"systems differ on few of the {of} ({_some(pairs, ' pairs')}): intervals are wider "
            f"for it, and rough{advice}"
        )
        yield Note("few-differ", text)


def _some(names: Sequence[str], what: str = "") -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more{what}" if len(names) > 3 else "")
