"""ROUGE, exact match and token F1: rouge-score on the same texts, and SQuAD's rules."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import corpus, units

from heldout import parse_measure
from heldout.errors import MeasureError

KINDS = ["1", "2", "3", "L", "Lsum"]


def values(name, references, written):
    return units(name, references, written).per_unit()


def with_lines(texts, seed=5):
    """Texts of several lines, some of them empty."""
    source = random.Random(seed)  # noqa: S311 - data, no secret
    return [
        "".join(source.choice([" ", " ", "\n", "\n\n"]) if c == " " else c for c in t)
        for t in texts
    ]


@pytest.mark.parametrize("stem", [False, True])
@pytest.mark.parametrize("value", ["f", "precision", "recall"])
@pytest.mark.parametrize("kind", KINDS)
def test_rouge_is_that_of_rouge_score(kind, value, stem):
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    peer = scorer.RougeScorer([f"rouge{kind}"], use_stemmer=stem)
    references, written = corpus(80, seed=3, references=2)
    written = with_lines(written)
    references = [with_lines(texts, at) for at, texts in enumerate(references)]
    field = "fmeasure" if value == "f" else value
    wanted = [
        getattr(peer.score_multi(texts, text)[f"rouge{kind}"], field)
        for texts, text in zip(references, written, strict=True)
    ]
    found = values(f"ROUGE-{kind}(stem={stem}, value={value})", references, written)
    assert found == pytest.approx(np.array(wanted), rel=1e-12)
    assert 0 < np.mean(wanted) < 1


@settings(max_examples=100)
@given(*[st.text("ab \nA.é1", max_size=14)] * 2, st.sampled_from(KINDS))
def test_rouge_of_any_text_is_that_of_rouge_score(reference, written, kind):
    scorer = pytest.importorskip("rouge_score.rouge_scorer")
    wanted = scorer.RougeScorer([f"rouge{kind}"]).score(reference, written)[f"rouge{kind}"]
    assert values(f"ROUGE-{kind}", [reference], [written])[0] == pytest.approx(wanted.fmeasure)


def test_short_words_are_not_stemmed():
    """rouge-score stems words of more than three letters: "his" stays, "runs" does not."""
    pytest.importorskip("nltk")
    assert values("ROUGE-1(stem=True)", ["hi", "run"], ["his", "runs"]).tolist() == [0, 1]


def test_example_of_lin():
    """Lin (2004), section 3.1: police killed the gunman; ROUGE-L 3/4 and 2/4."""
    wanted, one, other = (
        "police killed the gunman",
        "police kill the gunman",
        "the gunman kill police",
    )
    assert values("ROUGE-L", [wanted] * 2, [one, other]).tolist() == [0.75, 0.5]


def test_summary_level_example_of_lin():
    """Lin (2004), section 3.2: w1 w2 w3 w4 w5 against two sentences, union 4/5."""
    wanted, written = "w1 w2 w3 w4 w5", "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5"
    assert values("ROUGE-Lsum(value=recall)", [wanted], [written]).tolist() == [0.8]


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        (" The Cat's\ta-head, an Apple! ", "cats ahead apple"),
        ("a the an", ""),
        ("another theory", "another theory"),
    ],
)
def test_squad_normalisation(text, normalised):
    """Two texts match if their normalised forms are equal."""
    assert values("ExactMatch", [normalised], [text]).tolist() == [1]
    assert values("ExactMatch(normalise=none)", [normalised], [text])[0] == (text == normalised)


@pytest.mark.parametrize(
    ("wanted", "written", "match", "f1"),
    [
        (["The Eiffel Tower"], "eiffel tower.", 1, 1),
        (["the big Eiffel Tower"], "Eiffel Tower", 0, 0.8),
        (["Paris", "the city of Paris"], "city of Paris", 1, 1),
        (["x y", "x y z"], "x q", 0, 0.5),
        (["the"], "a", 1, 1),  # nothing on both sides: SQuAD 2
        (["the"], "paris", 0, 0),
        (["paris paris"], "paris", 0, 2 / 3),
    ],
)
def test_answers(wanted, written, match, f1):
    assert values("ExactMatch", [wanted], [written]).tolist() == [match]
    assert values("TokenF1", [wanted], [written])[0] == pytest.approx(f1)


def test_answers_as_they_are():
    assert values("ExactMatch(normalise=none)", ["Paris"] * 2, ["paris", "Paris"]).tolist() == [
        0,
        1,
    ]
    assert values("TokenF1(normalise=none)", ["the cat"], ["a cat"])[0] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ROUGE-0", "unknown measure 'ROUGE-0'"),
        ("ROUGE-W", "unknown measure 'ROUGE-W'"),
        ("ROUGE-1(kind='L')", "ROUGE-1 has no parameter 'kind'; it has stem, value"),
        ("ROUGE-1(stem='yes')", "ROUGE-1: stem='yes': expected True or False"),
        ("ROUGE-1(value=F1)", "ROUGE-1: value='F1': expected one of f, precision, recall"),
        ("EM(normalise=lower)", "ExactMatch: normalise='lower': expected one of squad, none"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(name, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(name, "text")
