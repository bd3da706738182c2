"""The commands chart, report and list: what they draw, write and name."""

import json

import polars as pl
import pytest

import heldout
from commands import printed, process
from heldout.measure.base import TASKS, definitions
from heldout.report.charts.find import NAMES
from heldout.report.listings import listed_measures, measures_text

pytestmark = pytest.mark.usefixtures("here")


def names_of(out):
    return [line.split()[0] for line in out.splitlines()]


def test_charts_are_listed(capsys):
    assert names_of(printed(capsys, "list", "charts").out) == list(NAMES)
    assert names_of(printed(capsys, "list", "charts", "results").out) == [
        "forest", "pairs", "query-differences", "heatmap", "null", "tuning", "tuning-2",
        "optimism",
    ]  # fmt: skip


def test_a_picture_and_its_numbers(here, capsys):
    files = ("-o", "f.svg", "--data", "f.csv")
    said = printed(capsys, "chart", "results", "forest", "-m", "nDCG@10", *files)
    assert said.out == ""
    assert said.err == "Held-out nDCG@10 of each system: f.svg and f.csv\n"
    assert "Held-out nDCG@10 of each system" in (here / "f.svg").read_text()
    found = heldout.Results.read("results")
    expected = {name: found.value(name, "nDCG@10") for name in found.systems}
    frame = pl.read_csv("f.csv")
    assert dict(frame["system", "mean"].iter_rows()) == pytest.approx(expected)


def test_the_best_is_first_and_the_name_of_the_chart_may_come_last(capsys):
    given = ("chart", "scores.csv", "forest", "--data", "-")
    for more, systems in (((), "BAC"), (("--lower-is-better",), "CAB")):
        frame = pl.read_csv(printed(capsys, *given, *more).out.encode())
        assert "".join(frame["system"]) == systems
    out = printed(capsys, "chart", "weak.csv", "strong.csv", "roc", "--data", "-", "--quiet").out
    systems = pl.read_csv(out.encode())["system"].unique(maintain_order=True)
    assert systems.to_list() == ["weak", "strong", "convex hull"]


# Pages


def test_several_folders_make_one_page(here, capsys):
    run = ("run", "small", "--system", "bm25", "--system", "ql-jm", "--by", "document")
    printed(capsys, *run, "--folds", "3", "-o", "documents", "--quiet")
    err = printed(capsys, "report", "results", "documents", "-o", "page.html").err
    page = (here / "page.html").read_text(encoding="utf-8")
    assert page.count('class="part"') == 2
    assert ">Queries not used for tuning<" in page
    assert ">New documents<" in page
    assert "<h1>Which is better on small: bm25 or ql-jm?" in page
    assert "name the collection with --collection" in err
    assert "Open page.html" in err


def test_the_collection_adds_texts(here, capsys, collection):
    given = ("report", "results", "-o", "page.html", "--quiet", "--collection", "small")
    assert printed(capsys, *given, "--title", "Mine & yours").err == ""
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "<title>Mine &amp; yours</title>" in page
    found = json.loads(page.partition('id="part-1-data">')[2].partition("</script>")[0])
    assert dict(zip(found["units"], found["texts"], strict=True)) == collection.queries.to_dict()
    assert '"lines":["' in page


@pytest.mark.long
def test_two_pages_of_the_same_are_equal(here, capsys, monkeypatch):
    command = ("report", "results", "--collection", "small", "-o", "x.html", "--quiet")
    monkeypatch.setattr("sys.argv", ["heldout", *command])  # it is shown
    printed(capsys, *command)
    page = (here / "x.html").read_bytes()
    assert process(*command, PYTHONHASHSEED="1").returncode == 0
    assert (here / "x.html").read_bytes() == page


def test_compare_makes_a_page_with_rankings_and_ledger(here, capsys):
    runs = ("qrels.txt", "baseline.run", "improved.run", "-m", "AP")
    printed(capsys, "compare", *runs, "-o", "page.html", "--ledger", "looks.jsonl")
    page = (here / "page.html").read_text(encoding="utf-8")
    assert "<h1>Which is better: baseline or improved?</h1>" in page
    assert "0.4025" in page
    assert '"lists":[[[' in page
    assert '"grades":[[' in page
    assert "looks.jsonl: 1 evaluation on these data" in page  # and one of others
    assert "<dt>policy: judged queries that a run lacks</dt><dd>count 0" in page


# The list of measures: everything that can be asked for is in it, and nothing else


def own(measure):
    """Whether it was defined by another test."""
    return definitions(measure["task"])[measure["name"]].own is not None


def test_every_measure_is_described(capsys):
    listed = [measure for measure in listed_measures() if not own(measure)]
    for task in TASKS:
        known = [name for name, measure in definitions(task).items() if measure.own is None]
        names = [measure["name"] for measure in listed if measure["task"] == task]
        assert sorted(names) == sorted(known)
    assert all(measure["input"] and measure["summary"] for measure in listed)
    # Counts say what they are.
    without = {measure["name"] for measure in listed if not measure["formula"]}
    assert all(name.startswith("Num") or name == "RelString" for name in without)
    out = printed(capsys, "list", "measures").out
    rows = [part.splitlines()[2:] for part in out.split("\n\n")]  # below a title and a head
    assert sum(map(len, rows)) == len(listed_measures())
    assert "\nRanking, from judgements by subtopic, and a run\n" in out
    assert "Lower is better. Also: mean_squared_error." in out


def test_a_measure_is_found_by_its_names_with_parameters_and_formula(capsys):
    out = printed(capsys, "list", "measures", "kappa", "BLEU", "alpha_nDCG").out
    assert "\nkappa(linear | quadratic, undefined=0)\n" in out
    assert "BLEU(order=4" in out
    assert "    input: judgements by subtopic, and a run\n" in out
    assert "    formula: 1 - Σ w_ij n_ij / Σ w_ij e_ij" in out
    for name, heads in {
        "rmse": ["RMSE"],
        "ROUGE-L(stem=True)": ["ROUGE-L"],
        "F1": ["F", "F1", "TokenF1"],  # of rankings, of classes, of answers
        "em": ["ExactMatch"],
    }.items():
        lines = measures_text([name]).splitlines()
        assert [line.partition("(")[0] for line in lines if line[0] != " "] == heads
