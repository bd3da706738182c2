"""All commands speak alike: JSON and silence where asked, examples in the help, any width."""

import json
import pickle

import pytest

import heldout
from commands import COMMANDS, flags_of, printed, refused
from heldout.cli import main
from heldout.data.export import export_collection
from heldout.errors import Argument, FormatError, InputError

# What has nothing to be quiet about, and what gives files rather than numbers.
NEVER_NOISY = {"ledger", "list"}
WRITES_FILES = {"chart", "demo", "report"}


def test_every_command_can_be_quiet_and_print_json():
    for name in COMMANDS:
        assert ("--quiet" in flags_of(name)) != (name in NEVER_NOISY)
        assert ("--json" in flags_of(name)) != (name in WRITES_FILES)


def test_help_fits_the_terminal(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "60")
    for name in COMMANDS:
        text = printed(capsys, name, "--help").out
        assert f"  heldout {name} " in text.partition("examples:")[2]
        options = text.partition("help:")[0]
        assert max(map(len, options.splitlines())) <= 60
        # Lists and commands to copy stay on their lines, whatever their length.
        assert all(line.startswith("  ") for line in text.splitlines() if len(line) > 60)


def test_the_help_of_all_is_a_table(capsys):
    text = printed(capsys, "--help").out
    assert "None" not in text
    rows = text.partition("commands:\n")[2].partition("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows if row[2] != " "] == list(COMMANDS)


def test_an_option_of_another_command_says_where_it_belongs(capsys):
    for arguments, said in (
        ("eval q r --hold-out 1", "--hold-out is an option of heldout run, split, not of"),
        ("eval q r --depht 3", "unknown option --depht: did you mean --depth?"),
        ("evla", "unknown command 'evla': did you mean eval?"),
        ("eval q r --ties doc", "--ties doc: did you mean docid-desc?"),
        ("split x --folds 2 --hold-out 1", "--folds and --hold-out exclude each other"),
        ("eval q r --no-summary", "--no-summary goes with --per-unit"),
        ("eval --task regression a.csv --ties input", "--ties is for runs, not for predicted num"),
        ("run e.toml --folds 3", "not for an experiment file, in which it is a field"),
    ):
        assert said in refused(capsys, *arguments.split())


def test_an_error_names_a_parameter_in_python_and_an_option_on_the_command_line(tmp_path, capsys):
    errors = {
        "depth=0: expected more": InputError("expected more", argument="depth", value=0),
        "ties='x': unknown": InputError("unknown", argument="ties", value="x"),
        "f: replace it (force=True)": InputError("f: replace it (", Argument("force", "True"), ")"),
    }
    for said, error in errors.items():
        assert str(error) == str(pickle.loads(pickle.dumps(error))) == said  # noqa: S301 - its own
    where = FormatError("a.csv:3", "not a number")
    assert str(where) == str(pickle.loads(pickle.dumps(where))) == "a.csv:3: not a number"  # noqa: S301
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    with pytest.raises(InputError, match=r"overwrite it \(force=True\)"):
        export_collection(heldout.Collection({"d": "x"}, {"q": "x"}), tmp_path / "out")
    (tmp_path / "docs.jsonl").write_text('{"_id": "d", "text": "x"}\n')
    (tmp_path / "queries.tsv").write_text("q\tx\n")
    given = ("--queries", tmp_path / "queries.tsv", "-o", tmp_path / "out")
    said = refused(capsys, "collection", tmp_path / "docs.jsonl", *given)
    assert said.endswith("already exists: choose another folder, or overwrite it (--force)\n")


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--files", ".", "--quiet"])


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "qrels.txt", "baseline.run"],
        ["compare", "qrels.txt", "baseline.run", "improved.run"],
        ["power", "qrels.txt", "baseline.run", "improved.run"],
        ["power", "--sd", "0.1"],
        ["run", "qrels.txt", "--system", "x=*e*.run", "--folds", "3", "--quiet"],
        ["list", "measures", "nDCG"],
        ["list", "measures"],
    ],
    ids=" ".join,
)
def test_json_is_json_and_nothing_else(arguments, capsys):
    capsys.readouterr()
    main([*arguments, "--json"])
    said = capsys.readouterr()
    assert json.loads(said.out)
    assert not said.err


@pytest.mark.usefixtures("files")
def test_json_of_a_ledger_has_every_look(capsys):
    runs = ["qrels.txt", "baseline.run", "improved.run"]
    main(["compare", *runs, "--ledger", "looks.jsonl", "--quiet"])
    capsys.readouterr()
    main(["ledger", "looks.jsonl", "--json"])
    (look,) = json.loads(capsys.readouterr().out)
    assert look["systems"] == ["improved", "baseline"]
    assert 0 < look["p"] == look["holm"] < 0.001


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "arguments",
    [
        ["eval", "qrels.txt", "baseline.run"],
        ["compare", "qrels.txt", "baseline.run", "improved.run", "-f", "tsv"],
    ],
    ids=" ".join,
)
def test_quiet_commands_say_nothing_beside_the_result(arguments, capsys):
    capsys.readouterr()
    main([*arguments, "--quiet"])
    said = capsys.readouterr()
    assert said.out
    assert not said.err


@pytest.mark.usefixtures("files")
def test_a_quiet_gate_gives_its_verdict_and_nothing_else(capsys):
    capsys.readouterr()
    runs = ["qrels.txt", "improved.run", "baseline.run"]
    with pytest.raises(SystemExit) as ended:
        main(["compare", *runs, "--gate", "non-inferior", "--margin", "0.01", "--quiet"])
    assert ended.value.code == 1
    (verdict,) = capsys.readouterr().err.splitlines()
    assert verdict.startswith("failed: ")


def test_a_quiet_index_is_built_silently(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs.jsonl").write_text(
        '{"_id": "a", "text": "one"}\n{"_id": "b", "text": "two"}\n'
    )
    main(["index", "docs.jsonl", "-o", "docs.index", "--quiet"])
    assert capsys.readouterr() == ("", "")
    main(["index", "docs.jsonl", "-o", "docs.index", "--quiet", "--force", "--json"])
    assert json.loads(capsys.readouterr().out)["documents"] == 2
    main(["index", "docs.index", "--quiet"])
    assert "documents" in capsys.readouterr().out  # here it is the result
