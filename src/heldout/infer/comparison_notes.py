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
    from heldout.infer.comparison import Claim, SystemRow
    from heldout.infer.scoring import Scoring
    from heldout.infer.tukey import Sphericity

# Of intervals of tuned systems on query folds; benchmarks/fold_coverage.py, docs/methods.md.
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


def design_notes(scores: Scores, scoring: Scoring, analysis: Analysis) -> list[Note]:
    """Return what is known before anything is tested."""
    asked = analysis.asked or analysis
    notes = [*scores.notes, *machine_notes(scores)]
    notes += _about_units(scores, analysis)
    notes += _about_tests(scores, scoring, analysis)
    notes += _about_values(scores)
    notes += _about_correction(scores, analysis, asked)
    folds = analysis.test_share is not None
    if not (scoring.linearised or folds):
        notes += _about_false_claims(scores, analysis)
    many = has_many_differences(scores, analysis.baseline)
    if many and not asked.tests and analysis.tests in {("t",), ("retuned-t",)}:
        pairs = comparison_count(len(scores.systems), analysis.baseline)
        text = (
            f"no randomization test of each of {pairs:,} pairs: it would take long; name it as the "
            "test to run it"
        )
        notes.append(Note("many-pairs", text, "info"))
    if folds:
        notes += _about_folds(analysis)
    if includes_tuning(scores, scoring):
        notes += _about_tuning_in_folds(analysis, asked)
    return notes + _about_tuning(scores, analysis.tuned)


def _about_units(scores: Scores, analysis: Analysis) -> Iterator[Note]:
    if len(scores.units) < FEW_UNITS:
        yield Note("few-units", f"only {scores.size}: too few to conclude anything")
    if analysis.alternative != "two-sided":
        yield Note("one-tail", "one-sided test: valid only if the direction was fixed in advance")


def _about_tests(scores: Scores, scoring: Scoring, analysis: Analysis) -> Iterator[Note]:
    tests, units = analysis.tests, len(scores.units)
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
    if scores.dropped:
        shown = ", ".join(scores.dropped[:3]) + (", …" if len(scores.dropped) > 3 else "")
        text = (
            f"{count_of(len(scores.dropped), 'unit')} left out because a system has no score for "
            f"{'it' if len(scores.dropped) == 1 else 'them'}: {shown}"
        )
        yield Note("missing-left-out", text)
    yield from _about_equal_scores(scores)
    if scores.judged and max(scores.judged) - min(scores.judged) > JUDGED_APART:
        shares = ", ".join(
            f"{name} {share:.0%}" for name, share in zip(scores.systems, scores.judged, strict=True)
        )
        yield Note("judged-apart", f"unequal judging: {shares} of the top documents judged")


def _about_equal_scores(scores: Scores) -> list[Note]:
    """Name pairs that agree on most units, or differ by the same amount on all."""
    ties: list[Note] = []
    constant: list[Note] = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        shares = np.mean(gaps == 0, axis=0)
        for first in np.flatnonzero((shares > MANY_TIES) | do_not_vary(gaps)).tolist():
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
    return ties[:SHOWN_PAIRS] + constant[:SHOWN_PAIRS]


def _about_correction(scores: Scores, analysis: Analysis, asked: Analysis) -> Iterator[Note]:
    from heldout.infer.romano_wolf import FEW  # slow to import

    how, units = analysis.correction, len(scores.units)
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
    if how == "romano-wolf" and units < FEW:
        text = f"romano-wolf finds only very large differences below {FEW} units (here {units})"
        yield Note("few-resampled", text)


def _about_false_claims(scores: Scores, analysis: Analysis) -> list[Note]:
    """Say what was measured of corrections that claim too much, and of the default's power."""
    systems, how, test = len(scores.systems), analysis.correction, analysis.tests[0]
    if systems < 3 or scores.machine is not None:
        return []
    few = len(scores.units) < SKEW_NEEDS or systems >= MANY_SYSTEMS
    if few and how not in OWN_TEST and test in {"t", "randomization"}:
        text = (
            f"{how} over {test} claims too much if differences are skewed: all pairs of 10 "
            "real systems had a false claim in up to 13.6 % of cases with 25 units, 9.3 % with 50 "
            "and 6.1 % with 100, instead of 5 %; romano-wolf (the default) in at most 5.4 %"
        )
        return [Note("liberal-correction", text)]
    if how == "romano-wolf" and analysis.baseline is None and systems >= MANY_SYSTEMS:
        text = (
            f"comparing all pairs of {systems} systems costs power: of the 1,830 pairs of 61 TREC "
            "runs romano-wolf found 30, holm 583, but with 61 systems holm made a false claim in "
            "27 % of cases; to compare all with one system pass baseline=NAME"
        )
        return [Note("many-systems", text, "info")]
    return []


