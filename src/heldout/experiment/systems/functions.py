"""Functions, rerankers, objects with fit and predict, and PyTerrier transformers, as systems.

A `View` leads to its whole collection. A user's code therefore gets parts that are sealed:
collections that contain one side of a split and nothing else. The side to rank has no judgements.
"""

from __future__ import annotations

import copy
import inspect
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.data.run import Run
from heldout.errors import InputError, MissingExtraError
from heldout.experiment.documents.lists import as_run, lists_of_run
from heldout.experiment.systems.base import System, refuse_others
from heldout.experiment.systems.references import qualified_name, source_of, users_code
from heldout.resample.hashing import seed_word

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.data.collection import View
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Part, Parts
    from heldout.experiment.systems.build import Given
    from heldout.resample.split import Splits
    from heldout.tune.search import Search
    from heldout.tune.space import Point

DEPTH: Final = 100  # documents to rerank, unless there is a parameter `depth`
VALIDATION: Final = 0.2  # of the training queries, for a PyTerrier estimator


def call_seed(seed: int, *words: object) -> int:
    """Return the seed of a call, which depends on the seed of the experiment and some words."""
    return int(seed_word(seed, "call", *words) >> np.uint64(33))


@dataclass(frozen=True, kw_only=True, eq=False)
class FunctionSystem(System):
    """A function ``f(train, test, **parameters)``, or a class or object with fit and predict.

    A reranker, ``f(train, test, candidates, **parameters)``, has its first stage as the only part.
    """

    calls: ClassVar[bool] = True

    call: Any = field(repr=False)
    kind: str = "function"  # or object, or transformer
    reference: str = ""  # such as ``ranker.py:rank``, if it was loaded by one
    folder: Path | None = None  # where the reference starts

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Return the first documents of what it ranks."""
        run = self.run(data, train, test, point, parts)
        return lists_of_run(run, data.collection, data.depth)

    def run(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Run:
        """Call it with two sealed sides; return all that it ranks, however long the lists are."""
        # The same seed for all points, which are compared under the same random numbers.
        seed = call_seed(data.seed, self.name, test.split, test.inner)
        # What does not learn needs no judgements, and cannot learn from them by mistake.
        seen = train.sealed(data.collection, judged=self.learns)
        asked = test.sealed(data.collection, judged=False)
        arguments = {**point, **self._candidates(data, train, test, point, parts)}
        if self.parts and "depth" not in _parameters(self.call):
            arguments.pop("depth", None)
        where = self.name if test.split == "all" else f"split {test.split}: {self.name}"
        shown = ", ".join(f"{name}={value}" for name, value in point.items())
        with users_code(f"{where}({shown})" if shown else where):
            run = Run.of(self._answer(seen, asked, arguments, seed))
        refuse_others(run, asked, where)
        return run

    def _candidates(
        self, data: Data, train: Part, test: Part, point: Point, parts: Parts
    ) -> dict[str, Run]:
        """Return the documents of both sides that a reranker is asked for."""
        depth: Any = point.get("depth", DEPTH)
        sides = {"candidates": (parts.test, test)}
        if self.kind == "transformer" or "train_candidates" in _parameters(self.call):
            sides["train_candidates"] = (parts.train, train)
        candidates = {}
        for name, (runs, part) in sides.items() if self.parts else ():
            # The first documents of all, then those of the part: a list as long as in use.
            lists = part.restrict(lists_of_run(runs[0], data.collection, depth))
            candidates[name] = as_run(lists, data.collection, self.name)
        return candidates

    def _answer(self, train: View, test: View, arguments: dict[str, Any], seed: int) -> object:
        if self.kind == "function":
            return self.call(train, test, **_with_seed(self.call, arguments, seed))
        asked, known = arguments.pop("candidates", None), arguments.pop("train_candidates", None)
        ranker = _made(self.call, self.kind, arguments, seed)
        if self.kind == "object":
            fitted = ranker.fit(train)
            return (fitted if hasattr(fitted, "predict") else ranker).predict(test)
        if _learns(ranker):
            _fit(ranker, train, known, seed)
        return ranker.transform(_frame(test, asked))

    def misfits(self, by: str, splits: Splits | None) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated if this is held out."""
        if by != "query" and self.kind == "transformer" and not self.parts:
            yield (
                "a PyTerrier transformer searches its own index of all documents: hold out "
                "queries, let it rerank another system (first), or give a function f(train, test) "
                "that indexes one side"
            )
        else:
            yield from super().misfits(by, splits)

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of its source."""
        # The path of a file can be written in many ways; its content is hashed.
        name = Path(self.reference).name or qualified_name(self.call)
        source = source_of(self.call, self.reference, self.folder)
        described = {**super().describe(), self.kind: name, "comparable": self.comparable}
        return described | {"learns": self.learns, "source": source}


def _parameters(call: Any) -> Mapping[str, inspect.Parameter]:
    """Return the parameters of a function or class; of some compiled ones they are not known."""
    try:
        return inspect.signature(call).parameters
    except (TypeError, ValueError):
        return {}


def _with_seed(call: Any, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return arguments, with the seed if a function has a parameter for it that is not set."""
    needed = "seed" not in arguments and "seed" in _parameters(call)
    return {**arguments, "seed": seed} if needed else arguments


