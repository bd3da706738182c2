"""The fields `search` and `trials` of a system: which points of a space are tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.errors import InputError
from heldout.tune.listed import Listed

if TYPE_CHECKING:
    from heldout.tune.space import Space

__all__ = ["drawn_points"]

_SEARCHES: Final = ("grid", "random", "optuna")


def drawn_points(
    space: Space | None, search: str | None, trials: int | None, sample: int | None = None
) -> tuple[Space | Listed | None, int]:
    """The points to try, and how many Optuna proposes in place of them (0: none)."""
    if search not in (None, *_SEARCHES):
        raise InputError(f"search = {search!r}: expected one of {', '.join(_SEARCHES)}")
    named = "trials" if sample is None else "sample"
    if sample is not None:  # the name of a random search in 0.1
        if search is not None or trials is not None:
            raise InputError('sample is search = "random" with so many trials: give one of the two')
        search, trials = "random", sample
    if search in (None, "grid"):
        if trials is not None:
            raise InputError('trials is for search = "random" or "optuna"; a grid has its points')
        return space, 0
    if space is None:
        raise InputError(f"{named} is how many points are drawn of a space: give one")
    if isinstance(trials, bool) or not isinstance(trials, int) or trials < 1:
        raise InputError(f"{named} = {trials!r}: expected a whole number from 1 on")
    return (Listed(space.sample(trials)), 0) if search == "random" else (space, trials)
