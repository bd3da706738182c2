"""What -o writes: the suffix of the file tells the format."""

import csv
import json
import sys
from pathlib import Path

import polars as pl
import pytest

from commands import COMMANDS, flags_of
from heldout.cli import main
from heldout.data.export import export_collection
from heldout.demo import example

sys.path.append(str(Path(__file__).parent / "experiment"))
from document_data import topical_collection

TABLES = {"csv", "tsv", "json", "md", "tex", "html"}
EVAL = "eval qrels.txt baseline.run improved.run -q"
COMPARE = "compare qrels.txt baseline.run improved.run -m AP -m RR"
STUDY = "--draws 2 --measure RR"
WRITERS = {
    EVAL: TABLES | {"parquet"},
    "eval qrels.txt baseline.run": TABLES | {"parquet"},
    COMPARE: TABLES | {"parquet"},
    "eval classes.csv": TABLES,
    "eval --task regression numbers.csv": TABLES,
    "compare numbers.csv": TABLES | {"parquet"},
    "eval -r texts.txt texts.txt others.txt -m TokenF1": TABLES,
    "compare -r texts.txt texts.txt others.txt -m TokenF1": TABLES | {"parquet"},
    f"study bias small --replicates 5 {STUDY}": {"json"},
    "search small": {"csv", "tsv", "json", "parquet"},
    "agree qrels.txt machine.txt": TABLES,
    "fuse baseline.run improved.run": {"csv", "tsv", "json", "parquet"},
    "chart scores.csv forest": {"png", "svg", "pdf", "html", "json"},
}
NAMED = {name for name in COMMANDS if "--format" in flags_of(name)}
# What -o names is not a result in one of several formats: a folder, an index, a page.
OTHERS = {"collection", "index", "report", "run", "split"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    home = tmp_path_factory.mktemp("output")
    qrels, runs = example()
    qrels.write(home / "qrels.txt")
    qrels.write(home / "machine.txt")
    for run, names in zip(runs, (("baseline", "w=1"), ("improved", "w=2")), strict=True):
        for name in names:
            run.write(home / f"{name}.run")
    rows = [(at, "ab"[at % 2], "ab"[at % 3 == 0], at % 5 / 5) for at in range(20)]
    lines = [f"{at},{truth},{guess},{score}\n" for at, truth, guess, score in rows]
    (home / "classes.csv").write_text("unit,truth,prediction,score\n" + "".join(lines))
    lines = [
        f"{name},{at},{at},{at + 0.1 * at * len(name)}\n" for at in range(9) for name in ("x", "yy")
    ]
    (home / "numbers.csv").write_text("system,unit,truth,prediction\n" + "".join(lines))
    (home / "scores.csv").write_text("unit,A,B\nq1,0.5,0.4\nq2,0.1,0.3\nq3,0.1,0.2\n")
    (home / "texts.txt").write_text("one two\nthree four\nfive\n")
    (home / "others.txt").write_text("one\nthree four\nsix\n")
    export_collection(topical_collection(60), home / "small", "beir")
    return home


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.delenv("HELDOUT_LEDGER", raising=False)


def rows_of(path, mark):
    """The rows of each table in a file, which a blank line parts."""
    tables = path.read_text().split("\n\n")
    return [list(csv.reader(table.strip("\n").splitlines(), delimiter=mark)) for table in tables]


def is_whole(path):
    """Whether a file is what its suffix says."""
    kind, content = path.suffix[1:], path.read_bytes()
    if kind in {"csv", "tsv"}:
        tables = rows_of(path, {"csv": ",", "tsv": "\t"}[kind])
        return all(len(table) > 1 and len(set(map(len, table))) == 1 for table in tables) and all(
            len(table[0]) > 1 for table in tables
        )
    if kind == "json":
        return bool(json.loads(content))
    if kind == "parquet":
        return len(pl.read_parquet(path)) > 0
    begins = {"html": b"<!doctype html>", "png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF"}
    if kind in begins:
        return content.startswith(begins[kind])
    return {"md": b"| --- |", "tex": b"\\begin{tabular}"}[kind] in content


@pytest.mark.parametrize("command", WRITERS)
def test_the_suffix_tells_the_format(command, tmp_path, capsys):
    for suffix in sorted(WRITERS[command]):
        path = tmp_path / f"out.{suffix.upper() if suffix == 'csv' else suffix}"
        main([*command.split(), "--quiet", "-o", str(path)])
        assert capsys.readouterr().out == ""
        assert is_whole(path.rename(tmp_path / f"out.{suffix}")), suffix


@pytest.mark.parametrize("command", WRITERS)
def test_what_a_command_cannot_write_is_refused_with_what_it_can(command, tmp_path, capsys):
    every = {"csv", "tsv", "json", "parquet", "md", "tex", "html", "png", "svg", "pdf", "xlsx"}
    for suffix in sorted(every - WRITERS[command]):
        path = tmp_path / f"out.{suffix}"
        with pytest.raises(SystemExit) as caught:
            main([*command.split(), "-o", str(path)])
        said = capsys.readouterr().err
        assert caught.value.code == 2
        assert said.count("\n") == 1
        listed = said.partition("use one of ")[2].strip().split(", ")
        gates = {"xml"} if command.startswith("compare") else set()
        assert {one.lstrip(".") for one in listed} == WRITERS[command] | gates
        assert not path.exists()


@pytest.mark.parametrize("command", [one for one in WRITERS if "chart" not in one])
def test_another_suffix_says_nothing(command, tmp_path, capsys):
    main([*command.split(), "--quiet"])
    printed = capsys.readouterr().out
    main([*command.split(), "--quiet", "-o", str(tmp_path / "out.txt")])
    assert (tmp_path / "out.txt").read_text() == printed


@pytest.mark.parametrize("command", [one for one in WRITERS if one.split()[0] in NAMED])
def test_the_format_can_be_said(command, tmp_path, capsys):
    main([*command.split(), "--quiet", "--format", "csv", "-o", str(tmp_path / "out.txt")])
    assert is_whole((tmp_path / "out.txt").rename(tmp_path / "out.csv"))
    capsys.readouterr()
    main([*command.split(), "--quiet", "--format", "csv"])
    assert capsys.readouterr().out == (tmp_path / "out.csv").read_text()


def test_every_command_that_writes_a_result_is_tried():
    tried = {command.split()[0] for command in WRITERS}
    assert {name for name in COMMANDS if "--output" in flags_of(name)} == tried | OTHERS


def test_a_page_is_not_written_to_a_picture(capsys):
    with pytest.raises(SystemExit):
        main(["report", "results", "-o", "report.pdf"])
    assert "use one of .html" in capsys.readouterr().err


def test_a_page_is_written_by_its_suffix(tmp_path, capsys):
    main([*COMPARE.split(), "-o", str(tmp_path / "a.html")])
    said = capsys.readouterr()
    assert said.out == ""
    assert "id=" in (tmp_path / "a.html").read_text()
    with pytest.raises(SystemExit):
        main([*COMPARE.split(), "--format", "html"])
    assert "name it with -o FILE" in capsys.readouterr().err


def test_a_row_per_pair_with_every_digit(tmp_path):
    for suffix in ("csv", "parquet", "json"):
        main([*COMPARE.split(), "--quiet", "-o", str(tmp_path / f"out.{suffix}")])
    table, claims = (
        pl.read_csv(tmp_path / "out.csv"),
        json.loads((tmp_path / "out.json").read_text()),
    )
    assert pl.read_parquet(tmp_path / "out.parquet").columns == table.columns
    assert table["measure"].to_list() == ["AP", "RR"]
    for name in ("first", "first_mean", "second_mean", "difference", "low", "p_adjusted", "p_t"):
        assert table[name].to_list() == [one["claims"][0][name] for one in claims]


def test_folds_are_read_back(tmp_path):
    plans = ["split", "small", "--by", "query", "--folds", "3", "--assignments"]
    for suffix in ("tsv", "csv"):
        main([*plans, str(tmp_path / f"folds.{suffix}"), "--quiet"])
    tsv, commas = rows_of(tmp_path / "folds.tsv", "\t"), rows_of(tmp_path / "folds.csv", ",")
    assert tsv == commas
    again = ["split", "small", "--by", "query", "--folds-file", str(tmp_path / "folds.csv")]
    main([*again, "--assignments", str(tmp_path / "again.tsv"), "--quiet"])
    assert (tmp_path / "again.tsv").read_text() == (tmp_path / "folds.tsv").read_text()


def test_a_table_is_not_taken_for_a_folder(capsys):
    with pytest.raises(SystemExit):
        main(["split", "small", "--by", "query", "-o", "folds.csv"])
    assert "for a table of folds use --assignments" in capsys.readouterr().err
    assert not Path("folds.csv").exists()


def test_a_run_is_compressed_as_ever(tmp_path):
    main(["search", "small", "--quiet", "-o", str(tmp_path / "a.run.gz")])
    main(["search", "small", "--quiet", "-o", str(tmp_path / "a.csv.gz")])
    assert (tmp_path / "a.run.gz").read_bytes()[:2] == (tmp_path / "a.csv.gz").read_bytes()[:2]
    assert (tmp_path / "a.run.gz").read_bytes()[:2] == b"\x1f\x8b"


def test_parquet_is_not_printed(capsys):
    for command in (EVAL, COMPARE):
        with pytest.raises(SystemExit):
            main([*command.split(), "--format", "parquet"])
        assert "name a file with -o FILE" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["chart", "scores.csv", "forest", "-o", "picture"])
    assert "no suffix" in capsys.readouterr().err


