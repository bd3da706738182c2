"""Problems of an experiment, gathered and said all at once."""

from __future__ import annotations

import difflib
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

__all__ = ["ExperimentError", "Problems"]


class ExperimentError(HeldoutError):
    """An experiment that cannot be run, with everything that is wrong with it.

    Parameters
    ----------
    problems
        A sentence each, with its place.
    source
        The file, if the experiment stands in one.
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


RENAMED: Final = {"alpha": "renamed to level: level = 0.95 is alpha = 0.05"}
"""Fields that have another name and another meaning since 0.1."""


@dataclass(slots=True)
class Problems:
    """What is wrong, so far.

    Parameters
    ----------
    place_of
        Where the value of a name such as ``plan.folds`` stands, in words; the name itself by
        default.
    found
        The problems.
    given_as
        Names that fields were given under, where those are others than their own.
    """

    place_of: Callable[[str], str] = str
    found: list[str] = field(default_factory=list)
    given_as: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, message: str) -> None:
        """Note a problem of the value `name`."""
        place = self.place_of(self.given_as.get(name, name))
        self.found.append(f"{place}: {message}" if place else message)

    @contextmanager
    def at(self, name: str) -> Iterator[None]:
        """Note what goes wrong inside, and go on."""
        try:
            yield
        except HeldoutError as error:
            self.add(name, str(error))

    def unknown(self, given: Collection[Any], known: Collection[str], under: str = "") -> None:
        """Note names that mean nothing, with the one that may have been meant."""
        for one in given:
            if one in known:
                continue
            if one in RENAMED:
                self.add(f"{under}{one}", RENAMED[one])
                continue
            close = difflib.get_close_matches(str(one), list(known), 1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(known)}"
            self.add(f"{under}{one}", f"not known here{hint}")

    def refuse(self, source: str = "") -> None:
        """Raise if anything is wrong."""
        if self.found:
            raise ExperimentError(tuple(self.found), source)
