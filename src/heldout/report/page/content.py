"""What a page says about results, comparisons and agreement: one shape, `Part`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.as_json import json_text
from heldout.errors import HeldoutError
from heldout.infer.ledger import read_ledger
from heldout.notes import Note, count_of, distinct
from heldout.report.answers import answer, percent, sides, test_line, test_name
from heldout.report.comparison import (
    anova_table,
    counts_line,
    how_lines,
    paper_table,
    paper_text,
    pairs_table,
    systems_table,
)
from heldout.report.ledger import ledger_tables
from heldout.report.machine import comparison_estimates, estimate_lines
from heldout.report.page import provenance, units
from heldout.report.standing import standing
from heldout.report.table import Table, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
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
    sources: Mapping[str, str] = {}  # what the columns are and where they come from
    about: Sequence[str] = ()  # what the numbers mean
    charts: Sequence[Chart] = ()
    units: dict[str, Any] | None = None  # columns of the table of all units
    rankings: dict[str, Any] | None = None  # apart: parsed when the first unit is opened
    tuning: Sequence[Block] = ()
    plan: str = ""
    folds: Sequence[Block] = ()
    checks: Sequence[Note] = ()
    looks: Block | None = None  # the evaluations of a ledger on the same data
    provenance: Sequence[tuple[str, str]] = ()
    record: str = ""  # all settings, as they were stored
    methods: Sequence[str] = ()  # keys of citations

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


def part_of_comparisons(
    comparisons: Sequence[Comparison],
    *,
    collection: Collection | None = None,
    ledger: str | None = None,
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
) -> Part:
    """Comparisons of the same systems, one per measure."""
    from heldout.report.order_agreement import agreement_lines

    boards, first = [standing(each) for each in comparisons], comparisons[0]
    texts = None if collection is None else collection.queries.to_dict()
    several, measures = [each.scores for each in comparisons], [board.measure for board in boards]
    explored, rankings = units.units_of_scores(several, boards[0], texts), None
    if runs is not None:
        lists = units.lists_of_runs({name: runs[name] for name in first.scores.systems})
        rankings = units.ranking_columns(
            lists, explored["units"], qrels=qrels, collection=collection
        )

    def made() -> list[Chart]:
        from heldout.report.charts.find import charts

        every = helpful(charts(first, texts=texts), boards[0])
        return every + (charts(list(comparisons)) if len(comparisons) > 1 else [])

    drawn, left = _drawn(made)
    said = [answer(boards[0])]
    said += counts_line(boards[0]) if len(boards[0].gaps) == 1 else []
    signed = provenance.signatures(measures) if runs is not None else []
    return Part(
        f"{len(first.scores.systems)} systems compared",
        [*said, test_line(first), *estimate_lines(first), *agreement_lines(comparisons)],
        [block for each, board in zip(comparisons, boards, strict=True) for block in _blocks(each, board)],
        paper_text(comparisons),
        _sources(boards, first, "mean over the units; the table of all units has their values"),
        [line for each in comparisons for line in how_lines(each, full=True)],
        drawn,
        explored,
        rankings,
        checks=distinct([note for each in comparisons for note in each.warnings] + left),
        looks=_looks(ledger, first.scores.data),
        provenance=[*provenance.of_comparison(first), *signed],
        methods=provenance.methods(comparisons, measures, ledger=ledger),
    )


def part_of_results(
    results: Results, *, collection: Collection | None = None, ledger: str | None = None
) -> Part:
    """One experiment: held-out scores, what was selected, and each fold."""
    from heldout.report import experiment

    settings, compared = results.manifest["settings"], results.comparisons.compared
    ranked, documents = results.task == "ranking", settings["by"] == "document"
    boards = experiment.standings(results)
    texts = None if collection is None else collection.queries.to_dict()
    known = {each.scores.measure: each for each in compared}
    own = known.get(results.measures[0])
    explored, rankings = units.units_of_results(results, boards, texts), None
    if ranked:
        lists, note = units.lists_of_results(results)
        rankings = units.ranking_columns(
            lists, explored["units"], note=note, collection=collection
        )

    def made() -> list[Chart]:
        from heldout.report.charts.find import charts

        return helpful(charts(results, texts=texts, compared=own), boards[0])

    tables = []
    for board in boards:
        system, *pairs = experiment.measure_tables(results, board, full=True)
        tables += [_titled(system, board), *_folded(pairs, board)]
    how = f"{percent(results.level)} confidence intervals"
    said = [answer(boards[0])]
    if settings["by"] != "query":
        size = results.estimate(results.systems[0])["target_size"]
        on = "" if size is None else f" of {size:,} documents"
        said.append(f"The intervals are for the same queries on a new collection{on}." if documents else "")
        for each in compared:  # tests over queries answer another question
            board = standing(each)
            fold = "Another question: new queries on these documents"
            tables += [
                Block(block.table, f"{fold}{': ' if block.fold else ''}{block.fold.lower()}")
                for block in _blocks(each, board)
            ]
    elif own is not None:
        how = f"{test_name(own)}, {sides(own)}"
        said += [*(counts_line(boards[0]) if len(boards[0].gaps) == 1 else []), test_line(own), *estimate_lines(own)]
        tables += [Block(table, "Human and machine judgements") for each in compared for table in comparison_estimates(each)]
    tables += [Block(table, "Each judge alone") for table in experiment.judge_tables(results)]
    selected = experiment.tuning_table(results, full=True)
    tuned = [system for system in results.summary if system["tuned"]]
    tuning = [] if selected is None else [Block(selected)]
    tuning += [Block(experiment.settings_table(results, each), f"{each['name']}: the best settings") for each in tuned]
    splits, differ = experiment.split_table(results), any(len(each["chosen"]) > 1 for each in tuned)
    drawn, left = _drawn(made)
    models = [str(system.get("model", "")) for system in settings["systems"]]
    data = results.manifest["fingerprints"].get("collection") if ranked else ""
    return Part(
        NEW[settings["by"]] if ranked else "New rows",
        list(filter(None, said)),
        tables,
        write_tables([paper_table(boards, how)], "paper"),
        _sources(boards, None if documents else own, "summary.json; single values: values.parquet"),
        experiment.result_lines(results, full=True),
        drawn,
        explored,
        rankings,
        tuning,
        provenance.plan_words(results),
        [] if splits is None else [Block(splits, "" if differ else "Each split")],
        distinct([*experiment.result_notes(results), *left]),
        _looks(ledger, data or results.scores(systems=results.systems[:1], by_unit=False).data),
        provenance.of_results(results),
        json_text(results.manifest),
        provenance.methods(compared, results.measures if ranked else (), models, ledger=ledger),
    )


def part_of_agreement(agreement: Agreement) -> Part:
    """The agreement of machine judgements with human ones."""
    from heldout.report.agreement import agreement_sentences, agreement_tables, legends

    def made() -> list[Chart]:
        from heldout.report.charts.find import charts

        return charts(agreement)

    tables, (drawn, left) = agreement_tables(agreement, full=True), _drawn(made)
    measures = [order.measure for order in agreement.judges[0].orders]
    keys = ["kappa", "alpha", *(["tau-ap", "rbo", "bootstrap"] if measures else [])]
    about = (
        "Intervals treat queries as the units: documents of a query are not independent. Those of "
        "the statistics come from the jackknife, those of the order of systems from the bootstrap."
    )
    return Part(
        "Agreement of judges",
        agreement_sentences(agreement),
        [Block(table) for table in tables],
        write_tables(tables, "latex"),
        about=[*legends(agreement), about],
        charts=drawn,
        checks=[*agreement.notes, *left],
        provenance=[("level", f"{agreement.level:g}"), ("rel", str(agreement.rel))],
        methods=[*keys, *provenance.methods((), measures)],
    )


# ---- tables --------------------------------------------------------------------------------------


def _blocks(comparison: Comparison, board: Standing) -> list[Block]:
    """The systems; folded the pairs, the analysis of all systems, and the machine's part."""
    return [
        _titled(systems_table(board, full=True), board),
        *_folded([pairs_table(board)], board),
        *(Block(table, "All systems together") for table in anova_table(comparison)),
        *(Block(table, "Human and machine judgements") for table in comparison_estimates(comparison)),
    ]


