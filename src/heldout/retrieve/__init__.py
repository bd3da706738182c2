"""Text to ranked lists: analysis, one index, scoring rules, compiled loops."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.lazy import found_in

if TYPE_CHECKING:
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index
    from heldout.retrieve.models import Model, parse_model

_HOMES = {
    "Analyzer": "heldout.retrieve.analyze",
    "Index": "heldout.retrieve.index",
    "Model": "heldout.retrieve.models",
    "parse_model": "heldout.retrieve.models",
}

__all__ = [
    "Analyzer",
    "Index",
    "Model",
    "parse_model",
]


def __getattr__(name: str) -> Any:
    return found_in(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
