"""The results of an experiment as a part of a page."""

from __future__ import annotations

from math import comb
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import Note, distinct
from heldout.report.experiment import comparisons, result_sentences
from heldout.report.page.citations import comparison_methods
from heldout.report.page.claims import claim_parts
from heldout.report.page.drawn import made_charts
from heldout.report.page.looks import looks_table
from heldout.report.page.parts import Part
from heldout.report.page.provenance import command_pairs, settings_pairs
from heldout.report.page.tuned import split_tables, tuning_tables

if TYPE_CHECKING:
    from heldout.data.collection import Collection
    from heldout.experiment.results import Results
    from heldout.infer.compare import Comparison
    from heldout.report.page.parts import TaskParts

__all__ = ["part_of_results"]

MOST: Final = 200_000
"""Pairs × queries for which each pair gets a randomization test of its own."""
_QUICK: Final = Note(
    "quick-page",
    "there are very many pairs: randomization tests of each pair, which heldout run shows but "
    "which do not decide, were left out of this page",
    "info",
)


def part_of_results(
    results: Results,
    *,
    heading: str = "",
    collection: Collection | None = None,
    ledger: str | None = None,
) -> Part:
    """All that a page says about an experiment.

    Parameters
    ----------
    results
        Of the experiment.
    heading
        By default what was held out.
    collection
        Where the texts and the judgements are, if it is at hand.
    ledger
        The file of a ledger, for its looks at these data.
    """
    quick = _very_many(results)
    compared, refused = comparisons(results, _quick_tests(results) if quick else None)
    own = _task_parts(results, compared, collection)
    charts, left_out = made_charts(lambda: _charts(results, collection, compared))
    warnings = [note for one in compared for note in one.warnings]
    said = result_sentences(results)
    return Part(
        heading=heading or own.heading,
        answer=own.answer,
        about=said,
        tables=(
            *own.estimates,
            *(
                table
                for one in compared
                for table in claim_parts(one, own.sources[one.scores.measure])
            ),
        ),
        charts=charts,
        units=own.units,
        rankings=own.rankings,
        tuning=tuning_tables(results),
        splits=split_tables(results),
        splits_about=said[:1],
        checks=distinct(
            [*results.notes, *refused, *warnings, *left_out, *([_QUICK] if quick else [])]
        ),
        looks=None if ledger is None else looks_table(ledger, own.data),
        provenance=(*command_pairs(results), *settings_pairs(results.manifest), *own.provenance),
        record=results.manifest,
        methods=(*(key for one in compared for key in comparison_methods(one)), *own.methods),
    )


def _quick_tests(results: Results) -> dict[str, Any]:
    """The test that decides, without the randomization test beside it."""
    if any(one.get("choices") for one in results.summary):
        return {"tests": ("retuned-t",)}
    return {"tests": ("t",), "correction": "tukey"}


def _very_many(results: Results) -> bool:
    """Whether only the test that decides is made: the others take minutes."""
    if len(results.systems) < 3 or results.manifest["settings"]["baseline"] is not None:
        return False
    units = results.summary[0]["estimates"][0].get("n_queries", 0)
    return bool(comb(len(results.systems), 2) * units > MOST)


def _task_parts(
    results: Results, compared: list[Comparison], collection: Collection | None
) -> TaskParts:
    if results.task == "ranking":
        from heldout.report.page.of_rankings import parts_of_rankings

        return parts_of_rankings(results, compared, collection)
    from heldout.report.page.of_predictions import parts_of_predictions

    return parts_of_predictions(results, compared)


def _charts(results: Results, collection: Collection | None, compared: list[Comparison]) -> Any:
    from heldout.report.charts.of_results import charts_of

    first = {one.scores.measure: one for one in compared}.get(results.measures[0])
    return charts_of(results, collection=collection, comparison=first)
