"""The fusion methods, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.report.tables import Table
from heldout.report.terminal import aligned
from heldout.retrieve.fuse import METHODS

if TYPE_CHECKING:
    from heldout.retrieve.fuse import Method

__all__ = ["method_rows", "methods_text"]


def method_rows() -> list[tuple[str, str, str, str]]:
    """Return what each fusion method needs, computes, and does about missing documents."""
    return [
        (name, _needs(method), method.summary, method.policy) for name, method in METHODS.items()
    ]


def methods_text() -> str:
    """Return a table of the fusion methods."""
    heads = ("method", "needs", "score of a document", "missing documents")
    return aligned(Table(heads, method_rows(), texts=4)) + "\n" + _NOTES


def _needs(method: Method) -> str:
    return ", ".join(["scores" if method.uses_scores else "ranks", *method.parameters])


_NOTES = """\
Scores are normalised per query first (--norm): minmax (s - min) / (max - min), max s / max, sum
(s - min) / sum of s - min, zscore (s - mean) / standard deviation, rank 1 - (rank - 1) / n, none.
With zscore a document that a run lacks counts as an average one. Of equal fused scores the greater
document id comes first.
"""
