"""Similarity of word vectors, files of vectors, and perplexity."""

from __future__ import annotations

import math
import os

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import units

from heldout import parse_measure
from heldout.data.segments import Segments, Texts
from heldout.errors import FormatError, InputError, MeasureError
from heldout.measure.evaluate import evaluate
from heldout.measure.text.embeddings import read_vectors
from heldout.measure.text.packages import signature

KINDS = ["average", "greedy", "extrema"]


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    made = tmp_path_factory.mktemp("vectors") / "v.txt"
    made.write_text("x 1 0\ny 0 1\nz -3 1\nnull 0 0\n")
    return made


@pytest.fixture(scope="module")
def values(path):
    def of(kind, references, written):
        return units(f"Embedding(vectors='{path}', kind={kind})", references, written).per_unit()

    return of


def test_by_hand(values):
    """Sides x y and z: cosines 1/sqrt 20 and so on, worked out on paper."""
    root = math.sqrt(10)
    # means (.5, .5) and (-3, 1): (-1.5 + .5) / (sqrt .5 sqrt 10)
    assert values("average", ["x y"], ["z"]) == pytest.approx([-1 / math.sqrt(5)])
    # largest numbers (1, 1) and (-3, 1)
    assert values("extrema", ["x y"], ["z"]) == pytest.approx([-2 / (math.sqrt(2) * root)])
    # x z (-3 / root), y z (1 / root): from z the best is 1 / root, from x y their mean -1 / root
    assert values("greedy", ["x y"], ["z"]) == pytest.approx([(1 / root - 1 / root) / 2], abs=1e-15)


def test_extrema_keep_the_sign(values):
    # over x and z: (-3, 1), the number farthest from 0 in each dimension
    assert values("extrema", ["x z"], ["z"]) == pytest.approx([1])


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_words(kind, values):
    """Unknown words are left out; nothing known written is 0, nothing known wanted undefined."""
    assert values(kind, ["x what"], ["X ever"]) == pytest.approx([1])
    assert values(kind, ["x"], ["who knows"]) == [0]
    assert math.isnan(values(kind, ["who"], ["x"])[0])
    assert values(kind, ["null"], ["null"]) == [0]
    assert values(kind, [["y", "x", "who"]], ["x"]) == pytest.approx([1])


def test_undefined_segments_do_not_count(path):
    name = f"Embedding(vectors='{path}')"
    found = evaluate(["x", "who", "x"], {"A": ["x", "x", "y"]}, [name])
    assert found.value() == 0.5
    assert np.isnan(found.per_unit()).tolist() == [False, True, False]
    [note] = found.notes
    assert note.code == "no-vectors"
    assert "1 of 3 segments: no word of the references has a vector" in note.text


words = st.lists(st.sampled_from("xyz"), min_size=1, max_size=6).map(" ".join)


@pytest.mark.parametrize("kind", KINDS)
@given(words, words)
def test_symmetric_and_within_bounds(values, kind, one, other):
    found = values(kind, [one], [other])[0]
    assert found == pytest.approx(values(kind, [other], [one])[0], abs=1e-12)
    assert -1 - 1e-12 <= found <= 1 + 1e-12
    assert values(kind, [one], [one]) == pytest.approx([1])


@pytest.mark.parametrize("head", ["4 2\n", ""])
def test_text_files(tmp_path, head):
    path = tmp_path / "v.txt"
    path.write_text(head + "x 1 0\ny 0 1\nnew york -3 1e0\nx 9 9\n\n", encoding="utf-8")
    found = read_vectors(str(path))
    assert found.dimension == 2
    assert found.known(["x", "nobody", "new york"]).tolist() == [[1, 0], [-3, 1]]
    name = f"Embedding(vectors='{path}', kind='greedy')"
    assert str(parse_measure(name, "text")) == name


def test_fingerprint_is_of_the_content(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = (("a", "x 1 0\n"), ("b", "x 1 0\n"), ("a", "x 1 0.5\n"))
    marks = []
    for time, (name, text) in enumerate(texts):
        (tmp_path / name).write_text(text)
        os.utime(name, (time, time))  # a file that was changed is read again
        marks.append(signature(parse_measure(f"Embedding(vectors={name})")))
    assert marks[0] == marks[1] != marks[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x 1 0\ny 1\n", r"v:2: expected a word and 2 numbers, found 1"),
        ("x\n", r"v:1: expected a word and its numbers"),
        ("2 3\n", r"v has no vectors"),
    ],
)
def test_text_that_does_not_fit(tmp_path, text, message):
    path = tmp_path / "v"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        read_vectors(str(path))


@pytest.mark.parametrize(
    ("row", "message"), [("one 0", "v:2: not a vector"), ("nan 0", "v:2: .*not finite")]
)
def test_bad_numbers_are_named_when_they_are_read(tmp_path, row, message):
    path = tmp_path / "v"
    path.write_text(f"x 1 0\ny {row}\n")
    found = read_vectors(str(path))
    with pytest.raises(FormatError, match=message):
        found.known(["y"])


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Embedding(vectors=v, kind=sum)", "kind='sum': expected one of average, greedy, extrema"),
        ("Embedding", r"expected vectors, for example Embedding\(vectors='FILE'"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(name, message):
    with pytest.raises(MeasureError, match=message):
        units(name, ["x"], ["x"])


def with_logs(name, *logs):
    ids = tuple(str(at) for at in range(len(logs)))
    return Segments(name, ids, tuple(("",) for _ in logs), tuple(tuple(one) for one in logs))


def test_perplexity_of_the_lecture():
    """By hand: p = .4 .15 .03 .3 .1 .01 gives 11.0816."""
    logs = np.log([0.4, 0.15, 0.03, 0.3, 0.1, 0.01])
    system = with_logs("A", logs[:2], logs[2:])
    found = parse_measure("Perplexity").units(Texts(system, system))
    assert found.value() == pytest.approx(11.0816, abs=5e-5)
    # of all tokens, not the mean over segments
    alone = [math.exp(-np.mean(logs[:2])), math.exp(-np.mean(logs[2:]))]
    assert found.per_unit().tolist() == pytest.approx(alone)


@pytest.mark.parametrize("base", [2, 10])
def test_base_of_the_logarithms(base):
    system = with_logs("A", np.log([0.5, 0.25, 0.125]) / math.log(base))
    measure = parse_measure(f"Perplexity(base={base})")
    assert measure.compute(Texts(system, system)) == pytest.approx(4)


def test_perplexity_needs_log_probabilities():
    with pytest.raises(InputError, match="system has no log-probabilities"):
        units("Perplexity", ["a"], ["a"])


def test_other_tokens_are_pointed_out():
    one, other = with_logs("A", [-1, -1], [-2]), with_logs("B", [-1], [-2])
    assert evaluate(None, [one], ["Perplexity"]).notes == ()
    [note] = evaluate(None, [one, other], ["Perplexity"]).notes
    assert "A 3, B 2" in note.text
