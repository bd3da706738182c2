"""What heldout eval and compare print for texts, and what they refuse."""

from __future__ import annotations

import json
import re

import pytest

from heldout.cli import main

pytest.importorskip("sacrebleu")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.txt").write_text("the cat sat on the mat\ntwo dogs ran\nhow are you\n")
    (tmp_path / "a.txt").write_text("the cat sat\ndogs ran\nhow are you\n")
    (tmp_path / "b.txt").write_text("the cat sat on a mat\ntwo dogs ran\nhow are you\n")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_text("\n\n\n")
    return tmp_path


def run(*files, references=("ref.txt",), **more):
    """The command, by its options; lists are repeated options."""
    command = "compare" if more.pop("compare", False) else "eval"
    arguments = [command, "--task", "text", *files]
    for name, value in {"references": references, **more}.items():
        option = f"--{name.replace('_', '-')}"
        if value is True:
            arguments.append(option)
        else:
            values = value if isinstance(value, list | tuple) else [value]
            arguments += [part for one in values for part in (option, str(one))]
    main(arguments)


def table(text):
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_scores_intervals_and_signatures(folder, capsys):
    assert folder
    run("a.txt", "b.txt", measure=["ROUGE-1", "TokenF1"])
    said = capsys.readouterr()
    rows = table(said.out)
    # F of the three lines: 6/9, 4/5 and 1; then 10/12, 1 and 1
    assert [(row["system"], row["ROUGE-1"]) for row in rows] == [("a", "0.8222"), ("b", "0.9444")]
    assert list(rows[0])[1:] == ["ROUGE-1", "interval", "TokenF1", "interval of TokenF1"]
    assert "\nROUGE-1|nrefs:1|stem:no" in said.err
    assert "segments: 3" in said.err


def test_comparison_with_the_first_file(folder, capsys):
    assert folder
    run("a.txt", "b.txt", measure=["ROUGE-1"], compare=True, format="tsv")
    said = capsys.readouterr()
    assert "signature: ROUGE-1|nrefs:1|stem:no" in said.err
    systems, pairs = said.out.split("\n\n")
    assert [row["system"] for row in table(systems)] == ["b", "a"]
    [pair] = table(pairs)
    assert pair["difference"] == "+0.1222"
    assert pair["p"] == "0.5000"  # 2 of 4 swaps
    assert pair["won/tied/lost"] == "2/1/0"
    assert "(here 3), and the bootstrap intervals are too narrow; randomization decides" in said.err
    assert "measures" not in said.err


def test_several_systems_are_compared_with_the_first_or_the_baseline(folder, capsys):
    (folder / "c.txt").write_text("the cat\ntwo dogs\nhow are we\n")
    files = ("a.txt", "b.txt", "c.txt")
    run(*files, measure=["BLEU"], compare=True, json=True)
    [found] = json.loads(capsys.readouterr().out)
    assert (found["baseline"], found["correction"]) == ("a", "romano-wolf")
    assert [one["first"] for one in found["claims"]] == ["b", "c"]
    run(*files, measure=["BLEU"], compare=True, json=True, baseline="c", alternative="greater")
    [found] = json.loads(capsys.readouterr().out)
    assert [one["second"] for one in found["claims"]] == ["c", "c"]
    assert [one["high"] for one in found["claims"]] == [None, None]


def test_gate_and_ledger(folder, capsys):
    run("a.txt", "b.txt", measure=["TER"], compare=True, ledger="looks.jsonl", data="mine")
    assert "evaluation 1 of these data" in capsys.readouterr().err
    assert (folder / "looks.jsonl").exists()
    with pytest.raises(SystemExit) as ended:
        run("b.txt", "a.txt", measure=["TER"], compare=True, gate="non-inferior", margin=1)
    assert ended.value.code == 1
    said = capsys.readouterr()
    assert "failed: " in said.err
    assert "in TER" in said.err


