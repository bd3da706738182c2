"""METEOR: known examples, and NLTK on the same words."""

from __future__ import annotations

import pytest
from samples import corpus, units

from heldout import parse_measure
from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.text import meteor as text_meteor
from heldout.measure.text.packages import signature

EXACT, SYNONYM = "METEOR(stages=exact)", "METEOR(stages=exact+synonym)"


def value(name, references, written):
    return units(name, [references], [written]).value()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("on the mat sat the cat", 0.5),  # six matches, six chunks
        ("the cat sat on the mat", 1 - 0.5 * (1 / 6) ** 3),
        ("the cat was sat on the mat", 6 / 7 / (0.9 * 6 / 7 + 0.1) * (1 - 0.5 * (2 / 6) ** 3)),
        ("nothing at all", 0),
        ("", 0),
    ],
)
def test_formula_of_the_first_paper(written, expected):
    """Banerjee and Lavie (2005): F = 10 P R / (R + 9 P), penalty = .5 (chunks / matches)^3."""
    found = value(EXACT, ["the cat sat on the mat"], written)
    assert found == pytest.approx(expected, rel=1e-12)


def test_stems_match_after_words():
    nltk = pytest.importorskip("nltk")
    assert nltk
    assert value(EXACT, ["he runs"], "he running") == pytest.approx(0.5 * 0.5)
    # both match now, in one chunk
    assert value("METEOR", ["he runs"], "he running") == pytest.approx(1 - 0.5 * (1 / 2) ** 3)


class Lemma:
    def __init__(self, name):
        self._name = name

    def name(self):
        return self._name


class Synset:
    def __init__(self, names):
        self._names = names

    def lemmas(self):
        return [Lemma(name) for name in self._names]


class SmallWordNet:
    """Three sets of synonyms, in place of WordNet's data, which tests cannot count on."""

    SETS = (("house", "home", "abode", "dwelling_house"), ("big", "large"), ("cat", "feline"))

    def synsets(self, word):
        return [Synset(names) for names in self.SETS if word in names]

    def get_version(self):
        return "0.1"


class NoWordNet:
    def synsets(self, word):
        del word
        return []


@pytest.fixture
def wordnet(monkeypatch):
    found = SmallWordNet()
    monkeypatch.setattr(text_meteor, "find_wordnet", lambda: found)
    return found


def nltk_values(references, written, wordnet, **settings):
    meteor = pytest.importorskip("nltk.translate.meteor_score")
    return [
        meteor.meteor_score(
            [text.split() for text in texts], text.split(), wordnet=wordnet, **settings
        )
        for texts, text in zip(references, written, strict=True)
    ]


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.5, "beta": 1.5, "gamma": 0.3}])
def test_exact_and_stem_are_those_of_nltk(settings):
    references, written = corpus(120, seed=8, references=2)
    options = ", ".join(f"{key}={one}" for key, one in settings.items())
    name = f"METEOR(tokenize=none, {options})"
    found = units(name, references, written).per_unit().tolist()
    wanted = nltk_values(references, written, NoWordNet(), **settings)
    assert found == pytest.approx(wanted, rel=1e-12)
    assert len(set(wanted)) > 50


class NoStemmer:
    """NLTK looks synonyms up by stem, once stems were matched: so they stay words here."""

    def stem(self, word):
        return word


def test_synonyms_are_those_of_nltk(wordnet):
    references, written = corpus(120, seed=2)
    written = [text.replace("cat", "feline").replace("house", "home") for text in written]
    name = "METEOR(stages=exact+synonym, tokenize=none)"
    found = units(name, references, written).per_unit().tolist()
    assert found == pytest.approx(
        nltk_values(references, written, wordnet, stemmer=NoStemmer()), rel=1e-12
    )
    assert found != units("METEOR(tokenize=none)", references, written).per_unit().tolist()


def test_without_the_data_of_wordnet_it_says_what_to_do(monkeypatch):
    nltk = pytest.importorskip("nltk")
    monkeypatch.setattr(nltk.data, "path", [])
    with pytest.raises(MissingExtraError, match=r"nltk.downloader wordnet; .*exact\+stem"):
        value(SYNONYM, ["x"], "y")


def test_variant_is_in_the_name():
    assert str(parse_measure("METEOR")) == "METEOR(stages='exact+stem')"
    name = "METEOR(stages='exact', gamma=0.2)"
    assert str(parse_measure(name)) == name


def test_which_wordnet_it_was_is_in_the_signature(wordnet):
    assert wordnet
    found = signature(parse_measure(SYNONYM))
    assert found.endswith(",wordnet-0.1")
    assert "stages:exact+synonym|" in found
    assert "wordnet" not in signature(parse_measure("METEOR"))


def test_marks_are_words_of_their_own():
    assert value(EXACT, ["Yes, we can."], "yes , we can .") == pytest.approx(1 - 0.5 * (1 / 5) ** 3)


@pytest.mark.parametrize("options", ["stages=stem", "alpha=2", "gamma='x'", "beta=True"])
def test_parameters_that_do_not_fit_are_refused(options):
    with pytest.raises(MeasureError, match="METEOR: "):
        parse_measure(f"METEOR({options})")
