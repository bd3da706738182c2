"""Gates: they read the claims of a comparison, and say so in words and in JSON."""

from dataclasses import replace

import numpy as np
import pytest
from inference_data import of_classes
from scipy import stats

from heldout import InputError, Scores, compare
from heldout.data.scores import ChoiceSpread, MachineScores
from heldout.infer import engine
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
def test_verdicts_in_words(lower):
    for kind, gain, words in (
        ("non-inferior", 0.001, "passed: new is not worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.2, "failed: new is worse than old by more than 0.05 in AP"),
        ("non-inferior", -0.04, "failed: not shown that new is not worse than old by more"),
        ("equivalent", 0.001, "passed: new is within 0.05 of old in AP"),
        ("equivalent", 0.2, "failed: new is better than old by more than 0.05 in AP"),
        ("equivalent", -0.2, "failed: new is worse than old by more than 0.05 in AP"),
    ):
        result = only(gate(comparison(gain, lower=lower), kind, 0.05))
        assert gate_sentence(result).startswith(words)
        assert result.passed == words.startswith("passed")
        assert f"gain {gain:+.4f}, 90% CI [" in gate_sentence(result)


def test_an_undecided_gate_says_what_would_decide_it():
    within = only(gate(comparison(-0.04), "non-inferior", 0.05))
    needed = within.queries_needed
    assert gate_sentence(within).endswith(f"; about {needed:,} queries would decide it")
    again = np.tile(-0.04 + NOISE, -(-needed // 60))
    assert only(gate(compare(table(again)), "non-inferior", 0.05)).passed
    beyond = only(gate(comparison(-0.06), "non-inferior", 0.05))
    assert gate_sentence(beyond).endswith("more queries would hardly help")
    folds = only(gate(comparison(-0.04, test_share=0.1), "non-inferior", 0.05))
    assert gate_sentence(folds).endswith("more data would decide it")
    wide = 0.3 / NOISE.std(ddof=1) * NOISE
    result = only(gate(compare(table(wide)), "equivalent", 0.05))
    # Chow, Shao & Wang (2008), section 3.1.2: (z(.95) + z(.9))² (sd / margin)², here 308.31.
    assert result.queries_needed == pytest.approx(308.31, abs=4)


# No contradiction


def gains(rng, units=30):
    return rng.normal(rng.uniform(-0.05, 0.15), 0.2, units)


def units(rng):
    return {"given": table(gains(rng))}


def tuned(rng):
    spread = ChoiceSpread(0.04 / 30, rng.uniform(0, 0.003))
    lower = rng.random() < 0.5
    return {"given": table(gains(rng), lower=lower, choices={("new", "old"): spread})}


def judged_twice(rng):
    true = gains(rng, 230)
    machine = true + rng.normal(0, 0.1, 230)
    known, extra = (np.stack([0 * part, part], axis=1) for part in (machine[:30], machine[30:]))
    return {"given": table(true[:30], machine=MachineScores(known, extra))}


def three(rng):
    values = 0.5 + rng.normal(0, 0.2, (30, 3)) + np.array([0.0, 0.08, -0.02])
    return {"given": Scores("AP", ("old", "new", "other"), range(30), values)}


def classes(rng):
    seed = int(rng.integers(1000))
    return {"given": [of_classes("old", 0.3, 60, seed), of_classes("new", 0.6, 60, seed)]}


DESIGNS = {  # settings, data, and how many of them
    "units": ({}, units, 12),
    "folds": ({"test_share": 1 / 29}, units, 12),
    "tuned": ({}, tuned, 24),
    "machine": ({}, judged_twice, 8),
    "several": ({"baseline": "old", "replicates": 1000}, three, 8),
    "F1": ({"measure": "F1"}, classes, 5),
    "AUC": ({"measure": "AUC"}, classes, 8),
    "order": ({"measure": "average-precision"}, classes, 3),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_a_gate_cannot_contradict_the_claim(design):
    """Better passes exactly if the claim says so; margins are compared with its interval."""
    settings, made, rounds = DESIGNS[design]
    passed = set()
    for seed in range(rounds):
        given = made(np.random.default_rng(seed))
        one_sided = compare(**given, **settings, alternative="greater")
        board = standing(one_sided)
        results = gate(one_sided, "better")
        for claim, result, gap in zip(one_sided.claims, results, board.gaps, strict=True):
            assert result.p == claim.adjusted
            assert result.passed == (claim.adjusted <= 0.05)
            assert result.passed == ("is significantly better" in pair_answer(board, gap))
            passed.add(result.passed)
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
    assert len(passed) == 2 or design in {"F1", "order"}


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("share", [None, 0.1])
@pytest.mark.parametrize("gain", [-0.04, 0.0, 0.03])
def test_the_p_value_of_a_margin_is_that_of_a_shifted_t_test(gain, share, lower):
    shifted = gain + NOISE
    error = shifted.std(ddof=1) * np.sqrt(1 / 60 + (share or 0))
    above, below = (stats.t.sf((0.05 + sign * gain) / error, 59) for sign in (1, -1))
    found = comparison(gain, lower=lower, test_share=share)
    assert only(gate(found, "non-inferior", 0.05)).p == pytest.approx(above, rel=1e-9)
    assert only(gate(found, "equivalent", 0.05)).p == pytest.approx(max(above, below), rel=1e-9)
    one_sided = comparison(gain, lower=lower, test_share=share, alternative="greater")
    beyond = stats.t.sf((gain - 0.01) / error, 59)
    assert only(gate(one_sided, "better", 0.01)).p == pytest.approx(min(0.5, beyond), rel=1e-9)


# Little or no variance

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


@pytest.mark.parametrize(("given", "same"), EQUAL.values(), ids=EQUAL)
def test_equal_scores_pass_only_if_the_outputs_are_equal(given, same):
    for kind in ("non-inferior", "equivalent"):
        result = only(gate(compare(*given), kind, 0.01))
        assert result.passed == same
        words = "both gave the same output" if same else "no score differs, which shows nothing"
        assert words in gate_sentence(result)


def test_few_differing_units_make_the_interval_wider(monkeypatch):
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
    # Of scores that are no means, the variance of m differing units is taken for that of m + 4.
    old = of_classes("old", 0.3, 60)
    new = replace(old, name="new", predicted=np.r_[1 - old.predicted[:3], old.predicted[3:]])
    wide = compare([old, new], "F1(macro)").claims[0].difference
    monkeypatch.setattr(engine, "DIFFERING", 0)
    plain = compare([old, new], "F1(macro)").claims[0].difference
    assert wide.high - wide.estimate == pytest.approx(
        (plain.high - plain.estimate) * (7 / 3) ** 0.5
    )


def test_what_would_pass_too_often_is_refused():
    spread = {"choices": {("new", "old"): ChoiceSpread(0.001, 0.001)}}
    for message, scores, settings in (
        ("tests='wilcoxon' is about ranks", table(NOISE), {"tests": ["wilcoxon"]}),
        ("tests='t' treats folds", table(NOISE), {"tests": ["t"], "test_share": 0.1}),
        ("interval treats folds", table(NOISE), {"interval": "t", "test_share": 0.1}),
        ("tests='t' ignores the tuning", table(NOISE, **spread), {"tests": ["t"]}),
        ("interval ignores the tuning", table(NOISE, **spread), {"interval": "percentile"}),
        ("='greater': the gate equivalent", table(NOISE), {"alternative": "greater"}),
    ):
        with pytest.raises(InputError, match=message):
            gate(compare(scores, **settings), "equivalent", 0.05)
    for kind, margin, message in (
        ("equivalent", 0, "margin=0: expected a number above 0"),
        ("equivalent", np.inf, "margin=inf: expected a number above 0"),
        ("worse", 0.1, "kind='worse': expected one of better"),
        ("better", 0.1, "alternative='two-sided': the gate better reads"),
    ):
        with pytest.raises(InputError, match=message):
            gate(comparison(0.0), kind, margin)
    scores = Scores("AP", ("a", "b", "c"), range(60), np.stack([OLD, OLD + NOISE, 1 - OLD], axis=1))
    with pytest.raises(InputError, match="needs a baseline"):
        gate(compare(scores), "non-inferior", 0.05)
    results = gate(compare(scores, baseline="b"), "non-inferior", 0.05)
    assert [(one.first, one.second) for one in results] == [("a", "b"), ("c", "b")]
