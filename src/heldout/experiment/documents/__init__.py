"""Scores on new documents: estimates, intervals, differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from heldout.experiment.documents.cross_validate import cross_validate_documents

__all__ = ["cross_validate_documents"]


def __getattr__(name: str) -> Any:
    # Loaded when used: other modules of this folder are needed without it.
    if name != "cross_validate_documents":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from heldout.experiment.documents import cross_validate

    return cross_validate.cross_validate_documents
