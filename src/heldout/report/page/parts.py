"""The content of a page, before it becomes markup."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from heldout.notes import Note
    from heldout.report.charts.named import NamedChart
    from heldout.report.tables import Table

__all__ = ["PageTable", "Part", "TaskParts"]


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table and where its numbers come from.

    Parameters
    ----------
    table
        With a title.
    sources
        For columns: what the numbers are and where they come from.
    latex
        The same table for a paper; empty if it is not offered.
    words
        The same in sentences.
    fold
        The words that unfold the table; empty if it is always shown.
    """

    table: Table
    sources: tuple[tuple[str, str], ...] = ()
    latex: str = ""
    words: tuple[str, ...] = ()
    fold: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """One experiment or comparison on a page.

    Parameters
    ----------
    heading
        Its title.
    answer
        The headline, then further sentences.
    about
        What the numbers mean, in sentences.
    tables, tuning, splits
        Tables of the scores, of the tuning and of the folds.
    charts
        In the order in which they are shown.
    units, rankings
        Columns for the table of all units; None if there is none. Rankings are parsed when the
        first unit is opened.
    splits_about
        How the data were split, in sentences.
    checks
        Warnings and notes.
    looks
        The ledger's evaluations on these data; None if no ledger was given.
    provenance
        Names and values.
    record
        All settings, as they were stored.
    methods
        Keys of the citations.
    """

    heading: str
    answer: tuple[str, ...]
    about: tuple[str, ...] = ()
    tables: tuple[PageTable, ...] = ()
    charts: tuple[NamedChart, ...] = ()
    units: dict[str, Any] | None = None
    rankings: dict[str, Any] | None = None
    tuning: tuple[PageTable, ...] = ()
    splits: tuple[PageTable, ...] = ()
    splits_about: tuple[str, ...] = ()
    checks: tuple[Note, ...] = ()
    looks: PageTable | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    record: dict[str, Any] = field(default_factory=dict)
    methods: tuple[str, ...] = ()


class TaskParts(NamedTuple):
    """The parts of a page that depend on the task.

    Parameters
    ----------
    heading, answer
        As for `Part`.
    tables
        Tables of the scores.
    data
        The name of the data in a ledger.
    units, rankings, provenance, methods
        As for `Part`.
    """

    heading: str
    answer: tuple[str, ...]
    tables: tuple[PageTable, ...]
    data: str
    units: dict[str, Any] | None = None
    rankings: dict[str, Any] | None = None
    provenance: tuple[tuple[str, str], ...] = ()
    methods: tuple[str, ...] = ()