def _titled(table: Table, board: Standing) -> Block:
    """Without the places: a browser's row is named by its first cell, the system."""
    table = table.columns(range(1, len(table.head)))
    after = ", ".join(filter(None, (board.size, board.where)))
    title = f"{board.measure} of each system{f' ({after})' if after else ''}"
    return Block(replace(table, rows=table.cells, title=title))


def _folded(tables: Iterable[Table], board: Standing) -> list[Block]:
    pairs = count_of(len(board.gaps), "pair")
    fold = f"All {pairs}" if len(board.gaps) > 1 else "Effect size and further tests"
    title = f"{board.measure}: {pairs} of systems"
    return [Block(replace(table, rows=table.cells, title=title), fold) for table in tables]


def _sources(
    boards: Sequence[Standing], comparison: Comparison | None, score: str
) -> dict[str, str]:
    """For each column of the tables what it is and where it comes from."""
    board, level = boards[0], percent(boards[0].level)
    sources = {each.measure: f"score: {score}" for each in boards}
    gap = f"{level} confidence interval of the difference"
    if comparison is not None:
        claim, mean = comparison.claims[0], comparison.systems[0].mean
        gap += f" ({claim.difference.method})"
        sources[f"{level} CI of score"] = f"{level} confidence interval ({mean.method})"
        sources["p"] = f"p-value of the verdict: {test_name(comparison)}"
        sources |= {f"p ({each.test})": f"p-value of this test alone: {each.detail or each.method}" for each in claim.outcomes}
    else:
        sources[f"{level} CI of score"] = f"{level} confidence interval: summary.json"
        gap += ", for the same queries on new documents: summary.json, differences"
    star = "* marks a significant difference"
    return sources | {
        "vs best": f"score minus that of {board.reference}; {star}",
        "difference": f"score minus that of {board.reference or 'the other'}, or first minus second system; {star}",
        f"{level} CI of difference": gap,
        f"{level} CI": gap,
        f"simultaneous {level} CI": f"{gap}; all intervals hold at once",
        "group": "systems that share a letter are not significantly different",
        "judged": "share of the first ten documents that is judged",
        "effect size d_z": "mean difference divided by the standard deviation of the differences",
        "won/tied/lost": "units on which the first system is better, equal, worse",
    }


