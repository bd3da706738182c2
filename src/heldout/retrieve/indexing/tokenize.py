"""One batch of text to the postings of its documents, on one thread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.characters import ascii_table, unicode_table
from heldout.retrieve.indexing import kernels
from heldout.retrieve.indexing.strings import PackedStrings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.words import Bytes, Ints
    from heldout.retrieve.analyze import Analyzer

__all__ = ["Postings", "Tokenizer"]

_SIGMA: Final = "Σ".encode()
_MOST_BYTES: Final = 1 << 30
_NARROW: Final = (1 << 16) - 1


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """What the documents of a batch hold, document by document.

    Parameters
    ----------
    first
        The number of the first document.
    table
        The number of the tokenizer whose raw terms these are.
    terms
        Raw terms, in order of first occurrence in each document.
    counts
        How often: one column of 16 bits, or two (the lower half first) where one is too narrow.
    offsets
        The postings of document ``first + i`` are ``offsets[i]`` to ``offsets[i + 1]``.
    """

    first: int
    table: int
    terms: NDArray[np.int32]
    counts: NDArray[np.uint16]
    offsets: Ints


class Tokens:
    """Where the tokens of a batch stand: byte ranges of `text`, and those of each document."""

    __slots__ = ("ends", "offsets", "starts", "text")

    def __init__(
        self, text: Bytes, starts: NDArray[np.int32], ends: NDArray[np.int32], offsets: Ints
    ) -> None:
        self.text = text
        self.starts = starts
        self.ends = ends
        self.offsets = offsets


class Workspace:
    """Arrays that are used again for every batch: fresh memory costs as much as the work."""

    def __init__(self) -> None:
        self._held: dict[str, NDArray[Any]] = {}

    def array(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        """An array of `size` with anything in it; valid until it is asked for again."""
        held = self._held.get(name)
        if held is None or len(held) < size:
            held = self._held[name] = np.empty(size + size // 8, dtype)
        return held[:size]


class TermTable:
    """The raw terms one tokenizer has met, numbered in order of first occurrence."""

    def __init__(self) -> None:
        self.keys = np.zeros(1 << 14, np.uint64)
        self.numbers = np.zeros(1 << 14, np.int32)
        self.known = np.empty(1 << 16, np.uint8)
        self.known_offsets = np.zeros((1 << 13) + 1, np.int64)
        self.latest = np.full((1 << 13, 2), -1, np.int32)

    def grow(self, n_terms: int) -> None:
        """Make room: for more terms if the table is half full, else for their bytes."""
        if 2 * n_terms < len(self.keys):
            self.known = _longer(self.known, 2 * len(self.known))
            return
        keys = np.zeros(4 * len(self.keys), np.uint64)
        numbers = np.zeros(len(keys), np.int32)
        kernels.rehash(self.keys, self.numbers, keys, numbers)
        self.keys, self.numbers = keys, numbers
        self.known_offsets = _longer(self.known_offsets, len(keys) // 2 + 1)
        latest = np.full((len(keys) // 2, 2), -1, np.int32)
        latest[: len(self.latest)] = self.latest
        self.latest = latest


class Tokenizer:
    """Cuts batches and counts their terms; one for each thread.

    Parameters
    ----------
    analyzer
        How text becomes terms.
    number
        Which tokenizer this is.
    """

    def __init__(self, analyzer: Analyzer, number: int) -> None:
        self._analyzer = analyzer
        self._number = number
        self._space = Workspace()
        self._table = TermTable()
        self._n_terms = 0

    def raw_terms(self) -> PackedStrings:
        """The raw terms of all batches so far."""
        offsets = self._table.known_offsets[: self._n_terms + 1]
        return PackedStrings(self._table.known[: offsets[-1]], offsets)

    def postings(self, batch: TextBatch) -> Postings:
        """The postings of a batch."""
        _refuse_giants(batch)
        if self._analyzer.function is None:
            tokens = self._cut(batch)
        else:
            tokens = _call_function(self._analyzer, batch)
        return self._count(tokens, batch.first)

    def _cut(self, batch: TextBatch) -> Tokens:
        lower = self._analyzer.lower
        text, offsets = _lower_sigmas(batch) if lower else (batch.text, batch.offsets)
        is_ascii = not len(text) or int(text.max()) < 128
        table = ascii_table(lower) if is_ascii else unicode_table(lower)
        size, n_documents = len(text), len(offsets) - 1
        # Lower case can take three bytes where upper case took two; and a space behind each word.
        out = self._space.array("text", size + size // 2 + n_documents + 8, np.uint8)
        most = size // 2 + n_documents + 1
        starts = self._space.array("starts", most, np.int32)
        ends = self._space.array("ends", most, np.int32)
        word_offsets = np.zeros(n_documents + 1, np.int64)
        n_words = kernels.cut_words(
            _read_only(text), _read_only(offsets), table, out, starts, ends, word_offsets
        )
        words = Tokens(out, starts[:n_words], ends[:n_words], word_offsets)
        return self._grams(words, table)

    def _grams(self, words: Tokens, table: NDArray[np.int32]) -> Tokens:
        low, high = self._analyzer.ngrams
        mode = self._analyzer.tokens
        if mode == "word" and high == 1:
            return words
        if mode == "word":
            n_most = len(words.starts) * (high - low + 1)
        else:
            low, high = (2, 2) if mode == "mixed" else (low, high)
            n_most = int((words.ends - words.starts).sum()) * (high - low + 1)
        starts = self._space.array("gram starts", n_most, np.int32)
        ends = self._space.array("gram ends", n_most, np.int32)
        offsets = np.zeros(len(words.offsets), np.int64)
        places = (words.starts, words.ends, words.offsets)
        if mode == "word":
            n_grams = kernels.word_grams(*places, low, high, starts, ends, offsets)
        else:
            n_grams = kernels.character_grams(
                words.text, *places, table, low, high, mode == "mixed", starts, ends, offsets
            )
        return Tokens(words.text, starts[:n_grams], ends[:n_grams], offsets)

    def _count(self, tokens: Tokens, first: int) -> Postings:
        terms = self._space.array("terms", len(tokens.starts), np.int32)
        counts = self._space.array("counts", len(tokens.starts), np.int32)
        offsets = np.zeros(len(tokens.offsets), np.int64)
        progress = np.array([0, 0, 0, self._n_terms], np.int64)
        table = self._table
        while not kernels.count_terms(
            tokens.text,
            tokens.starts,
            tokens.ends,
            tokens.offsets,
            first,
            progress,
            table.keys,
            table.numbers,
            table.known,
            table.known_offsets,
            table.latest,
            terms,
            counts,
            offsets,
        ):
            table.grow(int(progress[3]))
        self._n_terms = int(progress[3])
        size = int(progress[2])
        return Postings(first, self._number, terms[:size].copy(), halves(counts[:size]), offsets)


def halves(counts: NDArray[np.int32]) -> NDArray[np.uint16]:
    """Counts as one column of 16 bits if all fit, else as two."""
    if int(counts.max(initial=0)) <= _NARROW:
        return counts.astype(np.uint16).reshape(-1, 1)
    return counts.astype("<i4").view("<u2").reshape(-1, 2).astype(np.uint16, copy=False)


def _refuse_giants(batch: TextBatch) -> None:
    sizes = np.diff(batch.offsets)
    if int(sizes.max(initial=0)) > _MOST_BYTES:
        giant = batch.ids[int(sizes.argmax())]
        raise InputError(
            f"document {giant!r} has more than {_MOST_BYTES >> 20} MB of text: cut it into parts"
        )


def _lower_sigmas(batch: TextBatch) -> tuple[Bytes, Ints]:
    """Put documents with Σ into lower case: it alone depends on the letters around it."""
    if _SIGMA not in batch.text.tobytes():
        return batch.text, batch.offsets
    lowered = [
        text.decode().lower().encode() if _SIGMA in text else text
        for text in map(batch.raw, range(len(batch)))
    ]
    offsets = np.zeros(len(lowered) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, lowered), np.int64, len(lowered)), out=offsets[1:])
    return np.frombuffer(b"".join(lowered), np.uint8), offsets


def _call_function(analyzer: Analyzer, batch: TextBatch) -> Tokens:
    """The tokens that a user's function finds in each document."""
    found = [analyzer.analyze(text) for _, text in batch.pairs()]
    try:
        tokens = [token.encode() for one in found for token in one]
    except (AttributeError, UnicodeEncodeError):
        raise InputError(
            "the analyzer's function gave a token that is no valid string: "
            "it must turn a text into a list of strings"
        ) from None
    ends = np.cumsum(np.fromiter(map(len, tokens), np.int64, len(tokens)))
    if len(ends) and int(ends[-1]) > 2 * _MOST_BYTES:
        raise InputError("the analyzer's function gave more than 2 GB of tokens for one batch")
    starts = np.zeros(len(ends), np.int32)
    starts[1:] = ends[:-1]
    offsets = np.zeros(len(found) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, found), np.int64, len(found)), out=offsets[1:])
    text = np.array(np.frombuffer(b"".join(tokens) or b"\0", np.uint8))
    return Tokens(text, starts, ends.astype(np.int32), offsets)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that all inputs have in common, so that the loops are compiled for one type."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view
