"""What a page says about results, comparisons and agreement: one shape, `Part`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.as_json import json_text
from heldout.infer.ledger import read_ledger
from heldout.notes import Note, count_of, distinct
from heldout.report import comparison as shown
from heldout.report.answers import answer, percent, question, sides, test_line, test_name
from heldout.report.ledger import ledger_tables
from heldout.report.machine import comparison_estimates, estimate_lines
from heldout.report.order_agreement import agreement_lines
from heldout.report.page import provenance
from heldout.report.standing import standing
from heldout.report.table import Table, printable, write_tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.experiment.results.results import Results
    from heldout.infer.agreement import Agreement
    from heldout.infer.comparison import Comparison
    from heldout.report.charts.draw import Chart
    from heldout.report.standing import Standing

MOST: Final = 12_000  # rows of a chart that a page can hold; more make it slow
COLUMNS: Final = 300  # queries that a heat map shows one by one; of more only their order is seen
OTHER: Final = "Another question, new queries on these documents"


class Block(NamedTuple):
    """A table, and whether only its title is shown until it is unfolded."""

    table: Table
    folded: bool = False


class Part(NamedTuple):
    """One experiment or comparison on a page."""

    heading: str
    question: str = ""
    answer: Sequence[str] = ()  # the headline, then further sentences
    tables: Sequence[Block] = ()
    latex: str = ""  # the table for a paper
    about: Sequence[str] = ()  # what the numbers mean
    charts: Sequence[Chart] = ()
    units: Mapping[str, Any] | None = None  # the columns of the table of all units
    rankings: Mapping[str, Any] | None = None  # apart: parsed when the first unit is opened
    tuning: Sequence[Block] = ()
    plan: str = ""  # how the data were split
    folds: Sequence[Block] = ()
    checks: Sequence[Note] = ()
    looks: Sequence[Block] = ()  # the evaluations of a ledger on the same data
    provenance: Sequence[tuple[str, str]] = ()
    record: str = ""  # all settings, as they were stored
    methods: Sequence[str] = ()  # keys of citations


def part_of(of: Any, *, texts: Mapping[str, str] | None = None, ledger: str | None = None) -> Part:
    """Comparisons of the same systems or another result, without what `units` adds."""
    if isinstance(of, list):
        return _of_comparisons(of, texts, ledger)
    return _of_agreement(of) if type(of).__name__ == "Agreement" else _of_results(of, texts, ledger)


def _of_comparisons(
    comparisons: list[Comparison], texts: Mapping[str, str] | None, ledger: str | None
) -> Part:
    first, board = comparisons[0], standing(comparisons[0])
    names, measures = first.scores.systems, [each.scores.measure for each in comparisons]
    charts, left = _drawn(first, board, texts=texts)
    return Part(
        f"{len(names)} systems compared",
        question(_in_order(board, names)),
        [answer(board), *_how(first, board), *agreement_lines(comparisons)],
        [block for each in comparisons for block in _blocks(standing(each), each)],
        shown.paper_text(comparisons),
        [line for each in comparisons for line in shown.how_lines(each, full=True)],
        [*charts, *_drawn(comparisons)[0]],
        checks=distinct([note for each in comparisons for note in each.warnings] + left),
        looks=_looks(ledger, first.scores.data),
        provenance=provenance.of_comparisons(comparisons),
        methods=provenance.methods(comparisons, measures),
    )


def _of_results(results: Results, texts: Mapping[str, str] | None, ledger: str | None) -> Part:
    from heldout.report import experiment

    settings, compared = results.manifest["settings"], results.comparisons.compared
    boards, ranked = experiment.standings(results), results.task == "ranking"
    known = {each.scores.measure: each for each in compared}
    new_documents = settings["by"] in {"document", "both"}  # comparisons are of something else
    first, own = boards[0], known.get(boards[0].measure)
    charts, left = _drawn(results, first, texts=texts, compared=own)
    undirected = f"{first.measure} has no better and worse."
    said = experiment.result_answers(results, first) or [undirected]
    how = f"{percent(results.level)} intervals"
    if own is not None and not new_documents:
        said, how = [*said, *_how(own, first)], f"{test_name(own)}, {sides(own)}"
    tables = []
    for board in boards:
        systems = experiment.measure_tables(results, board, full=True)[0]
        tables += _blocks(board, None if new_documents else known.get(board.measure), systems)
    for each in compared if new_documents else ():
        for table, _ in _blocks(standing(each), each):
            tables.append(Block(table.with_words(f"{OTHER}: {table.title}"), folded=True))
    tuning, title = experiment.tuning_tables(results, full=True), "Selected parameters"
    names = [system["name"] for system in results.summary if not system.get("baseline")]
    data = own.scores.data if own else results.manifest["fingerprints"].get("collection", "")
    return Part(
        first.where.removeprefix("on ").capitalize(),
        question(_in_order(first, names), settings["collection" if ranked else "data"]["name"]),
        said,
        tables,
        write_tables([shown.paper_table(boards, how)], "paper"),
        experiment.result_lines(results, full=True),
        charts,
        tuning=[Block(table.with_words(f"{title} (tuned on all data)")) for table in tuning],
        plan=f"{printable(settings['plan_in_words'])}.",
        folds=[Block(table, folded=True) for table in experiment.split_tables(results)],
        checks=distinct([*experiment.result_notes(results), *left]),
        looks=_looks(ledger, data),
        provenance=provenance.of_results(results),
        record=json_text(results.manifest),
        methods=provenance.methods(
            compared,
            results.measures if ranked else (),
            [str(system.get("model", "")) for system in settings["systems"]],
        ),
    )


def _of_agreement(agreement: Agreement) -> Part:
    from heldout.report.agreement import agreement_sentences, agreement_tables

    tables, (charts, left) = agreement_tables(agreement, full=True), _drawn(agreement)
    measures = [order.measure for order in agreement.judges[0].orders]
    about = "Intervals are over queries: by the jackknife, of orders of systems by the bootstrap."
    return Part(
        "Agreement of judges",
        "Do machine judgements agree with human ones?",
        agreement_sentences(agreement),
        [Block(table) for table in tables],
        write_tables(tables, "latex"),
        [about],
        charts,
        checks=[*agreement.notes, *left],
        provenance=[("level", f"{agreement.level:g}"), ("rel", str(agreement.rel))],
        methods=[
            *("kappa", "alpha", *(("tau-ap", "rbo", "bootstrap") if measures else ())),
            *provenance.methods((), measures),
        ],
    )


# ---- words and tables ----------------------------------------------------------------------------


def _in_order(board: Standing, names: Sequence[str]) -> Standing:
    """Only these systems, as they were given: a question does not tell the answer."""
    return board._replace(rows=tuple(map(board.row, names)))


def _how(comparison: Comparison, board: Standing) -> list[str]:
    """Of one pair the counts; the test; what a machine adds."""
    return [*shown.counts_line(board), test_line(comparison), *estimate_lines(comparison)]


def _blocks(
    board: Standing, comparison: Comparison | None, systems: Table | None = None
) -> list[Block]:
    """The systems; folded the pairs, the analysis of all systems, and the machine's part."""
    systems = systems or shown.systems_table(board, full=True)
    where = ", ".join(filter(None, (board.size, board.where)))
    # Without places: a row of a page is named by its first cell, the system.
    systems = systems.columns(range(1, len(systems.head)))
    folded = []
    if board.gaps:
        pairs = count_of(len(board.gaps), "pair")
        folded.append(
            shown.pairs_table(board).with_words(f"Differences in {board.measure}: {pairs}")
        )
    if comparison is not None:
        folded += shown.anova_table(comparison)
        for table in comparison_estimates(comparison):
            folded.append(table.with_words("Human and machine judgements"))
    lead = systems.with_words(f"{board.measure} of each system ({where})")
    return [Block(lead), *(Block(table, folded=True) for table in folded)]


