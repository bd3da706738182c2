"""Word vectors in the text format of word2vec and GloVe.

Numbers are parsed only for words that are needed: thousands of millions.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.files import open_source
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from heldout.data.words import Floats

    Path_ = str | os.PathLike[str]


class Vectors:
    """Vectors of words; equal if their content is."""

    def __init__(
        self, name: str, dimension: int, rows: dict[str, tuple[int, bytes]], fingerprint: str
    ) -> None:
        self.name = name  # the file, for messages and names of measures
        self.dimension = dimension
        self.fingerprint = fingerprint
        self._rows = rows  # number and text of the line of each word
        self._vectors: dict[str, Floats] = {}  # those that were needed so far

    def __repr__(self) -> str:
        return repr(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vectors) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def known(self, words: Iterable[str]) -> Floats:
        """Return the vectors of the words that have one, one row per word."""
        found = [self._vector(word) for word in words if word in self._rows]
        return np.array(found, np.float64).reshape(-1, self.dimension)

    def _vector(self, word: str) -> Floats:
        if word in self._vectors:
            return self._vectors[word]
        number, line = self._rows[word]
        try:
            vector = np.array(line.split()[-self.dimension :], np.float64)
        except ValueError as error:
            raise FormatError(f"{self.name}:{number}", f"not a vector ({error})") from None
        if not np.isfinite(vector).all():
            raise FormatError(f"{self.name}:{number}", "a number of the vector is not finite")
        self._vectors[word] = vector
        return vector


def read_vectors(path: Path_) -> Vectors:
    """Read word vectors: a word and its numbers per line, perhaps after ``words dimension``."""
    source = open_source(path)
    raw, name = source.whole(), source.name
    lines = raw.split(b"\n")
    head = lines[0].split()
    # Two integers in the first line are a header: vectors of one number are useless.
    first = 1 if len(head) == 2 and all(one.isdigit() for one in head) else 0
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
    return Vectors(name, dimension, rows, hashlib.blake2b(raw, digest_size=8).hexdigest())
