"""Turn text into terms: words, lower case, stop words, stems.

`Analyzer.analyze` is the readable definition and analyses queries. Documents are analysed by
compiled loops that give the same terms (a test compares them over all of Unicode): they find the
raw terms, and stop words and stems are then applied once per raw term, never to the text.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, Final

from heldout.errors import InputError
from heldout.retrieve.characters import is_mark, is_unspaced, is_word

TokenFunction = Callable[[str], Sequence[str]]

_WORDS: Final = re.compile(r"\w+")
_FIRST_UNSPACED: Final = "\u0e00"
# The 33 words that Lucene's StandardAnalyzer left out by default before version 8. Short on
# purpose: longer lists remove words that some queries are about ("the who", "take that").
_ENGLISH: Final = (
    "a an and are as at be but by for if in into is it no not of on or such "
    "that the their then there these they this to was will with"
)
STOP_LISTS: Final = {"none": frozenset[str](), "english": frozenset(_ENGLISH.split())}
"""Stop lists by name."""


@dataclass(frozen=True, slots=True)
class Analyzer:
    r"""How text becomes terms.

    Words are the longest runs of letters, marks, digits and underscores (Python's ``\w``, and
    combining marks). Where the script puts no spaces between words (Han, Hiragana, Katakana, Thai,
    Lao, Khmer, Myanmar), terms are the pairs of adjacent characters.

    Parameters
    ----------
    lower
        Convert text to lower case first, as `str.lower` does: a Greek Σ at the end of a word
        becomes ς, and İ becomes i with a combining dot. Accents are kept: é and e are different.
    stop
        Words to leave out: ``"none"``, ``"english"`` (33 words), the path of a file with words
        separated by white space (``#`` begins a comment), or the words. A file is read at once,
        and its words are sorted. An entry that is not a single word (``don't``) is tokenized like
        text, and its parts are left out.
    stemmer
        The name of a Snowball stemmer ("english", "porter", "german", …), or None.
    function
        A named function from text to tokens that replaces all of the above, which must keep
        their defaults. It is called for every document and is therefore slow; an index built
        with it must be opened with it.

    Examples
    --------
    >>> Analyzer(stop="english", stemmer="english").analyze("The cats of Élodie")
    ['cat', 'élodi']
    >>> Analyzer().analyze("BM25 検索エンジン")
    ['bm25', '検索', '索エ', 'エン', 'ンジ', 'ジン']
    >>> print(Analyzer(stemmer="porter").signature())
    lower=yes|stop=none|stemmer=porter|function=none
    """

    lower: bool = True
    stop: str | tuple[str, ...] = "none"
    stemmer: str | None = None
    function: TokenFunction | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "stop", _stop_words(self.stop))
        if self.stemmer is not None:
            import Stemmer

            if self.stemmer not in Stemmer.algorithms():
                known = ", ".join(sorted(Stemmer.algorithms()))
                raise InputError(f"unknown stemmer {self.stemmer!r}: use one of {known}")
        if self.function is None:
            return
        if function_name(self.function).endswith("<lambda>"):
            raise InputError("a lambda has no name to identify it: define the function with def")
        for field in fields(self):
            if field.name != "function" and getattr(self, field.name) != field.default:
                raise InputError(
                    f"{field.name} has no effect with a function, which returns the final terms: "
                    f"leave {field.name} out"
                )

    def signature(self) -> str:
        """Return every field with its value in one line; equal only for equal analyzers."""
        stop, function = self.stop, self.function
        if not isinstance(stop, str):
            digest = hashlib.sha256("\n".join(stop).encode()).hexdigest()
            stop = f"{len(stop)}-words-{digest[:16]}"
        return (
            f"lower={'yes' if self.lower else 'no'}|stop={stop}|stemmer={self.stemmer or 'none'}|"
            f"function={'none' if function is None else function_name(function)}"
        )

    def analyze(self, text: str) -> list[str]:
        """Return the terms of a text, in order."""
        return [term for term in self.final_terms(self.raw_terms(text)) if term]

    def raw_terms(self, text: str) -> list[str]:
        """Return the terms of a text before `final_terms`, which depends on each of them alone."""
        if self.function is not None:
            return list(self.function(text))
        runs = _runs(text.lower() if self.lower else text)
        return runs if text.isascii() else [term for run in runs for term in _pairs(run)]

    def final_terms(self, raw: list[str]) -> list[str]:
        """Return the stem of each raw term, or an empty string if it is left out."""
        if self.function is not None:
            return raw
        stop = self.stop_set()
        stems = raw if self.stemmer is None else _stemmer(self.stemmer).stemWords(raw)
        return ["" if word in stop else stem for word, stem in zip(raw, stems, strict=True)]

    def stop_set(self) -> frozenset[str]:
        """Return the stop words as they are compared: lower-cased and tokenized."""
        return _cut_stop_words(self.stop, self.lower)


@dataclass(frozen=True, slots=True)
class AbsentFunction:
    """Placeholder for the function of an index that was opened without it."""

    name: str

    def __call__(self, text: str) -> Sequence[str]:
        """Raise an error: the function is not known."""
        raise InputError(
            f"{text[:40]!r} cannot be analysed: the index was built with the function {self.name}; "
            "open the index with it: Index.open(path, function=...)"
        )


def function_name(function: Any) -> str:
    """Return the name that identifies a user's function: its module and its own name."""
    if isinstance(function, AbsentFunction):
        return function.name
    own = getattr(function, "__qualname__", None) or type(function).__qualname__
    return f"{getattr(function, '__module__', '?')}.{own}"


def _runs(text: str) -> list[str]:
    r"""Return the longest runs of word characters (``\w`` for text without combining marks)."""
    if text.isascii() or not any(is_mark(character) for character in text if character > "\x7f"):
        return _WORDS.findall(text)
    return ["".join(run) for good, run in groupby(text, is_word) if good]


def _pairs(run: str) -> list[str]:
    """Split a run: words where its script has spaces, and pairs of characters where it has not."""
    if max(run) < _FIRST_UNSPACED:
        return [run]
    unspaced: list[bool] = []
    for character in run:
        own = is_unspaced(character)
        # Marks stay with the character that they belong to.
        unspaced.append(unspaced[-1] if unspaced and not own and is_mark(character) else own)
    terms: list[str] = []
    for pairs, part in groupby(zip(unspaced, run, strict=True), lambda one: one[0]):
        segment = "".join(character for _, character in part)
        terms += map("".join, pairwise(segment)) if pairs and len(segment) > 1 else [segment]
    return terms


def _stop_words(stop: Any) -> str | tuple[str, ...]:
    """Return the name of a stop list, or its words: those that are given, or those in a file."""
    if not isinstance(stop, str | os.PathLike):
        return tuple(sorted(set(stop)))
    if stop in STOP_LISTS:
        return str(stop)
    path = Path(stop)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except FileNotFoundError:
        known = ", ".join(STOP_LISTS)
        raise InputError(f"stop list {str(path)!r} is neither a file nor one of {known}") from None
    except (OSError, ValueError) as error:  # also not UTF-8, or not a path
        raise InputError(f"{path}: cannot read the stop list ({error})") from None
    return tuple(sorted({word for line in lines for word in line.partition("#")[0].split()}))


@lru_cache(maxsize=16)
def _cut_stop_words(stop: str | tuple[str, ...], lower: bool) -> frozenset[str]:
    entries = STOP_LISTS[stop] if isinstance(stop, str) else stop
    cutter = Analyzer(lower=lower)
    return frozenset(word for entry in entries for word in cutter.analyze(entry))


@lru_cache(maxsize=16)
def _stemmer(language: str) -> Any:
    import Stemmer

    # Every raw word occurs once, so a cache of stems would cost more than it saves.
    return Stemmer.Stemmer(language, 0)


def describe_index(analyzer: Analyzer, documents_digest: str) -> dict[str, Any]:
    """Return what ``index.json`` says of analyzer and documents."""
    values = {field.name: getattr(analyzer, field.name) for field in fields(analyzer)}
    if analyzer.function is not None:
        values["function"] = function_name(analyzer.function)
    stems = _stems_version(analyzer.stemmer)
    return {
        "signature": analyzer.signature(),
        "analyzer": values,
        "stems": stems,
        "documents": documents_digest,
    }


def restored_analyzer(
    name: str, about: Mapping[str, Any], function: TokenFunction | None
) -> Analyzer:
    """Return the analyzer that an index was built with; `name` is for messages."""
    values = dict(about["analyzer"])
    stop = values["stop"]
    values["stop"] = stop if isinstance(stop, str) else tuple(stop)
    built_with = values["function"]
    if function is None:
        values["function"] = built_with and AbsentFunction(built_with)
    elif function_name(function) == built_with:
        values["function"] = function
    else:
        raise InputError(
            f"{name}: the index was built with {built_with or 'no function'}, "
            f"not with {function_name(function)}: pass the same function"
        )
    stems = _stems_version(values["stemmer"])
    if stems != about["stems"]:
        raise InputError(
            f"{name}: built with the stemmers of Snowball {about['stems']}, but {stems} is "
            "installed and may differ: build the index again, or install that version of PyStemmer"
        )
    return Analyzer(**values)


def _stems_version(stemmer: str | None) -> str | None:
    if stemmer is None:
        return None
    import Stemmer

    return str(Stemmer.version())
