"""From text to terms: tokens, lower case, stop words, stems, n-grams.

`Analyzer.analyze` is the readable definition, and what queries go through. Documents go through
compiled loops that give the same terms (a test compares them over all of Unicode): they find the
raw terms, and stop words and stems are then one map over the vocabulary, never over the text.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import groupby
from pathlib import Path
from typing import Any, Final, Literal, get_args

from heldout.errors import InputError
from heldout.retrieve.characters import is_mark, is_unspaced, is_word
from heldout.retrieve.stopwords import STOP_LISTS

__all__ = [
    "UNSPACED_SIZE",
    "AbsentFunction",
    "Analyzer",
    "TokenFunction",
    "Tokens",
    "function_name",
]

Tokens = Literal["word", "character", "mixed"]
TokenFunction = Callable[[str], Sequence[str]]

UNSPACED_SIZE: Final = 2
"""What the mode "mixed" cuts scripts without spaces into: pairs of characters."""


@dataclass(frozen=True, slots=True)
class Analyzer:
    r"""How text becomes terms.

    Parameters
    ----------
    tokens
        ``"word"``: the longest runs of letters, marks, digits and underscores (Python's ``\w``,
        and combining marks). ``"character"``: the characters (code points) of such runs, for
        languages without spaces; `ngrams` gives how many stand together, and a run that is
        shorter than the smallest number stays whole. ``"mixed"``: words, and pairs of characters
        where the script is Han, Hiragana, Katakana, Thai, Lao, Khmer or Myanmar.
    lower
        Put text into lower case first, as `str.lower` does: a Greek Σ at the end of a word
        becomes ς, and İ becomes i with a combining dot. Nothing else is folded: é and e are two.
    stop
        Words to leave out: ``"none"``, ``"english"`` (33 words), the path of a file with words
        between white space (``#`` begins a comment), or the words. A file is read at once, and
        its words are kept in order of the alphabet. What is not one word (``don't``) is cut like
        text, and its parts are left out.
    stemmer
        The name of a Snowball stemmer ("english", "porter", "german", …), or None.
    ngrams
        The least and the greatest number of neighbouring words (or characters) in a term. Each
        word of an n-gram is stemmed, and an n-gram that holds a stop word is left out.
    min_length
        Words (or characters that stand together) of fewer characters are left out.
    function
        A named function from text to tokens, in place of all of the above, which must then stay
        as it is. It is called for every document and so is slow; an index built with it must be
        opened with it.

    Examples
    --------
    >>> Analyzer(stop="english", stemmer="english").analyze("The cats of Élodie")
    ['cat', 'élodi']
    >>> Analyzer(ngrams=(1, 2)).analyze("to be or")
    ['to', 'to be', 'be', 'be or', 'or']
    >>> Analyzer(tokens="mixed").analyze("BM25 検索エンジン")
    ['bm25', '検索', '索エ', 'エン', 'ンジ', 'ジン']
    >>> print(Analyzer(stemmer="porter").signature())
    tokens=word|lower=yes|stop=none|stemmer=porter|ngrams=1-1|min_length=1|function=none
    """

    tokens: Tokens = "word"
    lower: bool = True
    stop: str | tuple[str, ...] = "none"
    stemmer: str | None = None
    ngrams: tuple[int, int] = (1, 1)
    min_length: int = 1
    function: TokenFunction | None = None

    def __post_init__(self) -> None:
        if self.tokens not in get_args(Tokens):
            known = ", ".join(get_args(Tokens))
            raise InputError(f"tokens {self.tokens!r} are not known: use one of {known}")
        low, high = _two_numbers(self.ngrams)
        object.__setattr__(self, "ngrams", (low, high))
        object.__setattr__(self, "stop", _stop_words(self.stop))
        if self.min_length < 1:
            raise InputError(f"min_length is {self.min_length}: use 1 or more")
        self._check_stemmer()
        if self.tokens == "mixed" and self.ngrams != (1, 1):
            raise InputError('tokens "mixed" are words and pairs of characters: leave ngrams out')
        if self.function is not None:
            self._check_function()

    def _check_stemmer(self) -> None:
        if self.stemmer is None:
            return
        if self.tokens == "character":
            raise InputError("characters have no stems: leave the stemmer out, or use words")
        import Stemmer

        if self.stemmer not in Stemmer.algorithms():
            known = ", ".join(sorted(Stemmer.algorithms()))
            raise InputError(f"stemmer {self.stemmer!r} is not known: use one of {known}")

    def _check_function(self) -> None:
        name = function_name(self.function)
        if name.endswith("<lambda>"):
            raise InputError("a lambda has no name to know it by: define the function with def")
        for field in fields(self):
            if field.name != "function" and getattr(self, field.name) != field.default:
                raise InputError(
                    f"{field.name} has no effect beside a function, which gives the final terms: "
                    f"leave {field.name} out"
                )

    def signature(self) -> str:
        """Every field with its value, in one line: equal for equal analyzers only."""
        return "|".join(
            f"{field.name}={_printed(field.name, getattr(self, field.name))}"
            for field in fields(self)
        )

    def analyze(self, text: str) -> list[str]:
        """The terms of a text, in its order."""
        if self.function is not None:
            return [token for token in self.function(text) if token]
        if self.lower:
            text = text.lower()
        runs = _runs(text)
        if self.tokens == "word":
            return self._word_grams(runs)
        raw = [gram for run in runs for gram in self._character_grams(run)]
        return [term for term in self.final_words(raw) if term]

    def final_words(self, words: list[str]) -> list[str]:
        """The stem of each raw word; nothing for a word that is left out."""
        stop = self.stop_set()
        stems = words if self.stemmer is None else _stemmer(self.stemmer).stemWords(words)
        return [
            "" if word in stop or len(word) < self.min_length else stem
            for word, stem in zip(words, stems, strict=True)
        ]

    def stop_set(self) -> frozenset[str]:
        """The stop words as they are compared: after lower-casing, and cut like text."""
        return _cut_stop_words(self.stop, self.lower)

    def keeps_raw_terms(self) -> bool:
        """Whether the raw terms are the final ones: no stop words, no stems, no short words."""
        return self.function is not None or (
            self.stemmer is None and self.min_length == 1 and not self.stop_set()
        )

    def _word_grams(self, raw: list[str]) -> list[str]:
        words = self.final_words(raw)
        low, high = self.ngrams
        return [
            " ".join(words[begin : begin + size])
            for begin in range(len(words))
            for size in range(low, min(high, len(words) - begin) + 1)
            if all(words[begin : begin + size])
        ]

    def _character_grams(self, run: str) -> list[str]:
        if self.tokens == "character":
            return _cut(run, *self.ngrams)
        return [
            gram
            for unspaced, segment in _segments(run)
            for gram in (_cut(segment, UNSPACED_SIZE, UNSPACED_SIZE) if unspaced else [segment])
        ]


@dataclass(frozen=True, slots=True)
class AbsentFunction:
    """Stands for the function of an index that was opened without it."""

    name: str

    def __call__(self, text: str) -> Sequence[str]:
        """Refuse: nobody knows what the function does."""
        raise InputError(
            f"{text[:40]!r} cannot be analysed: the index was built with the function {self.name}; "
            "open the index with it: Index.open(path, function=...)"
        )


def function_name(function: Any) -> str:
    """By what name an analyzer knows a user's function: its module and its own."""
    if isinstance(function, AbsentFunction):
        return function.name
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', '?')}.{own}"


def _runs(text: str) -> list[str]:
    r"""The longest runs of word characters; among ASCII characters these are those of ``\w``."""
    if text.isascii():
        return re.findall(r"\w+", text)
    return ["".join(run) for good, run in groupby(text, is_word) if good]


def _cut(run: str, low: int, high: int) -> list[str]:
    """All stretches of `low` to `high` characters; a run that is shorter stays whole."""
    if len(run) < low:
        return [run]
    return [
        run[begin : begin + size]
        for begin in range(len(run))
        for size in range(low, min(high, len(run) - begin) + 1)
    ]


def _segments(run: str) -> list[tuple[bool, str]]:
    """A run cut where scripts with and without spaces meet; marks stay with what they mark."""
    segments: list[tuple[bool, str]] = []
    for character in run:
        unspaced = is_unspaced(character)
        if segments and not unspaced and is_mark(character):
            unspaced = segments[-1][0]
        if segments and segments[-1][0] == unspaced:
            segments[-1] = (unspaced, segments[-1][1] + character)
        else:
            segments.append((unspaced, character))
    return segments


def _two_numbers(ngrams: Any) -> tuple[int, int]:
    try:
        low, high = (int(one) for one in ngrams)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"ngrams are {ngrams!r}: give two numbers, such as (1, 2)") from None
    if not 1 <= low <= high:
        raise InputError(
            f"ngrams are {low} to {high}: the first is at least 1, the second not less"
        )
    return low, high


def _stop_words(stop: Any) -> str | tuple[str, ...]:
    if isinstance(stop, str | os.PathLike):
        if stop in STOP_LISTS:
            return str(stop)
        stop = _read_words(Path(stop))
    return tuple(sorted(set(stop)))


def _read_words(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        known = ", ".join(STOP_LISTS)
        raise InputError(f"stop list {str(path)!r} is neither a file nor one of {known}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as a stop list ({error})") from None
    return [word for line in text.splitlines() for word in line.partition("#")[0].split()]


@lru_cache(maxsize=16)
def _cut_stop_words(stop: str | tuple[str, ...], lower: bool) -> frozenset[str]:
    entries = STOP_LISTS[stop] if isinstance(stop, str) else stop
    cutter = Analyzer(lower=lower)
    return frozenset(word for entry in entries for word in cutter.analyze(entry))


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Any:
    import Stemmer

    # Every raw word comes once, or is one of a query: remembering stems would only cost.
    return Stemmer.Stemmer(language, 0)


def _printed(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if name == "ngrams":
        return f"{value[0]}-{value[1]}"
    if name == "stop" and not isinstance(value, str):
        digest = hashlib.sha256("\n".join(value).encode()).hexdigest()
        return f"{len(value)}-words-{digest[:16]}"
    return function_name(value) if name == "function" else str(value)
