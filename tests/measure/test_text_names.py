"""Names and signatures of text measures: every parameter is in both."""

from __future__ import annotations

import sys

import pytest

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.base import definitions
from heldout.measure.evaluate import evaluate
from heldout.measure.names import parse_measure, parse_measures
from heldout.measure.text.packages import signature

pytest.importorskip("sacrebleu")
pytest.importorskip("nltk")

BLEU = {"order": 3, "smooth": "add-k", "smooth_value": 0.1001, "tokenize": "intl"}
BLEU |= {"lowercase": True, "effective_order": True}
CHRF = {"char_order": 5, "word_order": 2, "beta": 3}
CHRF |= dict.fromkeys(("lowercase", "whitespace", "eps_smoothing"), True)
ROUGE = {"stem": True, "value": "recall"}

# For each measure another value of every parameter.
CHANGES = {
    "BLEU": BLEU,
    "sentBLEU": {key: one for key, one in BLEU.items() if key != "effective_order"},
    "chrF": CHRF,
    "chrF++": {key: one for key, one in CHRF.items() if key != "word_order"},
    "TER": dict.fromkeys(("normalized", "no_punct", "asian_support", "case_sensitive"), True),
    **{f"ROUGE-{kind}": ROUGE for kind in (1, 2, 3, 4, "L", "Lsum")},
    "METEOR": {
        "stages": "exact",
        "alpha": 0.8,
        "beta": 2.0,
        "gamma": 0.4,
        "tokenize": "none",
        "lowercase": False,
    },
    "ExactMatch": {"normalise": "none"},
    "TokenF1": {"normalise": "none"},
    "Perplexity": {"base": 2.0},
    "Embedding": {"vectors": "w.txt", "kind": "greedy", "lowercase": False},
}
GIVEN = {"BLEU": {"smooth": "floor"}, "sentBLEU": {"smooth": "floor"}}
GIVEN["Embedding"] = {"vectors": "v.txt"}


@pytest.fixture
def vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v.txt").write_text("a 1 0\n")
    (tmp_path / "w.txt").write_text("a 1 0.5\n")


@pytest.mark.usefixtures("vectors")
@pytest.mark.parametrize("name", CHANGES)
def test_every_parameter_is_in_signature_and_name(name):
    """Each makes another measure, and the name of each is read back."""
    make, given = definitions("text")[name].make, GIVEN.get(name, {})
    plain = make(given)
    assert set(CHANGES[name]) == set(plain.parameters)
    found = [plain, *(make({**given, key: one}) for key, one in CHANGES[name].items())]
    for described in (signature, str, hash):
        assert len({described(one) for one in found}) == len(found)
    assert [parse_measure(str(one), "text") for one in found] == found
    # without a reference there is none in the signature
    differs = signature(plain, "1") != signature(plain, "2")
    assert differs == (name != "Perplexity")


def test_every_measure_is_here():
    assert set(definitions("text")) == set(CHANGES)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("bleu", "BLEU"),
        (" BLEU ( order = 2 , smooth='add-one' ) ", "BLEU(order=2, smooth='add-one')"),
        ("sentbleu(order=2)", "sentBLEU(order=2)"),
        ("chrf++", "chrF++"),
        ("chrF2", "chrF"),
        ("chrF2++", "chrF++"),
        ("rouge1", "ROUGE-1"),
        ("ROUGE-Lsum(stem=True)", "ROUGE-Lsum(stem=True)"),
        ("rougeLsum", "ROUGE-Lsum"),
        ("em", "ExactMatch"),
        ('f1(normalise="none")', "TokenF1(normalise='none')"),
        ("ppl(base=2)", "Perplexity(base=2)"),
        ("meteor(stages=exact)", "METEOR(stages='exact')"),
    ],
)
def test_spellings(name, ours):
    assert str(parse_measure(name, "text")) == ours


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("BLUE", "unknown measure 'BLUE' of text: did you mean BLEU"),
        ("BLEU(n=2)", "BLEU has no parameter 'n'; it has order, smooth"),
        ("sentBLEU(level='corpus')", "sentBLEU has no parameter 'level'"),
        ("BLEU(order=2, order=3)", "order is given twice"),
        ("BLEU(2)", "'2' is not one of exp"),
        ("BLEU(none)", "'none' is not one of exp"),
        ("BLEU(order=2", "cannot read"),
        ("Perplexity(base=1)", "base=1: expected a number above 1"),
        ("Perplexity(base='e')", "base='e': expected a number above 1"),
        ("BLEU(order='x')", "order='x': expected an integer"),
    ],
)
def test_names_that_cannot_be_read(name, message):
    with pytest.raises(MeasureError, match=message):
        parse_measure(name, "text")


def test_a_measure_named_twice_is_taken_once():
    bleu = parse_measure("BLEU")
    assert parse_measures(["BLEU", "bleu", bleu], "text") == [bleu]
    with pytest.raises(MeasureError, match="no measure"):
        evaluate(["a"], {"A": ["a"]}, [])


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("BLEU(order=5)", "sacrebleu", "sacrebleu"),
        ("METEOR", "nltk.translate.meteor_score", "nltk"),
        ("ROUGE-1", "rouge_score.rouge_scorer", "rouge-score"),
    ],
)
def test_without_the_package_it_says_what_to_install(name, module, package, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=rf"needs {package}.*pip install '\.\[text\]'"):
        evaluate(["a"], {"A": ["a"]}, [name])
