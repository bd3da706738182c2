"""Similarity of word vectors: averages, extrema, and greedy matching."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.text.base import SegmentMean, one_of
from heldout.measure.text.vectors import Vectors
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.segments import Segments
    from heldout.data.words import Floats

__all__ = ["Embedding"]

KINDS: Final = ("average", "greedy", "extrema")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


@dataclass(frozen=True, slots=True, repr=False)
class Embedding(SegmentMean):
    """Cosine similarity of texts by word vectors [1]_.

    Words without a vector are ignored. A text without any known word gets 0; a segment whose
    references have no known word is undefined for all systems. With several references the best one
    counts.

    Parameters
    ----------
    vectors
        Word vectors, see `heldout.measure.text.vectors.read_vectors`.
    kind
        ``average``: the cosine of the mean vectors; ``extrema``: of the vectors that have, in each
        dimension, the number farthest from 0; ``greedy``: each word is matched with the most
        similar word of the other side, averaged in both directions.
    lowercase
        Whether words are looked up in lower case.

    References
    ----------
    .. [1] Liu, C.-W., Lowe, R., Serban, I., Noseworthy, M., Charlin, L., Pineau, J. (2016). How
       not to evaluate your dialogue system. EMNLP 2016, 2122-2132.
    """

    vectors: Vectors
    kind: str = "average"
    lowercase: bool = True

    always_named: ClassVar[tuple[str, ...]] = ("kind",)

    bounds: ClassVar[tuple[float, float]] = (-1.0, 1.0)

    def __post_init__(self) -> None:
        if not isinstance(self.vectors, Vectors):
            raise MeasureError(
                "Embedding: expected vectors, for example Embedding(vectors='FILE', kind='greedy')"
            )
        one_of("Embedding", "kind", self.kind, KINDS)
        one_of("Embedding", "lowercase", self.lowercase, (False, True))

    @property
    def family(self) -> str:
        """Embedding."""
        return "Embedding"

    def labels(self) -> list[tuple[str, Any]]:
        """Return all parameters; vectors by their fingerprint, not by their file."""
        return [
            ("kind", self.kind),
            ("vectors", self.vectors.fingerprint),
            ("case", "lc" if self.lowercase else "mixed"),
            ("tok", "words"),
            ("oov", "left-out"),
            ("empty", 0),
            ("multi", "best"),
        ]

    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return the best value over the references of each segment."""
        for texts, written in zip(references.texts, system.texts, strict=True):
            mine = self._known(written[0])
            wanted = [one for one in map(self._known, texts) if len(one)]
            if not wanted:
                yield math.nan
            elif not len(mine):
                yield 0.0
            else:
                yield max(_SIMILARITIES[self.kind](one, mine) for one in wanted)

    def _known(self, text: str) -> Floats:
        return self.vectors.known(_TOKEN.findall(text.lower() if self.lowercase else text))

    def notes(self, references: Segments, systems: list[Segments]) -> list[Note]:
        """Warn about segments without a value."""
        del systems
        empty = sum(not any(len(self._known(text)) for text in texts) for texts in references.texts)
        if not empty:
            return []
        known = "no word of their references has a vector, so they are left out"
        text = f"{self}: {empty:,} of {len(references.ids):,} segments: {known}"
        return [Note("no-vectors", text)]


def _cosine(one: Floats, other: Floats) -> float:
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other) / lengths if lengths > 0 else 0.0


def _average(wanted: Floats, written: Floats) -> float:
    return _cosine(wanted.mean(axis=0), written.mean(axis=0))


def _extremes(rows: Floats) -> Floats:
    high: Floats = rows.max(axis=0)
    low: Floats = rows.min(axis=0)
    return np.where(high >= np.abs(low), high, low)


def _extrema(wanted: Floats, written: Floats) -> float:
    return _cosine(_extremes(wanted), _extremes(written))


def _greedy(wanted: Floats, written: Floats) -> float:
    cosines = _unit(wanted) @ _unit(written).T
    return float(cosines.max(axis=0).mean() + cosines.max(axis=1).mean()) / 2


def _unit(rows: Floats) -> Floats:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, np.where(lengths > 0, lengths, 1.0))


_SIMILARITIES: Final = {"average": _average, "greedy": _greedy, "extrema": _extrema}
