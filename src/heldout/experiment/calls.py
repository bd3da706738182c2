"""Call systems that users bring: hand them sealed sides, check what comes back."""

from __future__ import annotations

import copy
import inspect
import traceback
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.notes import named_few
from heldout.data.run import Run
from heldout.errors import USER_FAULTS, HeldoutError, InputError, MissingExtraError, cause_of
from heldout.resample.hashing import seed_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.view import View
    from heldout.experiment.systems import CallSystem

__all__ = ["call_seed", "call_system", "transformer_learns"]

_VALIDATION = 0.2
"""Share of the train queries that a PyTerrier estimator is given for validation."""


def call_seed(seed: int, *parts: object) -> int:
    """The seed of one call: from the root seed and the key of the task, and nothing else."""
    return int(seed_word(seed, "call", *parts) >> np.uint64(33))


def call_system(system: CallSystem, train: View, test: View, number: int, seed: int) -> Run:
    """Let a system see a train side and rank a test side.

    Parameters
    ----------
    train, test
        Sealed sides: the test side has no judgements.
    number
        The point whose parameters it has.
    seed
        Given to systems that take a parameter `seed`.
    """
    settings = system.settings(number)
    calls = {"function": _call_function, "object": _call_object, "transformer": _call_transformer}
    try:
        found = calls[system.kind](system.call, train, test, settings, seed)
        run = _as_run(found, system.name)
    except HeldoutError:
        raise
    except SystemExit as error:
        raise InputError(f"{system.name}{_shown(settings)} failed: {cause_of(error)}") from error
    except Exception as error:
        raise InputError(
            f"{system.name}{_shown(settings)} failed: {cause_of(error)}\n{_last_frames(error)}"
        ) from error
    _refuse_strangers(run, test, system.name)
    return run


def _shown(settings: dict[str, Any]) -> str:
    return f"({', '.join(f'{key}={value}' for key, value in settings.items())})" if settings else ""


def _last_frames(error: Exception) -> str:
    """Where in the user's own code it happened."""
    frames = traceback.extract_tb(error.__traceback__)[-2:]
    return "".join(f"  {one.filename}:{one.lineno} in {one.name}\n" for one in frames).rstrip()


def _with_seed(call: Any, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """The settings, and the seed if the system takes one that is not set already."""
    try:
        takes = "seed" in inspect.signature(call).parameters
    except (TypeError, ValueError):
        takes = False
    return {**settings, "seed": seed} if takes and "seed" not in settings else settings


def _call_function(
    call: Any, train: View, test: View, settings: dict[str, Any], seed: int
) -> object:
    return call(train, test, **_with_seed(call, settings, seed))


def _made(call: Any, settings: dict[str, Any], seed: int, sign: str) -> Any:
    """A fresh object, made or copied, so that no fit leaks into another."""
    if isinstance(call, type) or (callable(call) and not hasattr(call, sign)):
        return call(**_with_seed(call, settings, seed))
    return copy.deepcopy(call)


def _call_object(call: Any, train: View, test: View, settings: dict[str, Any], seed: int) -> object:
    made = _made(call, settings, seed, "predict")
    fitted = made.fit(train)
    return (fitted if hasattr(fitted, "predict") else made).predict(test)


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


def _call_transformer(
    call: Any, train: View, test: View, settings: dict[str, Any], seed: int
) -> object:
    if not hasattr(call, "transform") or isinstance(call, type):
        transformer = call(**_with_seed(call, settings, seed))
    else:
        # Only what learns must be copied; an index of Java could not be.
        transformer = copy.deepcopy(call) if _learns(call) else call
    if _learns(transformer):
        _fit(transformer, train, seed)
    return transformer.transform(_topics(test))


def _fit(transformer: Any, train: View, seed: int) -> None:
    """Fit an estimator on the train queries, some of them kept for its own validation."""
    from heldout.resample.holdout import HoldOut

    ids = train.collection.queries.ids
    if len(ids) < 2:
        raise InputError(f"{len(ids)} train query: a PyTerrier estimator needs at least 2")
    share = _VALIDATION if round(_VALIDATION * len(ids)) else 1
    split = HoldOut(share, seed=seed).splits(ids)[0]
    sides = []
    for side in ("train", "test"):
        numbers = split.rows(side).tolist()
        sides += [_topics(train, numbers), _qrels(train, {ids[at] for at in numbers})]
    transformer.fit(*sides)


def _learns(transformer: Any) -> bool:
    """Whether there is an estimator in a transformer or pipeline."""
    from pyterrier import Estimator  # the transformer brought it

    if isinstance(transformer, Estimator):
        return True
    parts = getattr(transformer, "_transformers", ())
    return any(_learns(one) for one in parts)


def transformer_learns(system: CallSystem) -> bool:
    """Whether a PyTerrier system has to be fitted in every fold."""
    call = system.call
    if not hasattr(call, "transform") or isinstance(call, type):
        try:
            call = call(**_with_seed(call, system.settings(0), 0))
        except USER_FAULTS as error:
            raise InputError(f"{system.name} failed: {cause_of(error)}") from error
    return _learns(call)


def _as_run(found: object, name: str) -> Run:
    """Whatever a system gave, as a run."""
    if isinstance(found, Run):
        return found
    if isinstance(found, Mapping):
        return Run.from_dict(found, name)
    if hasattr(found, "columns"):
        return Run.from_frame(found, name)
    raise InputError(
        f"{name} gave {type(found).__name__}: expected a Run, {{query: {{document: score}}}}, or a "
        "frame with the columns qid, docno and score"
    )


def _refuse_strangers(run: Run, test: View, name: str) -> None:
    known = set(test.collection.queries.ids)
    strange = [one for one in run.queries if one not in known]
    if strange:
        raise InputError(
            f"{name} ranked queries that it was not asked for: {len(strange)} "
            f"({named_few(strange, len(strange))})"
        )
    documents = run.docs.tolist()
    places = test.collection.documents.ids.find(documents)
    lost = [documents[at] for at in np.flatnonzero(places < 0)[:1000].tolist()]
    if lost:
        raise InputError(
            f"{name} ranked documents that are not on the test side: "
            f"{named_few(dict.fromkeys(lost), len(lost))}"
        )
