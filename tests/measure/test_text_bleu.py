"""BLEU, chrF and TER: published numbers, and sacrebleu on the same texts."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from text_data import corpus

from heldout.data.segments import Segments
from heldout.errors import MeasureError
from heldout.measure.text.bleu import Bleu, ChrF, Ter

sacrebleu = pytest.importorskip("sacrebleu")

METRICS = {
    "bleu": lambda one: sacrebleu.BLEU(
        lowercase=one.lowercase,
        tokenize=one.tokenize,
        smooth_method=one.smooth,
        smooth_value=one.smooth_value,
        max_ngram_order=one.order,
        effective_order=one.effective_order,
    ),
    "chrf": lambda one: sacrebleu.CHRF(
        char_order=one.char_order,
        word_order=one.word_order,
        beta=one.beta,
        lowercase=one.lowercase,
        whitespace=one.whitespace,
        eps_smoothing=one.eps_smoothing,
    ),
    "ter": lambda one: sacrebleu.TER(
        normalized=one.normalized,
        no_punct=one.no_punct,
        asian_support=one.asian_support,
        case_sensitive=one.case_sensitive,
    ),
}


def score(measure, references, written):
    table = measure.statistics(Segments.of(references), Segments.of(written))
    return float(measure.score(table.sum(axis=0, keepdims=True))[0])


def streams(references):
    return list(itertools.zip_longest(*references))


SETTINGS = [
    *(Bleu(smooth=how) for how in ("exp", "none", "floor", "add-k")),
    *(Bleu(smooth=how, effective_order=True) for how in ("exp", "none", "floor", "add-k")),
    Bleu(smooth="floor", smooth_value=0.3, order=3),
    Bleu(smooth="add-k", smooth_value=2.5, order=2),
    *(Bleu(tokenize=how) for how in ("intl", "char", "none", "zh")),
    Bleu(lowercase=True, order=6),
    ChrF(),
    ChrF(word_order=2),
    ChrF(char_order=3, beta=1, lowercase=True),
    ChrF(whitespace=True),
    ChrF(eps_smoothing=True),
    ChrF(eps_smoothing=True, word_order=1, beta=3),
    Ter(),
    Ter(normalized=True, no_punct=True),
    Ter(normalized=True, asian_support=True, case_sensitive=True),
]


@pytest.mark.parametrize("measure", SETTINGS, ids=str)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_scores_are_those_of_sacrebleu(measure, count):
    """The corpus, every segment, and corpora of few segments, where smoothing matters."""
    references, written = corpus(30, seed=count, references=count)
    peer = METRICS[measure.family.lower()](measure)
    assert score(measure, references, written) == pytest.approx(
        peer.corpus_score(written, streams(references)).score, rel=1e-12
    )
    table = measure.statistics(Segments.of(references), Segments.of(written))
    parts = [slice(at, at + size) for size in (1, 2, 4) for at in range(0, 30, size)]
    found = measure.score(np.array([table[part].sum(axis=0) for part in parts]))
    wanted = [peer.corpus_score(written[part], streams(references[part])).score for part in parts]
    assert found == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)


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
    measure = Bleu(order=order)
    found = measure.tables(Segments.of(references), [Segments.of(one) for one in systems])
    peer = sacrebleu.BLEU(max_ngram_order=order)
    for table, written in zip(found, systems, strict=True):
        wanted = peer._extract_corpus_statistics(written, streams(references))
        assert table.tolist() == [list(map(float, row)) for row in wanted]


@pytest.mark.parametrize("measure", [Bleu(), ChrF(), Ter()], ids=str)
def test_segments_with_different_numbers_of_references(measure):
    references, written = corpus(40, references=3)
    references = [texts[: 1 + at % 3] for at, texts in enumerate(references)]
    peer = METRICS[measure.family.lower()](measure)
    wanted = peer.corpus_score(written, streams(references)).score
    assert score(measure, references, written) == pytest.approx(wanted, rel=1e-12)
    assert Segments.of(references).reference_count == "var"
    assert "|nrefs:var|" in str(measure.signature("var"))
    assert "nrefs:var" in str(peer.get_signature())


@pytest.mark.parametrize("smooth", ["exp", "none", "floor", "add-k"])
def test_sentence_bleu_is_the_mean_of_sacrebleu_sentences(smooth):
    references, written = corpus(50, seed=9, references=2)
    measure = Bleu(level="sentence", effective_order=True, smooth=smooth)
    peer = METRICS["bleu"](measure)
    wanted = [
        peer.sentence_score(text, texts).score
        for text, texts in zip(written, references, strict=True)
    ]
    table = measure.statistics(Segments.of(references), Segments.of(written))
    assert measure.score(table) == pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)
    assert score(measure, references, written) == pytest.approx(np.mean(wanted), rel=1e-12)


def test_add_one_on_every_order():
    """By hand: "you you" against "how are you", n = 2."""
    smoothed = Bleu(order=2, smooth="add-one", scale=1)
    assert score(smoothed, ["how are you"], ["you you"]) == pytest.approx(0.3502, abs=5e-5)
    # (1 + 1) / (2 + 1) words, (0 + 1) / (1 + 1) pairs, 2 words for 3
    by_hand = np.exp(1 - 3 / 2) * np.sqrt(2 / 3 * 1 / 2)
    assert score(smoothed, ["how are you"], ["you you"]) == pytest.approx(by_hand, rel=1e-14)
    assert score(Bleu(order=2, smooth="none"), ["how are you"], ["you you"]) == 0
    sentences = Bleu(order=2, smooth="add-one", level="sentence", scale=1)
    assert score(sentences, ["how are you"] * 2, ["you you", ""]) == pytest.approx(by_hand / 2)


def test_clipping_of_papineni():
    """Papineni et al. (2002), section 2.1: modified unigram precision 2/7."""
    references = [["The cat is on the mat.", "There is a cat on the mat."]]
    table = Bleu(order=1, tokenize="none", lowercase=True).statistics(
        Segments.of(references), Segments.of(["the the the the the the the"])
    )
    assert table.tolist() == [[7, 7, 2, 7]]


@pytest.mark.parametrize("measure", [Bleu(), Bleu(smooth="add-one"), ChrF()], ids=str)
def test_nothing_written_scores_zero_and_a_copy_is_perfect(measure):
    references = ["the cat sat on the mat", "two dogs ran over there"]
    assert score(measure, references, ["", ""]) == 0
    assert score(measure, references, references) == pytest.approx(100, rel=1e-12)


def test_ter_of_a_copy_is_zero_and_of_nothing_wanted_is_all():
    assert score(Ter(), ["a b c"], ["a b c"]) == 0
    assert score(Ter(), ["", ""], ["x", ""]) == 100


@pytest.mark.parametrize(
    ("measure", "name"), [(Bleu(), "bleu"), (ChrF(), "chrf"), (Ter(), "ter")], ids=str
)
def test_signature_has_all_of_sacrebleus(measure, name):
    peer = METRICS[name](measure)
    peer.corpus_score(["a b"], [["a b"]])
    theirs = str(peer.get_signature()).split("|")
    ours = measure.signature("1").split("|")
    assert set(theirs[:-1]) <= set(ours)
    assert ours[-1] == f"version:sacrebleu-{sacrebleu.__version__}"
    assert ours[0] == measure.family


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"order": 0}, "order=0, expected one of 1, 2"),
        ({"smooth": "laplace"}, "smooth='laplace', expected one of exp, none"),
        ({"smooth_value": 1.0}, "smooth='exp' takes no smooth_value"),
        ({"smooth": "floor", "smooth_value": -1.0}, "smooth_value=-1.0"),
        ({"tokenize": "spacy"}, "tokenize='spacy'"),
        ({"lowercase": 1}, "lowercase=1, expected one of False, True"),
        ({"scale": 10}, "scale=10"),
    ],
)
def test_parameters_that_do_not_fit_are_refused(given, message):
    with pytest.raises(MeasureError, match=message):
        Bleu(**given)
