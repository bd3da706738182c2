"""Systems: what is evaluated, with the parameters that are tuned."""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from heldout.data.paths import place_among
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.retrieve.models import Model

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.tune.listed import Listed
    from heldout.tune.space import Space

    Value = float | int | str | bool
    Point = dict[str, Any]

__all__ = [
    "CallKind",
    "CallSystem",
    "ModelSystem",
    "RunSystem",
    "System",
    "qualified_name",
    "reference_hash",
    "source_hash",
]

CallKind = Literal["function", "object", "transformer"]


@dataclass(frozen=True, slots=True, kw_only=True)
class System(ABC):
    """Something that ranks documents; `System.of` makes one of what Python has at hand.

    Parameters
    ----------
    name
        Its name in tables.
    space
        The parameters that are tuned; None: nothing is.
    parameters
        Parameters that are fixed.
    """

    name: str
    space: Space | Listed | None = None
    parameters: tuple[tuple[str, Value], ...] = ()

    @staticmethod
    def of(given: Any, name: str | None = None, **settings: Any) -> System:
        """Make a system.

        Parameters
        ----------
        given
            A text such as ``bm25(k1=0.5:3:6, b=0.75)``, ``runs/lambda=*.run`` or
            ``ranker.py:rank``; a `Model`; a `Run` or several of them by name; a function
            ``f(train, test, **parameters)``; a class or object with ``fit`` and ``predict``; a
            PyTerrier transformer, or a function that makes one (with ``kind="transformer"``).
        name
            What to call it.
        settings
            ``space``, ``sample``, ``parameters``, ``comparable``, ``kind``, as they stand in
            ``experiment.toml``.

        Examples
        --------
        >>> system = System.of("bm25(k1=1:3:3, b=0.5,0.75)")
        >>> system.name, len(system.points()), system.points()[1]
        ('bm25', 6, {'k1': 1, 'b': 0.75})
        """
        from heldout.experiment.system_settings import system_of  # it makes systems

        return system_of(given, name, **settings)

    def points(self) -> tuple[Point, ...]:
        """The parameter values to choose from, in order: the earlier is the simpler."""
        if self.space is None:
            return ({},)
        return tuple(dict(point) for point in self.space.points())

    @property
    def tuned(self) -> bool:
        """Whether there is anything to choose."""
        return len(self.points()) > 1

    def settings(self, number: int) -> Point:
        """All parameters at a point, the fixed ones first."""
        return {**dict(self.parameters), **self.points()[number]}

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters whose value is the first or last of its grid."""
        return () if self.space is None else tuple(self.space.edges(number))

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values; changes when the system does."""
        return {
            "name": self.name,
            "parameters": dict(self.parameters),
            "points": list(self.points()) if self.space is not None else [],
        }

    def loaded(self) -> tuple[str, ...]:
        """The files and modules whose code was loaded for it."""
        return ()

    @abstractmethod
    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot be evaluated on such splits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSystem(System):
    """A built-in model.

    Parameters
    ----------
    model
        Its name.
    """

    model: str

    def models(self) -> tuple[Model, ...]:
        """The model at every point."""
        fixed = dict(self.parameters)
        return tuple(Model.make(self.model, **{**fixed, **point}) for point in self.points())

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values."""
        values = [str(one) for one in self.models()]
        return {**System.describe(self), "model": self.model, "values": values}

    def misfits(self, by: str) -> Iterator[str]:
        """None: a built-in model fits all splits."""
        del by
        return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSystem(System):
    """Runs that are there already: one, or one for each parameter value.

    Parameters
    ----------
    runs
        Paths or runs, in the order of the points.
    """

    runs: tuple[Run | str, ...]

    def read(self, number: int) -> Run:
        """One of the runs."""
        given = self.runs[number]
        return given if isinstance(given, Run) else Run.read(given)

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values, with a hash of each run."""
        hashes = [_run_hash(one) for one in self.runs]
        return {**System.describe(self), "runs": hashes}

    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot be evaluated on such splits."""
        if by != "query":
            yield (
                "runs were made with all documents at hand, so no document is held out of them: "
                "divide the queries, or give a function that searches one side"
            )


def _run_hash(run: Run | str) -> str:
    if isinstance(run, Run):
        digest = hashlib.sha256("\0".join(run.queries).encode())
        digest.update(run.offsets.tobytes() + run.scores.tobytes())
        digest.update("\0".join(run.docs.tolist()).encode())
        return digest.hexdigest()
    try:
        with Path(run).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{run}: cannot be read ({error.strerror})") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallSystem(System):
    """A system of yours: a function, an object with fit and predict, a PyTerrier transformer.

    Parameters
    ----------
    call
        The function; the class or object; the transformer, or what makes it.
    kind
        Which of them.
    comparable
        Whether scores of one fit can be put beside those of another, so that the held-out documents
        of all folds can be merged into one ranking.
    reference
        Where it stands (``ranker.py:rank``), if it was named so.
    home
        The folder that a relative reference starts from.
    """

    call: Any = field(repr=False)
    kind: CallKind = "function"
    comparable: bool | None = None
    reference: str = ""
    home: str = ""

    @property
    def learns(self) -> bool:
        """Whether what it gives may depend on the train side."""
        from heldout.experiment.calls import transformer_learns  # it calls systems

        return self.kind != "transformer" or transformer_learns(self)

    def describe(self) -> dict[str, Any]:
        """What it is, as plain values, with a hash of its source."""
        # A file that a command names may be spelled in many ways; what is in it is hashed.
        named = self.reference if self.home else place_among(self.reference, [self.reference])
        place = named or qualified_name(self.call)
        described = {**System.describe(self), self.kind: place}
        return {**described, "comparable": self.comparable, "source": self.source_hash()}

    def loaded(self) -> tuple[str, ...]:
        """The file or module that its reference names."""
        return (self.reference.rpartition(":")[0],) if self.reference else ()

    def source_hash(self) -> str:
        """A hash of its file, or else of its own source, so that a change is noticed."""
        return reference_hash(self.reference, self.home) or source_hash(self.call)

    def misfits(self, by: str) -> Iterator[str]:
        """Why it cannot be evaluated on such splits."""
        if by == "query":
            return
        if self.kind == "transformer":
            yield (
                "a PyTerrier transformer searches an index of its own, with all documents in it: "
                "divide the queries, or give a function f(train, test) that indexes one side"
            )
        elif self.comparable is None:
            yield (
                "say whether scores of one fit can be put beside those of another: comparable = "
                "true merges the held-out documents of all folds into one ranking; with false "
                "every fold is measured by itself, which says how the system does on a collection "
                "as small as a fold"
            )


def reference_hash(reference: str, home: str) -> str:
    """A hash of the file that a reference such as ``ranker.py:rank`` names; empty: of none."""
    place = reference.rpartition(":")[0]
    if not place.endswith(".py"):
        return ""
    return hashlib.sha256((Path(home) / place).read_bytes()).hexdigest()


def qualified_name(call: Any) -> str:
    """The module and name of a function or class, or of the class of an object."""
    named: Callable[..., Any] = call if hasattr(call, "__qualname__") else type(call)
    return f"{named.__module__}.{named.__qualname__}"


def source_hash(call: Any) -> str:
    """A hash of the source, so that a changed function is noticed; empty if there is none."""
    try:
        text = inspect.getsource(call if hasattr(call, "__qualname__") else type(call))
    except (OSError, TypeError):
        return ""
    return hashlib.sha256(text.encode()).hexdigest()
