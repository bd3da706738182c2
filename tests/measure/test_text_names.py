"""Names and signatures of text measures: every parameter is in both."""

from __future__ import annotations

import sys
from dataclasses import fields, replace

import pytest

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.parse import parse_measure, parse_measures
from heldout.measure.text.bleu import Bleu, ChrF, Ter
from heldout.measure.text.embeddings import Embedding
from heldout.measure.text.evaluate import evaluate_text
from heldout.measure.text.meteor import Meteor
from heldout.measure.text.overlap import ExactMatch, Rouge, TokenF1
from heldout.measure.text.perplexity import Perplexity
from heldout.measure.text.vectors import Vectors

pytest.importorskip("sacrebleu")
pytest.importorskip("nltk")

SOME, OTHER = Vectors("v", 1, {}, "f1"), Vectors("v", 1, {}, "f2")

# For each measure another value of every parameter.
CHANGES = {
    Bleu(smooth="floor"): {
        "order": 3,
        "smooth": "add-k",
        "smooth_value": 0.1001,
        "tokenize": "intl",
        "lowercase": True,
        "effective_order": True,
        "level": "sentence",
        "scale": 1,
    },
    ChrF(): {
        "char_order": 5,
        "word_order": 2,
        "beta": 3,
        "lowercase": True,
        "whitespace": True,
        "eps_smoothing": True,
    },
    Ter(): dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), True),
    Rouge(): {"kind": "L", "stem": True, "value": "recall"},
    Meteor(): {
        "stages": "exact",
        "alpha": 0.8,
        "beta": 2.0,
        "gamma": 0.4,
        "tokenize": "none",
        "lowercase": False,
    },
    ExactMatch(): {"normalise": "none"},
    TokenF1(): {"normalise": "none"},
    Perplexity(): {"base": 2.0},
    Embedding(SOME): {"vectors": OTHER, "kind": "greedy", "lowercase": False},
}


@pytest.mark.parametrize("measure", CHANGES, ids=str)
def test_every_parameter_is_in_the_signature(measure):
    changes = CHANGES[measure]
    assert set(changes) == {one.name for one in fields(measure)}
    signatures = [measure.signature()]
    signatures += [replace(measure, **{name: value}).signature() for name, value in changes.items()]
    assert len(set(signatures)) == len(changes) + 1


@pytest.mark.parametrize("measure", CHANGES, ids=str)
def test_every_parameter_makes_another_measure_and_another_name(measure):
    found = [measure]
    found += [replace(measure, **{name: value}) for name, value in CHANGES[measure].items()]
    assert len(set(found)) == len(found)
    names = {str(one) for one in found if not isinstance(one, Embedding)}
    assert isinstance(measure, Embedding) or len(names) == len(found)


@pytest.mark.parametrize(
    "measure",
    [
        replace(measure, **{name: value})
        for measure, changes in CHANGES.items()
        for name, value in changes.items()
        if not isinstance(measure, Embedding)
    ],
    ids=str,
)
def test_names_read_back(measure):
    assert parse_measure(str(measure), "text") == measure


@pytest.mark.parametrize("measure", CHANGES, ids=str)
def test_number_of_references_is_in_the_signature(measure):
    differs = measure.signature("1") != measure.signature("2")
    assert differs == (not isinstance(measure, Perplexity))


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        ("bleu", Bleu()),
        (" BLEU ( order = 2 , smooth='add-one' ) ", Bleu(order=2, smooth="add-one")),
        ("sentBLEU", Bleu(level="sentence", effective_order=True)),
        ("chrf++", ChrF(word_order=2)),
        ("rouge1", Rouge("1")),
        ("ROUGE-Lsum(stem=True)", Rouge("Lsum", stem=True)),
        ("rougeLsum", Rouge("Lsum")),
        ("em", ExactMatch()),
        ('f1(normalise="none")', TokenF1("none")),
        ("ppl(base=2)", Perplexity(2)),
        ("meteor(stages=exact)", Meteor("exact")),
    ],
)
def test_spellings(name, measure):
    assert parse_measure(name, "text") == measure


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("BLUE", "unknown text measure 'BLUE': expected one of BLEU, sentBLEU"),
        ("BLEU(n=2)", "BLEU has no parameter 'n'; it has order, smooth"),
        ("sentBLEU(level='corpus')", "sentBLEU has no parameter 'level'"),
        ("ROUGE-1(kind='L')", "ROUGE-1 has no parameter 'kind'"),
        ("BLEU(order=2, order=3)", "order is given twice"),
        ("BLEU(2)", "cannot read '2', expected parameter=value"),
        ("BLEU(order=2", "unknown text measure"),
        ("Embedding", r"expected vectors, for example Embedding\(vectors='FILE'"),
        ("Perplexity(base=1)", "base=1, expected a number above 1"),
        ("Perplexity(base='e')", "base='e', expected a number above 1"),
        ("BLEU(order='x')", "order='x', expected one of"),
    ],
)
def test_names_that_cannot_be_read(name, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(name, "text")


def test_a_measure_named_twice_is_taken_once():
    assert parse_measures(["BLEU", "bleu", Bleu()], "text") == [Bleu()]
    with pytest.raises(MeasureError, match="no measure"):
        evaluate_text(["a"], {"A": ["a"]}, [])


@pytest.mark.parametrize(
    ("name", "package"), [("BLEU", "sacrebleu"), ("METEOR", "nltk"), ("ROUGE-1(stem=True)", "nltk")]
)
def test_without_the_package_it_says_what_to_install(name, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"needs {package}.*pip install '\.\[text\]'"):
        parse_measure(name, "text").signature()
