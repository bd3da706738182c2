"""All commands speak alike: JSON and silence where asked, examples in the help, any width."""

import json

import pytest

from heldout.cli import main, parser

# What has nothing to be quiet about, and what gives files rather than numbers.
NEVER_NOISY = {"heldout ledger", "heldout list"}
WRITES_FILES = {"heldout chart", "heldout demo", "heldout report"}


def leaves(one):
    below = [action for action in one._actions if getattr(action, "choices", None)]
    below = [action for action in below if isinstance(action.choices, dict)]
    if not below:
        yield one
    for action in below:
        for command in action.choices.values():
            yield from leaves(command)


COMMANDS = {one.prog: one for one in leaves(parser())}


def options_of(command):
    return {flag for action in command._actions for flag in action.option_strings}


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_can_be_quiet_and_print_json(name):
    flags = options_of(COMMANDS[name])
    assert "--quiet" in flags or name in NEVER_NOISY
    assert "--json" in flags or name in WRITES_FILES


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_help_fits_the_terminal(name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    text = COMMANDS[name].format_help()
    assert f"  {name} " in text.partition("examples:")[2]
    wide = [line for line in text.splitlines() if len(line) > 60]
    # A command to copy stays on its line, whatever its length.
    assert all("heldout " in line and line.startswith("  ") for line in wide)


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
