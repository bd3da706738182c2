"""Gates: they read the claims of a comparison, and say so in words and in JSON."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import heldout
from heldout import InputError, Scores, compare
from heldout.data.scores import ChoiceSpread, MachineScores
from heldout.infer.gate import gate
from heldout.report.answers import gate_sentence, pair_answer
from heldout.report.standing import standing

RNG = np.random.default_rng(3)
OLD = RNG.uniform(0.2, 0.8, 60)
NOISE = RNG.normal(0, 0.1, 60)
NOISE -= NOISE.mean()


def table(gaps, *, lower=False, **more):
    """A new system that gains so much over the old one on each unit."""
    gaps = np.asarray(gaps)
    old = np.resize(OLD, len(gaps))
    values = np.stack([old, old + (-gaps if lower else gaps)], axis=1)
    return Scores("AP", ("old", "new"), range(len(gaps)), values, not lower, **more)


def comparison(gain, *, lower=False, **settings):
    return compare(table(gain + NOISE, lower=lower), **settings)


def only(results):
    (result,) = results
    return result


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize(
    ("kind", "gain", "words"),
    [
        ("non-inferior", 0.001, "passed: new is not worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.2, "failed: new is worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.04, "failed: not shown that new is not worse than old by more"),
        ("equivalent", 0.001, "passed: new is within 0.05 of old in AP"),
        ("equivalent", 0.2, "failed: new is better than old by more than 0.05 in AP"),
        ("equivalent", -0.2, "failed: new is worse than old by more than 0.05 in AP"),
    ],
)
def test_verdicts_in_words(kind, gain, words, lower):
    result = only(gate(comparison(gain, lower=lower), kind, 0.05))
    assert gate_sentence(result).startswith(words)
    assert result.passed == words.startswith("passed")
    assert f"gain {gain:+.4f}, 90% CI [" in gate_sentence(result)
    # The interval of the comparison at that level, and no other.
    claim = only(comparison(gain, lower=lower, level=0.9).claims)
    bounds = claim.difference[1:3] if not lower else [-b for b in claim.difference[2:0:-1]]
    assert result.interval[1:3] == pytest.approx(tuple(bounds), rel=1e-12)


def test_an_undecided_gate_says_what_would_decide_it():
    within = only(gate(comparison(-0.04), "non-inferior", 0.05))
    needed = within.queries_needed
    assert needed is not None
    assert gate_sentence(within).endswith(f"; about {needed:,} queries would decide it")
    again = np.tile(-0.04 + NOISE, -(-needed // 60))
    assert only(gate(compare(table(again)), "non-inferior", 0.05)).passed
    beyond = only(gate(comparison(-0.06), "non-inferior", 0.05))
    assert gate_sentence(beyond).endswith("more queries would hardly help")
    folds = only(gate(comparison(-0.04, test_share=0.1), "non-inferior", 0.05))
    assert gate_sentence(folds).endswith("more data would decide it")


def test_queries_needed_for_equivalence():
    wide = 0.3 / NOISE.std(ddof=1) * NOISE
    result = only(gate(compare(table(wide)), "equivalent", 0.05))
    # Chow, Shao & Wang (2008), section 3.1.2: (z(.95) + z(.9))² (sd / margin)², here 308.31.
    assert result.queries_needed == pytest.approx(308.31, abs=4)


def tuned(seed):
    rng = np.random.default_rng(seed)
    gaps = rng.normal(rng.uniform(-0.05, 0.15), 0.2, 30)
    spread = ChoiceSpread(0.04 / 30, rng.uniform(0, 0.003))
    return table(gaps, lower=seed % 2 == 0, choices={("new", "old"): spread})


def judged_twice(seed):
    rng = np.random.default_rng(seed)
    true = rng.normal(rng.uniform(-0.05, 0.15), 0.2, 230)
    machine = true + rng.normal(0, 0.1, 230)
    known, extra = (np.stack([0 * part, part], axis=1) for part in (machine[:30], machine[30:]))
    return table(true[:30], machine=MachineScores(known, extra))


def three(seed):
    rng = np.random.default_rng(seed)
    gains = rng.normal(0, 0.2, (30, 3)) + np.array([0.0, 0.08, -0.02])
    return Scores("AP", ("old", "new", "other"), range(30), 0.5 + gains)


def predictions(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, 60)
    guess = {
        name: np.where(rng.random(60) < right, truth, 1 - truth)
        for name, right in (("old", 0.6), ("new", 0.75))
    }
    return truth, guess


def classes(seed):
    truth, guess = predictions(seed)
    return {"given": truth.tolist(), "systems": {n: v.tolist() for n, v in guess.items()}}


def ranked(seed):
    rng = np.random.default_rng(seed)
    truth, guess = predictions(seed)
    systems = {name: (value + rng.normal(0, 0.5, 60)).tolist() for name, value in guess.items()}
    return {"given": truth.tolist(), "systems": systems}


def texts(seed):
    truth, guess = predictions(seed)
    said = {n: [" ".join("ab"[one] * 5) for one in v] for n, v in guess.items()}
    return {"given": [" ".join("ab"[one] * 5) for one in truth], "systems": said}


DESIGNS = {
    "units": ({}, lambda seed: {"given": table(tuned(seed).values @ [-1, 1])}),
    "folds": ({"test_share": 1 / 29}, lambda seed: {"given": table(tuned(seed).values @ [-1, 1])}),
    "tuned": ({}, lambda seed: {"given": tuned(seed)}),
    "machine": ({}, lambda seed: {"given": judged_twice(seed)}),
    "several": ({"baseline": "old", "replicates": 1000}, lambda seed: {"given": three(seed)}),
    "F1": ({"measure": "F1"}, classes),
    "AUC": ({"measure": "AUC"}, ranked),
    "BLEU": ({"measure": "BLEU", "replicates": 1000}, texts),
    "order": ({"measure": "median-AE"}, ranked),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_gate_cannot_contradict_the_claim(design):
    """Better passes exactly if the claim says so; margins are compared with its interval."""
    settings, made = DESIGNS[design]
    passed = []
    for seed in range(40 if design == "tuned" else 8):
        given = made(seed)
        one_sided = compare(**given, **settings, alternative="greater")
        board = standing(one_sided)
        results = gate(one_sided, "better")
        for claim, result, gap in zip(one_sided.claims, results, board.gaps, strict=True):
            assert result.p == claim.adjusted
            assert result.passed == (claim.adjusted <= 0.05)
            assert result.passed == ("is significantly better" in pair_answer(board, gap))
            passed.append(result.passed)
        two_sided = compare(**given, **settings)
        ninety = compare(**given, **settings, level=0.9)
        sign = 1 if ninety.scores.higher_is_better else -1
        for kind, margin in (("non-inferior", 0.03), ("equivalent", 0.1)):
            results = gate(two_sided, kind, margin)
            for claim, result in zip(ninety.claims, results, strict=True):
                low, high = sorted(sign * bound for bound in claim.difference[1:3])
                assert result.interval[1:3] == pytest.approx((low, high))
                assert result.passed == (low > -margin and (kind[0] == "n" or high < margin))
                assert result.passed == (result.p <= 0.05)
    assert len(set(passed)) == 2 or design in {"folds", "order"}


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("share", [None, 0.1])
@pytest.mark.parametrize("gain", [-0.04, 0.0, 0.03])
def test_the_p_value_of_a_margin_is_that_of_a_shifted_t_test(gain, share, lower):
    gains = gain + NOISE
    error = gains.std(ddof=1) * np.sqrt(1 / 60 + (share or 0))
    above, below = (stats.t.sf((0.05 + sign * gain) / error, 59) for sign in (1, -1))
    found = comparison(gain, lower=lower, test_share=share)
    assert only(gate(found, "non-inferior", 0.05)).p == pytest.approx(above, rel=1e-9)
    assert only(gate(found, "equivalent", 0.05)).p == pytest.approx(max(above, below), rel=1e-9)
    one_sided = comparison(gain, lower=lower, test_share=share, alternative="greater")
    beyond = stats.t.sf((gain - 0.01) / error, 59)
    assert only(gate(one_sided, "better", 0.01)).p == pytest.approx(min(0.5, beyond), rel=1e-9)


def test_tests_that_ignore_the_design_are_refused():
    wrong = {
        "test='wilcoxon' is about ranks": (table(NOISE), {"tests": ["wilcoxon"]}),
        "test='t' treats folds": (table(NOISE), {"tests": ["t"], "test_share": 0.1}),
        "interval treats folds": (table(NOISE), {"interval": "t", "test_share": 0.1}),
        "test='t' ignores the tuning": (tuned(1), {"tests": ["t"]}),
        "interval ignores the tuning": (tuned(1), {"interval": "percentile"}),
        "alternative='greater': the gate equivalent": (table(NOISE), {"alternative": "greater"}),
    }
    for message, (scores, settings) in wrong.items():
        with pytest.raises(InputError, match=message):
            gate(compare(scores, **settings), "equivalent", 0.05)
    with pytest.raises(InputError, match="margin=0: expected a number above 0"):
        gate(comparison(0.0), "equivalent", 0)


QRELS = {f"q{n}": {"a": 1, "b": 0, "c": 0} for n in range(50)}
RUN = {f"q{n}": {"a": 3.0, "b": 2.0, "c": 1.0} for n in range(50)}
SWAPPED = RUN | {"q7": {"a": 3.0, "c": 2.0, "b": 1.0}}
LABELS = ["x", "y"] * 25
NEARLY = {"old": [0.1, 0.9] * 25, "new": [0.1, 0.9] * 24 + [0.2, 0.8]}
EQUAL = {
    "copies of runs": ((QRELS, {"old": RUN, "new": dict(RUN)}, "RR"), True),
    "runs": ((QRELS, {"old": RUN, "new": SWAPPED}, "RR"), False),
    "copies of classes": ((LABELS, {"old": LABELS, "new": list(LABELS)}, "F1(macro)"), True),
    "copies of texts": ((LABELS, {"old": LABELS, "new": list(LABELS)}, "BLEU"), True),
    "scores of classes": (([0, 1] * 25, NEARLY, "AUC"), False),
    "a table": (({"old": [0.5] * 50, "new": [0.5] * 50},), False),
}


@pytest.mark.parametrize("kind", ["non-inferior", "equivalent"])
@pytest.mark.parametrize(("given", "same"), EQUAL.values(), ids=EQUAL)
def test_equal_scores_pass_only_if_the_outputs_are_equal(given, same, kind):
    result = only(gate(compare(*given), kind, 0.01))
    assert result.passed == same
    words = "both gave the same output" if same else "no score differs, which shows nothing"
    assert words in gate_sentence(result)


def test_few_differing_units_make_the_interval_wider():
    gaps = np.zeros(60)
    gaps[:3] = -0.1
    found = compare(table(gaps))
    (claim,) = found.claims
    plain = compare(table(gaps), interval="percentile").claims[0].difference
    # Four more differing units: 4 times their mean square / n², as with machine judgements.
    error = np.sqrt(gaps.var(ddof=1) / 60 + 4 * 0.01 / 60**2)
    assert claim.difference.low == pytest.approx(-0.005 - 2.0009953781 * error)
    assert claim.difference.method == "t, plus four"
    assert plain.low < -0.01
    note = next(note for note in found.warnings if note.code == "few-differ")
    assert note.text.startswith("systems differ on few of the 60 units (new - old 3)")
    assert compare(table(NOISE)).claims[0].difference.method == "t"


def test_losses_on_few_queries_do_not_pass():
    """A system that fails on one query in fifty loses .02 on average: more than .01."""
    rng = np.random.default_rng(5)
    passed = 0
    for _ in range(200):
        gaps = np.where(rng.random(50) < 0.02, -1.0, 0.0)
        passed += only(gate(compare(table(gaps)), "non-inferior", 0.01)).passed
    assert passed <= 0.05 * 200


@pytest.mark.parametrize(
    ("units", "alternative", "p"),
    [(2, "two-sided", 0.5), (2, "greater", 0.25), (6, "two-sided", 2**-5), (6, "less", 1.0)],
)
def test_a_constant_difference_is_no_more_than_its_signs(units, alternative, p):
    for tests in (["t"], ["randomization"]):
        found = compare(table([0.125] * units), tests=tests, alternative=alternative)
        assert (found.claims[0].adjusted, tests) == (p, tests)
    if alternative == "two-sided":
        assert np.isfinite(found.claims[0].difference.low) == (p <= 0.05)
    folds = compare(table([0.125] * units), test_share=0.1, alternative=alternative)
    assert folds.claims[0].adjusted == p
    if alternative == "greater":
        assert not only(gate(found, "better")).passed


def test_without_a_baseline_there_is_no_gate():
    scores = Scores("AP", ("a", "b", "c"), range(60), np.stack([OLD, OLD + NOISE, 1 - OLD], axis=1))
    with pytest.raises(InputError, match="needs a baseline"):
        gate(compare(scores), "non-inferior", 0.05)
    results = gate(heldout.compare(scores, baseline="b"), "non-inferior", 0.05)
    assert [(one.first, one.second) for one in results] == [("a", "b"), ("c", "b")]
