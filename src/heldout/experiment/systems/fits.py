"""Fit scikit-learn estimators: copies with their own parameters and seeds, on one thread."""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.errors import cause_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.data.words import Floats, Ints

__all__ = ["Fitted", "first_line", "fit_predict", "seeded", "take_rows"]


class Fitted(NamedTuple):
    """The output of a fitted estimator for some rows.

    Parameters
    ----------
    predicted
        Labels or numbers.
    scores
        One row per unit and one column per class of the training data; None if it has no scores.
    classes
        These classes, in the order of the columns.
    probabilities
        Whether the scores are probabilities.
    warned
        Warnings, each once.
    """

    predicted: Any
    scores: Floats | None = None
    classes: tuple[Any, ...] = ()
    probabilities: bool = False
    warned: tuple[str, ...] = ()


def take_rows(table: Any, rows: Ints) -> Any:
    """Return some rows of an array, a sparse matrix, a frame or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    if hasattr(table, "shape"):
        return table[rows]
    return [table[at] for at in rows.tolist()]


def fit_predict(
    estimator: Any,
    point: Mapping[str, Any],
    seed: int,
    seen: tuple[Any, Any],
    held_out: Any,
    *,
    reseed: bool = False,
    scored: bool = True,
) -> Fitted:
    """Fit a copy of the estimator on the training side, and predict the held-out side.

    Parameters
    ----------
    estimator, point
        The estimator and its parameters.
    seed
        For every ``random_state`` that is None, or for all of them if `reseed`.
    seen
        X and y of the training side.
    held_out
        X of the held-out side.
    reseed
        Whether to replace seeds that the user set, for repeated runs.
    scored
        Whether to compute scores of classes, too.
    """
    model = seeded(estimator, point, seed, reseed=reseed)
    # One thread: sums depend on the number of threads, and so would the bytes of the results.
    with warnings.catch_warnings(record=True) as caught, _threads().limit(limits=1):
        warnings.simplefilter("always")
        model.fit(*seen)
        found = _predict(model, held_out, scored=scored)
    warned = (f"{one.category.__name__}: {first_line(one.message)}" for one in caught)
    return found._replace(warned=tuple(sorted(set(warned))))


def seeded(estimator: Any, point: Mapping[str, Any], seed: int, *, reseed: bool) -> Any:
    """Return a new copy with its parameters and seeds."""
    from sklearn.base import clone  # type: ignore[import-untyped] # slow to import

    model = clone(estimator)
    if point:
        model.set_params(**point)
    states = {
        name: seed
        for name, value in model.get_params().items()
        if (name == "random_state" or name.endswith("__random_state")) and (value is None or reseed)
    }
    return model.set_params(**states) if states else model


def _predict(model: Any, held_out: Any, *, scored: bool) -> Fitted:
    predicted = model.predict(held_out)
    for method in ("predict_proba", "decision_function") if scored else ():
        if hasattr(model, method) and hasattr(model, "classes_"):
            scores = np.asarray(getattr(model, method)(held_out), np.float64)
            classes = tuple(np.asarray(model.classes_).tolist())
            if scores.ndim == 1 and len(classes) == 2:
                scores = np.column_stack([-scores, scores])
            if scores.shape == (len(predicted), len(classes)):
                return Fitted(predicted, scores, classes, method == "predict_proba")
    return Fitted(predicted)


@lru_cache(maxsize=1)
def _threads() -> Any:
    """Return the thread pools of this process; finding them takes longer than many fits."""
    from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped] # scikit-learn's

    return ThreadpoolController()


def first_line(error: object) -> str:
    """Return the first line of an error message."""
    if isinstance(error, BaseException) and not isinstance(error, Exception):
        return cause_of(error)
    return str(error).strip().partition("\n")[0]
