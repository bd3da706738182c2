"""Map the raw terms of all threads to the final vocabulary: stems and stop words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.retrieve.indexing.strings import PackedStrings, bytewise_order, gather, join, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.indexing.tokenize import Tokenizer

_PIECE: Final = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """The final terms."""

    terms: PackedStrings  # in bytewise order
    final: tuple[NDArray[np.int32], ...]  # for each tokenizer and raw term, its number; -1: none
    most: NDArray[np.int64]  # for each, the postings of its raw terms: it has not more


def final_vocabulary(tokenizers: list[Tokenizer], analyzer: Analyzer) -> Vocabulary:
    """Map the raw terms of tokenizers, which are taken out of the list, to final terms."""
    raw = [tokenizer.raw_terms() for tokenizer in tokenizers]
    frequencies = [tokenizer.frequencies() for tokenizer in tokenizers]
    tokenizers.clear()  # only the terms of their tables are needed while these are sorted
    ends = np.cumsum([len(terms) for terms in raw])
    terms, numbers = _numbered(join(raw))
    del raw
    if not analyzer.keeps_raw_terms():
        terms, finals = _numbered(_final_forms(terms, analyzer))
        if len(terms) and not terms.raw(0):
            # Terms that are left out are empty strings, which sort first.
            terms = PackedStrings(terms.data, terms.offsets[1:])
            finals -= 1
        numbers = finals[numbers]
    # The first number is of what is left out.
    most = np.bincount(numbers + 1, np.concatenate(frequencies), len(terms) + 1)[1:]
    return Vocabulary(terms, tuple(np.split(numbers, ends[:-1])), most.astype(np.int64))


def _numbered(strings: PackedStrings) -> tuple[PackedStrings, NDArray[np.int32]]:
    """Return the distinct strings in bytewise order, and the number of each string among them."""
    order, new = bytewise_order(strings)
    numbers = np.empty(len(order), np.int32)
    numbers[order] = np.cumsum(new) - 1
    return gather(strings, order[new]), numbers


def _final_forms(terms: PackedStrings, analyzer: Analyzer) -> PackedStrings:
    """Return the final form of each raw term; empty if it is left out."""
    parts = []
    for begin in range(0, len(terms), _PIECE):
        some = terms[begin : begin + _PIECE]
        parts.append(pack([term.encode() for term in analyzer.final_terms(some)]))
    return join(parts)
