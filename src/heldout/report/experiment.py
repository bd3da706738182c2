"""The results of an experiment, in words and as JSON."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

from heldout.data.collection import collection_sizes
from heldout.infer.compare import note_measures
from heldout.infer.results import count_of
from heldout.notes import distinct, note_texts
from heldout.report.claims import claim_records, claims_texts
from heldout.report.grid import aligned
from heldout.report.tables import note_lines, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.estimator_results import EstimatorResults
    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.results import Results
    from heldout.experiment.settings import RankingSettings, Settings
    from heldout.infer.compare import Comparison
    from heldout.notes import Note

__all__ = [
    "all_notes",
    "comparisons",
    "json_results",
    "plan_text",
    "result_rows",
    "result_sentences",
    "results_text",
]

_WHAT = {"query": "queries", "document": "documents", "both": "queries and documents"}


def comparisons(results: Results) -> list[Comparison]:
    """The systems compared in each measure that has a better and a worse; none for one system."""
    from heldout.measure.parse import parse_measure

    predicted = _predicted(results)
    if predicted is not None:
        from heldout.report.estimators import estimator_comparisons

        return estimator_comparisons(predicted)[0]
    if len(results.systems) < 2:
        return []
    directed = [
        one
        for one in results.measures
        if parse_measure(one, "ranking").higher_is_better is not None
    ]
    return note_measures([results.compare(one) for one in directed])


def results_text(results: Results, *, terminal: bool = False) -> str:
    """A table a measure, what it means, what to ship, then the comparison."""
    predicted = _predicted(results)
    if predicted is not None:
        return _estimators_text(predicted, terminal=terminal)
    width = shutil.get_terminal_size().columns if terminal else None
    parts = [aligned(result_rows(results, measure), width) for measure in results.measures]
    lines = [*result_sentences(results), *note_lines(results.notes)]
    parts.append("".join(line + "\n" for line in lines))
    by_query = results.manifest["settings"]["by"] == "query"
    # The unit of the tests is the query, whatever the estimates above are for.
    drawn = (
        "" if by_query else ", as if other queries were drawn, the documents staying as they are"
    )
    parts += _compared(comparisons(results), results.notes, drawn, terminal=terminal)
    return "\n".join(parts)


def _predicted(results: Results) -> EstimatorResults | None:
    """Results of estimators; code for those is imported for nobody else."""
    return None if results.task == "ranking" else results  # type: ignore[return-value]


def _compared(
    several: list[Comparison], known: Sequence[Note], drawn: str = "", *, terminal: bool
) -> list[str]:
    """The comparisons, each with its heading."""
    texts = claims_texts(several, "table", terminal=terminal, known=known)
    return [
        f"The systems compared on held-out {plain_text(one.scores.measure)}{drawn}:\n\n{text}"
        for one, text in zip(several, texts, strict=True)
    ]


def _estimators_text(results: EstimatorResults, *, terminal: bool) -> str:
    from heldout.report.estimators import (
        estimator_comparisons,
        estimator_sentences,
        estimators_text,
    )

    compared, refused = estimator_comparisons(results)
    notes = distinct([*results.notes, *refused])
    lines = [*estimator_sentences(results), *note_lines(notes)]
    parts = [estimators_text(results), "".join(line + "\n" for line in lines)]
    return "\n".join([*parts, *_compared(compared, notes, terminal=terminal)])


def _number(value: float | None, form: str = ".4f") -> str:
    return "—" if value is None else f"{value:{form}}"


def result_rows(results: Results, measure: str) -> list[list[str]]:
    """Head and rows of the table of a measure."""
    first = results.estimate(results.systems[0], measure)
    level = f"{first['level']:.0%} interval"
    rows = [["system", "values", f"{measure} held out", level, "seen", "optimism", "queries"]]
    for one in results.summary:
        found = results.estimate(one["name"], measure)
        bounds = "—" if found["low"] is None else f"[{found['low']:.4f}, {found['high']:.4f}]"
        optimism = _number(found["optimism"], "+.4f") if one["tuned"] else "—"
        rows.append(
            [
                one["name"],
                str(one["points"]),
                _number(found["value"]),
                bounds,
                _number(found["train"]),
                optimism,
                f"{found['n_queries']:,}",
            ]
        )
    return [[plain_text(cell) for cell in row] for row in rows]


def result_sentences(results: Results) -> Iterator[str]:
    """What the numbers are, and what to ship."""
    settings = results.manifest["settings"]
    what = _WHAT[settings["by"]]
    splits = count_of(settings["splits"], "split")
    plan = plain_text(settings["plan"])
    own = settings["plan_seed"]
    seed = "" if own is None or "seed=" in plan else f", seed {own}"
    yield (
        f"{splits} of the {what} by {plan}{seed}; parameters are chosen by {settings['tune_for']} "
        "on what is seen, and never by what is held out."
    )
    yield from _meanings(results)
    yield from _document_differences(results)
    yield "Seen: the same on the data that the parameters were chosen on, which flatters."
    for one in results.summary:
        if one["tuned"]:
            yield (
                f"To ship: {plain_text(one['name'])} with {parameters(one['ship'])}, chosen on "
                "everything. The held-out estimate stands for it, and is slightly pessimistic: the "
                "choices in it were made on less data."
            )


def _meanings(results: Results) -> Iterator[str]:
    """What the estimates are of, once for all systems of which it is the same."""
    found: dict[str, list[str]] = {}
    for one in results.summary:
        first = one["estimates"][0]
        size = first["target_size"]
        words = first["estimand"]
        if results.manifest["settings"]["by"] != "query" and size is not None:
            words += f", {size:,} of them"
        words = f"{words} ({first['estimator']}, interval: {first['interval']})"
        found.setdefault(words, []).append(plain_text(one["name"]))
    for words, names in found.items():
        of = "" if len(found) == 1 else f" of {', '.join(names)}"
        yield f"The held-out estimate{of} is for {words}."


def _document_differences(results: Results) -> Iterator[str]:
    """Which system is better on new documents: a question that tests over queries do not answer."""
    level = 1 - results.manifest["settings"]["alpha"]
    for one in results.summary:
        for found in one.get("differences", ()):
            sure = found["low"] > 0 or found["high"] < 0
            yield (
                f"On new documents, for these queries: {plain_text(one['name'])} − "
                f"{plain_text(found['system'])} in {plain_text(found['measure'])} is "
                f"{found['difference']:+.4f}, {level:.0%} interval {found['low']:+.4f} to "
                f"{found['high']:+.4f}{'' if sure else ', which holds zero'}."
            )


def parameters(values: dict[str, Any]) -> str:
    """Parameters as they are written: ``k1=1.2, b=0.75``."""
    shown = (
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in values.items()
        if value is not None
    )
    return plain_text(", ".join(shown)) or "no parameters"


def all_notes(results: Results) -> tuple[Note, ...]:
    """The notes of the results, and why they were not compared in some measure."""
    predicted = _predicted(results)
    if predicted is None:
        return results.notes
    from heldout.report.estimators import estimator_comparisons

    return distinct([*results.notes, *estimator_comparisons(predicted)[1]])


def json_results(results: Results) -> str:
    """Everything that is printed, at full precision."""
    content = {
        "manifest": results.manifest,
        "systems": results.summary,
        **note_texts(all_notes(results)),
        "comparisons": claim_records(comparisons(results)),
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def plan_text(settings: Settings, tasks: tuple[Task, ...]) -> str:
    """What would be run."""
    given: Any = settings
    if settings.task == "ranking":
        lines = _ranking_plan(given)
    else:
        from heldout.report.estimators import estimator_plan_text

        lines = estimator_plan_text(given)
    for system in settings.systems:
        mine = sum(task.system == system.name for task in tasks)
        lines.append(
            f"{plain_text(system.name)}: {count_of(len(system.points()), 'value')}, "
            f"{count_of(mine, 'task')}"
        )
    loaded = [place for system in settings.systems for place in system.loaded()]
    said = f"loaded {', '.join(map(plain_text, dict.fromkeys(loaded)))}; " if loaded else ""
    lines.append(f"{count_of(len(tasks), 'task')} in all; {said}nothing was run")
    lines += note_lines(settings.notes)
    return "".join(line + "\n" for line in lines)


def _ranking_plan(settings: RankingSettings) -> list[str]:
    collection, plan = settings.collection, plain_text(repr(settings.splits.plan))
    measures = ", ".join(map(str, settings.measures))
    return [
        f"{plain_text(collection.name)}: {collection_sizes(collection)}",
        f"{count_of(len(settings.splits), 'split')} of the {_WHAT[settings.by]} by {plan}",
        f"measures: {measures}; parameters are chosen by {settings.tune_for}",
    ]
