"""Tuning: search spaces, and the selection of parameters on the training data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.lazy import found_in

if TYPE_CHECKING:
    from heldout.tune.choice import Choice, choose
    from heldout.tune.search import Trials, search_optuna
    from heldout.tune.space import Axis, Space, parse_axis
    from heldout.tune.tuned_folds import TunedFolds, cross_validate

_HOMES = {
    "Axis": "heldout.tune.space",
    "Choice": "heldout.tune.choice",
    "Space": "heldout.tune.space",
    "Trials": "heldout.tune.search",
    "TunedFolds": "heldout.tune.tuned_folds",
    "choose": "heldout.tune.choice",
    "cross_validate": "heldout.tune.tuned_folds",
    "parse_axis": "heldout.tune.space",
    "search_optuna": "heldout.tune.search",
}

__all__ = [
    "Axis",
    "Choice",
    "Space",
    "Trials",
    "TunedFolds",
    "choose",
    "cross_validate",
    "parse_axis",
    "search_optuna",
]


def __getattr__(name: str) -> Any:
    return found_in(__name__, _HOMES, name)


def __dir__() -> list[str]:
    return list(__all__)
