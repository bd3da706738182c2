"""The ledger: every look at the same held-out data, and p-values adjusted for all of them.

A look is a comparison made on held-out data. Data that has been looked at often is no longer held
out: the ledger counts the looks and adjusts their p-values over the whole history.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple, Self

from heldout.errors import InputError
from heldout.infer.ledger_file import Entry, LedgerFile, Look, check_ledger
from heldout.infer.levels import alpha_of, check_level, refuse_old_names

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "AdjustedLook",
    "Entry",
    "Ledger",
    "LedgerSummary",
    "Look",
    "check_ledger",
    "lord_levels",
]


class LedgerSummary(NamedTuple):
    """How much some held-out data has been used.

    Parameters
    ----------
    looks
        Comparisons made.
    systems, measures
        Different systems and measures among them.
    first, last
        Times of the first and the last look, empty without looks.
    """

    looks: int
    systems: int
    measures: int
    first: str
    last: str


class AdjustedLook(NamedTuple):
    """A look with its p-value adjusted for all looks at the same data.

    Parameters
    ----------
    look
        The look.
    holm
        Its p-value adjusted by Holm over all looks so far; valid under any dependence between
        looks.
    level
        The significance level that LORD++ gave this look when it was made.
    discovery
        Whether its p-value was at most that level.
    """

    look: Look
    holm: float
    level: float
    discovery: bool


class Ledger(LedgerFile):
    """A ledger file, created if it does not exist.

    Every call opens the file, does one transaction and closes it, so that several processes may
    write at once and nothing is left open; ``with`` may be used but is not needed.

    Parameters
    ----------
    path
        The file.
    make
        Whether to create the file; if not, a missing or empty file is refused.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/ledger.sqlite")
    >>> ledger.record(
    ...     "abc", systems=["A", "B"], measure="AP", test="t", p=0.03, effect=0.02, n=50, command=""
    ... )
    1
    >>> ledger.summary("abc").looks
    1
    >>> folder.cleanup()
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Do nothing: no connection is open between calls."""

    def summary(self, fingerprint: str) -> LedgerSummary:
        """Return how often this data was looked at, with how many systems and measures."""
        looks = self.looks(fingerprint)
        systems = {system for look in looks for system in look.systems}
        measures = {look.measure for look in looks}
        first, last = (looks[0].time, looks[-1].time) if looks else ("", "")
        return LedgerSummary(len(looks), len(systems), len(measures), first, last)

    @refuse_old_names
    def adjusted(self, fingerprint: str, *, level: float = 0.95) -> list[AdjustedLook]:
        """Return all looks at this data, with p-values adjusted for all of them.

        Holm's p-values are valid under any dependence between looks, but grow as looks are added.
        LORD++ decides each look once, when it is made, at a level that depends only on earlier
        looks. Its false discovery rate is proven for independent p-values, which looks at the same
        data are not: use it as a budget, and Holm's p-values for claims.

        Parameters
        ----------
        fingerprint
            Of the data.
        level
            The target false discovery rate is 1 - level.

        Returns
        -------
        list of AdjustedLook
            In the order of the looks.

        References
        ----------
        Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6. Ramdas, Yang, Wainwright & Jordan (2017). Online control of the
        false discovery rate with decaying memory. NeurIPS 30.
        """
        from heldout.infer.simultaneous.multiplicity import adjust  # writing needs no NumPy

        looks = self.looks(fingerprint)
        if not looks:
            return []
        p_values = [look.p for look in looks]
        levels = lord_levels(p_values, level=level)
        return [
            AdjustedLook(look, float(holm), allowed, look.p <= allowed)
            for look, holm, allowed in zip(looks, adjust(p_values, "holm"), levels, strict=True)
        ]


def lord_levels(
    p_values: Sequence[float], *, level: float = 0.95, initial: float | None = None
) -> list[float]:
    """Return the test levels of LORD++ (online testing) for p-values in order of arrival.

    Parameters
    ----------
    p_values
        In order.
    level
        The target false discovery rate is 1 - level.
    initial
        The wealth before the first discovery, at most 1 - level; half of it by default.

    Returns
    -------
    list of float
        One level per p-value; it is a discovery when it is at most its level. A level depends on
        earlier p-values only.

    References
    ----------
    Ramdas, Yang, Wainwright & Jordan (2017). Online control of the false discovery rate with
    decaying memory. NeurIPS 30. Javanmard & Montanari (2018). Online rules for control of false
    discovery rate and false discovery exceedance. Annals of Statistics 46(2), equation 31 (the
    sequence that spends the wealth).
    """
    alpha = alpha_of(check_level(level))
    wealth = alpha / 2.0 if initial is None else initial
    if not 0.0 < wealth <= alpha:
        raise InputError(f"initial={wealth}: expected above 0 and at most 1 - level ({alpha})")
    levels: list[float] = []
    discoveries: list[int] = []
    for time, p in enumerate(p_values, start=1):
        allowed = wealth * _spend(time)
        for number, discovered in enumerate(discoveries):
            # LORD++ returns alpha for each discovery; the first had the initial wealth in advance.
            allowed += (alpha - wealth if number == 0 else alpha) * _spend(time - discovered)
        levels.append(allowed)
        if p <= allowed:
            discoveries.append(time)
    return levels


def _spend(time: int) -> float:
    """Return the share of the wealth spent on the time-th test; the shares sum to 1."""
    return 0.07720838 * math.log(max(time, 2)) / (time * math.exp(math.sqrt(math.log(time))))
