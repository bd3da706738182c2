"""Comparisons and evaluations with human and machine judgements."""

import numpy as np
import pytest

import heldout
from heldout.data.scores import MachineScores, Scores
from heldout.errors import InputError
from heldout.infer.prediction_powered import combine_judgements
from heldout.infer.romano_wolf import romano_wolf

QUERIES, PEOPLE = 120, 40


def judged(seed=0, favoured=None):
    """Human judgements of some queries, machine judgements of all, and three runs."""
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


def codes(notes):
    return [note.code for note in notes]


def test_a_comparison_combines_the_differences_of_human_and_machine_queries():
    human, machine, runs, _ = judged()
    two = {name: runs[name] for name in ("A", "C")}
    result = heldout.compare(human, two, "nDCG@10", machine=machine, assume_random=True)
    (claim,), (estimates,) = result.claims, result.machine.differences
    by_people = heldout.evaluate(human, two, "nDCG@10").scores().values
    by_machine = heldout.evaluate(machine, two, "nDCG@10").scores()
    known = [by_machine.units.index(query) for query in sorted(human)]
    extra = [row for row, query in enumerate(by_machine.units) if query not in human]
    gaps = by_machine.values[:, 1] - by_machine.values[:, 0]
    expected = combine_judgements(by_people[:, 1] - by_people[:, 0], gaps[known], gaps[extra])
    assert claim.difference.estimate == pytest.approx(expected.combined.estimate, abs=1e-12)
    assert claim.outcomes[0].p == pytest.approx(expected.test.p)
    assert (claim.outcomes[0].test, claim.adjusted) == ("prediction-powered", claim.outcomes[0].p)
    assert (estimates.queries, estimates.machine_queries) == (PEOPLE, QUERIES - PEOPLE)
    assert estimates.effective > PEOPLE
    assert "Your 40 human queries count like" in str(result)
    assert codes(result.warnings) == []


def test_an_evaluation_has_three_estimates_near_the_truth_but_for_the_machine():
    human, machine, runs, every = judged()
    evaluation = heldout.evaluate(human, runs, ["P@5", "AP"], machine=machine)
    truth = heldout.evaluate(every, runs, "P@5").value("A", "P@5")
    estimates = evaluation.estimates("A", "P@5")
    assert estimates.human.estimate == pytest.approx(evaluation.value("A", "P@5"))
    assert estimates.combined.low < truth < estimates.combined.high
    assert codes(evaluation.notes) == ["random-sample"]


def test_several_systems_are_compared_by_romano_wolf_over_both_query_sets():
    human, machine, runs, _ = judged()
    result = heldout.compare(
        human, runs, "nDCG@10", machine=machine, assume_random=True, replicates=2000
    )
    assert (result.analysis.correction, len(result.claims), result.anova) == (
        "romano-wolf",
        3,
        None,
    )
    significant = {(one.first, one.second) for one in result.claims if one.adjusted <= 0.05}
    assert significant == {("C", "A"), ("C", "B")}
    for claim, single in zip(result.claims, result.machine.differences, strict=True):
        assert claim.adjusted >= single.test.p / 2  # bootstrap and t differ a little
        assert claim.difference.low < single.combined.low
        assert claim.difference.estimate == pytest.approx(single.combined.estimate)
    by_holm = heldout.compare(human, runs, "nDCG@10", machine=machine, correction="holm")
    assert by_holm.claims[1].difference.method == "prediction-powered, Bonferroni"


def test_romano_wolf_without_information_from_the_machine_is_that_of_the_human_scores():
    generator = np.random.default_rng(0)
    values = generator.normal([0, 0.1, 0.6], 1, (40, 3))
    flat = MachineScores(np.ones((40, 3)), np.ones((80, 3)))
    both = romano_wolf(values, machine=flat, replicates=5000)
    alone = romano_wolf(values, replicates=5000)
    np.testing.assert_allclose(both.p, alone.p, atol=0.02)


def test_false_claims_about_three_equal_systems_are_rare():
    """200 draws; with 5 % the 99.9 % quantile is 21."""
    claims = 0
    for seed in range(200):
        generator = np.random.default_rng(seed)
        true = generator.normal(0, 1, (130, 3)) + generator.normal(0, 1, (130, 1))
        machine = true + generator.normal([0.0, 0.5, 1.0], 0.7, (130, 3))
        part = MachineScores(machine[:30], machine[30:])
        table = romano_wolf(true[:30], machine=part, replicates=199, seed=seed)
        claims += bool(np.nanmin(table.p) <= 0.05)
    assert claims <= 21


def test_rare_differences_make_no_false_claims():
    """100 draws of 25 queries, of which 6 % differ; they were 60 by replicates alone."""
    generator = np.random.default_rng(7)
    rare = 0.1 * (generator.random((300, 4)) < 0.06)
    given = rare + 0.1 * (generator.random((300, 4)) < 0.02)
    shifted, claims = rare - rare.mean(0), 0  # ties become a constant difference
    for seed in range(100):
        rows = generator.integers(0, 300, 125)
        part = MachineScores(given[rows[:25]], given[rows[25:]])
        table = romano_wolf(shifted[rows[:25]], machine=part, replicates=99, seed=seed)
        claims += bool(np.nanmin(table.p) <= 0.05)
    assert claims <= 5


