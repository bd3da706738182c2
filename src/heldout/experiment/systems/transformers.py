"""PyTerrier transformers, and functions that make them, as systems."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from heldout.errors import USER_FAULTS, InputError, MissingExtraError, cause_of
from heldout.experiment.systems.calls import CallSystem, with_seed
from heldout.experiment.systems.records import RankedRecord
from heldout.experiment.systems.static import POINT, collect_points, point_tasks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.view import View
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.base import Point
    from heldout.experiment.systems.calls import CallKind
    from heldout.experiment.systems.outcomes import RankedOutcome
    from heldout.experiment.systems.records import Record

__all__ = ["TransformerSystem"]

_VALIDATION = 0.2
"""Share of the training queries that a PyTerrier estimator gets for validation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSystem(CallSystem):
    """A PyTerrier transformer, or a function or class that makes it.

    Parameters
    ----------
    call
        The transformer, or the function or class that makes it.
    """

    RECORDS: ClassVar[Mapping[str, type[Record]]] = {**CallSystem.RECORDS, POINT: RankedRecord}

    kind: CallKind = "transformer"

    @property
    def learns(self) -> bool:
        """Whether a part of it must be fitted."""
        call = self.call
        if _makes(call):
            try:
                call = call(**with_seed(call, self.settings(0), 0))
            except USER_FAULTS as error:
                raise InputError(f"{self.name} failed: {cause_of(error)}") from error
            if not hasattr(call, "transform"):
                raise InputError(
                    f"{self.name} does not take (train, test) and returned "
                    f"{type(call).__name__}: expected a function f(train, test, **parameters), or "
                    "one that returns a PyTerrier transformer"
                )
        return _learns(call)

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                "a PyTerrier transformer searches its own index of all documents: hold out "
                "queries, or give a function f(train, test) that indexes one side"
            )

    def tasks(self, settings: RankingSettings) -> Iterator[Task]:
        """Yield one task per point if nothing is fitted; otherwise as for any called system."""
        return CallSystem.tasks(self, settings) if self.learns else point_tasks(self)

    def collect(self, settings: RankingSettings, records: Mapping[str, Record]) -> RankedOutcome:
        """Combine the records of its calls."""
        if self.learns:
            return CallSystem.collect(self, settings, records)
        return collect_points(self, settings, records)

    def _called(self, train: View, test: View, settings: Point, seed: int) -> object:
        call = self.call
        if _makes(call):
            transformer = call(**with_seed(call, settings, seed))
        else:
            # Only a transformer that is fitted must be copied; a Java index cannot be.
            transformer = copy.deepcopy(call) if _learns(call) else call
        if _learns(transformer):
            _fit(transformer, train, seed)
        return transformer.transform(_topics(test))


def _makes(call: Any) -> bool:
    """Return whether it is not a transformer but makes one."""
    return not hasattr(call, "transform") or isinstance(call, type)


def _learns(transformer: Any) -> bool:
    """Return whether there is an estimator in a transformer or pipeline."""
    from pyterrier import Estimator  # installed, since there is a transformer

    if isinstance(transformer, Estimator):
        return True
    parts = getattr(transformer, "_transformers", ())
    return any(_learns(part) for part in parts)


def _fit(transformer: Any, train: View, seed: int) -> None:
    """Fit an estimator on the training queries; some of them are for its own validation."""
    from heldout.resample.holdout import HoldOut

    ids = train.collection.queries.ids
    if len(ids) < 2:
        raise InputError(f"{len(ids)} training query: a PyTerrier estimator needs at least 2")
    share = _VALIDATION if round(_VALIDATION * len(ids)) else 1
    split = HoldOut(share, seed=seed).splits(ids)[0]
    sides = []
    for side in ("train", "test"):
        numbers = split.rows(side).tolist()
        sides += [_topics(train, numbers), _qrels(train, {ids[at] for at in numbers})]
    transformer.fit(*sides)


def _frames() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "PyTerrier transformers need pandas: pip install python-terrier"
        ) from error
    return pd


def _topics(view: View, numbers: Sequence[int] | None = None) -> Any:
    queries = view.collection.queries
    places = range(len(queries)) if numbers is None else numbers
    rows = {
        "qid": [queries.ids[at] for at in places],
        "query": [queries.texts[at] for at in places],
    }
    return _frames().DataFrame(rows, dtype=object)


def _qrels(view: View, queries: set[str]) -> Any:
    rows = [
        (query, doc, grade)
        for query, judged in view.qrels.to_dict().items()
        if query in queries
        for doc, grade in judged.items()
    ]
    frame = _frames().DataFrame(rows, columns=["qid", "docno", "label"])
    return frame.astype({"label": "int64"})
