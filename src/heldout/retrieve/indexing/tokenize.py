"""Turn one batch of text into the postings of its documents, on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.words import words
from heldout.errors import InputError
from heldout.retrieve.characters import ascii_letters, ascii_table, unicode_table
from heldout.retrieve.indexing.kernels.counting import count_terms, rehash
from heldout.retrieve.indexing.kernels.cutting import cut_words, split_unspaced
from heldout.retrieve.indexing.kernels.types import (
    SLACK,
    Counted,
    Found,
    Ranges,
    Table,
    Tokens,
    read_only,
)
from heldout.retrieve.indexing.strings import PackedStrings, offsets_of, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.words import Bytes, Ints
    from heldout.retrieve.analyze import Analyzer

_SIGMA: Final = "Σ".encode()
_THREE_BYTES: Final = 0xE0
"""Characters of scripts without spaces begin with this byte or one above it."""
_MOST_BYTES: Final = 1 << 30
_NARROW: Final = (1 << 16) - 1
_TOGETHER: Final = 128
"""Terms looked up together, so that the processor waits for many slots at once."""


def _empty_table() -> Table:
    return Table(
        slots=np.zeros((1 << 14, 2), np.uint64),
        known=np.empty(1 << 16, np.uint8),
        offsets=np.zeros((1 << 13) + 1, np.int64),
        latest=_unseen(1 << 13),
    )


def _unseen(n_terms: int) -> NDArray[np.int32]:
    """Return, for terms that no document has, the last document, a position, and their number."""
    return np.tile(np.array([-1, -1, 0], np.int32), (n_terms, 1))


def _grown(table: Table, n_terms: int) -> Table:
    """Enlarge the table: more slots if it is half full, else more bytes for terms."""
    if 2 * n_terms < len(table.slots):
        return table._replace(known=_longer(table.known, 2 * len(table.known)))
    slots = np.zeros((2 * len(table.slots), 2), np.uint64)
    rehash(table.slots, slots)
    latest = _unseen(len(slots) // 2)
    latest[: len(table.latest)] = table.latest
    return Table(slots, table.known, _longer(table.offsets, len(slots) // 2 + 1), latest)


class Tokenizer:
    """Tokenizes batches and counts their terms; one per thread."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._held: dict[str, NDArray[Any]] = {}
        self._table = _empty_table()
        self._found = Found(np.empty(_TOGETHER, np.uint64), np.empty(_TOGETHER, np.int64))
        self._n_terms = 0

    def raw_terms(self) -> PackedStrings:
        """Return the raw terms of all batches so far."""
        offsets = self._table.offsets[: self._n_terms + 1]
        return PackedStrings(self._table.known[: offsets[-1]], offsets)

    def frequencies(self) -> NDArray[np.int32]:
        """Return the number of postings of each raw term."""
        return self._table.latest[: self._n_terms, 2].copy()

    def count(self, batch: TextBatch) -> Counted:
        """Return the postings of a batch."""
        _refuse_giants(batch)
        own = self._analyzer.function is not None
        tokens = _call_function(self._analyzer, batch) if own else self._cut(batch)
        size = len(tokens.starts)
        counted = Counted(
            self._room("terms", size, np.int32),
            self._room("counts", size, np.int32),
            np.zeros(len(tokens.offsets), np.int32),
        )
        progress = np.array([0, 0, 0, self._n_terms], np.int64)
        while not count_terms(tokens, batch.first, progress, self._table, self._found, counted):
            self._table = _grown(self._table, int(progress[3]))
        _, _, size, self._n_terms = progress.tolist()
        counts = counted.counts[:size]
        narrow = int(counts.max(initial=0)) <= _NARROW
        return Counted(
            counted.terms[:size].copy(),
            counts.astype(np.uint16 if narrow else np.int32),
            counted.offsets,
        )

    def _room(self, name: str, size: int, dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array that is used again for the next batch: new memory costs much time."""
        held = self._held.get(name)
        if held is None or len(held) < size:
            held = self._held[name] = np.empty(size + size // 8, dtype)
        return held[:size]

    def _ranges(self, name: str, size: int, n_documents: int) -> Ranges:
        starts = self._room(f"{name} starts", size, np.int32)
        ends = self._room(f"{name} ends", size, np.int32)
        return Ranges(starts, ends, np.zeros(n_documents + 1, np.int64))

    def _cut(self, batch: TextBatch) -> Tokens:
        lower = self._analyzer.lower
        text, offsets = np.ascontiguousarray(batch.text), np.ascontiguousarray(batch.offsets)
        highest = int(text.max(initial=0))
        is_ascii = highest < 128
        if lower and not is_ascii:
            text, offsets = _lower_sigmas(batch)
        table = ascii_table(lower) if is_ascii else unicode_table(lower)
        size, n_documents = len(text), len(offsets) - 1
        # Lower case can take three bytes where upper case takes two; plus a space after each word.
        out = self._room("text", size + size // 2 + n_documents + SLACK, np.uint8)
        ranges = self._ranges("word", size // 2 + n_documents + 1, n_documents)
        n_words = cut_words(
            read_only(text), read_only(offsets), ascii_letters(lower), table, out, ranges
        )
        tokens = Tokens(out, words(out), *_first(ranges, n_words))
        if highest < _THREE_BYTES:
            return tokens
        size = int((tokens.ends - tokens.starts).sum(dtype=np.int64))
        ranges = self._ranges("term", size, n_documents)
        return tokens._replace(**_first(ranges, split_unspaced(tokens, table, ranges))._asdict())


def _first(ranges: Ranges, size: int) -> Ranges:
    return Ranges(ranges.starts[:size], ranges.ends[:size], ranges.offsets)


def _refuse_giants(batch: TextBatch) -> None:
    sizes = np.diff(batch.offsets)
    if int(sizes.max(initial=0)) > _MOST_BYTES:
        giant = batch.ids[int(sizes.argmax())]
        raise InputError(
            f"document {giant!r} has more than {_MOST_BYTES >> 20} MB of text: split it"
        )


def _lower_sigmas(batch: TextBatch) -> tuple[Bytes, Ints]:
    """Lower-case documents with Σ in Python: its lower case depends on the letters around it."""
    if _SIGMA not in batch.text.tobytes():
        return batch.text, batch.offsets
    texts = map(batch.raw, range(len(batch)))
    packed = pack([text.decode().lower().encode() if _SIGMA in text else text for text in texts])
    return packed.data, packed.offsets


def _call_function(analyzer: Analyzer, batch: TextBatch) -> Tokens:
    """Return the tokens that a user's function returns for each document."""
    returned = [analyzer.analyze(text) for _, text in batch.pairs()]
    try:
        tokens = [token.encode() for some in returned for token in some]
    except (AttributeError, UnicodeEncodeError):
        raise InputError(
            "the analyzer's function returned a token that is not a valid string: "
            "it must return a list of strings"
        ) from None
    packed = pack([*tokens, bytes(SLACK)])
    if int(packed.offsets[-1]) > 2 * _MOST_BYTES:
        raise InputError("the analyzer's function returned more than 2 GB of tokens for one batch")
    places = packed.offsets[:-1].astype(np.int32)
    offsets = offsets_of(np.fromiter(map(len, returned), np.int64, len(returned)))
    text = packed.data.copy()  # writable, as all texts of tokens are
    return Tokens(text, words(text), places[:-1], places[1:], offsets)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros(size, array.dtype)
    longer[: len(array)] = array
    return longer
