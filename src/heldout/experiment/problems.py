"""Problems of an experiment: collected, and reported all at once."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from heldout.errors import HeldoutError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence


class ExperimentError(InputError):
    """An experiment that cannot run: all its problems, each with the name of its field."""

    def __init__(
        self,
        found: Sequence[tuple[str, str]],
        source: str = "",
        place_of: Callable[[str], str] = str,
    ) -> None:
        super().__init__(found, source, place_of)  # all of them: workers send errors as pickles
        self.found, self.source = found, source
        self.problems = tuple(_placed(place_of(name), message) for name, message in found)

    def __str__(self) -> str:
        where = f"{self.source}: " if self.source else ""
        if len(self.problems) == 1:
            return f"{where}{self.problems[0]}"
        lines = "".join(f"\n  {problem}" for problem in self.problems)
        return f"{where}{len(self.problems)} problems, nothing was run{lines}"

    def placed(self, place_of: Callable[[str], str]) -> ExperimentError:
        """Return the error in the words of whoever gave the fields: options, for example."""
        return ExperimentError(self.found, self.source, place_of)


def _placed(place: str, message: str) -> str:
    named = not place or message.startswith(f"{place}: ")  # a file that its reader names, too
    return message if named else f"{place}: {message}"


@dataclass(slots=True)
class Problems:
    """The problems found so far: the name of a value, such as ``plan.folds``, and a sentence."""

    found: list[tuple[str, str]] = field(default_factory=list)

    def add(self, name: str, message: str) -> None:
        """Add a problem with the value `name`."""
        self.found.append((name, message))

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Add an error inside to the problems, and continue."""
        try:
            yield
        except HeldoutError as error:
            self.add(name, str(error))

    def unknown(self, given: Collection[Any], known: Collection[str], under: str = "") -> None:
        """Add unknown names, with the name that may have been meant."""
        for name in given:
            if name not in known:
                self.add(f"{under}{name}", _unknown(name, known))

    def refuse(self, source: str = "") -> None:
        """Raise an error if there are problems."""
        if self.found:
            raise ExperimentError(tuple(self.found), source)


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


_EXPECTED: Final = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "string_pattern_mismatch": "a text that is not blank",
    "bool_type": "true or false",
    "list_type": "a list",
    "too_short": "a list that is not empty",
    "dict_type": "names with values",
}


def faults(error: ValidationError, known: Collection[str]) -> dict[str, str]:
    """Return what is wrong with each value that pydantic refuses, and what is expected."""
    found: dict[str, str] = {}
    for fault in error.errors(include_url=False):
        name = str(fault["loc"][0])
        unknown = fault["type"] == "extra_forbidden"
        found.setdefault(name, _unknown(name, known) if unknown else _words(fault))
    return found


def _words(fault: Any) -> str:
    kind, value, context = fault["type"], fault["input"], fault.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        choices = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"unknown {fault['loc'][0]} {value!r}: expected one of {choices}"
    if kind == "greater_than_equal":
        return f"expected at least {context['ge']}, not {value!r}"
    if kind == "less_than_equal":
        return f"expected at most {context['le']:,}, not {value!r}"
    place = "".join(f"[{part!r}]" for part in fault["loc"][1:])
    expected = f"expected {_EXPECTED.get(kind, fault['msg'])}, not {value!r}"
    return f"{place}: {expected}" if place else expected
