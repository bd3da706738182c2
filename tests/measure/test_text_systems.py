"""Texts of systems: evaluated, compared, and shown by the commands."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from samples import corpus

from commands import printed, refused
from heldout import InputError, Segments, evaluate
from heldout.errors import MeasureError

pytest.importorskip("sacrebleu")


def test_scores_of_corpus_and_segments():
    references, one = corpus(30, seed=1)
    _, other = corpus(30, seed=1, rate=0.1)
    found = evaluate(references, {"A": one, "B": other}, ["BLEU", "ROUGE-L", "sentBLEU"])
    assert [str(each) for each in evaluate(["a"], {"A": ["a"]}, task="text").measures] == [
        *("BLEU", "chrF"),
    ]
    assert found.value(1, "BLEU") > found.value(0, "BLEU")
    alone = evaluate(references, {"B": other}, "BLEU")  # counted together they are as alone
    assert found.per_unit(1, "BLEU").tolist() == alone.per_unit().tolist()
    assert found.per_unit(0, "ROUGE-L").mean() == pytest.approx(found.value(0, "ROUGE-L"))
    # The BLEU of a corpus is no mean of sentences.
    assert abs(found.per_unit(0, "BLEU").mean() - found.value(0, "BLEU")) > 0.1
    heads = [f"{name}|nrefs:1" for name in ("BLEU", "ROUGE-L", "sentBLEU")]
    assert ["|".join(line.split("|")[:2]) for line in found.about] == heads
    scores = found.scores("ROUGE-L")
    assert np.array_equal(scores.column("B"), found.per_unit(1, "ROUGE-L"))
    assert scores.unit == "segment"
    assert scores.data == evaluate(references, {"A": one}, "TokenF1").scores().data
    assert scores.data != evaluate([["x"]] * 30, {"A": one, "B": other}, "TokenF1").scores().data
    with pytest.raises(MeasureError, match="not a mean over segments"):
        found.scores("BLEU")
    # Systems are paired by id.
    references = Segments("references", ("p", "q"), (("a b",), ("c",)), has_ids=True)
    system = Segments("A", ("q", "p"), (("c",), ("a b",)), has_ids=True)
    assert evaluate(references, [system], ["ExactMatch"]).value(0, "ExactMatch") == 1


def test_what_does_not_fit_is_refused():
    for references, systems, measure, says in (
        (None, {"A": ["a"]}, "TER", "TER needs references"),
        ([[]], {"A": ["a"]}, "BLEU", "segment 1 has no reference"),
        ([], {"A": []}, "BLEU", "no segments given"),
        (["a"], {"A": [["a", "b"]]}, "BLEU", "A, segment 1: 2 texts, expected one"),
        (["a", "b"], {"A": ["a"]}, "BLEU", "A has 1 segment, the references have 2"),
        (["a"], [Segments.of(["a"], "S")] * 2, "BLEU", "duplicate system name: S"),
    ):
        with pytest.raises(InputError, match=says):
            evaluate(references, systems, measure, task="text")


# Commands


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ref.txt").write_text("the cat sat on the mat\ntwo dogs ran\nhow are you\n")
    (tmp_path / "a.txt").write_text("the cat sat\ndogs ran\nhow are you\n")
    (tmp_path / "b.txt").write_text("the cat sat on a mat\ntwo dogs ran\nhow are you\n")
    (tmp_path / "v.txt").write_text("zebra 1 0\n")
    return tmp_path


def of_texts(command, line, references="--references ref.txt"):
    """The words of a command line."""
    return [command, "--task", "text", *references.split(), *line.split()]


def table(text):
    head, *rows = (line.split("\t") for line in text.splitlines())
    return [dict(zip(head, row, strict=True)) for row in rows]


def test_scores_intervals_and_signatures(capsys):
    said = printed(capsys, *of_texts("eval", "a.txt b.txt -m ROUGE-1 -m TokenF1"))
    rows = table(said.out)
    # F of the three lines: 6/9, 4/5 and 1; then 10/12, 1 and 1
    assert [(row["system"], row["ROUGE-1"]) for row in rows] == [("a", "0.8222"), ("b", "0.9444")]
    assert list(rows[0])[1:] == ["ROUGE-1", "interval", "TokenF1", "interval of TokenF1"]
    assert "\nROUGE-1|nrefs:1|stem:no" in said.err
    assert "segments: 3" in said.err
    # What is undefined has a reason.
    said = printed(capsys, *of_texts("eval", "a.txt -m Embedding(vectors='v.txt')"))
    assert list(table(said.out)[0].values()) == ["a", "—"]
    assert "of a does not exist: " in said.err
    assert "3 of 3 segments" in said.err


def test_comparisons(capsys):
    said = printed(capsys, *of_texts("compare", "a.txt b.txt -m ROUGE-1 --format tsv"))
    assert "signature: ROUGE-1|nrefs:1|stem:no" in said.err
    systems, pairs = said.out.split("\n\n")
    assert [row["system"] for row in table(systems)] == ["b", "a"]
    (pair,) = table(pairs)
    assert pair["difference"] == "+0.1222"
    assert pair["p"] == "0.5000"  # 2 of 4 swaps
    assert pair["won/tied/lost"] == "2/1/0"
    assert "(here 3), and the bootstrap intervals are too narrow; randomization decides" in said.err
    line = "a.txt b.txt -m BLEU -m TER --json"
    bleu, ter = json.loads(printed(capsys, *of_texts("compare", line)).out)
    assert bleu["signature"].startswith("BLEU|nrefs:1|")
    (claim,) = ter["claims"]
    assert claim["difference"] < 0
    assert claim["effect_wins"] > claim["effect_losses"]
    assert [one["test"] for one in claim["tests"]] == ["randomization", "bootstrap-shift"]


def test_references_beside_the_texts_and_none_at_all(folder, capsys):
    lines = [
        {"id": "p", "references": ["Paris", "the city"], "prediction": "city"},
        {"id": "q", "references": ["Rome"], "prediction": "Oslo"},
    ]
    (folder / "one.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
    (folder / "two.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines[::-1]))
    said = printed(capsys, *of_texts("eval", "one.jsonl -m EM", references=""))
    assert table(said.out)[0]["ExactMatch"] == "0.5000"
    assert "nrefs:var" in said.err
    line = "one.jsonl two.jsonl -m EM --format tsv"
    said = printed(capsys, *of_texts("compare", line, references=""))
    (pair,) = table(said.out.split("\n\n")[1])
    assert pair["p"] == "1.0000"  # paired by id: the same answers
    (folder / "m.jsonl").write_text('{"logprobs": [-1, -2]}\n{"logprobs": [-3]}\n')
    said = printed(capsys, *of_texts("eval", "m.jsonl -m Perplexity", references=""))
    assert table(said.out)[0]["Perplexity"] == "7.3891"


def test_wrong_input_is_refused_and_nothing_printed(folder, capsys):
    (folder / "short.txt").write_text("one\n")
    (folder / "bad.jsonl").write_text('{"text": "a"}\n{"text": \n')
    both = "--references ref.txt --references short.txt"
    one = "--references ref.txt"
    for command, line, references, says in (
        ("compare", "a.txt", one, "one system cannot be compared"),
        ("eval", "a.txt", "", r"without references: give .* \(--references FILE\)"),
        ("eval", "none.txt", one, "none.txt: no such file"),
        ("eval", "a.txt", both, "short.txt has 1 segment, the references have 3"),
        ("eval", "bad.jsonl", one, "bad.jsonl:2: not JSON"),
        ("eval", "a.txt -m Perplexity", one, "a has no log-probabilities"),
        ("compare", "a.txt b.txt -m Embedding(vectors='v.txt')", one, "is undefined"),
    ):
        assert re.search(says, refused(capsys, *of_texts(command, line, references))), line