def claims(record):
    """All numbers; a table does not say that its units are queries."""
    return [{key: one[key] for key in one if key != "sentence"} for one in record["claims"]]


@pytest.mark.parametrize("suffix", ["tsv", "csv", "parquet"])
def test_what_eval_writes_is_compared(suffix, tmp_path, capsys):
    path = str(tmp_path / f"values.{suffix}")
    main([*EVAL.split(), "--quiet", "-o", path])
    wanted = ["-m", "nDCG@10", "-m", "AP", "--json"]
    main(["compare", "qrels.txt", "baseline.run", "improved.run", *wanted])
    direct = json.loads(capsys.readouterr().out)
    for names in (wanted, ["-m", "ndcg_cut_10", "-m", "map", "--json"]):
        main(["compare", "--scores", path, *names])
        table = json.loads(capsys.readouterr().out)
        assert [one["measure"] for one in table] == ["nDCG@10", "AP"]
        assert [one["units"] for one in table] == [50, 50]
        assert list(map(claims, table)) == list(map(claims, direct))
    for arguments, message in (
        ([], "has scores in 6 measures (nDCG@10, AP, P@10, RR, R@1000"),
        (["-m", "bpref"], "has no scores in Bpref; it has nDCG@10, AP"),
        (["-m", "Judged@10"], "Judged@10 has no better or worse: it cannot be compared"),
    ):
        with pytest.raises(SystemExit):
            main(["compare", "--scores", path, *arguments])
        assert message in capsys.readouterr().err
