"""Analyzer: what it says is what it does; compiled it gives the same terms, over all of Unicode."""

import re
import unicodedata
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_index import check_index

from heldout import Analyzer, Index
from heldout.retrieve.analyze import STOP_LISTS
from heldout.retrieve.characters import is_mark, is_unspaced, is_word
from refusals import refusal


def by_comma(text):
    return [*text.split(","), ""]


OTHER_VALUES = {"lower": False, "stop": "english", "stemmer": "porter", "function": by_comma}


def test_every_field_changes_the_signature():
    assert set(OTHER_VALUES) == {field.name for field in fields(Analyzer)}
    made = {replace(Analyzer(), **{name: other}) for name, other in OTHER_VALUES.items()}
    made |= {Analyzer(), Analyzer(stop=("a", "b")), Analyzer(stop=("a", "c"))}
    assert len({one.signature() for one in made}) == len(OTHER_VALUES) + 3
    for name in OTHER_VALUES:
        assert f"{name}=" in Analyzer().signature()
    assert Analyzer(function=by_comma).signature().endswith("function=test_analyze.by_comma")
    assert {Analyzer(stop=("b", "a", "a")): 1}[Analyzer(stop=("a", "b"))] == 1


# M. F. Porter, An algorithm for suffix stripping (1980), steps 1a to 5.
PORTER = {"caresses": "caress", "ponies": "poni", "plastered": "plaster", "hopping": "hop",
          "relational": "relat", "adjustable": "adjust", "controll": "control"}  # fmt: skip
TERMS = [
    (Analyzer(), "Naïve café, CO2 x_1", ["naïve", "café", "co2", "x_1"]),
    (Analyzer(), "cafe\N{COMBINING ACUTE ACCENT}s", ["cafe\N{COMBINING ACUTE ACCENT}s"]),
    (Analyzer(), "İstanbul", ["i\N{COMBINING DOT ABOVE}stanbul"]),
    (Analyzer(), "ΟΔΟΣ ΟΔΟΣΣ", ["οδος", "οδοσς"]),
    (Analyzer(), "", []),
    (Analyzer(), "ไทย ກ", ["ไท", "ทย", "ກ"]),
    (Analyzer(), "e\u0301东", ["e\u0301", "东"]),
    (Analyzer(lower=False), "Ab AB", ["Ab", "AB"]),
    (Analyzer(stemmer="porter"), " ".join(PORTER), list(PORTER.values())),
    (Analyzer(stemmer="english"), "Tokyo東京都engines", ["tokyo", "東京", "京都", "engin"]),
    (Analyzer(stop="english"), "The theory of an index is for many", ["theory", "index", "many"]),
    (Analyzer(stop=("Cats",), stemmer="english"), "cats cat CATS", ["cat"]),
    (Analyzer(stop=("cats",), lower=False), "Cats cats", ["Cats"]),
    (Analyzer(function=by_comma), "a b,,C", ["a b", "C"]),
]


def test_terms_of_texts():
    for analyzer, text, terms in TERMS:
        assert analyzer.analyze(text) == terms, (analyzer, text)
    assert len(STOP_LISTS["english"]) == 33  # that of Lucene


@given(st.text())
def test_words_are_those_of_re_where_there_are_no_marks(text):
    lowered = "".join(one for one in text.lower() if not is_mark(one) and not is_unspaced(one))
    assert Analyzer().analyze(lowered) == re.findall(r"\w+", lowered.lower())


def test_a_stop_file_and_what_does_not_fit(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\ufeffof  the # articles\n# all of this line\ndon't\n", encoding="utf-8")
    analyzer = Analyzer(stop=str(path))
    assert analyzer.stop == ("don't", "of", "the")
    assert analyzer == Analyzer(stop=path)
    path.unlink()
    assert analyzer.analyze("all of the don line") == ["all", "line"]
    for values, said in (
        ({"stemmer": "klingon"}, "english"),
        ({"stop": "englich"}, "neither a file nor one of none, english"),
        ({"function": lambda text: [text]}, "lambda"),
        ({"function": by_comma, "stop": "english"}, "stop has no effect"),
    ):
        assert said in refusal(Analyzer, **values)


# Compiled

ANALYZERS = [
    Analyzer(),
    Analyzer(lower=False),
    Analyzer(stop=("b", "\N{GREEK SMALL LETTER SIGMA}"), stemmer="english"),
    Analyzer(stemmer="russian"),
    Analyzer(function=by_comma),
]
# What is hard: few letters that make the same words again and again, letters whose lower case
# is longer or depends on its neighbours, marks, and scripts that meet.
HARD = "abBsS _-Σ\u03c3ς\u0345İ\u0131ȺK\u0301é東かガー\u3099ไท\u0e31\U00020000\U0001f600\x00\n7٣½"
TEXTS = st.one_of(
    st.text(),
    st.text(st.sampled_from(HARD)),
    st.text(st.characters(exclude_categories=["Cs", "Cn", "Co", "So"])),
)


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=Analyzer.signature)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4))
def test_documents_get_the_terms_of_the_reference(analyzer, texts):
    check_index(Index.build(texts, analyzer, threads=1), texts, analyzer)


def test_every_character_in_the_middle_of_a_word():
    """All that are assigned, and some of those that are not: they are all alike."""
    everything = [chr(code) for code in range(0x110000) if not 0xD800 <= code < 0xE000]
    assigned = [one for one in everything if unicodedata.category(one) not in {"Cn", "Co"}]
    text = "".join(f"a{character}b" for character in [*assigned, *everything[::101]])
    for analyzer in (Analyzer(), Analyzer(lower=False)):
        check_index(Index.build([text], analyzer), [text], analyzer)


UNSPACED_SCRIPTS = ("CJK UNIFIED", "HIRAGANA LETTER", "KATAKANA LETTER", "THAI CHARACTER",
                    "LAO LETTER", "KHMER LETTER", "MYANMAR LETTER")  # fmt: skip
SPACED_SCRIPTS = ("LATIN", "GREEK", "CYRILLIC", "ARABIC", "HANGUL", "DEVANAGARI")


def test_unspaced_blocks_hold_the_scripts_they_are_for():
    for character in map(chr, range(0x20000)):
        name = unicodedata.name(character, "")
        if name.startswith(UNSPACED_SCRIPTS) and is_word(character):
            assert is_unspaced(character), name
        if name.startswith(SPACED_SCRIPTS):
            assert not is_unspaced(character), name
