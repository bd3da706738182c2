"""Problems of an experiment: collected, and reported all at once."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from heldout.errors import Argument


class ExperimentError(InputError):
    """An experiment that cannot run: all its problems, each with the name of its field."""

    def __init__(
        self,
        found: Sequence[tuple[str, HeldoutError]],
        source: str = "",
        place_of: Callable[[str], str] = str,
    ) -> None:
        Exception.__init__(self, found, source, place_of)  # workers send errors as pickles
        self.found, self.source = found, source
        self.place_of = place_of  # in the words of whoever gave the fields: options, for example

    def in_words(self, spell: Callable[[Argument], str]) -> str:
        """All problems, each at its place."""
        spell = str if self.source else spell  # a file has fields, and no options
        problems = []
        for name, problem in self.found:
            place = self.place_of(name)
            message = problem.in_words(partial(_spelled, name.rpartition(".")[2], spell))
            named = not place or message.startswith(f"{place}: ")  # its reader names a file, too
            problems.append(message if named else f"{place}: {message}")
        where = f"{self.source}: " if self.source else ""
        if len(problems) == 1:
            return f"{where}{problems[0]}"
        return f"{where}{len(problems)} problems, nothing was run\n  " + "\n  ".join(problems)


def _spelled(field: str, spell: Callable[[Argument], str], argument: Argument) -> str:
    """An argument in a problem with a field: its value alone if the place names it already."""
    return argument.shown if argument.name == field else spell(argument)


@dataclass(slots=True)
class Problems:
    """The problems found so far: the name of a value, such as ``plan.folds``, and an error."""

    found: list[tuple[str, HeldoutError]] = field(default_factory=list)

    def add(self, name: str, *message: str | Argument) -> None:
        """Add a problem with the value `name`."""
        self.found.append((name, InputError(*message)))

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Add an error inside to the problems, and continue."""
        try:
            yield
        except HeldoutError as error:
            self.found.append((name, error))

    def unknown(self, given: Collection[Any], known: Collection[str], under: str = "") -> None:
        """Add unknown names, with the name that may have been meant."""
        for name in given:
            if name not in known:
                self.add(f"{under}{name}", _unknown(name, known))


def _unknown(name: object, known: Collection[str]) -> str:
    close = difflib.get_close_matches(str(name), list(known), 1)
    hint = f"; did you mean {close[0]}?" if close else f": use one of {', '.join(known)}"
    return f"unknown field{hint}"


# Tables


class Table(BaseModel):
    """A table of an experiment file; unknown names are refused, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


T = TypeVar("T", bound=Table)


def checked(
    kind: type[T],
    given: Mapping[str, Any],
    problems: Problems,
    under: str = "",
    path_of: Callable[[str], str] = str,
) -> T | None:
    """Return a table with types; mistakes are added to `problems`, and None is returned."""
    try:
        return kind.model_validate(dict(given), context=path_of)
    except ValidationError as error:
        for name, message in faults(error, kind.model_fields).items():
            problems.add(f"{under}{name}", message)
        return None


def faults(error: ValidationError, known: Collection[str]) -> dict[str, str]:
    """Return what is wrong with each value that pydantic refuses, in its words."""
    said_of: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        name, *inside = fault["loc"]
        said = fault["msg"].removeprefix("Value error, ")
        if fault["type"] == "extra_forbidden":
            said = _unknown(name, known)
        elif fault["type"] == "missing":
            said = "is missing"
        elif said.startswith("Input "):
            said = f"{said.removeprefix('Input ')}, not {fault['input']!r}"
        place = "".join(f"[{part!r}]" for part in inside)
        said_of.setdefault(str(name), f"{place}: {said}" if place else said)
    return said_of