def test_json_has_every_number(folder, capsys):
    run("a.txt", "b.txt", measure=["BLEU", "TER"], json=True, compare=True, output="out.json")
    assert capsys.readouterr().out == ""
    found = json.loads((folder / "out.json").read_text())
    claim = found[1]["claims"][0]
    assert found[0]["signature"].startswith("BLEU|nrefs:1|")
    assert claim["difference"] < 0
    assert claim["effect_wins"] > claim["effect_losses"]
    assert [one["test"] for one in claim["tests"]] == ["randomization", "bootstrap-shift"]
    assert not list(folder.glob(".*tmp"))
    run("a.txt", "b.txt", measure=["BLEU", "TER"], json=True)
    found = json.loads(capsys.readouterr().out)
    assert found["segments"] == 3
    bleu, ter = found["measures"]
    assert (bleu["higher_is_better"], ter["higher_is_better"]) == (True, False)
    assert {one["system"] for one in bleu["systems"]} == {"a", "b"}


def test_files_of_one_name_are_told_apart(folder, capsys):
    assert folder
    run("a.txt", "sub/a.txt", measure=["ExactMatch"])
    assert [row["system"] for row in table(capsys.readouterr().out)] == ["a.txt", "sub/a.txt"]


def test_references_beside_the_texts(folder, capsys):
    lines = [
        {"id": "p", "references": ["Paris", "the city"], "prediction": "city"},
        {"id": "q", "references": ["Rome"], "prediction": "Oslo"},
    ]
    (folder / "one.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "two.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines[::-1]))
    run("one.jsonl", "two.jsonl", references=(), measure=["EM"])
    said = capsys.readouterr()
    assert [row["ExactMatch"] for row in table(said.out)] == ["0.5000", "0.5000"]
    assert "nrefs:var" in said.err
    run("one.jsonl", "two.jsonl", references=(), measure=["EM"], compare=True, format="tsv")
    [pair] = table(capsys.readouterr().out.split("\n\n")[1])
    assert pair["p"] == "1.0000"  # paired by id: the same answers


def test_perplexity_needs_no_references(folder, capsys):
    (folder / "m.jsonl").write_text('{"logprobs": [-1, -2]}\n{"logprobs": [-3]}\n')
    run("m.jsonl", references=(), measure=["Perplexity"])
    assert table(capsys.readouterr().out)[0]["Perplexity"] == "7.3891"


def test_what_is_undefined_has_a_reason(folder, capsys):
    (folder / "v.txt").write_text("zebra 1 0\n")
    run("a.txt", measure=["Embedding(vectors='v.txt')"])
    said = capsys.readouterr()
    assert list(table(said.out)[0].values()) == ["a", "—"]
    assert "of a does not exist: " in said.err
    assert "3 of 3 segments" in said.err
    run("a.txt", measure=["Embedding(vectors='v.txt')"], json=True)
    assert json.loads(capsys.readouterr().out)["measures"][0]["systems"][0]["estimate"] is None


@pytest.mark.parametrize(
    ("files", "more", "message"),
    [
        (["a.txt"], {"compare": True}, "nothing to compare it with"),
        (
            ["a.txt"],
            {"references": ()},
            "no references: add --references FILE.*has lines of text without references",
        ),
        (["a.txt"], {"measure": ["BLUE"]}, "unknown measure"),
        (["none.txt"], {}, "none.txt: no such file"),
        (["ref.txt", "short.txt"], {}, "short.txt has 1 segment, the references have 3"),
        (
            ["a.txt"],
            {"references": ("ref.txt", "short.txt")},
            "short.txt has 1 segment, the references have 3",
        ),
        (["bad.jsonl"], {}, "bad.jsonl:2: not JSON"),
        (["a.txt"], {"measure": ["Perplexity"]}, "a has no log-probabilities"),
        (["a.txt", "b.txt"], {"seed": -1}, "--seed -1"),
        (
            ["a.txt", "b.txt"],
            {"compare": True, "measure": ["Embedding(vectors='v.txt')"]},
            "is undefined",
        ),
    ],
)
def test_wrong_input_is_refused_and_nothing_printed(folder, capsys, files, more, message):
    (folder / "short.txt").write_text("one\n")
    (folder / "bad.jsonl").write_text('{"text": "a"}\n{"text": \n')
    (folder / "v.txt").write_text("zebra 1 0\n")
    with pytest.raises(SystemExit) as ended:
        run(*files, **more)
    said = capsys.readouterr()
    assert ended.value.code == 2
    assert said.out == ""
    assert re.search(message, said.err)
    assert "Traceback" not in said.err
