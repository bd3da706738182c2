"""Experiments as tables and in words: what is best on held-out data, and what was selected."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import Note, count_of, distinct
from heldout.report.answers import answer, interval, number, percent, test_line
from heldout.report.comparison import comparisons_text, pairs_table, systems_table
from heldout.report.machine import estimate_lines
from heldout.report.standing import is_up, standing
from heldout.report.table import Cell, Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.experiment.results.results import Results
    from heldout.experiment.results.summary import SystemSummary
    from heldout.report.standing import Standing

BEST: Final = 5  # best settings that are shown beside those that were selected
MOST: Final = 60  # splits that are shown; the file has all
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
    more = [*_tuned(results, full=full), *judge_tables(results)]
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
    *tables, last = [*tables, *_tuned(results, full=True), *judge_tables(results)]
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


# ---- judgements of people and of a machine -------------------------------------------------------


def judge_tables(results: Results) -> list[Table]:
    """What each judge says alone, one row per system and measure."""
    rows = []
    for system in results.summary:
        for estimate in system["estimates"]:
            if "machine" in estimate:
                own = estimate["machine"]
                human = own["human"]
                cells = [number(human["value"]), interval(human["low"], human["high"])]
                cells += [number(own["machine"]["value"]), f"{own['effective_queries']:.0f}"]
                rows.append([system["name"], estimate["measure"], *cells])
    level = f"{percent(results.level)} CI"
    head = ["one judge alone", "measure", "human", level, "machine (biased)", "counts like"]
    return [Table(head, rows, left=2)] if rows else []


# ---- what was selected ---------------------------------------------------------------------------


def _tuned(results: Results, *, full: bool) -> list[Table]:
    table = tuning_table(results, full=full)
    splits = split_table(results) if full else None
    return [each for each in (table, splits) if each is not None]


def tuning_table(results: Results, *, full: bool = False) -> Table | None:
    """One row per tuned system: what was selected, in how many splits, and the training score."""
    settings = results.manifest["settings"]
    measure, splits = str(settings["tune_for"]), settings["splits"]
    rows = []
    for system in results.summary:
        if not system["tuned"]:
            continue
        own = results.estimate(system["name"], measure) if measure in results.measures else {}
        same = _times(system).get(_key(system["ship"]), 0)
        words = selection(results, system)(system["ship"])
        scores = _score(own.get("train")), _score(own.get("optimism"), "+z.4f")
        cells = [system["name"], words, f"{same} of {splits}", *scores, f"{system['points']:,}"]
        rows.append(cells)
    head = ["tuned system", "selected parameters", "splits"]
    table = Table([*head, "training score", "optimism", "settings tried"], rows, left=2)
    if not full:
        return table.columns(range(4)).without_empty() if rows else None
    table = table.without_empty()
    notes = [_OPTIMISTIC] if "training score" in table.head else []
    return replace(table, rows=table.cells, notes=[*notes, _PESSIMISTIC]) if rows else None


def selection(results: Results, system: SystemSummary) -> Callable[[dict[str, Any]], str]:
    """How parameters of a system are written: ``k1=1.2, b=0.75``.

    Of estimators, those that never change are left out, and pipeline steps where names stay unique.
    """
    shown: dict[str, str] = {}
    if results.task != "ranking":
        systems = results.manifest["settings"]["systems"]
        own = next(each for each in systems if each["name"] == system["name"])
        points, space = own["points"] or [{}], own.get("space", {})
        every = dict.fromkeys(name for point in [*points, space] for name in point)
        varied = [
            name
            for name in every
            if name in space or len({_key({name: point.get(name)}) for point in points}) > 1
        ]
        last = [name.rpartition("__")[2] for name in varied]
        shown = {
            name: name if last.count(short) > 1 else short
            for name, short in zip(varied, last, strict=True)
        }

    def words(values: dict[str, Any]) -> str:
        if results.task != "ranking":
            values = {shown[name]: value for name, value in values.items() if name in shown}
        else:  # None: a parameter that was not given
            values = {name: value for name, value in values.items() if value is not None}
        written = (
            f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"
            for name, value in values.items()
        )
        return ", ".join(written) or "no parameters"

    return words


def _key(values: dict[str, Any]) -> str:
    return json.dumps(values, sort_keys=True)


def _times(system: SystemSummary) -> dict[str, int]:
    """In how many splits each setting was selected."""
    return {_key(chosen["parameters"]): chosen["times"] for chosen in system["chosen"]}


def _score(value: float | None, form: str = "z.4f") -> str:
    return "—" if value is None else number(value, form)


def settings_table(results: Results, system: SystemSummary) -> Table:
    """The settings of a system that were selected somewhere, and the best on all data."""
    import polars as pl

    settings, words = results.manifest["settings"], selection(results, system)
    final = results.surface.filter(pl.col("repeat").is_null(), system=system["name"])
    means = {
        _key(json.loads(point)): mean for point, mean in final["parameters", "mean"].iter_rows()
    }
    sign, times = -1 if is_up(results, settings["tune_for"]) else 1, _times(system)
    known = [key for key in means if means[key] is not None]
    best = sorted(known, key=lambda key: sign * means[key])[:BEST]
    rows = [
        [words(json.loads(key)), str(times.get(key, 0)), _score(means.get(key))]
        for key in dict.fromkeys([_key(system["ship"]), *times, *best])
    ]
    splits, mean = f"splits (of {settings['splits']})", f"{settings['tune_for']} on all data"
    return Table(
        ["parameters", splits, mean],
        rows,
        f"{system['name']}: best of {count_of(system['points'], 'setting')}",
    )


def split_table(results: Results) -> Table | None:
    """One row per split: the parameters and the scores of each system.

    Scores on folds of documents are left out: a fold is a smaller collection, and its scores are
    not comparable with those of the whole.
    """
    settings = results.manifest["settings"]
    tuned = {
        system["name"]: selection(results, system) for system in results.summary if system["tuned"]
    }
    scored = _decided_by_units(results)
    columns = [
        (name, kind)
        for name in tuned or results.systems
        for kind in ("parameters", "training", "held out")
        if (scored or kind == "parameters") and (name in tuned or kind == "held out")
    ]
    if not columns:
        return None
    keys, words = ("repeat", "fold", "other", "run"), ("repeat", "fold", "document fold", "run")
    places: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in results.folds.iter_rows(named=True):
        places.setdefault(tuple(map(row.get, keys)), {})[row["system"]] = row
    varying = [n for n, values in enumerate(zip(*places, strict=True)) if len(set(values)) > 1]

    def cell(row: dict[str, Any] | None, name: str, kind: str) -> str:
        if row is None:
            return "—"
        if kind == "parameters":
            return tuned[name](json.loads(row["parameters"] or "{}"))
        return _score(row["train" if kind == "training" else "held_out"])

    rows = []
    for place, own in list(places.items())[:MOST]:
        shown = [n for n in varying or [1] if place[n] is not None]
        where = ", ".join(f"{words[n]} {place[n]}" for n in shown)
        rows.append([where, *(cell(own.get(name), name, kind) for name, kind in columns)])
    alone = len({name for name, _ in columns}) == 1
    titles = [kind if alone else f"{name}: {kind}" for name, kind in columns]
    what = "Parameters and scores" if tuned and scored else "Parameters" if tuned else "Scores"
    more = f"The first {MOST:,} of {len(places):,} splits; folds.parquet has all."
    notes = [more] if len(places) > MOST else []
    title = f"{what} of each split ({settings['tune_for']})"
    return Table(["split", *titles], rows, title, notes=notes)


# ---- how the numbers were obtained ---------------------------------------------------------------


def result_lines(results: Results, *, full: bool = False) -> list[str]:
    """How the numbers were obtained; with `full` what each of them means."""
    return list(map(printable, _lines(results, full=full)))


def _lines(results: Results, *, full: bool) -> Iterator[str]:
    settings, first = results.manifest["settings"], results.summary[0]["estimates"][0]
    yield from _meanings(results, full=full)
    if "machine" in first:
        yield (
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
    yield f"{settings['plan_in_words']}{tuned}."
    one_by_one = results.unit == "instance" and len(results.split_values(results.systems[0])) > 1
    if results.task == "classification" and one_by_one:
        yield (
            "Leave-one-out removes the held-out row from its class, so that a majority vote on "
            "balanced classes is wrong every time: use stratified folds if systems or baselines "
            "depend on the class shares."
        )
    for system in results.summary:
        for estimate in system["estimates"]:
            if estimate.get("reason") and not system.get("baseline"):
                why = estimate["reason"]
                yield f"{estimate['measure']} is undefined for {system['name']}: {why}."


def _meanings(results: Results, *, full: bool) -> Iterator[str]:
    """What the estimates are of, once for all systems of which it is the same."""
    if results.task != "ranking":
        if full:
            methods = {system["estimates"][0]["interval"] for system in results.summary} - {"none"}
            shown = f" (interval: {', '.join(sorted(methods))})" if methods else ""
            yield (
                "Held-out scores estimate performance on new rows after training on as many rows "
                f"as a training side has{shown}."
            )
        return
    systems: dict[str, list[str]] = {}
    for system in results.summary:
        first = system["estimates"][0]
        words, size = first["estimand"], first["target_size"]
        if results.manifest["settings"]["by"] != "query" and size is not None:
            words += f" (collection size {size:,})"
        if full:
            words += f"; estimation method: {first['estimator']}, interval: {first['interval']}"
        systems.setdefault(words, []).append(system["name"])
    for words, names in systems.items():
        of = "" if len(systems) == 1 else f" of {', '.join(names)}"
        yield f"Held-out scores{of} estimate performance on {words}."


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
        where = "the validation part" if prepared.validates else f"{experiment.inner} inner folds"
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