def _made(call: Any, kind: str, arguments: dict[str, Any], seed: int) -> Any:
    """Return an object or transformer for one call, so that no fit influences another."""
    method = "predict" if kind == "object" else "transform"
    if isinstance(call, type) or not hasattr(call, method):
        return call(**_with_seed(call, arguments, seed))
    # A transformer that is not fitted need not be copied; a Java index cannot be.
    return copy.deepcopy(call) if kind == "object" or _learns(call) else call


# ---- PyTerrier ----------------------------------------------------------------------------------


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
    share = VALIDATION if round(VALIDATION * len(ids)) else 1
    split = HoldOut(share, seed=seed).splits(ids)[0]
    judged = train.qrels
    asked = [judged.queries[row] for row in judged.query_of_row().tolist()]
    columns = {"qid": asked, "docno": judged.docs.tolist(), "label": judged.grades.astype("int64")}
    qrels, frames = pd.DataFrame(columns), []
    for side in ("train", "test"):
        asked = [ids[number] for number in split.rows(side).tolist()]
        tables = _frame(train, candidates), qrels
        frames += [table[table["qid"].isin(asked)].reset_index(drop=True) for table in tables]
    transformer.fit(*frames)


def _frame(view: View, candidates: Run | None) -> Any:
    """Return the queries of a side, or its candidates, with the columns of PyTerrier."""
    import pandas as pd

    texts, documents = view.queries.to_dict(), view.documents
    if candidates is None:
        return pd.DataFrame(list(texts.items()), columns=["qid", "query"], dtype=object)
    frame = candidates.to_frame("pandas").rename(columns={"query_id": "qid", "doc_id": "docno"})
    numbers = documents.ids.find(frame["docno"].tolist()).tolist()
    content = {"query": frame["qid"].map(texts), "text": list(map(documents.text, numbers))}
    return frame.assign(**content, rank=frame["rank"] - 1)


# ---- from what was given ------------------------------------------------------------------------


def function_system(call: Any, given: Given, reference: str = "") -> System:
    """Make a system of a function, a class or object, or a PyTerrier transformer."""
    name = given.name or getattr(call, "__name__", None) or type(call).__name__
    kind, search, learns = given.kind or _kind_of(call), given.searched(), given.learns is not False
    taken = ["comparable", "first", "kind", "parameters", "search", "trials"]
    if kind == "function" or given.first is not None:
        taken.append("learns")
    given.only(name, *taken)
    if given.first is not None:
        _check_reranker(call, kind, name, search)
    elif kind != "function" and search.space.axes and not callable(call):
        raise InputError(
            f"{name}: parameters need a class or a function that makes the {kind}, not a finished "
            "object"
        )
    elif kind == "transformer":
        with users_code(name):
            made = _made(call, kind, dict(search.space.points()[0]), 0)
        if not hasattr(made, "transform"):
            raise InputError(
                f"{name} does not take (train, test) and returned {type(made).__name__}: expected "
                "a function f(train, test, **parameters), or one that returns a PyTerrier "
                "transformer"
            )
        learns = _learns(made)
    return FunctionSystem(
        name=name,
        search=search,
        learns=learns,
        comparable=given.comparable,
        parts=() if given.first is None else (given.first,),
        call=call,
        kind=kind,
        reference=reference,
        folder=(given.folder or Path()).resolve(),  # a worker can have another current folder
    )


def _check_reranker(call: Any, kind: str, name: str, search: Search) -> None:
    if kind == "object" or (kind == "function" and isinstance(call, type)):
        raise InputError(
            f"{name}: a reranker is a function f(train, test, candidates, **parameters), or a "
            "PyTerrier transformer"
        )
    for depth in {point.get("depth", DEPTH) for point in search.space.points()}:
        if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
            raise InputError(f"{name}: the depth must be a positive integer, not {depth}")


def _kind_of(call: Any) -> str:
    if hasattr(call, "fit") and hasattr(call, "predict"):
        return "object"
    if hasattr(call, "transform"):
        return "transformer"
    if callable(call):
        # A function takes a train and a test side: two arguments without defaults.
        given = [each.kind for each in _parameters(call).values() if each.default is each.empty]
        named = {inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD}
        several = inspect.Parameter.VAR_POSITIONAL in given
        sides = several or sum(kind not in named for kind in given) >= 2
        return "function" if sides else "transformer"
    raise InputError(
        f"{call!r} is not a system: give a text such as bm25(k1=0.5:3:6), a Model, a Run, a "
        "function f(train, test, **parameters), an object with fit and predict, a PyTerrier "
        "transformer, or a function that makes one"
    )
