"""The ledger: every look at the same held-out data, and what may be claimed after all of them.

Data that has been looked at often is no longer held out. The ledger counts the looks and gives
p-values over their whole history.
"""

from __future__ import annotations

from typing import NamedTuple, Self

from heldout.infer.ledger_file import Entry, LedgerFile, Look, check_ledger
from heldout.infer.levels import refuse_old_names
from heldout.infer.online import lord_levels

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
    """A look judged within the history of all looks at the same data.

    Parameters
    ----------
    look
        The look.
    holm
        Its p-value adjusted by Holm over all looks up to now; valid however the looks depend on
        each other.
    level
        The level that LORD++ allowed this look when it was made.
    discovery
        Whether its p was at most that level.
    """

    look: Look
    holm: float
    level: float
    discovery: bool


class Ledger(LedgerFile):
    """A ledger file, made when it is not there yet.

    Every call opens the file, does one transaction and closes it, so that several processes may
    write at once and nothing is left open; ``with`` may be used but is not needed.

    Parameters
    ----------
    path
        The file.
    make
        Whether to make the file; if not, one that is no ledger yet is refused.

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
        """Nothing is held open between calls."""

    def summary(self, fingerprint: str) -> LedgerSummary:
        """How often, with how many systems and measures, this data has been looked at."""
        looks = self.looks(fingerprint)
        systems = {system for look in looks for system in look.systems}
        measures = {look.measure for look in looks}
        first, last = (looks[0].time, looks[-1].time) if looks else ("", "")
        return LedgerSummary(len(looks), len(systems), len(measures), first, last)

    @refuse_old_names
    def adjusted(self, fingerprint: str, *, level: float = 0.95) -> list[AdjustedLook]:
        """All looks at this data, judged within their whole history.

        Holm's p-values hold however the looks depend on each other, but grow as looks are added.
        LORD++ decides each look once, when it is made, at a level that depends on the earlier
        looks only; its false discovery rate is proved for independent p-values, which looks at
        the same data are not quite: take it as a budget, and Holm as the claim.

        Parameters
        ----------
        fingerprint
            Of the data.
        level
            The false discovery rate wanted is 1 - level.

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
            AdjustedLook(look, float(holm), own, look.p <= own)
            for look, holm, own in zip(looks, adjust(p_values, "holm"), levels, strict=True)
        ]
