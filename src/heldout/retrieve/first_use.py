"""Compile the loops of rankings in another process, while documents are read and indexed.

Compiling them takes as long as compiling those of the index. The other process runs this module,
which searches one document, with the types that the loops are always called with.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from heldout.compiled import compile_elsewhere
from heldout.retrieve.models import FRACTION

if TYPE_CHECKING:
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model

__all__ = ["call", "prepare_ranking", "prepare_search"]


def prepare_ranking() -> None:
    """Start to compile what experiments need, unless the cache has it."""
    from heldout.retrieve.kernels.lists import rank

    compile_elsewhere(__name__, "ranking", rank)


def prepare_search(model: Model) -> None:
    """Start to compile what a search with a model needs, unless the cache has it."""
    if model.form.kind != FRACTION:
        prepare_ranking()
        return
    from heldout.retrieve.kernels.search import search

    compile_elsewhere(__name__, "search", search)


def _index_of_one_document() -> Index:
    """Return an index without building it: the loops that build it are not needed here."""
    import numpy as np

    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

    one, ends = np.ones(1, np.int32), np.array([0, 1])
    letter = np.frombuffer(b"a", np.uint8)
    arrays = {
        "offsets": ends,
        "documents": np.zeros(1, np.int32),
        "counts": one.astype(np.uint16),
        "lengths": one,
        "distinct": one,
        "id_order": np.zeros(1, np.int32),
        "term_bytes": letter,
        "term_offsets": ends,
        "term_words": np.array([ord("a") << 56], np.uint64),
        "id_bytes": letter,
        "id_offsets": ends,
        "text_hashes": np.zeros(2, np.uint64),
        "bound_terms": np.zeros(0, np.int32),
        "bound_starts": np.zeros(0, np.int32),
        "bound_counts": np.zeros(0, np.uint16),
        "bound_lengths": np.zeros(0, np.uint16),
        "most_counts": one.astype(np.uint16),
        "least_lengths": one.astype(np.uint16),
    }
    return Index._assemble(arrays, Analyzer(), "")  # noqa: SLF001 - as if it had been built


def call(what: str) -> None:
    """Call the loops of rankings or of searches: a search with some models is a ranking."""
    from heldout.retrieve.search import search

    search(_index_of_one_document(), {"q": "a"}, "bm25" if what == "search" else "ql-jm")


if __name__ == "__main__":
    call(sys.argv[1])