def _about_folds(analysis: Analysis) -> list[Note]:
    """Name the tests that treat folds as independent: all but corrected-t."""
    naive = [test for test in analysis.tests if test != "corrected-t"]
    naive += [analysis.correction] if analysis.correction in OWN_TEST else []
    if not naive:
        return []
    verb = "treats" if len(naive) == 1 else "treat"
    text = f"{' and '.join(naive)} {verb} folds as independent; rely on corrected-t"
    return [Note("folds-independent", text)]


def _about_tuning_in_folds(analysis: Analysis, asked: Analysis) -> list[Note]:
    """Name the deciding test if it ignores the selection of parameters: all but retuned-t."""
    own = analysis.correction in OWN_TEST
    decides = analysis.correction if own else "".join(asked.tests[:1])
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
    were, others = (
        f"{', '.join(names)} {'was' if len(names) == 1 else 'were'}" for names in (tuned, rest)
    )
    text = f"{were} tuned but {others} not: the difference may be due to tuning"
    return [Note("tuned-one", text)]


# About human and machine judgements


def machine_notes(scores: Scores) -> list[Note]:
    """Return what could mislead about estimates from human and machine judgements."""
    machine = scores.machine
    if machine is None:
        return []
    notes = []
    if len(scores.units) < HUMAN_QUERIES:
        text = (
            f"only {len(scores.units)} queries with human judgements: combined intervals were "
            f"checked from {HUMAN_QUERIES} on, and may be too narrow"
        )
        notes.append(Note("few-human-queries", text))
    return [*notes, *_unlike(scores, machine), *_favours(scores, machine), *_few_judged(scores)]


def _unlike(scores: Scores, machine: MachineScores) -> list[Note]:
    """Warn if the machine's scores of human queries are unlike those of the others (Welch's t)."""
    known, extra = machine.known.mean(1), machine.extra.mean(1)
    if do_not_vary(np.concatenate([known, extra])):
        return []
    sizes = np.array([len(known), len(extra)])
    variances = np.array([known.var(ddof=1), extra.var(ddof=1)]) / sizes
    rest = (variances**2 / (sizes - 1)).sum()
    df = variances.sum() ** 2 / rest if rest else float(sizes.sum() - 2)
    p = Estimate(known.mean() - extra.mean(), np.sqrt(variances.sum()), df, "Welch").p()
    if p >= SUSPICIOUS:
        return []
    text = (
        f"the queries with human judgements are not like the others: under machine judgements the "
        f"mean {scores.measure} is {known.mean():.4f} on them and {extra.mean():.4f} on the "
        f"others (p = {p:.2g}); combined estimates need a random sample of all queries"
    )
    return [Note("unlike-queries", text)]


def _favours(scores: Scores, machine: MachineScores) -> list[Note]:
    """Warn if the machine prefers a system that people do not prefer as much.

    Errors at random make all differences smaller, which overrates the worse systems; that is no
    preference. So the system must be ahead of the others under machine judgements.
    """
    systems = len(scores.systems)
    if systems < 2:
        return []
    sign = 1.0 if scores.higher_is_better else -1.0
    by_people, by_machine = (sign * _excess(part) for part in (scores.values, machine.known))
    preferred = mean_estimate(drop_noise(by_machine, by_people))
    ahead = by_machine.mean(0) > np.maximum(by_people.mean(0), 0)
    tests = systems if systems > 2 else 1  # of two, one mirrors the other
    p = np.where(ahead, tests * preferred.p(), 1.0)
    system = int(np.argmin(p))
    if p[system] >= SUSPICIOUS:
        return []
    text = (
        f"the machine overrates {scores.systems[system]} by {preferred.value[system]:.4f} "
        f"{scores.measure} compared with the other systems (p = {p[system]:.2g}): do not "
        "use scores under machine judgements alone, least of all if a system uses the model that "
        "judges; the combined estimates correct it"
    )
    return [Note("machine-favours", text)]


def _excess(values: Floats) -> Floats:
    """Return scores minus the mean score of the other systems."""
    systems = values.shape[1]
    excess: Floats = (values - values.mean(1, keepdims=True)) * (systems / (systems - 1))
    return excess


def _few_judged(scores: Scores) -> list[Note]:
    """Warn about pairs that differ on few human queries: their variance is hardly known."""
    from heldout.infer.intervals import DIFFERING, from_commonest  # rarely needed

    few = []
    for second in range(1, len(scores.systems)):
        gaps = drop_noise(scores.values[:, second, None], scores.values[:, :second])
        for first, differ in enumerate(np.count_nonzero(from_commonest(gaps), axis=0).tolist()):
            if differ < DIFFERING:
                few.append(f"{scores.systems[second]} - {scores.systems[first]} {differ}")
    if not few:
        return []
    text = (
        f"systems differ on few of the {len(scores.units)} queries with human judgements "
        f"({_some(few, ' pairs')}): intervals are wider for it, and rough; judge more "
        "queries, or use a measure that tells more systems apart"
    )
    return [Note("few-differ", text)]


