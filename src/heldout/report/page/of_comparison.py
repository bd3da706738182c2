"""A comparison of runs, predictions or scores as one part of a page."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from heldout import __version__
from heldout.notes import count_of, distinct
from heldout.report.machine import estimate_lines
from heldout.report.order_agreement import agreement_lines
from heldout.report.page.answer import board_answer
from heldout.report.page.board import board_of_comparison
from heldout.report.page.board_tables import comparison_tables, decision_line
from heldout.report.page.citations import comparison_methods, measure_methods
from heldout.report.page.drawn import made_charts
from heldout.report.page.explorer import unit_columns, units_of_scores
from heldout.report.page.looks import looks_table
from heldout.report.page.parts import Part
from heldout.report.page.provenance import measure_signatures
from heldout.report.page.rankings import lists_of_runs, ranking_columns
from heldout.report.page.worth import worth_showing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.infer.comparison import Comparison
    from heldout.report.charts.named import NamedChart

__all__ = ["part_of_comparisons"]


def part_of_comparisons(
    comparisons: Sequence[Comparison],
    *,
    heading: str = "",
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
    collection: Collection | None = None,
    ledger: str | None = None,
    provenance: Sequence[tuple[str, str]] = (),
) -> Part:
    """One comparison as a part of a page.

    Parameters
    ----------
    comparisons
        One per measure, of the same systems.
    heading
        By default the number of systems.
    runs, qrels
        The ranked lists behind the scores, by system, and the judgements, if there are any.
    collection
        Where the texts are, if it is known.
    ledger
        The file of a ledger, to show its evaluations on these data.
    provenance
        Names and values to start with, such as the command.
    """
    first = comparisons[0]
    noun = ("unit", "units") if runs is None else ("query", "queries")
    units_words = count_of(len(first.scores.units), *noun)
    charts, left_out = made_charts(lambda: _charts(comparisons, collection, noun[0]))
    warnings = [note for one in comparisons for note in one.warnings]
    measures = [one.scores.measure for one in comparisons]
    units, rankings = _explored(comparisons, runs, qrels, collection)
    signatures = measure_signatures(measures) if runs is not None else ()
    methods = [key for one in comparisons for key in comparison_methods(one)]
    return Part(
        heading=heading or f"{len(first.scores.systems)} systems compared",
        answer=(
            *board_answer(board_of_comparison(first), f"on {units_words}"),
            decision_line(first, noun),
            *estimate_lines(first),
            *agreement_lines(comparisons),
        ),
        tables=tuple(table for one in comparisons for table in comparison_tables(one, noun)),
        charts=charts,
        units=units,
        rankings=rankings,
        checks=distinct([*warnings, *left_out]),
        looks=None if ledger is None else looks_table(ledger, first.scores.data),
        provenance=(*provenance, *_settings(first), *signatures),
        methods=(*methods, *measure_methods(measures)),
    )


def _charts(
    comparisons: Sequence[Comparison], collection: Collection | None, unit: str
) -> list[NamedChart]:
    from heldout.report.charts.of_agreement import charts_of_measures
    from heldout.report.charts.of_comparison import charts_of_comparison

    first = comparisons[0]
    texts = None if collection is None else collection.queries.to_dict()
    made = charts_of_comparison(first, texts=texts, unit=unit)
    return [*worth_showing(made, first), *charts_of_measures(comparisons)]


def _explored(
    comparisons: Sequence[Comparison],
    runs: Mapping[str, Run] | None,
    qrels: Qrels | None,
    collection: Collection | None,
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    several = [one.scores for one in comparisons]
    units, values = units_of_scores(several)
    systems = several[0].systems
    columns = unit_columns(
        ("unit", "units") if runs is None else ("query", "queries"),
        units,
        systems,
        [(one.measure, one.higher_is_better) for one in several],
        values,
        texts=None if collection is None else collection.queries.to_dict(),
        source="the scores that were compared",
        first=comparisons[0].baseline,
    )
    if runs is None:
        return columns, None
    ranked = lists_of_runs(runs)
    return columns, ranking_columns(ranked, units, systems, qrels=qrels, collection=collection)


def _settings(comparison: Comparison) -> list[tuple[str, str]]:
    how = comparison.analysis
    pairs = [
        ("data", comparison.scores.data),
        ("units", f"{len(comparison.scores.units):,}"),
        ("tests", f"{', '.join(how.tests)}; correction {how.correction or 'none'}"),
        ("alternative, level", f"{comparison.alternative}, {comparison.level:g}"),
        ("seed", str(comparison.analysis.seed)),
        ("baseline", comparison.baseline or "none: all pairs"),
        ("versions", _versions()),
    ]
    return [pair for pair in pairs if pair[1]]


def _versions() -> str:
    found = [f"heldout {__version__}", f"python {platform.python_version()}"]
    for name in ("numpy", "scipy"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
