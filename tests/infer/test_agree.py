"""Agreement of judgements, and of orders of systems: by hand, by peers, and what is refused."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from inference_data import codes
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from commands import printed, refused
from heldout import InputError, Qrels, Run, Scores, agree, compare
from heldout.errors import MeasureError
from heldout.infer.order_agreement import order_agreement, verdict_changes
from heldout.infer.results import mean_estimate
from heldout.measure.agreement import alpha_of_confusion, confusion
from heldout.measure.rank_correlation import batch_correlations
from heldout.report import tables, text
from heldout.report.order_agreement import agreement_lines
from heldout.report.table import write_tables

QUERIES, DOCS = 20, 20


def named(values):
    return {
        f"q{query}": {f"d{doc}": value for doc, value in enumerate(row)}
        for query, row in enumerate(np.asarray(values).tolist())
    }


def made_grades():
    """Grades of a human and of three machines, one row per query."""
    generator = np.random.default_rng(8)
    human = generator.choice(4, (QUERIES, DOCS), p=[0.5, 0.25, 0.15, 0.1])
    shift = generator.normal(0, 0.3, (3, QUERIES, 1))
    noise = generator.normal(0, 0.6, (3, QUERIES, DOCS))
    machines = np.clip((human + shift + noise + [[[0.0]], [[0.6]], [[-0.5]]]).round(), 0, 3)
    return human, machines.astype(int)


GRADES, MACHINE_GRADES = made_grades()
HUMAN = named(GRADES)
MACHINES = {
    name: named(each) for name, each in zip(("fair", "kind", "strict"), MACHINE_GRADES, strict=True)
}
SOURCE = np.random.default_rng(3)
RUNS = {
    name: named(GRADES + SOURCE.normal(0, noise, GRADES.shape))
    for name, noise in (("A", 4.0), ("B", 2.5), ("C", 2.0), ("D", 0.8))
}


@pytest.fixture(scope="module")
def full():
    return agree(HUMAN, MACHINES, RUNS, ["nDCG@10", "P@5"], rel=2)


def test_statistics_are_those_of_the_pairs(full):
    first = GRADES.ravel()
    for judge, machine in zip(full.judges, MACHINE_GRADES, strict=True):
        second = machine.ravel()
        expected = {
            "exact": (first == second).mean(),
            "kappa": cohen_kappa_score(first, second),
            "kappa_linear": cohen_kappa_score(first, second, weights="linear"),
            "kappa_quadratic": cohen_kappa_score(first, second, weights="quadratic"),
            "kappa_binary": cohen_kappa_score(first >= 2, second >= 2),
            "alpha": float(alpha_of_confusion(confusion(first, second, 4))),
            "overrated": (second > first).mean(),
            "underrated": (second < first).mean(),
            "difference": (second - first).mean(),
        }
        values = judge.statistics._asdict()
        assert {name: value.estimate for name, value in values.items()} == pytest.approx(expected)
        assert all(value.low < value.estimate < value.high for value in values.values())
        assert (judge.mean_human, judge.mean_machine) == pytest.approx(
            (first.mean(), second.mean())
        )
        assert (judge.pairs, judge.queries) == (QUERIES * DOCS, QUERIES)
    # With equally many documents per query, the mean difference is the mean of the queries' means,
    # and the jackknife's standard error is that of a mean.
    [expected] = mean_estimate((MACHINE_GRADES[1] - GRADES).mean(axis=1)).interval(0.95)
    assert full.judge("kind").statistics.difference[:3] == pytest.approx(expected[:3])
    by_query = {row.query: row.difference for row in full.judge("kind").by_query}
    gaps = (MACHINE_GRADES[1] - GRADES).mean(axis=1).tolist()
    assert by_query == pytest.approx({f"q{query}": gap for query, gap in enumerate(gaps)})


def test_systems_under_both_judgements(full):
    for judge in full.judges:
        for measure, order in zip(("nDCG@10", "P(rel=2)@5"), judge.orders, strict=True):
            ours = compare(HUMAN, RUNS, measure)
            theirs = compare(MACHINES[judge.name], RUNS, measure)
            means = [
                [row.mean.estimate for row in one.systems] for one in (order.human, order.machine)
            ]
            assert means[0] == pytest.approx([row.mean.estimate for row in ours.systems])
            assert means[1] == pytest.approx([row.mean.estimate for row in theirs.systems])
            kendall = stats.kendalltau(*means).statistic
            assert order.agreement.kendall.estimate == pytest.approx(kendall)
            expected = {
                frozenset((one.first, one.second))
                for one, other in zip(ours.claims, theirs.claims, strict=True)
                if (one.adjusted <= 0.05) != (other.adjusted <= 0.05)
            }
            assert {frozenset((one.first, one.second)) for one in order.changes} == expected


def test_only_shared_pairs_count_and_other_warnings():
    part = {query: dict(list(docs.items())[:8]) for query, docs in MACHINES["fair"].items()}
    part["new"] = {"x": 1, "y": 0}
    part["q0"]["d19"] = -1  # not judged
    found = agree(HUMAN, part)
    (judge,) = found.judges
    assert (judge.pairs, judge.only_human, judge.only_machine) == (160, 240, 2)
    assert codes(found.notes) == ["pairs-not-shared"]
    assert "Not used: 240 pairs judged by human only, 2 by machine only." in str(found)
    assert len(agree(HUMAN, {"part": part, "whole": MACHINES["fair"]}).notes) == 2
    first = {query: HUMAN[query] for query in ("q0", "q1")}
    assert codes(agree(first, MACHINES["fair"]).notes)[-1] == "few-units"
    alone = agree({"q0": HUMAN["q0"]}, MACHINES["fair"])
    assert np.isnan(alone.judges[0].statistics.kappa.low)
    assert "[nan" not in str(alone)
    flat, other = named(np.ones((25, 3), int)), named(np.indices((25, 3)).sum(0) % 2)
    assert "one-grade" in codes(agree(flat, {"m": other}).notes)
    assert "one-grade" not in codes(agree(other, {"m": flat}).notes)


def test_inputs_in_any_form(tmp_path):
    qrels, path = Qrels.of(MACHINES["fair"]), tmp_path / "model.v2.qrels"
    qrels.write(path)
    rows = [(query, doc, grade) for query, docs in HUMAN.items() for doc, grade in docs.items()]
    frame = pl.DataFrame(rows, schema=["qid", "docno", "label"], orient="row")
    expected = agree(HUMAN, MACHINES["fair"]).judges[0].statistics
    for given in (qrels, path, str(path), {"m": path}, [qrels], [path]):
        assert agree(frame, given).judges[0].statistics == expected
    assert agree(HUMAN, path).judges[0].name == "model.v2"
    assert agree(HUMAN, [qrels, qrels]).judges[1].name == "machine (2)"


def test_what_does_not_fit_is_refused():
    fair = MACHINES["fair"]
    for arguments, settings, words in (
        (({"q0": {"x": 1}},), {}, r"0 pairs .*\(human: q0 d0, q0 d1; machine: q0 x\)"),
        (([],), {}, "no machine judgements"),
        (({"mean": {"q0": {"d0": 1}}, "b": {"q0": {"d0": 1}}},), {}, "mean: 1 pair of"),
        ((fair,), {"rel": 0}, "rel=0"),
        ((fair,), {"level": 0.05}, "level=0.05"),
        ((fair, {"A": RUNS["A"]}), {}, "at least two runs"),
        ((fair, RUNS, "GMAP"), {}, "GMAP"),
    ):
        with pytest.raises((InputError, MeasureError), match=words):
            agree(HUMAN, *arguments, **settings)
    with pytest.raises(KeyError, match="no judge 'x'"):
        agree(HUMAN, fair).judge("x")


# The command

RUN_FILES = ["A.run", "B.run", "C.run", "D.run"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, one in {"human": HUMAN, **MACHINES}.items():
        Qrels.of(one).write(f"{name}.qrels")
    for name, one in RUNS.items():
        Run.of(one, name).write(f"{name}.run")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_the_command_prints_what_python_finds(capsys):
    found = agree(HUMAN, {"kind": MACHINES["kind"]}, RUNS, "P@5", rel=2)
    expected = json.loads(json.dumps(found.to_dict()["judges"]))
    arguments = ["agree", "human.qrels", "kind.qrels", "--runs", *RUN_FILES, "-m", "P@5", "-l", "2"]
    (shown,) = json.loads(printed(capsys, *arguments, "--json").out)["judges"]
    assert shown == expected[0]
    shown = printed(
        capsys, "agree", "human.qrels", *(f"{name}.qrels" for name in MACHINES), "--full"
    )
    assert shown.out == text(agree(HUMAN, MACHINES), full=True)
    assert str(found).startswith("kind and human: Cohen's kappa ")
    assert r"$\kappa$, grade $\geq$ 2" in write_tables(tables(found), "latex")
    printed(capsys, *arguments, "-o", "page.html")
    page = Path("page.html").read_text()
    assert 'id="part-1-grade-confusion"' in page
    assert 'id="part-1-score-agreement"' in page


def test_wrong_use_of_the_command_is_one_line(files, capsys):
    (files / "other.qrels").write_text("x 0 y 1\n")
    for arguments, words in (
        ("human.qrels", "at least one machine"),
        ("human.qrels human.qrels", "are the same file"),
        ("human.qrels fair.qrels -m AP", "-m goes with --runs"),
        ("human.qrels none.qrels", "none.qrels"),
        ("human.qrels other.qrels", "check that the ids are the same"),
        ("human.qrels fair.qrels --runs A.run", "at least two runs"),
    ):
        said = refused(capsys, "agree", *arguments.split())
        assert words in said
        assert said.count("\n") == 1


# The order of systems in two sets of scores

SYSTEMS = ("A", "B", "C", "D")


def scores(measure, gains, seed, *, higher_is_better=True, units=40):
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 0.1, (units, len(gains))) + gains
    values = values if higher_is_better else -values
    names = [f"q{number}" for number in range(units)]
    return Scores(measure, SYSTEMS, names, values, higher_is_better=higher_is_better)


FIRST = scores("AP", [0.1, 0.2, 0.3, 0.4], 1)


def test_correlations_are_those_of_the_means():
    second = scores("RR", [0.1, 0.4, 0.3, 0.2], 2)
    found = order_agreement(FIRST, second)
    means = FIRST.values.mean(axis=0), second.values.mean(axis=0)
    for name, value in batch_correlations(*(one[None] for one in means)).items():
        assert getattr(found, name).estimate == pytest.approx(value.item())
    assert found.spearman.estimate == pytest.approx(stats.spearmanr(*means).statistic)
    assert found.pearson.estimate == pytest.approx(stats.pearsonr(*means).statistic)
    for interval in found[2:]:
        assert -1 <= interval.low <= interval.estimate <= interval.high <= 1
    assert (found.systems, found.units) == (4, 40)
    for other, words in (
        (Scores("AP", ["A", "X"], ["1", "2"], [[1, 2], [2, 1]]), "systems differ"),
        (Scores("AP", SYSTEMS, ["x1", "x2"], np.ones((2, 4))), "0 units in common"),
    ):
        with pytest.raises(InputError, match=words):
            order_agreement(FIRST, other)


@pytest.mark.parametrize("gains", [[0.1, 0.16, 0.14, 0.2], [0.2, 0.1, 0.2, 0.1]])
def test_intervals_of_correlations_are_the_union_of_two_bootstrap_intervals(gains):
    second, source = scores("RR", gains, 2), np.random.default_rng(0)
    found, drawn = order_agreement(FIRST, second).pearson, []
    for _ in range(2000):
        rows = source.integers(0, 40, 40)
        x, y = FIRST.values[rows].mean(axis=0), second.values[rows].mean(axis=0)
        drawn.append(np.corrcoef(x, y)[0, 1])
    low, high = np.quantile(drawn, [0.025, 0.975])
    bounds = min(low, 2 * found.estimate - high), max(high, 2 * found.estimate - low)
    assert found[1:3] == pytest.approx((max(-1, bounds[0]), min(1, bounds[1])), abs=0.05)
    assert order_agreement(FIRST, second, seed=1).pearson != found


def test_columns_and_units_are_paired_by_name_and_errors_turned_around():
    same = Scores("error", SYSTEMS[::-1], FIRST.units, -FIRST.values[:, ::-1], False)
    assert order_agreement(FIRST, same).kendall.estimate == 1
    assert order_agreement(FIRST, same).pearson.estimate == pytest.approx(1)
    order = np.random.default_rng(0).permutation(len(FIRST.units))[:30]
    second = Scores("AP", SYSTEMS, [FIRST.units[n] for n in order], FIRST.values[order])
    found = order_agreement(FIRST, second)
    assert found.units == 30
    # The same scores on the same units agree in every resample.
    assert (found.pearson.low, found.rbo.low) == pytest.approx((1, 1))


def test_verdicts_that_differ():
    up = scores("AP", [0.1, 0.5, 0.5, 0.9], 1)
    first, second = compare(up), compare(scores("RR", [0.1, 0.5, 0.9, 0.5], 2))
    found = {frozenset((one.first, one.second)): one for one in verdict_changes(first, second)}
    assert set(found) == {frozenset("BC"), frozenset("BD"), frozenset("CD")}
    assert found[frozenset("CD")].reversed
    assert not found[frozenset("BC")].reversed
    down = Scores("error", up.systems, up.units, -up.values, False)
    turned = Scores("AP", up.systems[::-1], up.units, up.values[:, ::-1])
    for same in (up, down, turned):
        assert not verdict_changes(first, compare(same))
    order, verdicts = agreement_lines([first, second])
    assert order.startswith("Order of the systems in AP and RR: Kendall's tau ")
    assert verdicts.startswith("3 of 6 verdicts differ in AP and RR: significant in AP only: ")
    assert verdicts.endswith("; opposite in RR: D > C.")
    assert agreement_lines([first]) == []
    same = "The verdicts on all 6 pairs are the same in AP and AP."
    assert agreement_lines([first, first])[1] == same


def test_compare_says_how_far_measures_agree(tmp_path, capsys):
    generator = np.random.default_rng(4)
    rows = ["system,unit,measure,value"]
    for measure in ("AP", "RR"):
        for system, gain in zip(SYSTEMS, (0.1, 0.3, 0.5, 0.7), strict=True):
            values = gain + generator.normal(0, 0.1, 20)
            rows += [f"{system},q{at},{measure},{value}" for at, value in enumerate(values)]
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    arguments = ["compare", "--scores", tmp_path / "long.csv", "-m", "AP", "-m", "RR"]
    shown = printed(capsys, *arguments).out
    assert "Order of the systems in AP and RR: Kendall's tau 1.00 [1.00, 1.00]" in shown
    assert "The verdicts on all 6 pairs are the same in AP and RR." in shown
    assert "without a correction for the number of measures" in shown
    first, second = json.loads(printed(capsys, *arguments, "--json").out)
    assert "agreement" not in first
    assert second["agreement"]["measure"] == "AP"
    assert second["agreement"]["correlations"]["spearman"]["estimate"] == 1
    assert second["agreement"]["verdict_changes"] == []
