"""Systems: built-in models, run files, vectors, functions, rerankers, transformers, estimators.

All are subclasses of `heldout.experiment.systems.base.System`; each kind has a module of its own,
which is loaded when it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from heldout.experiment.systems.base import Context, System

if TYPE_CHECKING:
    from heldout.experiment.systems.calls import CallSystem
    from heldout.experiment.systems.estimators import EstimatorSystem
    from heldout.experiment.systems.fold_runs import FoldRunSystem
    from heldout.experiment.systems.fusions import FusionSystem
    from heldout.experiment.systems.models import ModelSystem
    from heldout.experiment.systems.rerankers import RerankSystem
    from heldout.experiment.systems.runs import RunSystem
    from heldout.experiment.systems.transformers import TransformerSystem
    from heldout.experiment.systems.vectors import VectorSystem

__all__ = [
    "CallSystem",
    "Context",
    "EstimatorSystem",
    "FoldRunSystem",
    "FusionSystem",
    "ModelSystem",
    "RerankSystem",
    "RunSystem",
    "System",
    "TransformerSystem",
    "VectorSystem",
]

_HOMES: Final = {
    "CallSystem": "calls",
    "EstimatorSystem": "estimators",
    "FoldRunSystem": "fold_runs",
    "FusionSystem": "fusions",
    "ModelSystem": "models",
    "RerankSystem": "rerankers",
    "RunSystem": "runs",
    "TransformerSystem": "transformers",
    "VectorSystem": "vectors",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
