"""WordNet's own files: a small one made here, and the real one where it is installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from heldout.data.segments import Segments
from heldout.errors import FormatError
from heldout.measure.text import wordnet as text_wordnet
from heldout.measure.text.meteor import Meteor
from heldout.measure.text.wordnet import FOLDERS, WordNetFiles

INSTALLED = next((one for one in FOLDERS if (Path(one) / "index.noun").exists()), None)

HEAD = "  1 WordNet 9.9 Copyright\n"


def write(folder, part, sets, index=True):
    """Files of one part of speech with these sets of synonyms."""
    data, offsets = HEAD, {}
    for words in sets:
        place = len(data.encode())
        pairs = " ".join(f"{word} 0" for word in words)
        data += f"{place:08d} 03 n {len(words):02x} {pairs} 000 | a gloss\n"
        for word in words:
            offsets.setdefault(word.partition("(")[0].lower(), []).append(f"{place:08d}")
    (folder / f"data.{part}").write_text(data)
    lines = [
        f"{word} n {len(found)} 1 @ {len(found)} 0 {' '.join(found)}  \n"
        for word, found in offsets.items()
    ]
    (folder / f"index.{part}").write_text(HEAD + "".join(lines if index else []))


@pytest.fixture
def small(tmp_path):
    write(tmp_path, "noun", [("house", "home"), ("home", "dwelling_house", "Abode"), ("man",)])
    write(tmp_path, "verb", [("house", "shelter"), ("go", "travel")])
    write(tmp_path, "adj", [("big(p)", "large")])
    write(tmp_path, "adv", [])
    (tmp_path / "verb.exc").write_text("went go\n")
    return tmp_path


def test_a_small_wordnet(small):
    found = WordNetFiles(small)
    assert found.version == "9.9"
    assert found.synonyms("home") == {"home", "house", "Abode"}
    assert found.synonyms("houses") == {"houses", "house", "home", "shelter"}
    assert found.synonyms("men") == {"men", "man"}
    assert found.synonyms("went") == {"went", "go", "travel"}
    assert found.synonyms("bigger") == {"bigger"}  # big is no "bigg"
    assert found.synonyms("large") == {"large", "big"}
    assert found.synonyms("Home") == {"Home", "home", "house", "Abode"}
    assert found.synonyms("xyzzy") == {"xyzzy"}


def test_files_that_do_not_fit_together(small):
    index = small / "index.noun"
    index.write_text(index.read_text().replace("man n 1 1 @ 1 0 0", "man n 1 1 @ 1 0 1"))
    with pytest.raises(FormatError, match=r"data.noun.* are all files from the same WordNet"):
        WordNetFiles(small).synonyms("man")
    index.write_text("man n x\n")
    with pytest.raises(FormatError, match=r"index.noun.* the line of man"):
        WordNetFiles(small).synonyms("man")


def test_a_folder_can_be_named(small, monkeypatch):
    monkeypatch.setenv("WNSEARCHDIR", str(small))
    measure = Meteor("exact+synonym")
    assert next(iter(measure.values(Segments.of(["big home"]), Segments.of(["large house"])))) == (
        pytest.approx(1 - 0.5 * (1 / 2) ** 3)
    )
    assert measure.signature().endswith(",wordnet-9.9")


@pytest.fixture(scope="module")
def installed():
    if INSTALLED is None:
        pytest.skip("WordNet is not installed (Debian: apt-get install wordnet-base)")
    return WordNetFiles(INSTALLED)


def test_synonyms_of_the_real_wordnet(installed):
    """As ``wn car -synsn`` and ``wn buy -synsv`` print them."""
    assert installed.version.startswith("3")
    assert {"auto", "automobile", "machine", "railcar", "gondola"} <= installed.synonyms("car")
    assert "purchase" in installed.synonyms("bought")
    assert not any("_" in one for one in installed.synonyms("car"))


WORDS = """
the a car automobile autos bought purchased quickly rapidly speedy geese goose men women
better best good well houses home dwelling running ran runs began started commence children kids
big larger largest huge film movie picture doctor physician says told talk speak answered replied
America Paris was is are be had has axes leaves wolves knives dying lying studies boxes
"""


@pytest.fixture(scope="module")
def nltk_reader(installed, tmp_path_factory):
    """NLTK on the same files; it wants one more, which synonyms do not need.

    It reads from its own folders only, so that the files are copied into one.
    """
    reader = pytest.importorskip("nltk.corpus.reader.wordnet")
    from nltk import data

    assert installed.version
    folder = tmp_path_factory.mktemp("wordnet")
    for path in Path(INSTALLED).iterdir():
        if path.is_file():
            (folder / path.name).write_bytes(path.read_bytes())
    names = folder / "lexnames"
    if not names.exists():
        names.write_text("".join(f"{at:02d}\tname{at}\t1\n" for at in range(45)))

    class Reader(reader.WordNetCorpusReader):
        def map_wn(self, *_):  # from other versions, for other languages
            return {}

    data.path.append(str(folder))
    yield Reader(str(folder), object())
    data.path.remove(str(folder))


def test_synonyms_are_those_of_nltk_on_the_same_files(installed, nltk_reader):
    for word in WORDS.split():
        names = {name for one in nltk_reader.synsets(word) for name in one.lemma_names()}
        wanted = {name for name in names if "_" not in name} | {word}
        assert installed.synonyms(word) == wanted, word


class NoStemmer:
    """NLTK looks synonyms up by stem, once stems were matched: so they stay words here."""

    def stem(self, word):
        return word


def sentences():
    import numpy as np

    source, words = np.random.default_rng(0), WORDS.split()
    return [
        [" ".join(source.choice(words, source.integers(3, 12))) for _ in range(80)] for _ in "ab"
    ]


def test_meteor_is_that_of_nltk_on_the_same_files(nltk_reader, monkeypatch):
    meteor = pytest.importorskip("nltk.translate.meteor_score")
    monkeypatch.setenv("WNSEARCHDIR", INSTALLED)
    references, written = sentences()
    measure = Meteor("exact+synonym", tokenize="none")
    found = list(measure.values(Segments.of(references), Segments.of(written)))
    wanted = [
        meteor.meteor_score([one.split()], text.split(), wordnet=nltk_reader, stemmer=NoStemmer())
        for one, text in zip(references, written, strict=True)
    ]
    assert found == pytest.approx(wanted, rel=1e-12)
    exact = list(
        Meteor("exact", tokenize="none").values(Segments.of(references), Segments.of(written))
    )
    assert sum(found) > 1.1 * sum(exact)


def test_nltk_finds_fewer_synonyms_by_stem(nltk_reader, monkeypatch):
    """The stated difference: "movies" is looked up as a word here, as "movi" there."""
    meteor = pytest.importorskip("nltk.translate.meteor_score")
    monkeypatch.setenv("WNSEARCHDIR", INSTALLED)
    measure = Meteor("exact+stem+synonym", tokenize="none")
    ours = next(iter(measure.values(Segments.of(["a film"]), Segments.of(["a movies"]))))
    theirs = meteor.meteor_score([["a", "film"]], ["a", "movies"], wordnet=nltk_reader)
    assert ours == pytest.approx(1 - 0.5 * (1 / 2) ** 3)
    assert theirs == pytest.approx(0.5 * 0.5)


def test_the_installed_one_is_found(installed, monkeypatch):
    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.setattr(text_wordnet, "_nltk_reader", lambda: None)
    assert text_wordnet.find_wordnet().synonyms("car") == installed.synonyms("car")
    assert f"wordnet-{text_wordnet.find_wordnet().version}" in Meteor("exact+synonym").signature()
