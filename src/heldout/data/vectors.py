"""Word vectors: the text format of word2vec or GloVe, or NumPy's npz.

Nothing is unpickled. The numbers in a text file are parsed only for words that are needed:
thousands of millions.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.files import open_source, readable
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats

    Path_ = str | os.PathLike[str]


class Vectors:
    """Vectors of words; equal if their content is.

    Examples
    --------
    >>> some = Vectors("mine", 2, {"cat": np.array([1.0, 0.0])}, "f1")
    >>> some.known(["the", "cat", "cat"]).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """

    def __init__(self, name: str, dimension: int, rows: dict[str, Any], fingerprint: str) -> None:
        self.name = name  # the file, for messages and names of measures
        self.dimension = dimension
        self.fingerprint = fingerprint
        self._rows = rows  # for each word its vector, or number and text of its line

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
        row = self._rows[word]
        if isinstance(row, tuple):
            number, line = row
            try:
                row = np.array(line.split()[-self.dimension :], np.float64)
            except ValueError as error:
                raise FormatError(f"{self.name}:{number}", f"not a vector ({error})") from None
            if not np.isfinite(row).all():
                raise FormatError(f"{self.name}:{number}", "a number of the vector is not finite")
            self._rows[word] = row
        vector: Floats = row
        return vector


def read_vectors(path: Path_) -> Vectors:
    """Read word vectors.

    A text file has a word and its numbers per line, with or without a first line ``words
    dimension``, compressed or not; an npz file has the arrays ``words`` (texts) and ``vectors``.
    """
    if os.fspath(path).lower().endswith(".npz"):
        return _read_npz(os.fspath(path))
    source = open_source(path)
    raw, name = source.whole(), source.name
    lines = raw.split(b"\n")
    head = lines[0].split()
    # Two integers in the first line are a header: vectors of one number are useless.
    first = 1 if len(head) == 2 and all(one.isdigit() for one in head) else 0
    dimension = int(head[1]) if first else len(head) - 1
    if dimension < 1:
        raise FormatError(f"{name}:1", "expected a word and its numbers, separated by spaces")
    rows: dict[str, Any] = {}
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
    return Vectors(name, dimension, rows, _fingerprint(raw))


def _fingerprint(*parts: bytes) -> str:
    digest = hashlib.blake2b(digest_size=8)
    for part in parts:
        digest.update(part + b"\0")
    return digest.hexdigest()


def _read_npz(name: str) -> Vectors:
    with readable(name):
        try:
            with np.load(name, allow_pickle=False) as held:
                words, vectors = held["words"], held["vectors"]
        except KeyError:
            raise InputError(f"{name}: expected the arrays 'words' and 'vectors'") from None
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - zlib, zipfile and NumPy raise many types
            raise InputError(
                f"{name}: cannot be read ({error}); words must be an array of strings, Python "
                "objects are refused"
            ) from None
    if words.ndim != 1 or words.dtype.kind != "U" or vectors.shape[:1] != words.shape:
        raise InputError(
            f"{name}: words have shape {words.shape} ({words.dtype}), vectors {vectors.shape}: "
            "expected one string and one row per word"
        )
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not np.isfinite(vectors).all():
        raise InputError(f"{name}: vectors must be finite numbers, one row per word")
    texts = words.tolist()
    mark = _fingerprint("\0".join(texts).encode(), np.ascontiguousarray(vectors).tobytes())
    rows = dict(zip(reversed(texts), vectors[::-1].astype(np.float64), strict=True))
    return Vectors(name, vectors.shape[1], rows, mark)
