"""PyTerrier transformers, and functions that make them, as systems."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError, MissingExtraError
from heldout.experiment.systems.functions import with_seed
from heldout.experiment.systems.references import users_code

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.collection import View
    from heldout.data.run import Run

_VALIDATION: Final = 0.2
"""Share of the training queries that a PyTerrier estimator gets for validation."""


def can_learn(call: Any, name: str, point: Mapping[str, Any]) -> bool:
    """Return whether a transformer, or what makes one at some point, has anything to learn."""
    if _makes(call):
        with users_code(name):
            call = call(**with_seed(call, dict(point), 0))
        if not hasattr(call, "transform"):
            raise InputError(
                f"{name} does not take (train, test) and returned {type(call).__name__}: expected "
                "a function f(train, test, **parameters), or one that returns a PyTerrier "
                "transformer"
            )
    return _learns(call)


def transformed(call: Any, train: View, test: View, arguments: dict[str, Any], seed: int) -> object:
    """Return what a transformer makes of the test side; it is fitted first if it learns.

    It gets queries or, if there are `candidates` among the arguments, these.
    """
    parameters = dict(arguments)
    asked, seen = parameters.pop("candidates", None), parameters.pop("train_candidates", None)
    if _makes(call):
        transformer = call(**with_seed(call, parameters, seed))
    else:
        # Only a transformer that is fitted must be copied; a Java index cannot be.
        transformer = copy.deepcopy(call) if _learns(call) else call
    if _learns(transformer):
        _fit(transformer, train, seen, seed)
    return transformer.transform(_frame(test, asked))


def _makes(call: Any) -> bool:
    """Return whether it is not a transformer but makes one."""
    return not hasattr(call, "transform") or isinstance(call, type)


def _learns(transformer: Any) -> bool:
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
    return any(map(_learns, getattr(transformer, "_transformers", ())))


def _fit(transformer: Any, train: View, candidates: Run | None, seed: int) -> None:
    """Fit an estimator on the training queries; some of them are for its own validation."""
    import pandas as pd  # PyTerrier needs it, too

    from heldout.resample.plans import HoldOut

    ids = train.collection.queries.ids
    if len(ids) < 2:
        raise InputError(f"{len(ids)} training query: a PyTerrier estimator needs at least 2")
    share = _VALIDATION if round(_VALIDATION * len(ids)) else 1
    split = HoldOut(share, seed=seed).splits(ids)[0]
    judged = [
        (query, document, grade)
        for query, grades in train.qrels.to_dict().items()
        for document, grade in grades.items()
    ]
    qrels = pd.DataFrame(judged, columns=["qid", "docno", "label"]).astype({"label": "int64"})
    frames = []
    for side in ("train", "test"):
        asked = [ids[number] for number in split.rows(side).tolist()]
        tables = _frame(train, candidates), qrels
        frames += [table[table["qid"].isin(asked)].reset_index(drop=True) for table in tables]
    transformer.fit(*frames)


def _frame(view: View, candidates: Run | None) -> Any:
    """Return the queries of a side with the columns ``qid`` and ``query``.

    With candidates, these: ``docno``, ``text``, ``score`` and ``rank`` (from 0) are added.
    """
    import pandas as pd

    queries, documents = view.collection.queries, view.collection.documents
    texts = queries.to_dict()
    if candidates is None:
        return pd.DataFrame(list(texts.items()), columns=["qid", "query"], dtype=object)
    rows = [
        (query, texts[query], document, documents.text(number) if number >= 0 else "", score, rank)
        for query, ranked in candidates.to_dict().items()
        if query in texts
        for rank, (number, (document, score)) in enumerate(
            zip(documents.ids.find(list(ranked)).tolist(), ranked.items(), strict=True)
        )
    ]
    return pd.DataFrame(rows, columns=["qid", "query", "docno", "text", "score", "rank"])
