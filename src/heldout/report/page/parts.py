"""What a page shows, before it is markup."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from heldout.notes import Note
    from heldout.report.charts.named import NamedChart

__all__ = ["Part", "Table", "TaskParts"]


@dataclass(frozen=True, slots=True)
class Table:
    """A table, and where its numbers come from.

    Parameters
    ----------
    title
        What stands above it.
    head, rows
        The cells, as text.
    sources
        For columns: what the numbers are and where they come from.
    texts
        How many of the first columns are words; the others are numbers.
    latex
        The same for a paper; empty if nobody would want it there.
    notes
        Sentences that stand below it.
    words
        The same in sentences, to unfold.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sources: tuple[tuple[str, str], ...] = ()
    texts: int = 1
    latex: str = ""
    notes: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One experiment or comparison on a page.

    Parameters
    ----------
    heading
        What it is called.
    answer
        What was found, in sentences.
    about
        What the numbers are, in sentences.
    tables, tuning, splits
        Tables of the result, of what was tuned, of the splits.
    charts
        In the order they are shown.
    units, rankings
        Columns for the explorer; None if there is nothing to explore. Rankings are looked at only
        when a unit is opened.
    splits_about
        What is to be said of the splits.
    checks
        What a careful reader should know.
    looks
        The ledger's looks at these data; None if no ledger was given.
    provenance
        Names and values.
    record
        All settings, as they were kept.
    methods
        Keys of what is to be cited.
    """

    heading: str
    answer: tuple[str, ...]
    about: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[NamedChart, ...] = ()
    units: dict[str, Any] | None = None
    rankings: dict[str, Any] | None = None
    tuning: tuple[Table, ...] = ()
    splits: tuple[Table, ...] = ()
    splits_about: tuple[str, ...] = ()
    checks: tuple[Note, ...] = ()
    looks: Table | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()


class TaskParts(NamedTuple):
    """What a page says of one task alone: the rest is the same for all.

    Parameters
    ----------
    heading, answer
        As for `Part`.
    estimates
        Tables of the estimates.
    sources
        For each measure where the values that are compared come from.
    data
        What a ledger calls the data.
    units, rankings, provenance, methods
        As for `Part`.
    """

    heading: str
    answer: tuple[str, ...]
    estimates: tuple[Table, ...]
    sources: dict[str, str]
    data: str
    units: dict[str, Any] | None = None
    rankings: dict[str, Any] | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    methods: tuple[str, ...] = ()
