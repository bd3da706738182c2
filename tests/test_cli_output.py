"""What all commands have in common: formats, JSON, silence, help, and words for options."""

import csv
import json
import pickle

import polars as pl
import pytest

import heldout
from commands import COMMANDS, flags_of, parsed, printed, refused, refused_in_a_line
from heldout.errors import Argument, FormatError, InputError

pytestmark = pytest.mark.usefixtures("here")

TABLES = {"csv", "tsv", "json", "md", "tex", "html"}
RUNS = "qrels.txt baseline.run improved.run"
EVAL = f"eval {RUNS} -q"
COMPARE = f"compare {RUNS} -m AP -m RR"
TEXTS = "-r references.txt a.txt b.txt -m TokenF1"
WRITERS = {
    EVAL: TABLES | {"parquet"},
    "eval qrels.txt baseline.run": TABLES | {"parquet"},
    COMPARE: TABLES | {"parquet"},
    "eval weak.csv": TABLES,
    "eval --task regression numbers.csv": TABLES,
    "compare numbers.csv": TABLES | {"parquet"},
    f"eval {TEXTS}": TABLES,
    f"compare {TEXTS}": TABLES | {"parquet"},
    "study bias small --replicates 5 --draws 2 --measure RR": {"json"},
    "search small": {"csv", "tsv", "json", "parquet"},
    "agree qrels.txt machine.qrels": TABLES,
    "fuse baseline.run improved.run": {"csv", "tsv", "json", "parquet"},
    "chart scores.csv forest": {"png", "svg", "pdf", "html", "json"},
}
EVERY = {"csv", "tsv", "json", "parquet", "md", "tex", "html", "png", "svg", "pdf", "xlsx"}
NAMED = {name for name in COMMANDS if "--format" in flags_of(name)}
# What -o names is not a result in one of several formats: a folder, an index, a page.
OTHERS = {"collection", "index", "report", "run", "split"}


def rows_of(path, mark):
    """The rows of each table in a file, which a blank line parts."""
    tables = path.read_text().split("\n\n")
    return [list(csv.reader(table.strip("\n").splitlines(), delimiter=mark)) for table in tables]


def is_whole(path, kind):
    """Whether a file is what its suffix says."""
    content = path.read_bytes()
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
def test_the_suffix_or_the_option_tells_the_format(command, here, capsys):
    given = command.split()
    for suffix in sorted(WRITERS[command]):
        path = here / f"out.{suffix.upper() if suffix == 'csv' else suffix}"
        assert printed(capsys, *given, "--quiet", "-o", path).out == ""
        assert is_whole(path, suffix), suffix
    for suffix in sorted(EVERY - WRITERS[command]):
        said = refused_in_a_line(capsys, *given, "-o", f"refused.{suffix}")
        listed = said.partition("use one of ")[2].strip().split(", ")
        gates = {"xml"} if command.startswith("compare") else set()
        assert {one.lstrip(".") for one in listed} == WRITERS[command] | gates
    if "chart" in command:
        return
    shown = printed(capsys, *given, "--quiet").out
    printed(capsys, *given, "--quiet", "-o", "out.txt")  # a suffix that says nothing
    assert (here / "out.txt").read_text() == shown
    if given[0] in NAMED:
        printed(capsys, *given, "--quiet", "--format", "csv", "-o", "named.txt")
        assert is_whole(here / "named.txt", "csv")
        shown = printed(capsys, *given, "--quiet", "--format", "csv").out
        assert shown == (here / "named.txt").read_text()


def test_every_command_that_writes_a_result_is_tried():
    tried = {command.split()[0] for command in WRITERS}
    assert {name for name in COMMANDS if "--output" in flags_of(name)} == tried | OTHERS


def test_a_row_per_pair_with_every_digit(here, capsys):
    for suffix in ("csv", "parquet", "json"):
        printed(capsys, *COMPARE.split(), "--quiet", "-o", f"out.{suffix}")
    table, claims = pl.read_csv("out.csv"), json.loads((here / "out.json").read_text())
    assert pl.read_parquet("out.parquet").columns == table.columns
    assert table["measure"].to_list() == ["AP", "RR"]
    for name in ("first", "first_mean", "second_mean", "difference", "low", "p_adjusted", "p_t"):
        assert table[name].to_list() == [one["claims"][0][name] for one in claims]


