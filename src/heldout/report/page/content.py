"""What a page says about results, comparisons and agreement: one shape, `Part`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.as_json import json_text
from heldout.errors import HeldoutError
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
VISIBLE: Final = 0.002  # share of the score from which training and held-out score are two points
NEW: Final = {
    "query": "New queries",
    "document": "New documents",
    "both": "New queries, new documents",
}
MACHINE: Final = "Human and machine judgements"
OTHER: Final = "Another question, new queries on these documents"


class Block(NamedTuple):
    """A table, and the words that unfold it; without words it is always shown."""

    table: Table
    fold: str = ""


class Part(NamedTuple):
    """One experiment or comparison on a page."""

    heading: str
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
    looks: Block | None = None  # the evaluations of a ledger on the same data
    provenance: Sequence[tuple[str, str]] = ()
    record: str = ""  # all settings, as they were stored
    methods: Sequence[str] = ()  # keys of citations

    @property
    def heads(self) -> set[str]:
        """The columns of all tables; of several systems, without the name of the system."""
        blocks = [*self.tables, *self.tuning, *self.folds]
        return {head.rpartition(": ")[2] for block in blocks for head in block.table.head}

    @property
    def sections(self) -> list[tuple[str, str]]:
        """Key and title of each section that has something to say."""
        tuning = [chart for chart in self.charts if chart.key.startswith(("tuning", "optimism"))]
        noun = self.units["noun"][0] if self.units else ""
        every: list[tuple[str, str, Any]] = [
            ("table", "Results", self.tables),
            ("charts", "Charts", len(self.charts) > len(tuning)),
            ("units", f"{noun.capitalize()} by {noun}", self.units),
            ("tuning", "Tuning", self.tuning or tuning),
            ("folds", "Folds", self.folds or self.plan),
            ("checks", "Warnings", True),
            ("ledger", "Ledger", self.looks),
        ]
        return [(key, title) for key, title, content in every if content]


def part_of(of: Any, *, texts: Mapping[str, str] | None = None, ledger: str | None = None) -> Part:
    """A list of comparisons of the same systems, one per measure, or any other result.

    The table of all units is left out: `heldout.report.page.units` makes it.
    """
    if isinstance(of, list):
        return _of_comparisons(of, texts, ledger)
    return _of_agreement(of) if type(of).__name__ == "Agreement" else _of_results(of, texts, ledger)


def _of_comparisons(
    comparisons: list[Comparison], texts: Mapping[str, str] | None, ledger: str | None
) -> Part:
    first, board = comparisons[0], standing(comparisons[0])
    blocks = [block for each in comparisons for block in _blocks(standing(each), each)]
    measures = [each.scores.measure for each in comparisons]
    charts, left = _drawn(first, board, texts=texts)
    charts += _drawn(comparisons, board)[0] if len(comparisons) > 1 else []
    return Part(
        f"{len(first.scores.systems)} systems compared",
        [answer(board), *_how(first, board), *agreement_lines(comparisons)],
        blocks,
        shown.paper_text(comparisons),
        [line for each in comparisons for line in shown.how_lines(each, full=True)],
        charts,
        checks=distinct([note for each in comparisons for note in each.warnings] + left),
        looks=_looks(ledger, first.scores.data),
        provenance=provenance.of_comparisons(comparisons),
        methods=provenance.methods(comparisons, measures),
    )


def _of_results(results: Results, texts: Mapping[str, str] | None, ledger: str | None) -> Part:
    from heldout.report import experiment

    settings, compared = results.manifest["settings"], results.comparisons.compared
    boards, ranked = experiment.standings(results), results.task == "ranking"
    new_documents = settings["by"] in {"document", "both"}
    known = {each.scores.measure: each for each in compared}
    first, own = boards[0], known.get(boards[0].measure)
    charts, left = _drawn(results, first, texts=texts, compared=own)
    said, how = [answer(first)], f"{percent(results.level)} intervals"
    if results.higher_is_better(first.measure) is None:
        said = [f"{first.measure} has no better and worse; the table has all values."]
    if new_documents:
        said.append(f"Intervals are for {results.summary[0]['estimates'][0]['estimand']}.")
    elif own is not None:
        said, how = [*said, *_how(own, first)], f"{test_name(own)}, {sides(own)}"
    tables = []
    for board in boards:
        systems = experiment.measure_tables(results, board, full=True)[0]
        tables += _blocks(board, None if new_documents else known.get(board.measure), systems)
    for each in compared if new_documents else ():
        blocks = _blocks(standing(each), each)
        tables += [Block(table, f"{OTHER}: {fold or 'systems'}") for table, fold in blocks]
    selected = experiment.tuning_tables(results, full=True)
    tuning = [_named(table, "Selected parameters (tuned on all data)") for table in selected]
    differ = any(len(system["chosen"]) > 1 for system in results.summary if system["tuned"])
    fold = "" if differ else "Each split"
    folds = [Block(table, fold) for table in experiment.split_tables(results)]
    data = results.manifest["fingerprints"].get("collection")
    if not ranked:  # as the comparisons of these results name their data
        data = results.scores(systems=results.systems[:1], by_unit=False).data
    about, plan = experiment.result_lines(results, full=True), printable(settings["plan_in_words"])
    models = [str(system.get("model", "")) for system in settings["systems"]]
    return Part(
        NEW[settings["by"]] if ranked else "New rows",
        said,
        tables,
        write_tables([shown.paper_table(boards, how)], "paper"),
        about,
        charts,
        tuning=tuning,
        plan=next(line for line in about if line.startswith(plan)),
        folds=folds,
        checks=distinct([*experiment.result_notes(results), *left]),
        looks=_looks(ledger, str(data)),
        provenance=provenance.of_results(results),
        record=json_text(results.manifest),
        methods=provenance.methods(compared, results.measures if ranked else (), models),
    )


def _of_agreement(agreement: Agreement) -> Part:
    from heldout.report.agreement import agreement_sentences, agreement_tables

    tables, (charts, left) = agreement_tables(agreement, full=True), _drawn(agreement)
    measures = [order.measure for order in agreement.judges[0].orders]
    about = (
        "Intervals treat queries as the units: documents of a query are not independent. Those of "
        "the statistics come from the jackknife, those of the order of systems from the bootstrap."
    )
    return Part(
        "Agreement of judges",
        agreement_sentences(agreement),
        [Block(table) for table in tables],
        write_tables(tables, "latex"),
        [about],
        charts=charts,
        checks=[*agreement.notes, *left],
        provenance=[("level", f"{agreement.level:g}"), ("rel", str(agreement.rel))],
        methods=[
            *("kappa", "alpha", *(("tau-ap", "rbo", "bootstrap") if measures else ())),
            *provenance.methods((), measures),
        ],
    )


def title_of(given: Sequence[Any]) -> str:
    """What was asked, if it was the same of all results; the systems are named as they came."""
    if type(given[0]).__name__ == "Agreement":
        return "Do machine judgements agree with human ones?"
    asked = set()
    for of in given:
        if isinstance(of, list):
            board, names, data = standing(of[0]), of[0].scores.systems, ""
        else:
            board, settings = standing(of), of.manifest["settings"]
            data = str(settings["collection" if of.task == "ranking" else "data"]["name"])
            data = "pydocs" if data.startswith("pydocs-") else data
            names = [each["name"] for each in of.summary if not each.get("baseline")]  # not asked
        board = board._replace(rows=tuple(map(board.row, names)))
        asked.add(question(board, "" if data in {"data", "collection"} else data))
    return str(asked.pop()) if len(asked) == 1 else f"{len(given)} experiments"


# ---- tables --------------------------------------------------------------------------------------


def _how(comparison: Comparison, board: Standing) -> list[str]:
    """Of one pair the counts; the test; what a machine adds."""
    counts = shown.counts_line(board) if len(board.gaps) == 1 else []
    return [*counts, test_line(comparison), *estimate_lines(comparison)]


def _blocks(
    board: Standing, comparison: Comparison | None, systems: Table | None = None
) -> list[Block]:
    """The systems; folded the pairs, the analysis of all systems, and the machine's part."""
    systems = systems or shown.systems_table(board, full=True)
    # Without places: a row of a page is named by its first cell, the system.
    systems = systems.columns(range(1, len(systems.head)))
    after = ", ".join(filter(None, (board.size, board.where)))
    blocks = [_named(systems, f"{board.measure} of each system{f' ({after})' if after else ''}")]
    if len(board.gaps) > 1 or comparison is not None:
        pairs = count_of(len(board.gaps), "pair")
        fold = f"All {pairs}" if len(board.gaps) > 1 else "Effect size and further tests"
        blocks.append(_named(shown.pairs_table(board), f"{board.measure}: {pairs}", fold))
    if comparison is not None:
        blocks += [Block(table, table.title) for table in shown.anova_table(comparison)]
        blocks += [_named(table, MACHINE, MACHINE) for table in comparison_estimates(comparison)]
    return blocks