def test_a_pair_with_few_differences_has_the_p_value_of_its_t_statistic():
    generator = np.random.default_rng(2)
    values = np.zeros((30, 2))
    values[:6, 1] = generator.uniform(0.1, 0.5, 6)
    flat = MachineScores(np.ones((30, 2)), np.ones((60, 2)))
    single = combine_judgements(values[:, 1], flat.known[:, 1], flat.extra[:, 1])
    table = romano_wolf(values, machine=flat, replicates=20_000)
    assert table.p[1, 0] == pytest.approx(single.test.p, abs=0.01)


def test_a_machine_that_favours_a_system_is_noticed_and_corrected():
    human, machine, runs, _ = judged(favoured="A")
    two = {name: runs[name] for name in ("A", "B")}
    result = heldout.compare(human, two, "P@5", machine=machine, assume_random=True)
    (note,) = [one for one in result.warnings if one.code == "machine-favours"]
    assert "overrates A" in note.text
    difference = result.machine.differences[0]  # B minus A, which are equally good
    assert difference.machine.high < -0.1
    assert difference.combined.low < 0 < difference.combined.high


def test_human_queries_that_are_no_random_sample_are_noticed():
    _, machine, runs, every = judged()
    values = heldout.evaluate(machine, runs, "P@5").scores()
    best = [values.units[row] for row in np.argsort(values.values.mean(1))[-40:]]
    human = {query: every[query] for query in best}
    result = heldout.compare(
        human, runs, "P@5", machine=machine, assume_random=True, replicates=500
    )
    assert "unlike-queries" in codes(result.warnings)


def test_few_human_queries_and_few_differences_are_noticed():
    human, machine, runs, _ = judged()
    few = dict(list(human.items())[:20])
    same = {**runs["A"], "q001": {"d1": 1.0}, "q002": {"d2": 1.0}}
    systems = {"A": runs["A"], "same": same}
    found = heldout.compare(few, systems, "P@5", machine=machine, assume_random=True).warnings
    assert {"few-human-queries", "few-differ"} <= set(codes(found))


def test_judgements_that_the_machine_lacks_are_noticed():
    human, machine, runs, _ = judged()
    first, second = list(human)[:2]
    part = {**machine, second: dict(list(machine[second].items())[:1])}
    for query in list(human)[2:8]:
        part[query] = dict(list(machine[query].items())[:3])
    del part[first]
    notes = heldout.evaluate(human, runs, "P@5", machine=part, assume_random=True).notes
    texts = [note.text for note in notes if note.code == "machine-incomplete"]
    assert any("1 query with human judgements" in text for text in texts)
    assert any("documents with human judgements" in text for text in texts)


def test_a_machine_that_judged_human_queries_less_completely_is_noticed():
    human, machine, runs, _ = judged()
    part = {
        query: dict(list(docs.items())[:10]) if query in human else docs
        for query, docs in machine.items()
    }
    small = {query: dict(list(docs.items())[:10]) for query, docs in human.items()}
    notes = heldout.evaluate(small, runs, "P@5", machine=part, assume_random=True).notes
    assert any("top 10 documents" in note.text for note in notes)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tests": ["t"]}, "uses human judgements alone"),
        ({"correction": "tukey"}, "use romano-wolf"),
        ({"interval": "bca"}, "leave it out"),
        ({"machine": None, "assume_random": True}, "goes with machine"),
    ],
)
def test_settings_for_human_judgements_alone_are_refused(change, words):
    human, machine, runs, _ = judged()
    with pytest.raises(InputError, match=words):
        heldout.compare(human, runs, "P@5", **{"machine": machine, **change})


def test_machines_without_the_human_queries_or_without_others_are_refused():
    human, machine, runs, _ = judged()
    only = {query: machine[query] for query in human}
    with pytest.raises(InputError, match="need further queries"):
        heldout.evaluate(human, runs, "P@5", machine=only)
    others = {query: docs for query, docs in machine.items() if query not in human}
    with pytest.raises(InputError, match="none of the queries"):
        heldout.evaluate(human, runs, "P@5", machine=others)
    with pytest.raises(InputError, match="judgements and runs"):
        heldout.compare(Scores("AP", ["A"], [1], [[0.1]]), machine=machine)
    with pytest.raises(InputError, match="machine is for rankings"):
        heldout.evaluate(["a"], {"A": ["a"]}, "BLEU", machine=machine)
    with pytest.raises(InputError, match="no machine judgements"):
        heldout.evaluate(human, runs, "P@5").estimates("A", "P@5")


def test_the_bootstrap_of_one_pair_agrees_with_the_t_test_if_the_sample_is_unlucky():
    """The machine's mean is .5 higher on the human queries: replicates must be centred on that."""
    generator = np.random.default_rng(2)
    true = generator.normal([0, 0.35], 1, (260, 2))
    machine = true + generator.normal(0, 0.5, true.shape)
    machine[:60, 1] += 0.5
    both = MachineScores(machine[:60], machine[60:])
    by_bootstrap = romano_wolf(true[:60], machine=both, replicates=4000).p[1, 0]
    gaps = [part[:, 1] - part[:, 0] for part in (true[:60], both.known, both.extra)]
    by_t = combine_judgements(*gaps).test.p
    assert 0.01 < by_t < 0.9
    assert by_bootstrap == pytest.approx(by_t, abs=0.06)
