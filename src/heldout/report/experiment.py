"""Experiments as tables and in words: what is best on held-out data, and what was selected."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import Note, count_of, distinct
from heldout.report.answers import answer, number, test_line
from heldout.report.comparison import comparisons_text, pairs_table, systems_table
from heldout.report.machine import comparison_estimates, estimate_lines
from heldout.report.standing import standing
from heldout.report.table import Cell, Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from heldout.experiment.results.results import Results
    from heldout.report.standing import Standing

MOST: Final = 100  # rows of splits that are shown; the file has all
_OPTIMISTIC: Final = (
    "The training score is measured on the data used for tuning and is therefore optimistic."
)
_PESSIMISTIC: Final = (
    "Parameters are tuned on all data; splits: those that selected the same. The held-out score "
    "applies to them; it is slightly pessimistic because each split tuned on less data."
)


def results_text(
    results: Results, *, full: bool = False, width: int | None = None, quiet: bool = False
) -> str:
    """Which system is best, the held-out scores, what was selected, and what to know about it.

    `full` adds all columns, the selections of each split, what the numbers mean, and, of document
    folds, the comparison over queries.
    """
    compared, notes = results.comparisons.compared, result_notes(results)
    boards = standings(results)
    parts = []
    for board in boards:
        said = result_answers(results, board)
        parts += [paragraphs([line], width) for line in said]
        if full or not said or len(board.rows) > 1:  # of one system the sentence has all numbers
            parts.append(write_tables(measure_tables(results, board, full=full), "text", width))
    more = tuning_tables(results, full=full)
    if full:
        more += [*split_tables(results), *_judges(results)]
    parts += [write_tables(more, "text", width)] if more else []
    lines = [test_line(compared[0])] if compared and _decided_by_units(results) else []
    lines += [line for each in compared for line in estimate_lines(each)]
    lines += result_lines(results, full=full)
    parts.append(paragraphs([*lines, *([] if quiet else note_lines(notes))], width))
    if full and compared and not _decided_by_units(results):
        parts.append("For new queries on these documents:\n")
        parts.append(comparisons_text(compared, full=True, width=width, quiet=True))
    return "\n".join(parts)


def results_tables(results: Results) -> list[Table]:
    """All tables; the answer is the first title of each measure, notes are below the last table."""
    tables = []
    for board in standings(results):
        first, *others = measure_tables(results, board, full=True)
        title = "".join(result_answers(results, board))
        tables += [replace(first, rows=first.cells, title=title), *others]
    tables += [*tuning_tables(results, full=True), *split_tables(results), *_judges(results)]
    *tables, last = tables
    lines = [*last.notes, *result_lines(results), *note_lines(result_notes(results))]
    return [*tables, replace(last, rows=last.cells, notes=lines)]


def result_notes(results: Results) -> tuple[Note, ...]:
    """Notes on the data, the systems and the comparisons, each once."""
    compared, refused = results.comparisons
    warnings = (note for each in compared for note in each.warnings)
    return distinct([*results.notes, *refused, *warnings])


def _decided_by_units(results: Results) -> bool:
    """Whether tests over queries, rows or splits answer the question: not for new documents."""
    return results.manifest["settings"]["by"] not in {"document", "both"}


def standings(results: Results) -> list[Standing]:
    """The standing of the systems in each measure."""
    by_units = _decided_by_units(results)
    known = {each.scores.measure: each for each in results.comparisons.compared if by_units}
    return [standing(results, measure, known.get(measure)) for measure in results.measures]


def result_answers(results: Results, board: Standing) -> list[str]:
    """The answer; none in a measure that has no better and worse."""
    return [] if results.higher_is_better(board.measure) is None else [answer(board)]


def measure_tables(results: Results, board: Standing, *, full: bool) -> list[Table]:
    """The systems in one measure, and with `full` all pairs."""
    table = systems_table(board, full=full)
    if results.task != "ranking":
        spread = [results.spread(row.name, board.measure) for row in board.rows]
        rows = [[*row, Cell(number(sd))] for row, sd in zip(table.cells, spread, strict=True)]
        if None not in spread:  # of several runs
            table = Table([*table.head, "sd over runs"], rows, left=table.left)
    return [table, *([pairs_table(board)] if full and board.gaps else [])]


def _judges(results: Results) -> list[Table]:
    """What human and machine judgements say alone, and together."""
    return [table for each in results.comparisons.compared for table in comparison_estimates(each)]


# ---- what was selected ---------------------------------------------------------------------------


def tuning_tables(results: Results, *, full: bool = False) -> list[Table]:
    """One row per tuned system: what was selected, in how many splits, and the training score."""
    settings = results.manifest["settings"]
    measure, rows = str(settings["tune_for"]), []
    for system in results.summary:
        if not system["tuned"]:
            continue
        own = results.estimate(system["name"], measure) if measure in results.measures else {}
        ship, chosen = system["ship"], system["chosen"]
        same = sum(choice["times"] for choice in chosen if choice["parameters"] == ship)
        scores = _score(own.get("train")), _score(own.get("optimism"), "+z.4f")
        words = selected(results, ship)
        rows.append([system["name"], words, f"{same} of {settings['splits']}", *scores])
    if not rows:
        return []
    head = ["tuned system", "selected parameters", "splits", "training score", "optimism"]
    table = Table(head, rows, left=2)
    if not full:
        return [table.columns(range(4)).without_empty()]
    table = table.without_empty()
    notes = [_OPTIMISTIC] if "training score" in table.head else []
    return [replace(table, rows=table.cells, notes=[*notes, _PESSIMISTIC])]


def selected(results: Results, parameters: dict[str, Any]) -> str:
    """The parameters of a setting: ``k1=1.2, b=0.75``; without pipeline steps if that is unique."""
    if results.task == "ranking":  # None: was not given
        parameters = {name: value for name, value in parameters.items() if value is not None}
    short = {name.rpartition("__")[2]: value for name, value in parameters.items()}
    named = short if len(short) == len(parameters) else parameters
    written = (
        f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
        for name, value in named.items()
    )
    return ", ".join(written) or "no parameters"


def _score(value: float | None, form: str = "z.4f") -> str:
    return "—" if value is None else number(value, form)


def split_tables(results: Results) -> list[Table]:
    """One row per system and split, of the tuned systems if there are any.

    Scores on folds of documents are left out: a fold is a smaller collection, and its scores are
    not comparable with those of the whole.
    """
    tuned = [system["name"] for system in results.summary if system["tuned"]]
    folds = results.folds.filter(results.folds["system"].is_in(tuned or results.systems))
    words = {"repeat": "repeat", "fold": "fold", "other": "document fold", "run": "run"}
    places = [name for name in words if folds[name].n_unique() > 1] or ["fold"]
    rows = []
    for row in folds.head(MOST).iter_rows(named=True):
        where = ", ".join(f"{words[name]} {row[name]}" for name in places if row[name] is not None)
        parameters = selected(results, json.loads(row["parameters"] or "{}")) if tuned else "—"
        scores = (row["train"], row["held_out"]) if _decided_by_units(results) else (None, None)
        rows.append([row["system"], where, parameters, *map(_score, scores)])
    title = f"Each split ({results.manifest['settings']['tune_for']})"
    notes = [f"The first {MOST:,} of {len(folds):,} rows; folds.parquet has all."]
    head = ["system", "split", "parameters", "training", "held out"]
    table = Table(head, rows, title, 3, notes if len(folds) > MOST else ()).without_empty()
    return [table] if len(table.head) > 2 else []


# ---- how the numbers were obtained ---------------------------------------------------------------


def result_lines(results: Results, *, full: bool = False) -> list[str]:
    """How the numbers were obtained; with `full` what each of them means."""
    settings, first = results.manifest["settings"], results.summary[0]["estimates"][0]
    lines = _meanings(results, full=full) if full or results.task == "ranking" else []
    if "machine" in first:
        lines.append(
            f"Scores combine {count_of(first['n_queries'], 'query', 'queries')} with human "
            f"judgements and {first['machine']['machine_queries']:,} that only the machine judged."
        )
    tuned = ""
    if any(system["tuned"] for system in results.summary):
        judges = f" ({settings['machine']['tune_on']} judgements)" if "machine" in settings else ""
        inner = f"{settings['inner']} inner folds of the " if results.task != "ranking" else ""
        validation = settings["plan"].get("queries", settings["plan"]).get("validation")
        side = "validation part" if validation else f"{inner}training side"
        tuned = f"; parameters tuned for {settings['tune_for']}{judges} on the {side} of each"
    lines.append(f"{settings['plan_in_words']}{tuned}.")
    one_by_one = results.unit == "instance" and len(results.split_values(results.systems[0])) > 1
    if results.task == "classification" and one_by_one:
        lines.append(
            "Leave-one-out removes the held-out row from its class: a majority vote on balanced "
            "classes is wrong every time; use stratified folds if systems depend on class shares."
        )
    lines += [
        f"{estimate['measure']} is undefined for {system['name']}: {estimate['reason']}."
        for system in results.summary
        for estimate in system["estimates"]
        if estimate.get("reason") and not system.get("baseline")
    ]
    return list(map(printable, lines))


def _meanings(results: Results, *, full: bool) -> list[str]:
    """What the estimates are of, once for all systems of which it is the same."""
    systems: dict[str, list[str]] = {}
    for system in results.summary:
        own = system["estimates"][0]
        words = own.get("estimand", "new rows, after training on as many as a training side has")
        if results.manifest["settings"]["by"] in {"document", "both"} and own["target_size"]:
            words += f" (collection size {own['target_size']:,})"
        if full:
            method = own.get("estimator", "held-out score")
            words += f"; estimation method: {method}, interval: {own['interval']}"
        if not system.get("baseline"):
            systems.setdefault(words, []).append(system["name"])
    if len(systems) == 1:
        return [f"Held-out scores estimate performance on {next(iter(systems))}."]
    return [
        f"Held-out scores of {', '.join(names)} estimate performance on {words}."
        for words, names in systems.items()
    ]


# ---- what would be run ---------------------------------------------------------------------------


def plan_text(prepared: Any, width: int | None = None) -> str:
    """What would be run: the data, the splits, and the settings of each system."""
    splits, experiment = prepared.splits, prepared.experiment
    measures = f"measures: {', '.join(map(str, prepared.measures))}"
    tuned = f"parameters tuned for {prepared.tune_for}"
    if experiment.task == "ranking":
        lines = [f"{prepared.collection.name}: {prepared.collection.sizes()}", splits.words()]
        lines.append(f"{measures}; {tuned}")
        if prepared.judges is not None:
            judged = prepared.judges.judged
            people = count_of(len(judged.human.queries), "query", "queries")
            counts = f"people judged {people} and the machine {len(judged.machine.queries):,}"
            lines.append(f"{counts}; parameters tuned on {experiment.tune_on} judgements")
    else:
        data = prepared.data
        rows = f"{data.name}: {count_of(len(data), 'row')}"
        rows += f", {count_of(len(data.classes), 'class', 'classes')}" if data.classes else ""
        rows += f", {count_of(len(set(data.groups)), 'group')}" if data.groups else ""
        where = "the validation part" if splits.validates else f"{experiment.inner} inner folds"
        lines = [rows, splits.words(), measures, f"{tuned} on {where}"]
    for system in prepared.systems:
        search, tried = system.search, f"{system.search.trials} trials of Optuna"
        if search.how != "optuna":
            tried = count_of(len(search.points), "setting")
        lines.append(f"{system.name}: {tried} × {count_of(len(splits), 'split')}")
    loaded = ", ".join(loaded_code(prepared))
    said = f"loaded {loaded}; " if loaded else ""
    lines.append(f"{count_of(len(prepared.systems), 'system')} in all; {said}nothing was run")
    return paragraphs([*map(printable, lines), *note_lines(prepared.notes)], width)


def loaded_code(prepared: Any) -> list[str]:
    """The files and modules whose code was executed to make the systems, each once."""
    references = (
        reference
        for system in prepared.systems
        for reference in getattr(system, "references", [getattr(system, "reference", "")])
    )
    return list(dict.fromkeys(text.rpartition(":")[0] for text in references if text))