def _named(table: Table, title: str, fold: str = "", notes: Sequence[str] = ()) -> Block:
    return Block(replace(table, rows=table.cells, title=title, notes=[*table.notes, *notes]), fold)


def _looks(ledger: str | None, data: str) -> Block | None:
    """The evaluations of a ledger on the same data, in the order in which they were made."""
    if ledger is None:
        return None
    every = read_ledger(ledger)
    own = [look for look in every if look.fingerprint == data]
    others = len({look.fingerprint for look in every} - {data})
    words = f"{ledger} has {count_of(len(own), 'evaluation')} on these data"
    words += f", and evaluations on {others} other data." if others else "."
    note = "p is of an evaluation alone; Holm: adjusted for all evaluations on these data."
    (table,) = ledger_tables(own)
    table = table.columns(range(1, len(table.head)))
    return _named(table, "Evaluations on these data", notes=[words, note])


# ---- charts --------------------------------------------------------------------------------------


def _drawn(
    of: Any, board: Standing | None = None, **context: Any
) -> tuple[list[Chart], list[Note]]:
    """The charts that help and that a page can hold, and notes about those that are too large."""
    from heldout.report.charts.find import charts  # Altair is slow to import

    try:
        every = [chart for chart in charts(of, **context) if board is None or helps(chart, board)]
    except HeldoutError as error:
        return [], [Note("no-chart", f"no charts: {error}", "info")]
    words = "{}: {:,} rows are too many for a page; heldout chart draws {}"
    left = [
        Note("no-chart", words.format(chart.title, len(chart.frame), chart.key), "info")
        for chart in every
        if len(chart.frame) > MOST
    ]
    return [chart for chart in every if len(chart.frame) <= MOST], left


def helps(chart: Chart, board: Standing) -> bool:
    """Whether a chart shows something that the tables do not; ``heldout chart`` draws all."""
    frame, gaps = chart.frame, board.gaps
    if chart.key == "heatmap":  # of few systems, or of very many queries, it shows little
        return frame["system"].n_unique() > 2 and frame["column"].n_unique() < COLUMNS
    if chart.key == "optimism":  # scores that are nearly the same are one point
        whole = frame.filter(frame["split"].is_null())["gap", "held_out"].iter_rows()
        return any(abs(gap) > VISIBLE * abs(score) for gap, score in whole)
    differ = any(gap.counts is None or gap.counts[0] + gap.counts[2] for gap in gaps)
    return {
        "forest": not gaps or len(frame) > 2,  # overlapping intervals mislead about a pair
        "pairs": differ,  # systems may agree on every unit
        "query-differences": differ,
        "query-differences-2": False,  # the table of all queries has them
        "query-differences-3": False,
        "null": len(gaps) == 1 and gaps[0].p is not None,  # of one pair; about new queries
        "critical-difference": False,  # another analysis than that of the tables
    }.get(chart.key, True)
