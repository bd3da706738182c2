"""PyTerrier transformers, and functions that make them, as systems."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from heldout.errors import InputError, MissingExtraError, cause_of
from heldout.experiment.systems.calls import with_seed
from heldout.experiment.systems.static_calls import StaticCallSystem

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.collection import View
    from heldout.data.run import Run
    from heldout.experiment.systems.base import Point
    from heldout.experiment.systems.calls import CallKind

__all__ = [
    "Inputs",
    "TransformerSystem",
    "candidate_frame",
    "topics",
    "transformed",
    "transformer_learns",
]

_VALIDATION = 0.2
"""Share of the training queries that a PyTerrier estimator gets for validation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformerSystem(StaticCallSystem):
    """A PyTerrier transformer, or a function or class that makes it.

    Parameters
    ----------
    call
        The transformer, or the function or class that makes it.
    """

    kind: CallKind = "transformer"
    _known: list[bool] = field(default_factory=list, init=False, compare=False, repr=False)

    @property
    def learns(self) -> bool:
        """Whether a part of it must be fitted; what makes it is called once to find out."""
        if not self._known:
            self._known.append(self._find_learns())
        return self._known[0]

    def _find_learns(self) -> bool:
        call = self.call
        if _makes(call):
            try:
                call = call(**with_seed(call, self.settings(0), 0))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                raise InputError(f"{self.name} failed: {cause_of(error)}") from error
            if not hasattr(call, "transform"):
                raise InputError(
                    f"{self.name} does not take (train, test) and returned "
                    f"{type(call).__name__}: expected a function f(train, test, **parameters), or "
                    "one that returns a PyTerrier transformer"
                )
        return transformer_learns(call)

    def misfits(self, by: str) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                "a PyTerrier transformer searches its own index of all documents: hold out "
                "queries, let it rerank another system (first), or give a function f(train, test) "
                "that indexes one side"
            )

    def _called(self, train: View, test: View, settings: Point, seed: int) -> object:
        return transformed(self.call, settings, seed, train, test)


class Inputs(Protocol):
    """What a transformer gets for the queries of a side, or for some of them."""

    def __call__(self, view: View, numbers: Sequence[int] | None = None) -> Any:
        """Return a frame with the column ``qid``."""


def transformed(
    call: Any,
    settings: Point,
    seed: int,
    train: View,
    test: View,
    inputs: Inputs | None = None,
) -> object:
    """Return the output of a transformer for the test side; it is fitted first if it learns.

    Parameters
    ----------
    call
        The transformer, or what makes it of the parameters.
    inputs
        What it gets for a side (default: the topics).
    """
    given: Inputs = inputs or topics
    if _makes(call):
        transformer = call(**with_seed(call, settings, seed))
    else:
        # Only a transformer that is fitted must be copied; a Java index cannot be.
        transformer = copy.deepcopy(call) if transformer_learns(call) else call
    if transformer_learns(transformer):
        _fit(transformer, train, seed, given)
    return transformer.transform(given(test))


def _makes(call: Any) -> bool:
    """Return whether it is not a transformer but makes one."""
    return not hasattr(call, "transform") or isinstance(call, type)


def transformer_learns(transformer: Any) -> bool:
    """Return whether there is an estimator in a transformer or pipeline."""
    try:
        from pyterrier import Estimator
    except ImportError as error:
        raise MissingExtraError(
            f"{type(transformer).__name__} has a method transform, as PyTerrier transformers have, "
            "but PyTerrier is not installed: pip install python-terrier"
        ) from error

    if isinstance(transformer, Estimator):
        return True
    parts = getattr(transformer, "_transformers", ())
    return any(transformer_learns(part) for part in parts)


def _fit(transformer: Any, train: View, seed: int, inputs: Inputs) -> None:
    """Fit an estimator on the training queries; some of them are for its own validation."""
    from heldout.resample.plans import HoldOut

    ids = train.collection.queries.ids
    if len(ids) < 2:
        raise InputError(f"{len(ids)} training query: a PyTerrier estimator needs at least 2")
    share = _VALIDATION if round(_VALIDATION * len(ids)) else 1
    split = HoldOut(share, seed=seed).splits(ids)[0]
    sides = []
    for side in ("train", "test"):
        numbers = split.rows(side).tolist()
        sides += [inputs(train, numbers), _qrels(train, {ids[at] for at in numbers})]
    transformer.fit(*sides)


def _frames() -> Any:
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtraError(
            "PyTerrier transformers need pandas: pip install python-terrier"
        ) from error
    return pd


def topics(view: View, numbers: Sequence[int] | None = None) -> Any:
    """Return the queries of a side with the columns ``qid`` and ``query``."""
    queries = view.collection.queries
    places = range(len(queries)) if numbers is None else numbers
    rows = {
        "qid": [queries.ids[at] for at in places],
        "query": [queries.texts[at] for at in places],
    }
    return _frames().DataFrame(rows, dtype=object)


def candidate_frame(run: Run, view: View, numbers: Sequence[int] | None = None) -> Any:
    """Return the ranked documents of a side as PyTerrier has them, with their texts.

    The columns are ``qid``, ``query``, ``docno``, ``text``, ``score`` and ``rank`` (from 0).
    """
    asked = topics(view, numbers)
    texts = dict(zip(asked["qid"], asked["query"], strict=True))
    documents = view.collection.documents
    rows = [
        (query, texts[query], document, documents.text(number) if number >= 0 else "", score, rank)
        for query, ranked in run.to_dict().items()
        if query in texts
        for rank, (number, (document, score)) in enumerate(
            zip(documents.ids.find(list(ranked)).tolist(), ranked.items(), strict=True)
        )
    ]
    columns = ["qid", "query", "docno", "text", "score", "rank"]
    return _frames().DataFrame(rows, columns=columns)


def _qrels(view: View, queries: set[str]) -> Any:
    rows = [
        (query, doc, grade)
        for query, judged in view.qrels.to_dict().items()
        if query in queries
        for doc, grade in judged.items()
    ]
    frame = _frames().DataFrame(rows, columns=["qid", "docno", "label"])
    return frame.astype({"label": "int64"})
