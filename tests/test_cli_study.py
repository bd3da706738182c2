"""The command study bias."""

import json
import sys
from pathlib import Path

import pytest

from commands import refused
from heldout.cli import main
from heldout.data.export import export_collection

sys.path.append(str(Path(__file__).parent / "experiment"))
from document_data import topical_collection


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("study")
    export_collection(topical_collection(150), home / "small", "beir")
    texts = topical_collection(150)
    export_collection(type(texts)(texts.documents, texts.queries), home / "bare", "beir")
    return home


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def run(capsys, *arguments):
    assert not main(["study", *arguments])
    said = capsys.readouterr()
    return said.out


QUICK = ("bias", "small", "--draws", "2", "--replicates", "2")


def test_the_command_of_the_documentation(capsys):
    out = run(
        capsys, *QUICK, "--fraction", "0.5", "--system", "bm25(k1=1, b=0.5)", "-m", "nDCG@10",
        "--seed", "0", "--json",
    )  # fmt: skip
    objects = json.loads(out)
    assert [one["estimator"] for one in objects if one["default"]] == ["pooled"]
    for one in objects:
        assert {"estimator", "bias", "se", "rmse", "coverage", "default"} <= set(one)
        assert one["system"] == "bm25(k1=1, b=0.5)"
        assert one["tuning"] == "fixed"


def test_the_same_bytes_on_one_and_two_threads(capsys, monkeypatch):
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("HELDOUT_THREADS", threads)
        found.append(run(capsys, *QUICK, "--system", "bm25(k1=0.3,3)", "--json"))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--sets", "2"), "37 training documents in each of 2 sets, truth on 75 other documents"),
        (("--system", "bm25(k1=0.5:3:2, b=0:1:2)"), "bm25, 4 settings"),
        (("--system", "ql-jm(lambda=0,1)", "--pre-split"), "this leaks"),
        (("--system", "bm25(b=0,1)"), "tuned on the training side of each fold"),
        (("-m", "RBP"), "RBP: 2 draws of 75 training documents"),
        (("--fraction", "0.3", "-m", "AP"), "pooled-unmatched"),
    ],
)
def test_settings(capsys, arguments, said):
    assert said in run(capsys, *QUICK, *arguments)


def test_without_replicates_there_is_no_interval(capsys):
    assert "include the truth" in run(capsys, *QUICK)
    assert "include the truth" not in run(capsys, *QUICK, "--replicates", "0")


def test_figures_and_output_go_to_files(capsys):
    out = run(capsys, *QUICK, "--figures", "figures/new", "-o", "table.txt")
    assert not out
    assert Path("table.txt").read_text(encoding="utf-8").startswith("pooled (the default)")
    assert {path.name for path in Path("figures/new").iterdir()} == {"means.csv", "queries.csv"}


def test_the_json_is_drawn(capsys):
    run(capsys, *QUICK, "-o", "bias.json")
    assert not main(["chart", "bias.json", "bias", "--data", "-"])
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("pooled,")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--fraction", "0"), "--fraction 0.0: expected greater than 0"),
        (("--fraction", "half"), "--fraction half: expected a number"),
        (("--draws", "1"), "--draws 1: expected greater than or equal to 2"),
        (("--draws", "0"), "--draws 0: expected a positive integer"),
        (("--folds", "1"), "--folds 1: expected an integer of at least 2"),
        (("--folds", "151"), "too few for 151 folds"),
        (("--system", "bm26"), "'bm26' is not a model"),
        (("--system", "bm25(c=1)"), "bm25 has no parameter c"),
        (("--system", "bm25(k1=abc)"), "k1 = 'abc' is not a number"),
        (("--system", "bm25(b=3)"), "b = 3 is outside 0 to 1"),
        (("--system", "small/qrels/test.tsv"), "a study needs a built-in model"),
        (("-m", "foo"), "unknown measure 'foo'"),
        (("--pre-split",), "--pre-split needs ranges to tune"),
        (("--figures", "small/corpus.jsonl"), "small/corpus.jsonl: the folder cannot be created"),
        (("-o", "nowhere/table.txt"), "nowhere/table.txt: cannot be written"),
    ],
)
def test_wrong_settings(capsys, arguments, said):
    assert said in refused(capsys, "study", *QUICK, *arguments)


def test_collections_that_will_not_do(capsys):
    assert "has no judgements: give --qrels" in refused(
        capsys, "study", "bias", "bare", "--draws", "2"
    )
    assert "nowhere" in refused(capsys, "study", "bias", "nowhere", "--draws", "2")
