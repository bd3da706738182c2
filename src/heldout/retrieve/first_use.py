"""Compile the loop of rankings in another process, while documents are read and indexed.

That process runs this module: it searches one document, with the types that are always used.
"""

from __future__ import annotations

from heldout.compiled import compile_elsewhere


def prepare_ranking() -> None:
    """Start to compile what experiments need, unless the code is kept already."""
    from heldout.retrieve.kernels.rank import rank

    compile_elsewhere(rank, __name__)


if __name__ == "__main__":
    import numba

    numba.config.DISABLE_JIT = 1  # type: ignore[attr-defined] # no loops of the index
    from heldout.retrieve.index import Index

    index = Index.build({"d": "a"})
    numba.config.DISABLE_JIT = 0  # type: ignore[attr-defined]
    from heldout.retrieve.search import search

    search(index, {"q": "a"}, "ql-jm")
