"""Human and machine judgements: estimates by a loop over queries and by simulation; comparisons."""

from dataclasses import replace

import numpy as np
import pytest
from inference_data import codes
from scipy import stats

from heldout import InputError, Scores, compare, evaluate
from heldout.data.scores import MachineScores
from heldout.infer.prediction_powered import combine_judgements, combined_means
from heldout.infer.romano_wolf import romano_wolf

QUERIES, PEOPLE = 120, 40


# Estimates


def sample(seed, n=30, more=90, noise=0.3):
    generator = np.random.default_rng(seed)
    true = generator.beta(2, 3, n + more)
    machine = np.clip(true + generator.normal(0.1, noise, n + more), 0, 1)
    return true[:n], machine[:n], machine[n:]


def naive(human, machine, extra):
    """The cross-fitted estimate and its standard error, query by query."""
    n, more = len(human), len(extra)
    weights, left_out = [], []
    for query in range(n):
        y, f = np.delete(human, query), np.delete(machine, query)
        weight = np.cov(y, f)[0, 1] / f.var(ddof=1) / (1 + n / more)
        weights.append(min(max(weight, 0), 1))
        left_out.append(y.mean() - weights[-1] * (f.mean() - extra.mean()))
    weights, left_out = np.array(weights), np.array(left_out)
    residuals = human - weights * (machine - extra.mean())
    jackknife = (n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()
    own = max(residuals.var(ddof=1) / n, jackknife)
    variance = own + weights.mean() ** 2 * extra.var(ddof=1) / more
    return residuals.mean(), variance**0.5


def test_cross_fitted_estimates_equal_a_loop_over_queries():
    parts = [sample(seed, n=12, more=40) for seed in range(6)]
    columns = combined_means(*(np.stack(one, 1) for one in zip(*parts, strict=True)))
    for number, part in enumerate(parts):
        result, (mean, error) = combine_judgements(*part), naive(*part)
        assert result.combined.estimate == pytest.approx(mean, abs=1e-12)
        half = stats.t.ppf(0.975, 11) * error
        assert result.combined.high == pytest.approx(mean + half, abs=1e-12)
        assert result.test.p == pytest.approx(2 * stats.t.sf(abs(mean / error), 11), abs=1e-12)
        assert result.machine.estimate == pytest.approx(np.concatenate(part[1:]).mean())
        tuned = combine_judgements(*part, variance=0.01).test  # of parameters chosen in folds
        assert tuned.statistic == pytest.approx(mean / (error**2 + 0.01) ** 0.5)
        assert result.effective == pytest.approx(part[0].var(ddof=1) / error**2, rel=1e-9)
        assert columns.estimate.value[number] == pytest.approx(mean, abs=1e-14)
        assert columns.weight[number] == pytest.approx(result.weight, abs=1e-14)


def test_estimates_at_the_limits():
    human, _, _ = sample(0)
    for machine in (np.full(30, 0.5), -human):  # no information
        result = combine_judgements(human, machine, np.full(90, 0.5))
        assert result.weight == 0
        assert result.combined.estimate == pytest.approx(human.mean())
        expected = stats.ttest_1samp(human, 0).confidence_interval().low
        assert result.human.low == pytest.approx(expected)
    none, machine = np.zeros(20), np.linspace(0, 1, 20)
    assert combine_judgements(none, machine, machine).test.p == 1
    constant = combine_judgements(none + 0.1, none, none)
    assert (constant.test.p, constant.combined.low) == (2**-19, pytest.approx(0.1))
    assert combine_judgements(none + 0.1, none, none, alternative="less").test.p == 1
    for parts, words in (
        (([0.1, 0.2], [0.1, 0.2], [0.1, 0.2]), "human: expected at least 3"),
        (([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [0.1]), "extra: expected at least 2"),
    ):
        with pytest.raises(InputError, match=words):
            combine_judgements(*parts)


@pytest.mark.parametrize(("differ", "added"), [(0, 4), (3, 4), (9, 4), (10, 0)])
def test_four_queries_are_added_if_few_differ_from_the_commonest_value(differ, added):
    human, flat = np.full(40, 0.25), np.full(60, 0.5)
    human[:differ] += 0.1
    extra = flat + 0.1 * (np.arange(60) == 7)  # says how large a difference is if there is none
    error = combined_means(human[:, None], flat[:40, None], extra[:, None]).estimate.error[0]
    assert error**2 == pytest.approx(human.var(ddof=1) / 40 + added * 0.1**2 / 40**2)


# Romano-Wolf over both sets of queries


def test_romano_wolf_of_a_pair_is_its_t_test():
    generator = np.random.default_rng(2)
    # The machine's mean is .5 higher on the human queries: replicates are centred on that.
    true = generator.normal([0, 0.35], 1, (260, 2))
    machine = true + generator.normal(0, 0.5, true.shape)
    machine[:60, 1] += 0.5
    # Few differences, of which replicates say little, and a machine without information.
    few = np.zeros((30, 2))
    few[:6, 1] = generator.uniform(0.1, 0.5, 6)
    for human, judged, room in (
        (true[:60], MachineScores(machine[:60], machine[60:]), 0.06),
        (few, MachineScores(np.ones((30, 2)), np.ones((60, 2))), 0.01),
    ):
        gaps = [part[:, 1] - part[:, 0] for part in (human, *judged)]
        by_t = combine_judgements(*gaps).test.p
        assert 0.01 < by_t < 0.9
        by_bootstrap = romano_wolf(human, machine=judged, replicates=8000).p[1, 0]
        assert by_bootstrap == pytest.approx(by_t, abs=room)


# Comparisons


def judged(seed=0, favoured=None):
    """Human judgements of some queries, machine judgements of all, three runs, and the truth."""
    generator = np.random.default_rng(seed)
    docs = [f"d{number}" for number in range(12)]
    human, machine, runs = {}, {}, {"A": {}, "B": {}, "C": {}}
    for number in range(QUERIES):
        query, hard = f"q{number:03}", generator.random()
        grades = generator.random(12) < 0.2 + 0.4 * hard
        wrong = generator.random(12) < 0.15
        for name, skill in (("A", 0.5), ("B", 0.5), ("C", 3.0)):
            scores = skill * grades + generator.normal(0, 1, 12)
            runs[name][query] = dict(zip(docs, scores.tolist(), strict=True))
        given = grades ^ wrong
        if favoured:
            best = sorted(docs, key=runs[favoured][query].get)[-5:]
            given = given | np.isin(docs, best)
        machine[query] = dict(zip(docs, given.astype(int).tolist(), strict=True))
        human[query] = dict(zip(docs, grades.astype(int).tolist(), strict=True))
    sampled = sorted(generator.permutation(list(human))[:PEOPLE].tolist())
    return {query: human[query] for query in sampled}, machine, runs, human


HUMAN, MACHINE, RUNS, EVERY = judged()
TWO = {name: RUNS[name] for name in "AC"}


def test_a_comparison_combines_the_differences_of_human_and_machine_queries():
    result = compare(HUMAN, TWO, "nDCG@10", machine=MACHINE, assume_random=True)
    (claim,), (estimates,) = result.claims, result.machine.differences
    by_people = evaluate(HUMAN, TWO, "nDCG@10").scores().values
    by_machine = evaluate(MACHINE, TWO, "nDCG@10").scores()
    known = [by_machine.units.index(query) for query in sorted(HUMAN)]
    extra = [row for row, query in enumerate(by_machine.units) if query not in HUMAN]
    gaps = by_machine.values[:, 1] - by_machine.values[:, 0]
    expected = combine_judgements(by_people[:, 1] - by_people[:, 0], gaps[known], gaps[extra])
    assert claim.difference.estimate == pytest.approx(expected.combined.estimate, abs=1e-12)
    assert claim.outcomes[0].p == pytest.approx(expected.test.p)
    assert (claim.outcomes[0].test, claim.adjusted) == ("prediction-powered", claim.outcomes[0].p)
    assert (estimates.queries, estimates.machine_queries) == (PEOPLE, QUERIES - PEOPLE)
    assert estimates.effective > PEOPLE
    assert "Your 40 human queries count like" in str(result)
    assert codes(result.warnings) == []


def test_an_evaluation_has_three_estimates():
    evaluation = evaluate(HUMAN, RUNS, ["P@5", "AP"], machine=MACHINE)
    truth = evaluate(EVERY, RUNS, "P@5").value("A", "P@5")
    estimates = evaluation.estimates("A", "P@5")
    assert estimates.human.estimate == pytest.approx(evaluation.value("A", "P@5"))
    assert estimates.combined.low < truth < estimates.combined.high
    assert codes(evaluation.notes) == ["random-sample"]


def test_several_systems_are_compared_by_romano_wolf():
    settings = {"machine": MACHINE, "assume_random": True, "replicates": 2000}
    result = compare(HUMAN, RUNS, "nDCG@10", **settings)
    assert result.analysis.correction == "romano-wolf"
    assert (len(result.claims), result.anova) == (3, None)
    significant = {(one.first, one.second) for one in result.claims if one.adjusted <= 0.05}
    assert significant == {("C", "A"), ("C", "B")}
    for claim, single in zip(result.claims, result.machine.differences, strict=True):
        assert claim.adjusted >= single.test.p / 2  # bootstrap and t differ a little
        assert claim.difference.low < single.combined.low
        assert claim.difference.estimate == pytest.approx(single.combined.estimate)
    by_holm = compare(HUMAN, RUNS, "nDCG@10", machine=MACHINE, correction="holm")
    assert by_holm.claims[1].difference.method == "prediction-powered, Bonferroni"


def test_a_machine_that_favours_a_system_is_noticed_and_corrected():
    human, machine, runs, _ = judged(favoured="A")
    two = {name: runs[name] for name in ("A", "B")}
    result = compare(human, two, "P@5", machine=machine, assume_random=True)
    (note,) = [one for one in result.warnings if one.code == "machine-favours"]
    assert "overrates A" in note.text
    difference = result.machine.differences[0]  # B minus A, which are equally good
    assert difference.machine.high < -0.1
    assert difference.combined.low < 0 < difference.combined.high
    scores = result.scores  # the same of a measure of which less is better
    turned = MachineScores(*(-part for part in scores.machine))
    errors = replace(scores, values=-scores.values, higher_is_better=False, machine=turned)
    (note,) = [one for one in compare(errors).warnings if one.code == "machine-favours"]
    assert "overrates A" in note.text


def test_what_could_mislead_is_noticed():
    values = evaluate(MACHINE, RUNS, "P@5").scores()
    best = [values.units[row] for row in np.argsort(values.values.mean(1))[-40:]]
    unlike = {query: EVERY[query] for query in best}
    settings = {"assume_random": True, "replicates": 500}
    found = compare(unlike, RUNS, "P@5", machine=MACHINE, **settings).warnings
    assert "unlike-queries" in codes(found)
    few = dict(list(HUMAN.items())[:20])
    same = {**RUNS["A"], "q001": {"d1": 1.0}, "q002": {"d2": 1.0}}
    found = compare(few, {"A": RUNS["A"], "same": same}, "P@5", machine=MACHINE, **settings)
    assert {"few-human-queries", "few-differ"} <= set(codes(found.warnings))


def first_docs(judgements, count):
    return {query: dict(list(docs.items())[:count]) for query, docs in judgements.items()}


def test_incomplete_machine_judgements_are_noticed():
    names = list(HUMAN)
    part = MACHINE | first_docs({q: MACHINE[q] for q in names[2:8]}, 3)
    part |= first_docs({names[1]: MACHINE[names[1]]}, 1)
    del part[names[0]]
    less = MACHINE | first_docs({query: MACHINE[query] for query in HUMAN}, 10)
    for human, machine, words in (
        (HUMAN, part, "1 query with human judgements"),
        (HUMAN, part, "documents with human judgements"),
        (first_docs(HUMAN, 10), less, "top 10 documents"),
    ):
        notes = evaluate(human, RUNS, "P@5", machine=machine, assume_random=True).notes
        texts = [note.text for note in notes if note.code == "machine-incomplete"]
        assert any(words in text for text in texts), words


def test_what_does_not_fit_is_refused():
    only = {query: MACHINE[query] for query in HUMAN}
    others = {query: docs for query, docs in MACHINE.items() if query not in HUMAN}
    for change, words in (
        ({"tests": ["t"]}, "uses human judgements alone"),
        ({"correction": "tukey"}, "use romano-wolf"),
        ({"interval": "bca"}, "leave it out"),
        ({"machine": None, "assume_random": True}, "goes with machine"),
        ({"machine": only}, "need further queries"),
        ({"machine": others}, "none of the queries"),
    ):
        with pytest.raises(InputError, match=words):
            compare(HUMAN, RUNS, "P@5", **{"machine": MACHINE, **change})
    with pytest.raises(InputError, match="judgements and runs"):
        compare(Scores("AP", ["A"], [1], [[0.1]]), machine=MACHINE)
    with pytest.raises(InputError, match="machine is for rankings"):
        evaluate(["a"], {"A": ["a"]}, "BLEU", machine=MACHINE)
    with pytest.raises(InputError, match="no machine judgements"):
        evaluate(HUMAN, RUNS, "P@5").estimates("A", "P@5")
