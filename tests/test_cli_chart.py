"""The command ``chart``: what it draws, what it refuses, and how it says so."""

import json
import subprocess
import sys

import polars as pl
import pytest

import heldout
from heldout.cli import main
from heldout.report.charts.find import NAMES

SYSTEMS = ["bm25(k1=0.5:1.5:3, b=0.4)", "ql-jm(lambda=0.2:0.8:2)"]


def made_up():
    words = ["red", "green", "blue", "fish", "bird", "tree", "stone", "river"]
    documents = {
        f"d{at}": " ".join(words[(at * step) % 8] for step in range(1, 5)) for at in range(24)
    }
    queries = {f"q{at}": f"{words[at % 8]} {words[(3 * at + 1) % 8]}" for at in range(10)}
    judged = {f"q{at}": {f"d{at}": 1, f"d{at + 9}": 2} for at in range(10)}
    return heldout.Collection(documents, queries, judged)


def experiment(by, systems):
    measures, plan = ["AP", "nDCG@10"], heldout.KFold(5)
    return heldout.Experiment(
        collection=made_up(), systems=systems, measures=measures, by=by, plan=plan
    ).run()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A small experiment on the queries of a made-up collection."""
    folder = tmp_path_factory.mktemp("charts") / "results"
    experiment("query", SYSTEMS).write(folder)
    return str(folder)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text("unit,A,B,C\n1,.1,.3,.2\n2,.4,.4,.5\n3,.2,.6,.1\n4,.5,.4,.3\n")
    return str(path)


def run(capsys, *arguments):
    """Output, notes and exit code."""
    try:
        main([*map(str, arguments)])
        code = 0
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    return said.out, said.err, code


def test_every_chart_is_listed(capsys):
    out, _, code = run(capsys, "list", "charts")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(NAMES)
    rows = json.loads(run(capsys, "list", "charts", "--json")[0])
    assert [row["name"] for row in rows] == list(NAMES)


def test_results_list_the_charts_that_they_allow(capsys, results):
    out, _, code = run(capsys, "list", "charts", results)
    names = [line.split()[0] for line in out.splitlines()]
    assert code == 0
    assert names == [
        "forest", "pairs", "query-differences", "heatmap", "null", "tuning", "tuning-2",
        "optimism",
    ]  # fmt: skip


def test_a_picture_and_its_numbers(capsys, results, tmp_path):
    picture, numbers = tmp_path / "f.svg", tmp_path / "f.csv"
    out, err, code = run(
        capsys, "chart", results, "forest", "-m", "nDCG@10", "-o", picture, "--data", numbers
    )
    assert (out, code) == ("", 0)
    assert err == f"Held-out nDCG@10 of each system: {picture} and {numbers}\n"
    assert "Held-out nDCG@10 of each system" in picture.read_text()
    found = heldout.Results.read(results)
    expected = {name: found.estimate(name, "nDCG@10")["value"] for name in found.systems}
    frame = pl.read_csv(numbers)
    assert dict(frame["system", "mean"].iter_rows()) == pytest.approx(expected)


def test_dark_and_quiet(capsys, results, tmp_path):
    path = tmp_path / "f.json"
    given = ["chart", results, "tuning-2", "-o", path]
    assert run(capsys, *given, "--dark", "--quiet") == ("", "", 0)
    dark = json.loads(path.read_text())
    run(capsys, *given)
    light = json.loads(path.read_text())
    assert light["title"]["text"] == "ql-jm: AP by lambda"
    assert light["config"]["background"] != dark["config"]["background"]


def test_a_table_of_errors_has_the_smallest_first(capsys, table):
    given = ["chart", table, "forest", "--data", "-"]
    best = [line.split(",")[0] for line in run(capsys, *given)[0].splitlines()[1:]]
    turned = run(capsys, *given, "--lower-is-better")[0].splitlines()[1:]
    assert best == ["B", "A", "C"]
    assert [line.split(",")[0] for line in turned] == ["C", "A", "B"]


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_control_characters_in_names_are_drawn_as_signs(tmp_path, kind):
    names = ["A\x1b[2J", "A\x01[2J", "A\u2028", "A\ufffe"]
    rows = "1,.1,.3,.2,.5\n2,.4,.4,.5,.1\n3,.2,.6,.1,.2\n"
    table = tmp_path / "scores.csv"
    table.write_text(f"unit,{','.join(names)}\n{rows}", encoding="utf-8")
    # In a process of its own, because it would be aborted.
    command = [sys.executable, "-m", "heldout", "chart", "scores.csv", "forest", "-o", f"x.{kind}"]
    done = subprocess.run(command, cwd=tmp_path, check=False)  # noqa: S603 - this Python
    assert done.returncode == 0
    if kind == "svg":
        drawn = (tmp_path / "x.svg").read_text(encoding="utf-8")
        assert all(sign in drawn for sign in ("A␛[2J", "A␁[2J"))


def test_studies_are_drawn(capsys, tmp_path):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "means.csv").write_text("draw,set,estimator,estimate,truth\n0,0,pooled,0.5,0.4\n")
    (folder / "queries.csv").write_text(
        "set,query,estimator,estimate,truth,difference,pro10\n0,007,pooled,0.5,0.25,0.25,0.3\n"
    )
    out, _, code = run(capsys, "chart", folder, "bias-queries", "--data", "-")
    assert code == 0
    assert out.splitlines()[1].startswith("1,0,007,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["forrest", "-o", "f.png"], "no chart forrest; available: forest, pairs,"),
        (["forest", "-o", "f.jpg"], "use one of .json, .html, .png, .svg, .pdf"),
        (["roc", "-o", "f.png"], "no chart roc; available: forest"),
        (["tuning-3", "-o", "f.png"], "no chart tuning-3"),
        (["forest"], "add -o chart.png"),
        ([], "add one of forest,"),
        (
            ["forest", "-o", "f.png", "-m", "P@5"],
            "P@5 was not computed: expected one of AP",
        ),
        (["forest", "-o", "no/where/f.png"], "cannot be written"),
    ],
)
def test_what_is_wrong_is_said_in_a_line(arguments, said, capsys, results, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, err, code = run(capsys, "chart", results, *arguments)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_there_or_no_study_is_refused(capsys, tmp_path):
    (tmp_path / "x.json").write_text('{"a": 1}')
    (tmp_path / "empty").mkdir()
    for name, chart, said in (
        ("x", "forest", "no such file"),
        ("x.json", "bias", "not the output of heldout study bias or heldout agree"),
        ("empty", "forest", "has no results"),
    ):
        _, err, code = run(capsys, "chart", tmp_path / name, chart, "-o", tmp_path / "f.png")
        assert code == 2
        assert said in err


@pytest.mark.parametrize("place", [0, 2])
def test_the_name_of_the_chart_may_come_anywhere(capsys, tmp_path, monkeypatch, place):
    monkeypatch.chdir(tmp_path)
    truth = ["no", "yes"] * 6
    for name, turn in (("a", 1), ("b", 5)):
        rows = [f"u{n},{truth[n]},{(n * turn) % 12 / 12}\n" for n in range(12)]
        (tmp_path / f"{name}.csv").write_text("unit,truth,score\n" + "".join(rows))
    files = ["a.csv", "b.csv"]
    files.insert(place, "roc")
    out, _, code = run(capsys, "chart", *files, "--data", "-", "--quiet")
    assert code == 0
    systems = pl.read_csv(out.encode())["system"].unique(maintain_order=True).to_list()
    assert systems == ["a", "b", "convex hull"]