# About the results


def result_notes(
    scores: Scores,
    scoring: Scoring,
    analysis: Analysis,
    systems: Sequence[SystemRow],
    claims: Sequence[Claim],
    sphericity: Sphericity | None,
) -> list[Note]:
    """Return what is known only after the tests."""
    notes = _skewed_means(scores, systems)
    if analysis.test_share is not None and analysis.interval:
        text = (
            f"the {analysis.interval} interval treats folds as independent; the default interval "
            "is corrected"
        )
        notes.append(Note("folds-independent", text))
    if analysis.correction == "tukey":
        notes += _unequal_variances(sphericity)
    if analysis.baseline is None and len(scores.systems) > LETTERED:
        text = f"no letters: there are more than {LETTERED} systems"
        notes.append(Note("no-letters", text, "info"))
    return notes + _disagreements(scoring, analysis, claims) + _few_differ(claims)


def _skewed_means(scores: Scores, systems: Sequence[SystemRow]) -> list[Note]:
    """Warn where even intervals for skewed scores may cover too little."""
    names = [row.name for row in systems if row.mean.method == "Hall"]
    if not names or len(scores.units) >= SKEWED_NEED:
        return []
    text = (
        f"{_some(names)}: few large scores among many small ones, or the reverse; with fewer than "
        f"{SKEWED_NEED} units, 95 % intervals of such means covered 83 to 99 %, least for means "
        "near 0"
    )
    return [Note("skewed-scores", text)]


def _unequal_variances(sphericity: Sphericity | None) -> list[Note]:
    """Warn where Tukey's one error term for all pairs does not fit the data."""
    if sphericity is None or sphericity.greenhouse_geisser >= LEAST_EPSILON:
        return []
    text = (
        "tukey assumes that all differences vary alike, but they do not "
        f"(Greenhouse-Geisser epsilon {sphericity.greenhouse_geisser:.2f}); Tukey's test then had "
        "5.5 to 8.5 % false alarms instead of 5 % on real systems, romano-wolf (the default) at "
        "most 5.4 %"
    )
    return [Note("unequal-variances", text)]


def _disagreements(scoring: Scoring, analysis: Analysis, claims: Sequence[Claim]) -> list[Note]:
    """Explain intervals that include 0 beside a significant p-value, or exclude it beside none."""
    if analysis.correction == "bh":
        return []  # a warning of its own says so
    steps: list[str] = []
    other: list[str] = []
    for claim in claims:
        significant = claim.adjusted <= analysis.alpha
        excluded = not claim.difference.low <= 0 <= claim.difference.high
        if significant != excluded:
            stepwise = significant and analysis.correction in STEPWISE
            (steps if stepwise else other).append(f"{claim.first} - {claim.second}")
    notes = []
    if steps:
        text = (
            f"{_some(steps)}: significant although the interval includes 0, because "
            f"{analysis.correction} is stepwise and more powerful than simultaneous intervals"
        )
        notes.append(Note("stepwise", text))
    if other:
        why = _why_they_disagree(scoring, analysis)
        text = f"{_some(other)}: test and interval disagree: {why}"
        notes.append(Note("disagreement", text))
    return notes


def _why_they_disagree(scoring: Scoring, analysis: Analysis) -> str:
    decides = analysis.decides
    if analysis.test_share is not None and decides != "corrected-t":
        return f"the interval is corrected for overlapping folds, {decides} is not"
    if "retuned-t" in scoring.tests and decides != "retuned-t":
        return f"the interval includes the selection of parameters in folds, {decides} does not"
    if decides in BY_RANK:
        return f"{decides} is not about the mean, the interval is"
    return "the methods differ and the result is close; the test decides"


def _few_differ(claims: Sequence[Claim]) -> list[Note]:
    """Warn about pairs that differ on few units, so that their intervals are wider."""
    few = [
        f"{claim.first} - {claim.second} {claim.effects.wins + claim.effects.losses}"
        for claim in claims
        if claim.difference.method.endswith(PLUS_FOUR)
    ]
    if not few:
        return []
    text = (
        f"systems differ on few of the {claims[0].effects.n} units ({_some(few, ' pairs')}): "
        "intervals are wider for it, and rough"
    )
    return [Note("few-differ", text)]


def _some(names: Sequence[str], what: str = "") -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3:,} more{what}" if len(names) > 3 else "")
