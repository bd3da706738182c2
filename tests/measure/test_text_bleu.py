"""BLEU, chrF and TER: published numbers, and sacrebleu on the same texts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import corpus, units

from heldout import parse_measure
from heldout.data.segments import Segments, Texts
from heldout.errors import MeasureError
from heldout.measure.text.packages import signature

sacrebleu = pytest.importorskip("sacrebleu")

SMOOTH = ("exp", "none", "floor", "add-k")
NAMES = [
    *(f"BLEU(smooth={how})" for how in SMOOTH),
    *(f"BLEU(smooth={how}, effective_order=True)" for how in SMOOTH),
    "BLEU(smooth=floor, smooth_value=0.3, order=3)",
    "BLEU(smooth=add-k, smooth_value=2.5, order=2)",
    *(f"BLEU(tokenize={how})" for how in ("intl", "char", "none", "zh")),
    "BLEU(lowercase=True, order=6)",
    "chrF",
    "chrF++",
    "chrF(word_order=2)",
    "chrF(char_order=3, beta=1, lowercase=True)",
    "chrF(whitespace=True)",
    "chrF(eps_smoothing=True)",
    "chrF(eps_smoothing=True, word_order=1, beta=3)",
    "TER",
    "TER(normalized=True, no_punct=True)",
    "TER(normalized=True, asian_support=True, case_sensitive=True)",
]


def peer_of(name):
    """The metric of sacrebleu with the same parameters."""
    measure = parse_measure(name, "text")
    options = measure.parameters
    if "smooth" in options:
        options["smooth_method"] = options.pop("smooth")
        options["max_ngram_order"] = options.pop("order")
    if measure.family == "chrF++":
        options["word_order"] = 2
    kinds = {"chrF": "CHRF", "chrF++": "CHRF", "sentBLEU": "BLEU"}
    return getattr(sacrebleu, kinds.get(measure.family, measure.family))(**options)


def streams(references):
    return list(itertools.zip_longest(*references))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_scores_are_those_of_sacrebleu(name, count):
    """The corpus, every segment, and corpora of few segments, where smoothing matters."""
    references, written = corpus(30, seed=count, references=count)
    peer, found = peer_of(name), units(name, references, written)
    whole = peer.corpus_score(written, streams(references)).score
    assert found.value() == pytest.approx(whole, rel=1e-12)
    parts = [slice(at, at + size) for size in (1, 2, 4) for at in range(0, 30, size)]
    rows = np.zeros((len(parts), 30))
    for row, part in zip(rows, parts, strict=True):
        row[part] = 1
    wanted = [peer.corpus_score(written[part], streams(references[part])).score for part in parts]
    assert found.weighted(rows) == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.lists(st.text("ab c", max_size=12), min_size=1, max_size=3),
            st.text("ab c", max_size=12),
            st.text("ab c", max_size=12),
        ),
        min_size=1,
        max_size=6,
    ),
    st.integers(1, 5),
)
def test_counts_are_those_of_sacrebleu(rows, order):
    """Few different words, empty texts, several references, two systems at once."""
    references = [texts for texts, _, _ in rows]
    systems = [[row[at] for row in rows] for at in (1, 2)]
    measure = parse_measure(f"BLEU(order={order})")
    wanted, *both = (Segments.of(texts) for texts in (references, *systems))
    peer, counted = sacrebleu.BLEU(max_ngram_order=order), {}
    for system, written in zip(both, systems, strict=True):
        table = measure.units(Texts(wanted, system, tuple(both), counted)).table
        expected = peer._extract_corpus_statistics(written, streams(references))
        assert table.tolist() == [list(map(float, row)) for row in expected]


@pytest.mark.parametrize("name", ["BLEU", "chrF", "TER"])
def test_segments_with_different_numbers_of_references(name):
    references, written = corpus(40, references=3)
    references = [texts[: 1 + at % 3] for at, texts in enumerate(references)]
    peer = peer_of(name)
    wanted = peer.corpus_score(written, streams(references)).score
    assert units(name, references, written).value() == pytest.approx(wanted, rel=1e-12)
    assert Segments.of(references).reference_count == "var"
    assert "|nrefs:var|" in signature(parse_measure(name), "var")
    assert "nrefs:var" in str(peer.get_signature())


@pytest.mark.parametrize("smooth", SMOOTH)
def test_sentence_bleu_is_the_mean_of_sacrebleu_sentences(smooth):
    references, written = corpus(50, seed=9, references=2)
    peer = sacrebleu.BLEU(smooth_method=smooth, effective_order=True)
    wanted = [
        peer.sentence_score(text, texts).score
        for text, texts in zip(written, references, strict=True)
    ]
    found = units(f"sentBLEU(smooth={smooth})", references, written)
    assert found.per_unit() == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)
    assert found.value() == pytest.approx(np.mean(wanted), rel=1e-12)


def test_add_one_on_every_order():
    """By hand: "you you" against "how are you", n = 2, gives .3502."""
    name = "(order=2, smooth='add-one')"
    found = units(f"BLEU{name}", ["how are you"], ["you you"]).value()
    assert found == pytest.approx(35.02, abs=5e-3)
    # (1 + 1) / (2 + 1) words, (0 + 1) / (1 + 1) pairs, 2 words for 3
    by_hand = 100 * np.exp(1 - 3 / 2) * np.sqrt(2 / 3 * 1 / 2)
    assert found == pytest.approx(by_hand, rel=1e-14)
    assert units("BLEU(order=2, smooth=none)", ["how are you"], ["you you"]).value() == 0
    sentences = units(f"sentBLEU{name}", ["how are you"] * 2, ["you you", ""])
    assert sentences.value() == pytest.approx(by_hand / 2)


def test_clipping_of_papineni():
    """Papineni et al. (2002), section 2.1: modified unigram precision 2/7."""
    references = [["The cat is on the mat.", "There is a cat on the mat."]]
    name = "BLEU(order=1, tokenize=none, lowercase=True)"
    assert units(name, references, ["the the the the the the the"]).table.tolist() == [[7, 7, 2, 7]]


@pytest.mark.parametrize("name", ["BLEU", "BLEU(smooth='add-one')", "chrF"])
def test_nothing_written_scores_zero_and_a_copy_is_perfect(name):
    references = ["the cat sat on the mat", "two dogs ran over there"]
    assert units(name, references, ["", ""]).value() == 0
    assert units(name, references, references).value() == pytest.approx(100, rel=1e-12)


def test_ter_of_a_copy_is_zero_and_of_nothing_wanted_is_all():
    assert units("TER", ["a b c"], ["a b c"]).value() == 0
    assert units("TER", ["", ""], ["x", ""]).value() == 100


@pytest.mark.parametrize("name", ["BLEU", "BLEU(lowercase=True, tokenize=char)", "chrF++", "TER"])
def test_signature_has_all_of_sacrebleus(name):
    measure, peer = parse_measure(name), peer_of(name)
    peer.corpus_score(["a b"], [["a b"]])
    theirs = str(peer.get_signature()).split("|")
    ours = signature(measure).split("|")
    assert set(theirs[:-1]) <= set(ours)
    assert ours[-1] == f"version:sacrebleu-{sacrebleu.__version__}"
    assert ours[0] == measure.family


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("order=0", "order=0: expected an integer from 1 to 9"),
        ("smooth='laplace'", "smooth='laplace': expected one of exp, none"),
        ("smooth_value=1", "smooth='exp' takes no smooth_value"),
        ("smooth='floor', smooth_value=-1.0", "smooth_value=-1: expected a number above 0"),
        ("tokenize='spacy'", "tokenize='spacy'"),
        ("lowercase=1", "lowercase=1: expected True or False"),
        ("scale=1", "BLEU has no parameter 'scale'; it has order, smooth"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(options, message):
    with pytest.raises(MeasureError, match=message):
        units(f"BLEU({options})", ["a"], ["a"])
