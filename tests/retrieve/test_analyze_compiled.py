"""The compiled way from text to terms equals `Analyzer.analyze`, over all of Unicode."""

import unicodedata
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.characters import (
    CODE_POINT,
    DOTTED,
    UNSPACED,
    WORD,
    is_unspaced,
    is_word,
    unicode_table,
)
from heldout.retrieve.index import Index


def characters_and_blanks(text):
    return [text[:2], *text.split(), " ", ""]


ANALYZERS = [
    Analyzer(),
    Analyzer(lower=False),
    Analyzer(stop=("b", "\N{GREEK SMALL LETTER SIGMA}"), stemmer="english"),
    Analyzer(stemmer="russian"),
    Analyzer(function=characters_and_blanks),
]

# What is hard: few letters that make the same words again and again, letters whose lower case
# is longer or depends on its neighbours, marks, and scripts that meet.
HARD = "abBsS _-Σ\u03c3ς\u0345İ\u0131ȺK\u0301é東かガー\u3099ไท\u0e31\U00020000\U0001f600\x00\n7٣½"
TEXTS = st.one_of(
    st.text(),
    st.text(st.sampled_from(HARD)),
    st.text(st.characters(exclude_categories=["Cs", "Cn", "Co", "So"])),
)


def counted(index, number):
    """The terms of a document with their counts, out of the index."""
    owners = np.repeat(np.arange(index.n_terms), np.diff(index.offsets))
    rows = np.flatnonzero(index.documents == number)
    terms = list(index.terms)
    return {terms[owners[row]]: int(index.counts[row]) for row in rows}


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=Analyzer.signature)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_documents_get_the_terms_of_the_reference(analyzer, texts):
    index = Index.build(texts, analyzer, threads=1)
    for number, text in enumerate(texts):
        expected = Counter(analyzer.analyze(text))
        assert counted(index, number) == expected
        assert index.lengths[number] == expected.total()
        assert index.distinct[number] == len(expected)


def test_every_character_in_the_middle_of_a_word():
    """All that are assigned, and some of those that are not: they are all alike."""
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assigned = [one for one in everything if unicodedata.category(one) not in {"Cn", "Co"}]
    text = "".join(f"a{character}b" for character in [*assigned, *everything[::101]])
    for analyzer in (Analyzer(), Analyzer(lower=False)):
        index = Index.build([text], analyzer, threads=1)
        assert counted(index, 0) == Counter(analyzer.analyze(text))


def test_the_table_says_of_each_code_point_what_python_says():
    table = unicode_table(lower=True)[:0x110000]
    lowered = [chr(code).lower() for code in range(0x110000)]
    assert (table & CODE_POINT).tolist() == [ord(text[0]) for text in lowered]
    assert (table & DOTTED > 0).tolist() == [len(text) == 2 for text in lowered]
    assert (table & WORD > 0).tolist() == [is_word(text[0]) for text in lowered]
    assert (table & UNSPACED > 0).tolist() == [is_unspaced(text[0]) for text in lowered]


def test_unspaced_blocks_hold_the_scripts_they_are_for():
    scripts = (
        "CJK UNIFIED",
        "HIRAGANA LETTER",
        "KATAKANA LETTER",
        "THAI CHARACTER",
        "LAO LETTER",
        "KHMER LETTER",
        "MYANMAR LETTER",
    )
    named = (chr(code) for code in range(0x20000))
    for character in named:
        name = unicodedata.name(character, "")
        if name.startswith(scripts) and is_word(character):
            assert is_unspaced(character), name
        if name.startswith(("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HANGUL", "DEVANAGARI")):
            assert not is_unspaced(character), name