def _looks(ledger: str | None, data: str) -> Block | None:
    """The evaluations of a ledger on the same data, in the order in which they were made."""
    if ledger is None:
        return None
    every = read_ledger(ledger)
    own = [look for look in every if look.fingerprint == data]
    others = len({look.fingerprint for look in every} - {data})
    more = f", and evaluations on {others} other data" if others else ""
    note = (
        f"{ledger} has {count_of(len(own), 'evaluation')} on these data{more}. p is of an "
        "evaluation alone; Holm: adjusted for all evaluations on these data."
    )
    (table,) = ledger_tables(own)
    table = table.columns(range(1, len(table.head)))
    return Block(replace(table, rows=table.cells, title="Evaluations on these data", notes=[note]))


# ---- charts --------------------------------------------------------------------------------------


def _drawn(make: Callable[[], Iterable[Chart]]) -> tuple[list[Chart], list[Note]]:
    """The charts that a page can hold, and notes about the others."""
    try:
        every = list(make())
    except HeldoutError as error:
        return [], [Note("no-chart", f"no charts: {error}", "info")]
    left = [
        Note(
            "no-chart",
            f"chart “{chart.title}” has {count_of(len(chart.frame), 'row')}, too many for a page: "
            "draw it by itself, as SVG",
            "info",
        )
        for chart in every
        if len(chart.frame) > MOST
    ]
    return [chart for chart in every if len(chart.frame) <= MOST], left


def helpful(charts: Iterable[Chart], board: Standing) -> list[Chart]:
    """The charts that show something that the tables do not; ``heldout chart`` draws all."""
    differ = any(gap.counts is None or gap.counts[0] + gap.counts[2] for gap in board.gaps)
    new_documents = bool(board.gaps) and all(gap.p is None for gap in board.gaps)

    def helps(chart: Chart) -> bool:
        frame = chart.frame
        match chart.key:
            case "query-differences-2" | "query-differences-3":  # the table of all queries has them
                return False
            case "heatmap":  # of few systems, or of very many queries, it shows little
                return frame["system"].n_unique() > 2 and frame["column"].n_unique() < COLUMNS
            case "optimism":  # scores that are nearly the same are one point
                whole = frame.filter(frame["split"].is_null())["gap", "held_out"]
                return any(abs(gap) > VISIBLE * abs(score) for gap, score in whole.iter_rows())
            case "forest":  # two overlapping intervals mislead about a paired difference
                return not board.gaps or len(frame) > 2
            case "query-differences" | "pairs":  # systems may agree on every unit
                return differ
            case "null":  # of one pair; of new documents it answers another question
                return len(board.gaps) == 1 and not new_documents
            case "critical-difference":  # another analysis than that of the tables
                return False
        return True

    return [chart for chart in charts if helps(chart)]
