"""Functions, rerankers, objects with fit and predict, and PyTerrier transformers, as systems.

A `View` leads to its whole collection. A user's code therefore gets parts that are sealed:
collections that contain one side of a split and nothing else. The side to rank has no judgements.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from heldout.data.run import Run
from heldout.errors import HeldoutError, InputError
from heldout.experiment.documents.lists import as_run, lists_of_run
from heldout.experiment.systems.base import System
from heldout.experiment.systems.references import qualified_name, source_of, users_code
from heldout.resample.hashing import seed_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.collection import View
    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Part, Parts
    from heldout.experiment.systems.build import Given
    from heldout.resample.split import Splits
    from heldout.tune.search import Search
    from heldout.tune.space import Point


DEPTH: Final = 100
"""Documents of the first stage that are reranked, unless there is a parameter `depth`."""


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
        if self.parts and not takes(self.call, "depth"):
            arguments.pop("depth", None)
        where = self.name if test.split == "all" else f"split {test.split}: {self.name}"
        shown = ", ".join(f"{name}={value}" for name, value in point.items())
        with users_code(f"{where}({shown})" if shown else where):
            run = _as_run(self._answer(seen, asked, arguments, seed), where)
        test.refuse_others(run, data.collection, where, file=False)
        return run

    def _candidates(
        self, data: Data, train: Part, test: Part, point: Point, parts: Parts
    ) -> dict[str, Run]:
        """Return the documents of both sides that a reranker is asked for."""
        depth: Any = point.get("depth", DEPTH)
        sides = {"candidates": (parts.test, test)}
        if self.kind == "transformer" or takes(self.call, "train_candidates"):
            sides["train_candidates"] = (parts.train, train)
        candidates = {}
        for name, (runs, part) in sides.items() if self.parts else ():
            # The first documents of all, then those of the part: a list as long as in use.
            lists = part.restrict(lists_of_run(runs[0], data.collection, depth))
            candidates[name] = as_run(lists, data.collection, self.name)
        return candidates

    def _answer(self, train: View, test: View, arguments: dict[str, Any], seed: int) -> object:
        call = self.call
        if self.kind == "transformer":
            from heldout.experiment.systems.terrier import transformed  # rarely needed

            return transformed(call, train, test, arguments, seed)
        if self.kind == "function":
            return call(train, test, **with_seed(call, arguments, seed))
        # Made or copied for each call, so that no fit influences another.
        makes = isinstance(call, type) or (callable(call) and not hasattr(call, "predict"))
        ranker = call(**with_seed(call, arguments, seed)) if makes else copy.deepcopy(call)
        fitted = ranker.fit(train)
        return (fitted if hasattr(fitted, "predict") else ranker).predict(test)

    def misfits(self, by: str, splits: Splits | None) -> Iterator[str]:
        """Yield the reasons why it cannot be evaluated if this is held out."""
        if by != "query" and self.kind == "transformer" and not self.parts:
            yield (
                "a PyTerrier transformer searches its own index of all documents: hold out "
                "queries, let it rerank another system (first), or give a function f(train, test) "
                "that indexes one side"
            )
            return
        yield from super().misfits(by, splits)
        if by == "document" and self.parts and not self.comparable:
            yield (
                "to hold out documents, say that its scores of documents in different calls can be "
                "compared, with comparable=true; otherwise hold out queries"
            )

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of its source."""
        # The path of a file can be written in many ways; its content is hashed.
        name = Path(self.reference).name or qualified_name(self.call)
        source = source_of(self.call, self.reference, self.folder)
        described = {**super().describe(), self.kind: name, "comparable": self.comparable}
        return described | {"learns": self.learns, "source": source}


def with_seed(call: Any, arguments: dict[str, Any], seed: int) -> dict[str, Any]:
    """Return arguments, with the seed if a function has a parameter for it that is not set."""
    needed = "seed" not in arguments and takes(call, "seed")
    return {**arguments, "seed": seed} if needed else arguments


def takes(call: Any, name: str) -> bool:
    """Return whether a function or class has a parameter of this name."""
    try:
        return name in inspect.signature(call).parameters
    except (TypeError, ValueError):
        return False


def _as_run(answer: object, name: str) -> Run:
    if not isinstance(answer, Run | Mapping) and not hasattr(answer, "columns"):
        raise InputError(
            f"{name} returned {type(answer).__name__}: expected a Run, "
            "{query: {document: score}}, or a frame with the columns qid, docno and score"
        )
    try:
        return answer if isinstance(answer, Run) else Run.of(answer, name)
    except HeldoutError as error:
        raise InputError(f"{name}: {error}") from None


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
        from heldout.experiment.systems.terrier import can_learn

        learns = can_learn(call, name, search.space.points()[0])
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
    function = callable(call) and not isinstance(call, type)
    if kind == "object" or (kind == "function" and not function):
        raise InputError(
            f"{name}: a reranker is a function f(train, test, candidates, **parameters), or a "
            "PyTerrier transformer"
        )
    for axis in search.space.axes:
        for depth in axis.values if axis.name == "depth" else ():
            if not isinstance(depth, int) or isinstance(depth, bool) or depth < 1:
                raise InputError(f"{name}: the depth must be a positive integer, not {depth}")


def _kind_of(call: Any) -> str:
    if hasattr(call, "fit") and hasattr(call, "predict"):
        return "object"
    if hasattr(call, "transform"):
        return "transformer"
    if callable(call):
        return "function" if _takes_sides(call) else "transformer"
    raise InputError(
        f"{call!r} is not a system: give a text such as bm25(k1=0.5:3:6), a Model, a Run, a "
        "function f(train, test, **parameters), an object with fit and predict, a PyTerrier "
        "transformer, or a function that makes one"
    )


def _takes_sides(call: Any) -> bool:
    """Return whether a function takes a train and a test side: two arguments without defaults."""
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return True  # compiled functions have no signature
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return True
    placed = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(each.kind in placed and each.default is each.empty for each in parameters) >= 2
