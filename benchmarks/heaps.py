"""Make corpora of any size as they are written: new words keep coming, as Heaps' law says.

A corpus is a folder with ``corpus.jsonl`` and, for each count of queries, ``queries-N.jsonl`` and
``qrels-N.txt``. What is written depends on the seed and the words a document alone: a small corpus
is the beginning of a large one, and all of them are asked the same queries.
"""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

KNOWN = 8_000
"""Words of everyday language: Zipf's law with an exponent of 1.05."""
TAIL = 1.75
"""The exponent of all rarer words, without an end: the vocabulary grows as n ** (1 / 1.75)."""
COMMON = 50
"""The most frequent words, which nobody asks for."""
COPIED = 0.15
"""Share of tokens that repeat one that the document has before: words come in bursts."""
QUERY_COUNTS = (100, 1000)
JUDGED = 10
CHUNK = 10_000
_SPREAD = 0.45  # of the logarithm of a document's length
_SYLLABLES = [first + second for first in "bcdfghjklmnprstvwz" for second in "aeiou"]


class Shape(NamedTuple):
    """How large a corpus is: documents, and words a document."""

    documents: int
    words: int = 60
    seed: int = 8


class Corpus(NamedTuple):
    """Where a corpus stands."""

    folder: Path

    @property
    def documents(self) -> Path:
        """JSON lines."""
        return self.folder / "corpus.jsonl"

    def queries(self, count: int) -> Path:
        """JSON lines, too."""
        return self.folder / f"queries-{count}.jsonl"

    def qrels(self, count: int) -> Path:
        """As TREC has them."""
        return self.folder / f"qrels-{count}.txt"


class Chunk(NamedTuple):
    """Documents as numbers of words; document i is ``tokens[offsets[i]:offsets[i + 1]]``."""

    first: int
    tokens: Ints
    offsets: Ints

    def texts(self) -> Iterator[str]:
        """The text of each document."""
        numbers, places = np.unique(self.tokens, return_inverse=True)
        words = np.array([spelled(number) for number in numbers.tolist()], dtype=object)
        tokens = words[places].tolist()
        for begin, end in pairwise(self.offsets.tolist()):
            yield " ".join(tokens[begin:end])


def spelled(number: int) -> str:
    """A word for a number: a syllable a digit, so that small numbers (frequent words) are short."""
    word = ""
    while True:
        number, digit = divmod(number, len(_SYLLABLES))
        word += _SYLLABLES[digit]
        if not number:
            return word
        number -= 1


class Words:
    """Draws words: a table for the known ones, a power law without an end for the others."""

    def __init__(self) -> None:
        weight = (np.arange(1, KNOWN + 1) + 2.7) ** -1.05
        rest = weight[-1] * KNOWN / (TAIL - 1)  # both laws meet at the last known word
        self._summed = np.cumsum(weight) / (weight.sum() + rest)

    def draw(self, chance: NDArray[np.float64]) -> Ints:
        """The numbers of words, from random numbers below 1."""
        found = np.searchsorted(self._summed, chance).astype(np.int64)
        rare = np.flatnonzero(found >= KNOWN)
        left = (1 - chance[rare]) / (1 - self._summed[-1])
        found[rare] = KNOWN * np.maximum(left, 1e-9) ** (-1 / (TAIL - 1))
        return found


def chunks(shape: Shape) -> Iterator[Chunk]:
    """All documents."""
    words = Words()
    for first in range(0, shape.documents, CHUNK):
        rng = np.random.default_rng([shape.seed, shape.words, first // CHUNK])
        middle = np.log(shape.words) - _SPREAD**2 / 2
        lengths = np.clip(rng.lognormal(middle, _SPREAD, CHUNK), 5, 8 * shape.words)
        offsets = np.concatenate(([0], np.cumsum(lengths.astype(np.int64))))
        tokens = _with_bursts(words.draw(rng.random(offsets[-1])), offsets, rng)
        # A whole chunk is drawn always, so that a small corpus is the beginning of a large one.
        count = min(CHUNK, shape.documents - first)
        yield Chunk(first, tokens[: offsets[count]], offsets[: count + 1])


def _with_bursts(tokens: Ints, offsets: Ints, rng: np.random.Generator) -> Ints:
    """Repeat words that a document has before."""
    place = np.arange(len(tokens))
    start = np.repeat(offsets[:-1], np.diff(offsets))
    copied = np.flatnonzero((rng.random(len(tokens)) < COPIED) & (place > start))
    ago = (rng.random(len(copied)) * (place[copied] - start[copied])).astype(np.int64)
    found = tokens.copy()
    found[copied] = tokens[start[copied] + ago]
    return found


class Query(NamedTuple):
    """Words, and documents that are judged relevant: that of the words, and some by chance."""

    words: Ints
    judged: Ints


def ask(chunk: Chunk, count: int, seed: int) -> list[Query]:
    """Queries: two to six words of a document each."""
    rng = np.random.default_rng([seed, 1])
    documents = len(chunk.offsets) - 1
    found: list[Query] = []
    while len(found) < count:
        at = int(rng.integers(documents))
        words = np.unique(chunk.tokens[chunk.offsets[at] : chunk.offsets[at + 1]])
        words = words[words >= COMMON]
        wanted = int(rng.integers(2, 7))
        if len(words) >= wanted:
            asked = rng.choice(words, wanted, replace=False)
            # Of a generator of its own: the words stay the same for other judgements.
            others = np.random.default_rng([seed, 2, len(found)]).integers(documents, size=JUDGED)
            found.append(Query(asked, np.unique(np.append(others[1:], at))))
    return found


def name(document: int) -> str:
    """The id of a document."""
    return f"d{document + 1:07}"


def make(folder: Path, shape: Shape) -> Corpus:
    """Write a corpus, its queries and judgements, unless they are there."""
    target = folder / f"heaps-{shape.documents}-{shape.words}w-{shape.seed}"
    if not target.exists():
        aside = target.with_name(target.name + ".tmp")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        _write(Corpus(aside), shape)
        aside.rename(target)
    return Corpus(target)


def _write(corpus: Corpus, shape: Shape) -> None:
    queries: list[Query] = []
    with corpus.documents.open("w", encoding="ascii", newline="\n") as file:
        for chunk in chunks(shape):
            queries = queries or ask(chunk, max(QUERY_COUNTS), shape.seed)
            # Spelled words have nothing that JSON would write in another way.
            file.writelines(
                f'{{"_id": "{name(number)}", "text": "{text}"}}\n'
                for number, text in enumerate(chunk.texts(), chunk.first)
            )
    for count in QUERY_COUNTS:
        asked, judged = [], []
        for number, query in enumerate(queries[:count]):
            text = " ".join(map(spelled, query.words.tolist()))
            asked.append(json.dumps({"_id": f"q{number:04}", "text": text}))
            judged += [f"q{number:04} 0 {name(one)} 1" for one in query.judged.tolist()]
        for path, lines in ((corpus.queries(count), asked), (corpus.qrels(count), judged)):
            path.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")
