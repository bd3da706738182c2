"""Turn one batch of text into the postings of its documents, on one thread."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.words import offsets_of, words
from heldout.errors import InputError
from heldout.retrieve.characters import ascii_letters, ascii_table, unicode_table
from heldout.retrieve.kernels.counting import count_terms, rehash
from heldout.retrieve.kernels.cutting import THREE_BYTES, cut_words, split_unspaced
from heldout.retrieve.kernels.types import (
    SLACK,
    Counted,
    Found,
    Table,
    Tokens,
    read_only,
)
from heldout.retrieve.strings import PackedStrings, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.documents import TextBatch
    from heldout.data.words import Bytes, Ints
    from heldout.retrieve.analyze import Analyzer

_SIGMA: Final = "Σ".encode()
_MOST_BYTES: Final = 1 << 30
_NARROW: Final = (1 << 16) - 1
_TOGETHER: Final = 128
"""Terms looked up together, so that the processor waits for many slots at once."""


def _grown(table: Table, n_terms: int) -> Table:
    """Enlarge the table: more slots if it is half full, else more bytes for terms."""
    if 2 * n_terms < len(table.slots):
        return table._replace(known=_longer(table.known, 2 * len(table.known)))
    slots = np.zeros((2 * len(table.slots), 2), np.uint64)
    rehash(table.slots, slots)
    half = len(slots) // 2
    offsets, latest = _longer(table.offsets, half + 1), _longer(table.latest, half)
    return Table(slots, table.known, offsets, latest)


def _longer(array: NDArray[Any], size: int) -> NDArray[Any]:
    longer = np.zeros((size, *array.shape[1:]), array.dtype)
    longer[: len(array)] = array
    return longer


class Tokenizer:
    """Tokenizes batches and counts their terms; one per thread."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer
        self._held: dict[str, NDArray[Any]] = {}
        self._table = Table(
            slots=np.zeros((1 << 14, 2), np.uint64),
            known=np.empty(1 << 16, np.uint8),
            offsets=np.zeros((1 << 13) + 1, np.int64),
            latest=np.zeros((1 << 13, 3), np.int32),
        )
        self._found = Found(np.empty(_TOGETHER, np.uint64), np.empty(_TOGETHER, np.int64))
        self._n_terms = 0

    def raw_terms(self) -> tuple[PackedStrings, NDArray[np.int32]]:
        """Return the raw terms of all batches so far, and the number of postings of each."""
        offsets = self._table.offsets[: self._n_terms + 1]
        terms = PackedStrings(self._table.known[: offsets[-1]], offsets)
        return terms, self._table.latest[: self._n_terms, 2].copy()

    def count(self, batch: TextBatch) -> Counted:
        """Return the postings of a batch."""
        sizes = np.diff(batch.offsets)
        if int(sizes.max(initial=0)) > _MOST_BYTES:
            giant = batch.ids[int(sizes.argmax())]
            raise InputError(
                f"document {giant!r} has more than {_MOST_BYTES >> 20} MB of text: split it"
            )
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

    def _space(self, name: str, text: Bytes, size: int, n_documents: int) -> Tokens:
        starts = self._room(f"{name} starts", size, np.int32)
        ends = self._room(f"{name} ends", size, np.int32)
        return Tokens(text, words(text), starts, ends, np.zeros(n_documents + 1, np.int64))

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
        space = self._space("word", out, size // 2 + n_documents + 1, n_documents)
        letters = ascii_letters(lower)
        tokens = _first(
            space, cut_words(read_only(text), read_only(offsets), letters, table, space)
        )
        if highest < THREE_BYTES:
            return tokens
        size = int((tokens.ends - tokens.starts).sum(dtype=np.int64))
        space = self._space("term", out, size, n_documents)
        return _first(space, split_unspaced(tokens, table, space))


def _first(tokens: Tokens, size: int) -> Tokens:
    return tokens._replace(starts=tokens.starts[:size], ends=tokens.ends[:size])


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
