"""Problems of an experiment: collected, and reported all at once."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["ExperimentError", "Problems"]


class ExperimentError(HeldoutError):
    """An experiment that cannot run, with all its problems.

    Parameters
    ----------
    problems
        One sentence each, with its place.
    source
        The experiment file, if there is one.
    """

    def __init__(self, problems: tuple[str, ...], source: str = "") -> None:
        where = f"{source}: " if source else ""
        if len(problems) == 1:
            text = f"{where}{problems[0]}"
        else:
            lines = "".join(f"\n  {one}" for one in problems)
            text = f"{where}{len(problems)} problems, nothing was run{lines}"
        super().__init__(text)
        self.problems = problems


@dataclass(slots=True)
class Problems:
    """The problems found so far.

    Parameters
    ----------
    place_of
        Returns where the value of a name such as ``plan.folds`` was given; by default the name
        itself.
    found
        The problems.
    given_as
        The names under which fields were given, if these are not their own.
    """

    place_of: Callable[[str], str] = str
    found: list[str] = field(default_factory=list)
    given_as: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, message: str) -> None:
        """Add a problem with the value `name`."""
        place = self.place_of(self.given_as.get(name, name))
        named = not place or message.startswith(f"{place}: ")  # a file that its reader names, too
        self.found.append(message if named else f"{place}: {message}")

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Add an error inside to the problems, and continue."""
        try:
            yield
        except HeldoutError as error:
            self.add(name, str(error))

    def unknown(self, given: Collection[Any], known: Collection[str], under: str = "") -> None:
        """Add unknown names, with the name that may have been meant."""
        for one in given:
            if one in known:
                continue
            close = difflib.get_close_matches(str(one), list(known), 1)
            hint = f"; did you mean {close[0]}?" if close else f": use one of {', '.join(known)}"
            self.add(f"{under}{one}", f"unknown field{hint}")

    def refuse(self, source: str = "") -> None:
        """Raise an error if there are problems."""
        if self.found:
            raise ExperimentError(tuple(self.found), source)
