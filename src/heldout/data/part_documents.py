"""Some of the documents of a collection, without a copy of their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from heldout.data.documents import BATCH, Documents, TextBatch
from heldout.data.ids import distinct_ids

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from numpy.typing import NDArray

    from heldout.data.ids import Ids
    from heldout.data.words import Ints
    from heldout.notes import Note

    Weights = NDArray[np.int32]

__all__ = ["PartDocuments", "copy_names"]


class PartDocuments(Documents):
    """Some of the documents of a collection, each repeated by its weight.

    Parameters
    ----------
    whole
        All documents.
    weights
        How often each is included.
    """

    __slots__ = ("_weights", "_whole", "ids", "notes", "numbers")
    ids: Ids
    notes: tuple[Note, ...]

    def __init__(self, whole: Documents, weights: Weights) -> None:
        self._whole = whole
        self._weights = weights
        self.numbers: Ints = np.repeat(np.arange(len(weights)), weights)
        names = whole.ids
        self.ids = distinct_ids(copy_names([names[at] for at in self.numbers.tolist()], names))
        self.notes = ()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Yield the documents in batches of at most about `size` bytes, not counting copies."""
        first = 0
        for batch in self._whole.batches(size):
            wanted = self._weights[batch.first : batch.first + len(batch)]
            places = np.repeat(np.arange(len(batch)), wanted).tolist()
            if not places:
                continue
            texts = [batch.raw(place) for place in places]
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
            offsets = np.concatenate(([0], np.cumsum(lengths)))
            text = np.frombuffer(b"".join(texts), np.uint8)
            yield TextBatch(first, self.ids[first : first + len(texts)], text, offsets)
            first += len(texts)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        return self._whole.text(int(self.numbers[number]))


def copy_names(names: Sequence[str], taken: Container[str]) -> list[str]:
    """Return unique names for copies: the second ``a`` is ``a~2``.

    Examples
    --------
    >>> copy_names(["a", "a", "b"], ["a", "b"]), copy_names(["a", "a"], ["a", "a~2"])
    (['a', 'a~2', 'b'], ['a', 'a~~2'])
    """
    counts: dict[str, int] = {}
    found = []
    for name in names:
        times = counts[name] = counts.get(name, 0) + 1
        if times == 1:
            found.append(name)
            continue
        mark = "~"
        while f"{name}{mark}{times}" in taken:
            mark += "~"
        found.append(f"{name}{mark}{times}")
    return found
