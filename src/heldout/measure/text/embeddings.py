"""Similarity of word vectors, read from the text format of word2vec and GloVe."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from heldout.data.files import open_source
from heldout.errors import FormatError, InputError, MeasureError
from heldout.measure.base import Means, measure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.segments import Texts
    from heldout.data.words import Floats

_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def _signature(vectors: str | None, kind: str, lowercase: bool) -> dict[str, Any]:
    case = "lc" if lowercase else "mixed"
    labels = {"kind": kind, "vectors": _vectors(vectors).fingerprint, "case": case}
    return {**labels, "tok": "words", "oov": "left-out", "empty": 0, "multi": "best"}


@measure(
    "Embedding",
    "text",
    bounds=(-1.0, 1.0),
    shown=("kind",),
    needs="references, texts and word vectors",
    labels=_signature,
)
def embedding(
    given: Texts,
    *,
    vectors: str | None = None,
    kind: Literal["average", "greedy", "extrema"] = "average",
    lowercase: bool = True,
) -> Means:
    """Mean cosine of word vectors (Liu 2016): averaged, best matches of words, or extrema.

    Formula: cosine of mean vectors, of the numbers farthest from 0 (extrema), or the mean over the
    words of both sides of the best cosine (greedy); of several references the best
    """
    known = _vectors(vectors)

    def rows(text: str) -> Floats:
        return known.known(_TOKEN.findall(text.lower() if lowercase else text))

    values = []
    for texts, (written,) in zip(given.references.texts, given.system.texts, strict=True):
        wanted, mine = list(filter(len, map(rows, texts))), rows(written)
        similar = [_similarity(kind, reference, mine) if len(mine) else 0.0 for reference in wanted]
        values.append(max(similar, default=math.nan))  # NaN: undefined for all systems
    return Means(np.array(values), reason="no word of the references has a vector")


def _similarity(kind: str, wanted: Floats, written: Floats) -> float:
    both = wanted, written
    if kind == "greedy":
        lengths = [np.linalg.norm(rows, axis=1, keepdims=True) for rows in both]
        cosines = wanted @ written.T / np.maximum(lengths[0] @ lengths[1].T, 1e-300)
        return float(cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2
    if kind == "average":
        left, right = (rows.mean(axis=0) for rows in both)
    else:
        ends = [(rows.max(axis=0), rows.min(axis=0)) for rows in both]
        left, right = (np.where(high >= np.abs(low), high, low) for high, low in ends)
    size = float(np.linalg.norm(left) * np.linalg.norm(right))
    return float(left @ right) / size if size > 0 else 0.0


@dataclass
class Vectors:
    """Vectors of words; numbers are parsed for words that are needed, thousands of millions."""

    name: str  # the file, for messages
    dimension: int
    fingerprint: str
    lines: dict[str, tuple[int, bytes]]  # number and text of the line of each word
    parsed: dict[str, Floats] = field(default_factory=dict)

    def known(self, words: Iterable[str]) -> Floats:
        """Return the vectors of the words that have one, one row per word."""
        vectors = [self._vector(word) for word in words if word in self.lines]
        return np.array(vectors, np.float64).reshape(-1, self.dimension)

    def _vector(self, word: str) -> Floats:
        if word not in self.parsed:
            number, line = self.lines[word]
            try:
                vector = np.array(line.split()[-self.dimension :], np.float64)
            except ValueError as error:
                raise FormatError(f"{self.name}:{number}", f"not a vector ({error})") from None
            if not np.isfinite(vector).all():
                raise FormatError(f"{self.name}:{number}", "a number of the vector is not finite")
            self.parsed[word] = vector
        return self.parsed[word]


def _vectors(path: str | None) -> Vectors:
    if not path:
        raise MeasureError(
            "Embedding: expected vectors, for example Embedding(vectors='FILE', kind='greedy')"
        )
    return read_vectors(path, Path(path).stat().st_mtime_ns if Path(path).exists() else 0)


@lru_cache(maxsize=1)
def read_vectors(path: str, changed: int = 0) -> Vectors:
    """Read word vectors: a word and its numbers per line, perhaps after ``words dimension``."""
    del changed  # the time of the last change: a file that changes is read again
    source = open_source(path)
    raw, name = source.whole(), source.name
    lines = raw.split(b"\n")
    head = lines[0].split()
    # Two integers in the first line are a header: vectors of one number are useless.
    first = 1 if len(head) == 2 and all(cell.isdigit() for cell in head) else 0
    dimension = int(head[1]) if first else len(head) - 1
    if dimension < 1:
        raise FormatError(f"{name}:1", "expected a word and its numbers, separated by spaces")
    rows: dict[str, tuple[int, bytes]] = {}
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        # A word may have spaces; the numbers after it do not.
        parts = line.rstrip().rsplit(None, dimension)
        if len(parts) <= dimension:
            message = f"expected a word and {dimension} numbers, found {len(parts) - 1}"
            raise FormatError(f"{name}:{number}", message)
        try:
            rows.setdefault(parts[0].decode(), (number, line))
        except UnicodeDecodeError:
            raise FormatError(f"{name}:{number}", "the word is not UTF-8") from None
    if not rows:
        raise InputError(f"{name} has no vectors")
    return Vectors(name, dimension, hashlib.blake2b(raw, digest_size=8).hexdigest(), rows)
