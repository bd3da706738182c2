"""Agreement of machine judgements with human ones: by hand, by peers, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

import heldout
from heldout import Qrels, agree, compare
from heldout.cli import main
from heldout.data.qrels import read_qrels
from heldout.errors import InputError, MeasureError
from heldout.infer.results import mean_estimate
from heldout.measure.agreement import alpha_of_confusion, confusion
from heldout.report import tables, text
from heldout.report.table import write_tables

QUERIES, DOCS = 20, 20


def named(values):
    return {
        f"q{query}": {f"d{doc}": value for doc, value in enumerate(row)}
        for query, row in enumerate(np.asarray(values).tolist())
    }


@pytest.fixture(scope="module")
def grades():
    """Grades of a human and of three machines, one row per query."""
    generator = np.random.default_rng(8)
    human = generator.choice(4, (QUERIES, DOCS), p=[0.5, 0.25, 0.15, 0.1])
    shift = generator.normal(0, 0.3, (3, QUERIES, 1))
    noise = generator.normal(0, 0.6, (3, QUERIES, DOCS))
    machines = np.clip((human + shift + noise + [[[0.0]], [[0.6]], [[-0.5]]]).round(), 0, 3)
    return human, machines.astype(int)


@pytest.fixture(scope="module")
def judged(grades):
    human, machines = grades
    names = ("fair", "kind", "strict")
    return named(human), {name: named(one) for name, one in zip(names, machines, strict=True)}


@pytest.fixture(scope="module")
def runs(grades):
    generator = np.random.default_rng(3)
    human, _ = grades
    return {
        name: named(human + generator.normal(0, noise, human.shape))
        for name, noise in (("A", 4.0), ("B", 2.5), ("C", 2.0), ("D", 0.8))
    }


@pytest.fixture(scope="module")
def full(judged, runs):
    human, machines = judged
    return agree(human, machines, runs, ["nDCG@10", "P@5"], rel=2)


def test_statistics_are_those_of_the_pairs(grades, full):
    human, machines = grades
    first = human.ravel()
    for judge, machine in zip(full.judges, machines, strict=True):
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
        assert judge.mean_machine == pytest.approx(second.mean())
        assert (judge.pairs, judge.queries) == (QUERIES * DOCS, QUERIES)


def test_intervals_treat_queries_as_the_units(grades, judged):
    # With equally many documents per query, the mean difference is the mean of the queries' means,
    # and the jackknife's standard error is that of a mean.
    human, machines = grades
    found = agree(judged[0], judged[1]["kind"]).judges[0].statistics.difference
    [expected] = mean_estimate((machines[1] - human).mean(axis=1)).interval(0.95)
    assert found[:3] == pytest.approx(expected[:3])


def test_every_query_twice_narrows_the_interval_but_not_the_estimate(judged):
    human, machines = judged
    once = agree(human, machines["fair"]).judges[0].statistics.kappa
    double = [
        {f"{query}{copy}": docs for query, docs in one.items() for copy in "ab"}
        for one in (human, machines["fair"])
    ]
    twice = agree(*double).judges[0].statistics.kappa
    assert twice.estimate == pytest.approx(once.estimate)
    assert twice.high - twice.low < once.high - once.low


def test_systems_under_both_judgements(judged, runs, full):
    human, machines = judged
    for judge in full.judges[:3]:
        for measure, order in zip(("nDCG@10", "P(rel=2)@5"), judge.orders, strict=True):
            ours = compare(human, runs, measure)
            theirs = compare(machines[judge.name], runs, measure)
            means = [
                [row.mean.estimate for row in one.systems] for one in (order.human, order.machine)
            ]
            assert means[0] == pytest.approx([row.mean.estimate for row in ours.systems])
            assert means[1] == pytest.approx([row.mean.estimate for row in theirs.systems])
            assert order.agreement.kendall.estimate == pytest.approx(kendalltau(*means).statistic)
            expected = {
                frozenset((one.first, one.second))
                for one, other in zip(ours.claims, theirs.claims, strict=True)
                if (one.adjusted <= 0.05) != (other.adjusted <= 0.05)
            }
            assert {frozenset((one.first, one.second)) for one in order.changes} == expected


def test_a_machine_that_repeats_the_human_agrees_in_all(judged, runs):
    human, _ = judged
    (judge,) = agree(human, human, runs).judges
    assert judge.statistics.kappa.estimate == judge.statistics.alpha.estimate == 1
    assert judge.statistics.kappa[:3] == (1, 1, 1)
    assert judge.statistics.overrated[:2] == (0, 0)
    assert judge.orders[0].agreement.tau_ap.estimate == pytest.approx(1)
    assert judge.orders[0].agreement.rbo.low == pytest.approx(1)
    assert not judge.orders[0].changes


def test_only_shared_pairs_count_and_the_others_are_named(judged):
    human, machines = judged
    part = {query: dict(list(docs.items())[:8]) for query, docs in machines["fair"].items()}
    part["new"] = {"x": 1, "y": 0}
    part["q0"]["d19"] = -1  # not judged
    found = agree(human, part)
    (judge,) = found.judges
    assert (judge.pairs, judge.only_human, judge.only_machine) == (160, 240, 2)
    assert [note.code for note in found.notes] == ["pairs-not-shared"]
    assert "Not used: 240 pairs judged by human only, 2 by machine only." in str(found)
    several = agree(human, {"part": part, "whole": machines["fair"]})
    assert len(several.notes) == 2


def test_inputs_in_any_form(judged, tmp_path):
    human, machines = judged
    qrels = Qrels.of(machines["fair"])
    path = tmp_path / "model.v2.qrels"
    qrels.write(path)
    frame = pd.DataFrame(
        [(query, doc, grade) for query, docs in human.items() for doc, grade in docs.items()],
        columns=["qid", "docno", "label"],
    )
    expected = agree(human, machines["fair"]).judges[0].statistics
    for given in (qrels, path, str(path), {"m": path}, [qrels], [path]):
        assert agree(frame, given).judges[0].statistics == expected
    assert agree(human, path).judges[0].name == "model.v2"
    assert agree(human, [qrels, qrels]).judges[1].name == "machine (2)"
    other = tmp_path / "b"
    other.mkdir()
    qrels.write(other / path.name)
    names = [one.name for one in agree(human, [path, other / path.name]).judges]
    assert names == ["model.v2", "model.v2 (2)"]


@pytest.mark.parametrize(
    ("machine", "words"),
    [
        ({"q0": {"x": 1}}, r"machine: 0 pairs .*\(human: q0 d0, q0 d1; machine: q0 x\)"),
        ([], "no machine judgements"),
        ({"mean": {"q0": {"d0": 1}}, "b": {"q0": {"d0": 1}}}, "mean: 1 pair of"),
    ],
)
def test_what_does_not_fit_is_refused(judged, machine, words):
    with pytest.raises(InputError, match=words):
        agree(judged[0], machine)


def test_wrong_settings_are_refused(judged, runs):
    human, machines = judged
    for settings, words in (({"rel": 0}, "rel=0"), ({"level": 0.05}, "level=0.05")):
        with pytest.raises(InputError, match=words):
            agree(human, machines, **settings)
    with pytest.raises(InputError, match="at least two runs"):
        agree(human, machines, {"A": runs["A"]})
    with pytest.raises(MeasureError, match="GMAP"):
        agree(human, machines, runs, "GMAP")
    with pytest.raises(KeyError, match="no judge 'x'"):
        agree(human, machines).judge("x")


def test_few_queries_are_a_warning(judged):
    human, machines = judged
    first = {query: human[query] for query in ("q0", "q1")}
    assert [note.code for note in agree(first, machines["fair"]).notes][-1] == "few-units"
    alone = agree({"q0": human["q0"]}, machines["fair"]).judges[0]
    assert np.isnan(alone.statistics.kappa.low)
    assert "[nan" not in str(agree({"q0": human["q0"]}, machines["fair"]))


def test_all_formats(full):
    table = str(full)
    assert table.startswith("Highest agreement with human: ")
    assert "kind: " in table
    assert len(text(full, full=True)) > len(table)
    assert r"$\kappa$, grade $\geq$ 2" in write_tables(tables(full), "latex")
    assert "Highest agreement with human: " in write_tables(tables(full), "md")
    assert len(full.to_frame()) == 3 * 9
    hostile = agree(
        {f"q{n}": {"a": n % 2, "b": 1} for n in range(9)},
        {"<i>": {f"q{n}": {"a": 1, "b": 1} for n in range(9)}},
    )
    assert "<i>" not in hostile._repr_html_()


# The command


@pytest.fixture
def files(judged, runs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    human, machines = judged
    Qrels.of(human).write("human.qrels")
    for name, one in machines.items():
        Qrels.of(one).write(f"{name}.qrels")
    for name, one in runs.items():
        heldout.Run.of(one, name).write(f"{name}.run")
    return tmp_path


RUNS = ["A.run", "B.run", "C.run", "D.run"]


@pytest.mark.usefixtures("files")
def test_the_command_prints_what_python_finds(judged, runs, capsys):
    human, machines = judged
    found = agree(human, {"kind": machines["kind"]}, runs, "P@5", rel=2)
    (kind,) = found.judges
    arguments = ["agree", "human.qrels", "kind.qrels", "--runs", *RUNS, "-m", "P@5", "-l", "2"]
    main([*arguments, "--json"])
    (printed,) = json.loads(capsys.readouterr().out)["judges"]
    assert printed["name"] == "kind"
    assert printed["kappa"]["estimate"] == kind.statistics.kappa.estimate
    assert printed["confusion"] == kind.counts.tolist()
    (order,) = printed["orders"]
    assert order["correlations"]["tau_ap"]["low"] == kind.orders[0].agreement.tau_ap.low
    assert len(order["verdict_changes"]) == len(kind.orders[0].changes)
    assert printed["by_query"][0]["query"] == "q0"
    main(["agree", "human.qrels", *(f"{name}.qrels" for name in machines), "--full"])
    expected = text(agree(human, machines), full=True)
    assert capsys.readouterr().out == expected


def test_files_and_a_page(files, capsys):
    judgements = ["agree", "human.qrels", "kind.qrels"]
    main([*judgements, "-o", "out.tex"])
    for name in ("a.json", "page.html"):
        main([*judgements, "--runs", *RUNS, "-o", name])
    assert capsys.readouterr().out == ""
    assert "\\toprule" in (files / "out.tex").read_text()
    page = (files / "page.html").read_text()
    assert 'id="part-1-grade-confusion"' in page
    assert 'id="part-1-score-agreement"' in page
    assert "Krippendorff" in page
    main(["chart", "a.json", "grade-confusion", "-o", "grades.svg"])
    assert "overrating" in (files / "grades.svg").read_text()
    main([*judgements, "-o", "alone.html"])
    assert "score-agreement" not in (files / "alone.html").read_text()


def test_tables_of_other_tools_are_read(files, judged, capsys):
    _, machines = judged
    rows = [
        {"query": query, "document": doc, "grade": grade}
        for query, docs in machines["fair"].items()
        for doc, grade in docs.items()
    ]
    (files / "m.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    pd.DataFrame(rows).to_csv("m.csv", index=False)
    expected = Qrels.of(machines["fair"]).to_dict()
    assert read_qrels("m.jsonl").to_dict() == read_qrels("m.csv").to_dict() == expected
    main(["agree", "human.qrels", "m.jsonl"])
    assert capsys.readouterr().out.startswith("m and human: Cohen's kappa ")
    (files / "m.jsonl").write_text(json.dumps({"query": "q0", "document": "d", "grade": 0.5}))
    with pytest.raises(InputError, match=r"m.jsonl:1.*grade 0.5"):
        read_qrels("m.jsonl")


def test_wrong_use_is_one_line(files, capsys):
    (files / "other.qrels").write_text("x 0 y 1\n")
    for arguments, words in (
        ("human.qrels", "at least one machine"),
        ("human.qrels human.qrels", "given twice"),
        ("human.qrels fair.qrels -m AP", "-m goes with --runs"),
        ("human.qrels none.qrels", "none.qrels"),
        ("human.qrels other.qrels", "check that the ids are the same"),
        ("human.qrels fair.qrels --runs A.run", "at least two runs"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["agree", *arguments.split()])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert words in said
        assert said.count("\n") == 1


def test_human_judgements_of_one_grade_are_noticed():
    human = {f"q{n}": {f"d{m}": 1 for m in range(3)} for n in range(25)}
    machine = {f"q{n}": {f"d{m}": (n + m) % 2 for m in range(3)} for n in range(25)}
    assert "one-grade" in [note.code for note in heldout.agree(human, {"m": machine}).notes]
    assert "one-grade" not in [note.code for note in heldout.agree(machine, {"m": human}).notes]
