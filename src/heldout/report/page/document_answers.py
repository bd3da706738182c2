"""Which system is better on new documents, for these queries: differences with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.report.page.directions import more_is_better
from heldout.report.page.parts import PageTable
from heldout.report.tables import Table, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.results import Results
    from heldout.experiment.summary import SystemDifference

__all__ = ["document_answers", "document_tables"]

SAID: Final = 3
"""Differences that are said in sentences; the table has them all."""


def _differences(results: Results) -> Iterator[tuple[str, SystemDifference]]:
    for one in results.summary:
        for found in one.get("differences", ()):
            yield one["name"], found


def document_answers(results: Results, measure: str) -> tuple[str, ...]:
    """A sentence for each difference in a measure; none where they were not estimated."""
    level = results.level
    up = more_is_better(results, measure)
    said = []
    for first, found in _differences(results):
        if found["measure"] != measure:
            continue
        mine, other = plain_text(first), plain_text(found["system"])
        facts = (
            f"difference in {measure} {found['difference']:+.4f}, {level:.0%} interval "
            f"{found['low']:+.4f} to {found['high']:+.4f}"
        )
        better = "better" if (found["difference"] > 0) == up else "worse"
        if found["low"] <= 0 <= found["high"]:
            said.append(f"No difference between {mine} and {other} was shown: {facts}.")
        else:
            said.append(f"{mine} is {better} than {other}: {facts}.")
    several = " (each interval by itself)" if len(said) > 1 else ""
    return tuple(f"On new documents, for these queries{several}: {one}" for one in said[:SAID])


def document_tables(results: Results) -> tuple[PageTable, ...]:
    """All differences, if there are any."""
    level = results.level
    bounds = f"{level:.0%} interval"
    rows = tuple(
        (
            f"{first} - {found['system']}",
            found["measure"],
            f"{found['difference']:+.4f}",
            f"[{found['low']:+.4f}, {found['high']:+.4f}]",
        )
        for first, found in _differences(results)
    )
    if not rows:
        return ()
    title = "Differences on new documents, for these queries"
    sources = (
        ("Δ", "difference of the estimates, first minus second: summary.json, differences"),
        (bounds, "as if other documents were drawn, the queries staying as they are"),
    )
    return (PageTable(Table(("pair", "measure", "Δ", bounds), rows, title, texts=2), sources),)