def _looks(ledger: str | None, data: str) -> list[Block]:
    """The evaluations of a ledger on the same data, in the order in which they were made."""
    if ledger is None:
        return []
    own = [look for look in read_ledger(ledger) if look.fingerprint == data]
    (table,) = ledger_tables(own)
    title = f"{ledger}: {count_of(len(own), 'evaluation')} on these data"
    note = "p is of an evaluation alone; Holm: adjusted for all evaluations on these data."
    return [Block(table.columns(range(1, len(table.head))).with_words(title, [note]))]


# ---- charts --------------------------------------------------------------------------------------


def _drawn(
    of: Any, board: Standing | None = None, **context: Any
) -> tuple[list[Chart], list[Note]]:
    """The charts that help and that a page can hold, and notes about those that are too large."""
    from heldout.report.charts.find import charts  # Altair is slow to import

    drawn, left = [], []
    for chart in charts(of, **context):
        if board is not None and not helps(chart, board):
            continue
        if len(chart.frame) <= MOST:
            drawn.append(chart)
        else:
            rows = f"{len(chart.frame):,} rows are too many for a page"
            text = f"{chart.title}: {rows}; heldout chart draws {chart.key}"
            left.append(Note("no-chart", text, "info"))
    return drawn, left


def helps(chart: Chart, board: Standing) -> bool:
    """Whether a chart shows something that the tables do not; ``heldout chart`` draws all."""
    if chart.key == "heatmap":  # of few systems, or of very many queries, it shows little
        return len(board.rows) > 2 and chart.frame["column"].n_unique() < COLUMNS
    return {
        "forest": len(board.gaps) != 1,  # overlapping intervals mislead about a pair
        "query-differences-2": False,  # the table of all queries has them
        "query-differences-3": False,
        "null": len(board.gaps) == 1 and board.gaps[0].p is not None,  # about new queries
        "critical-difference": False,  # another analysis than that of the tables
    }.get(chart.key, True)
