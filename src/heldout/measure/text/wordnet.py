"""Synonyms from WordNet: its own files, as installed by system packages, or NLTK's corpus."""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from heldout.errors import FormatError, InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["FOLDERS", "WordNet", "WordNetFiles", "find_wordnet"]

FOLDERS: Final = ("/usr/share/wordnet", "/usr/local/share/wordnet/dict", "/usr/share/wordnet/dict")
"""Where packages install WordNet's files; the environment variable WNSEARCHDIR comes first."""

NAMES: Final = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}

ENDINGS: Final[dict[str, tuple[tuple[str, str], ...]]] = {
    "n": (
        *(("s", ""), ("ses", "s"), ("ves", "f"), ("xes", "x"), ("zes", "z"), ("ches", "ch")),
        *(("shes", "sh"), ("men", "man"), ("ies", "y")),
    ),
    "v": (
        *(("s", ""), ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", "")),
        *(("ing", "e"), ("ing", "")),
    ),
    "a": (("er", ""), ("est", ""), ("er", "e"), ("est", "e")),
    "r": (),
}
"""Suffixes of inflected words and their replacements in the lexicon, as in WordNet's morphy."""

_MARKER: Final = re.compile(r"\((?:a|p|ip)\)$")
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F]{2}$")
_VERSION: Final = re.compile(rb"Word[nN]et (\d+(?:\.\d+)?\+?) Copyright")


class WordNet(Protocol):
    """The interface to WordNet that METEOR needs."""

    @property
    def version(self) -> str:
        """The version, such as ``3.0``."""

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the word and all single words that share a synset with it."""


class WordNetFiles:
    """WordNet in the files that Princeton distributes (``index.noun``, ``data.noun``, …).

    A word is looked up unchanged and without its suffixes, in all parts of speech.

    Parameters
    ----------
    folder
        Folder with the files.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._folder = Path(folder)
        self._data = {part: self._read(f"data.{name}") for part, name in NAMES.items()}
        self._index = {part: self._lemmas(part) for part in NAMES}
        self._irregular = {part: self._exceptions(part) for part in NAMES}
        self._known: dict[str, frozenset[str]] = {}

    def _read(self, name: str) -> bytes:
        try:
            return (self._folder / name).read_bytes()
        except OSError as error:
            raise InputError(
                f"{self._folder / name}: cannot read this file of WordNet ({error.strerror})"
            ) from None

    def _lemmas(self, part: str) -> dict[str, str]:
        """Return each word with the rest of its line; offsets are parsed when needed."""
        found = {}
        for line in self._read(f"index.{NAMES[part]}").decode("utf-8", "replace").splitlines():
            if not line.startswith(" "):
                word, _, rest = line.partition(" ")
                found[word] = rest
        return found

    def _exceptions(self, part: str) -> dict[str, list[str]]:
        path = self._folder / f"{NAMES[part]}.exc"
        if not path.exists():
            return {}
        lines = (line.split() for line in path.read_text("utf-8", "replace").splitlines())
        return {words[0]: words[1:] for words in lines if words}

    @property
    def version(self) -> str:
        """The version in the licence text of the files."""
        match = _VERSION.search(self._data["n"][:5000])
        return match[1].decode() if match else "unknown"

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the word and all single words that share a synset with it."""
        known = self._known.get(word)
        if known is None:
            names = {name for part in NAMES for name in self._of(word.lower(), part)}
            known = self._known[word] = frozenset({one for one in names if "_" not in one} | {word})
        return known

    def _of(self, word: str, part: str) -> Iterable[str]:
        for form in self._forms(word, part):
            fields = self._index[part][form].split()
            try:
                count = int(fields[1])
                offsets = [int(one) for one in fields[-count:]]
            except (IndexError, ValueError):
                raise self._broken("index", part, f"the line of {form}") from None
            for offset in offsets:
                yield from self._words(part, offset)

    def _forms(self, word: str, part: str) -> list[str]:
        """Return the word itself and its possible base forms that are in the lexicon."""
        regular = [
            word[: -len(ending)] + instead
            for ending, instead in ENDINGS[part]
            if word.endswith(ending)
        ]
        every = dict.fromkeys([word, *self._irregular[part].get(word, regular)])
        return [one for one in every if one in self._index[part]]

    def _words(self, part: str, offset: int) -> list[str]:
        """Return the words of a synset; a line is offset, file, kind, count, then words and ids."""
        data = self._data[part]
        fields = data[offset : data.find(b"\n", offset)].decode("utf-8", "replace").split()
        if len(fields) < 4 or fields[0] != f"{offset:08d}" or not _HEXADECIMAL.match(fields[3]):
            raise self._broken("data", part, f"the data at byte {offset}")
        words = fields[4 : 4 + 2 * int(fields[3], 16) : 2]
        return [_MARKER.sub("", word) for word in words]

    def _broken(self, kind: str, part: str, what: str) -> FormatError:
        place = f"{self._folder / f'{kind}.{NAMES[part]}'}"
        return FormatError(place, f"{what} is not a synset: are all files from the same WordNet?")


class _OfNltk:
    """WordNet as read by NLTK, from its own data."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader
        self.version: str = reader.get_version()
        self._known: dict[str, frozenset[str]] = {}

    def synonyms(self, word: str) -> frozenset[str]:
        """Return the word and all single words that share a synset with it."""
        if word not in self._known:
            sets = self._reader.synsets(word)
            names = {lemma.name() for one in sets for lemma in one.lemmas()}
            self._known[word] = frozenset({one for one in names if "_" not in one} | {word})
        return self._known[word]


def find_wordnet() -> WordNet:
    """Find WordNet: in $WNSEARCHDIR, NLTK's data, or the folders of system packages."""
    named = os.environ.get("WNSEARCHDIR")
    if named:
        return _files(named)
    reader = _nltk_reader()
    if reader is not None:
        return _of_nltk(reader)
    for folder in FOLDERS:
        if (Path(folder) / "index.noun").exists():
            return _files(folder)
    raise MissingExtraError(
        "METEOR with synonyms needs the WordNet data, which are not installed: apt-get install "
        "wordnet-base, or python -m nltk.downloader wordnet, or set WNSEARCHDIR to their folder; "
        "or use stages='exact+stem'"
    )


@cache
def _files(folder: str) -> WordNetFiles:
    return WordNetFiles(folder)


@cache
def _of_nltk(reader: Any) -> _OfNltk:
    return _OfNltk(reader)


@cache
def _nltk_reader() -> Any:
    """Return NLTK's reader, or None if NLTK or its data are missing."""
    from importlib import import_module

    try:
        found = import_module("nltk.corpus").wordnet
        found.ensure_loaded()
    except (ImportError, LookupError):
        return None
    return found