def test_what_eval_writes_is_compared(capsys):
    def claims(record):  # a table does not say that its units are queries
        return [{**one, "sentence": ""} for one in record["claims"]]

    wanted = ("-m", "nDCG@10", "-m", "AP")
    direct = parsed(capsys, "compare", *RUNS.split(), *wanted)
    for suffix in ("tsv", "csv", "parquet"):
        path = f"values.{suffix}"
        printed(capsys, *EVAL.split(), "--quiet", "-o", path)
        for names in (wanted, ("-m", "ndcg_cut_10", "-m", "map")):
            table = parsed(capsys, "compare", "--scores", path, *names)
            assert [(one["measure"], one["units"]) for one in table] == [
                ("nDCG@10", 50),
                ("AP", 50),
            ]
            assert list(map(claims, table)) == list(map(claims, direct))
        said = refused_in_a_line(capsys, "compare", "--scores", path, "-m", "bpref")
        assert "has no scores in Bpref; it has nDCG@10, AP" in said


# JSON and silence


# What has nothing to be quiet about, and what gives files rather than numbers.
NEVER_NOISY = {"ledger", "list"}
WRITES_FILES = {"chart", "demo", "report"}


def test_every_command_can_be_quiet_and_print_json(capsys):
    for name in COMMANDS:
        assert ("--quiet" in flags_of(name)) != (name in NEVER_NOISY)
        assert ("--json" in flags_of(name)) != (name in WRITES_FILES)
    for command in (
        f"eval {RUNS}",
        f"compare {RUNS}",
        f"power {RUNS}",
        "power --sd 0.1",
        "run qrels.txt --system x=*e*.run --folds 3 --quiet",
        "list measures nDCG",
        "list charts",
        "ledger looks.jsonl",
    ):
        said = printed(capsys, *command.split(), "--json")
        assert json.loads(said.out), command
        assert not said.err, command
    for command in ("eval qrels.txt baseline.run", f"compare {RUNS} -f tsv"):
        said = printed(capsys, *command.split(), "--quiet")
        assert said.out
        assert not said.err


# Help


def test_help_fits_the_terminal_and_has_examples(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    for name in COMMANDS:
        text = printed(capsys, name, "--help").out
        assert "None" not in text
        assert f"  heldout {name} " in text.partition("examples:")[2]
        options = text.partition("help:")[0]
        assert max(map(len, options.splitlines())) <= 60
        # Lists and commands to copy stay on their lines, whatever their length.
        assert all(line.startswith("  ") for line in text.splitlines() if len(line) > 60)
    text = printed(capsys, "--help").out
    assert "None" not in text
    rows = text.partition("commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows if row[2] != " "] == list(COMMANDS)
    assert printed(capsys, "--version").out == f"heldout {heldout.__version__}\n"


def test_an_error_names_a_parameter_in_python_and_an_option_on_the_command_line(here, capsys):
    errors = {
        "depth=0: expected more": InputError("expected more", argument="depth", value=0),
        "ties='x': unknown": InputError("unknown", argument="ties", value="x"),
        "f: replace it (force=True)": InputError("f: replace it (", Argument("force", "True"), ")"),
        "a.csv:3: not a number": FormatError("a.csv:3", "not a number"),
    }
    for said, error in errors.items():
        assert str(error) == str(pickle.loads(pickle.dumps(error))) == said  # noqa: S301 - its own
    (here / "out").mkdir()
    (here / "out" / "mine").touch()
    with pytest.raises(InputError, match=r"overwrite it \(force=True\)"):
        heldout.export_collection(heldout.read_collection("small"), here / "out")
    said = refused(capsys, "collection", "small", "-o", "out")
    assert said.endswith("already exists: choose another folder, or overwrite it (--force)\n")


# Python has what the command line has


PYTHON = {
    "eval": "evaluate",
    "compare": "compare",
    "run": "Experiment",
    "report": "Results.report",
    "chart": "chart",
    "split": "KFold.splits",
    "collection": "read_collection",
    "index": "Index.build",
    "search": "search",
    "fuse": "fuse",
    "agree": "agree",
    "power": "power",
    "list": "measures",
}
COMMAND_ONLY = {"ledger", "study", "demo"}


def test_every_command_has_a_counterpart_in_python(capsys):
    assert {*PYTHON, *COMMAND_ONLY} == set(COMMANDS)
    for name in PYTHON.values():
        found = heldout
        for part in name.split("."):
            found = getattr(found, part)
        assert found
    judged, *runs = RUNS.split()
    (record,) = parsed(capsys, "compare", judged, *runs, "-m", "AP")
    ours = heldout.compare(judged, runs, "AP").to_dict()
    assert record["claims"] == json.loads(json.dumps(ours["claims"]))
    (plan,) = parsed(capsys, "power", judged, *runs, "-m", "AP", "--difference", "0.02")
    pilot = heldout.evaluate(judged, runs, "AP").scores("AP")
    (ours,) = heldout.power(pilot, differences=[0.02])
    assert plan["needed"] == ours.to_dict()["needed"]
    found = heldout.agree(heldout.read_qrels(judged), ["machine.qrels"])
    theirs = parsed(capsys, "agree", judged, "machine.qrels")
    assert theirs == json.loads(json.dumps(found.to_dict(), default=list))
