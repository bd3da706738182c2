"""Analyzer: what it says is what it does, and every choice shows in its signature."""

import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.retrieve.analyze import STOP_LISTS, Analyzer
from heldout.retrieve.characters import is_mark, is_unspaced


def by_comma(text):
    return text.split(",")


OTHER_VALUES = {
    "lower": False,
    "stop": "english",
    "stemmer": "porter",
    "function": by_comma,
}


def test_every_field_changes_the_signature():
    assert set(OTHER_VALUES) == {field.name for field in fields(Analyzer)}
    signatures = {
        replace(Analyzer(), **{name: value}).signature() for name, value in OTHER_VALUES.items()
    }
    assert len(signatures | {Analyzer().signature()}) == len(OTHER_VALUES) + 1
    for name in OTHER_VALUES:
        assert f"{name}=" in Analyzer().signature()


def test_equal_analyzers_are_one_key():
    assert {Analyzer(stop=("b", "a", "a")): 1}[Analyzer(stop=("a", "b"))] == 1
    assert Analyzer(stop=("a", "b")).signature() != Analyzer(stop=("a", "c")).signature()


@given(st.text())
def test_words_are_those_of_re_where_there_are_no_marks(text):
    text = "".join(character for character in text if not is_mark(character))
    lowered = text.lower()
    if not any(is_mark(one) or is_unspaced(one) for one in lowered):
        assert Analyzer().analyze(text) == re.findall(r"\w+", lowered)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Naïve café, CO2 x_1", ["naïve", "café", "co2", "x_1"]),
        ("cafe\N{COMBINING ACUTE ACCENT}s", ["cafe\N{COMBINING ACUTE ACCENT}s"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("İstanbul", ["i\N{COMBINING DOT ABOVE}stanbul"]),
        ("ΟΔΟΣ ΟΔΟΣΣ", ["οδος", "οδοσς"]),
        ("don't", ["don", "t"]),
        ("", []),
        (" .,-\n", []),
    ],
)
def test_words(text, terms):
    assert Analyzer().analyze(text) == terms


def test_case_can_be_kept():
    assert Analyzer(lower=False).analyze("Ab AB") == ["Ab", "AB"]


def test_porter_examples():
    # M. F. Porter, An algorithm for suffix stripping (1980), steps 1a to 5.
    pairs = {
        "caresses": "caress", "ponies": "poni", "cats": "cat", "plastered": "plaster",
        "motoring": "motor", "hopping": "hop", "relational": "relat", "hopefulness": "hope",
        "adjustable": "adjust", "controll": "control",
    }  # fmt: skip
    assert Analyzer(stemmer="porter").analyze(" ".join(pairs)) == list(pairs.values())


def test_the_english_list_is_that_of_lucene():
    assert len(STOP_LISTS["english"]) == 33
    text = "The theory of an index is not for the many"
    assert Analyzer(stop="english").analyze(text) == ["theory", "index", "many"]


def test_stop_words_are_left_out_before_stemming_and_compared_in_lower_case():
    assert Analyzer(stop=("Cats",), stemmer="english").analyze("cats cat CATS") == ["cat"]
    assert Analyzer(stop=("cats",), lower=False).analyze("Cats cats") == ["Cats"]


def test_a_stop_file(tmp_path):
    path = tmp_path / "stop.txt"
    path.write_text("\ufeffof  the # articles\n# all of this line\ndon't\n", encoding="utf-8")
    analyzer = Analyzer(stop=str(path))
    assert analyzer.stop == ("don't", "of", "the")
    assert analyzer == Analyzer(stop=path)
    assert analyzer.analyze("all of the don line") == ["all", "line"]
    path.unlink()
    assert analyzer.analyze("of line") == ["line"]


def test_only_scripts_without_spaces_are_cut_into_pairs():
    analyzer = Analyzer(stemmer="english")
    assert analyzer.analyze("Tokyo東京都engines") == ["tokyo", "東京", "京都", "engin"]
    assert analyzer.analyze("ไทย ກ") == ["ไท", "ทย", "ກ"]
    assert analyzer.analyze("e\u0301东") == ["e\u0301", "东"]


def test_a_function_gives_the_terms():
    assert Analyzer(function=by_comma).analyze("a b,,C") == ["a b", "C"]
    assert Analyzer(function=by_comma).signature().endswith("function=test_analyze.by_comma")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"stemmer": "klingon"}, "english"),
        ({"stop": "englich"}, "neither a file nor one of none, english"),
        ({"function": lambda text: [text]}, "lambda"),
        ({"function": by_comma, "stop": "english"}, "stop has no effect"),
    ],
)
def test_what_does_not_fit_is_refused(values, said):
    with pytest.raises(InputError, match=re.escape(said)):
        Analyzer(**values)
