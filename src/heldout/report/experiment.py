"""The results of an experiment of any task, in words and as JSON."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.as_json import json_text
from heldout.errors import HeldoutError
from heldout.infer.compare import note_measures
from heldout.infer.results import count_of
from heldout.notes import Note, distinct, note_texts
from heldout.report.claims import claim_records, claims_texts
from heldout.report.tables import note_lines, plain_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.experiment.execution.tasks import Task
    from heldout.experiment.results import Results
    from heldout.experiment.settings import Settings
    from heldout.infer.compare import Comparison
    from heldout.report.tables import Table

__all__ = [
    "Compared",
    "comparisons",
    "json_results",
    "plan_text",
    "result_sentences",
    "result_tables",
    "results_text",
]


class Compared(NamedTuple):
    """The systems compared.

    Parameters
    ----------
    comparisons
        One a measure.
    refused
        Why they were not compared in the others.
    """

    comparisons: list[Comparison]
    refused: list[Note]


def comparisons(results: Results, options: Mapping[str, Any] | None = None) -> Compared:
    """The systems compared in each measure that has a better and a worse; none for one system.

    Parameters
    ----------
    results
        Of an experiment.
    options
        As for `heldout.Results.compare`.
    """
    if len(results.systems) < 2:
        return Compared([], [])
    found, refused = [], []
    for measure in results.measures:
        if results.higher_is_better(measure) is None:
            continue
        try:
            found.append(results.compare(measure, **(options or {})))
        except HeldoutError as error:  # a measure that does not exist on some split, say
            refused.append(Note("not-compared", f"not compared in {measure}: {error}"))
    return Compared(note_measures(found), refused)


def result_tables(results: Results) -> list[Table]:
    """The estimates of all systems."""
    if results.task == "ranking":
        from heldout.report.ranking_results import ranking_tables as tables
    else:
        from heldout.report.prediction_results import prediction_tables as tables
    return tables(results)


def result_sentences(results: Results) -> tuple[str, ...]:
    """What the numbers are, and what to ship."""
    if results.task == "ranking":
        from heldout.report.ranking_results import ranking_sentences as sentences
    else:
        from heldout.report.prediction_results import prediction_sentences as sentences
    return tuple(sentences(results))


def results_text(results: Results, *, terminal: bool = False) -> str:
    """The estimates, what they mean, what to ship, then the comparison."""
    width = shutil.get_terminal_size().columns if terminal else None
    compared, refused = comparisons(results)
    notes = distinct([*results.notes, *refused])
    lines = [*result_sentences(results), *note_lines(notes)]
    parts = [aligned(one, width) for one in result_tables(results)]
    parts.append("".join(line + "\n" for line in lines))
    return "\n".join([*parts, *_compared(results, compared, notes, terminal=terminal)])


def _compared(
    results: Results, several: list[Comparison], known: Sequence[Note], *, terminal: bool
) -> list[str]:
    """The comparisons, each with its heading."""
    texts = claims_texts(several, "table", terminal=terminal, known=known)
    # The unit of the tests is the query, whatever the estimates above are for.
    documents = results.manifest["settings"]["by"] in {"document", "both"}
    drawn = ", as if other queries were drawn, the documents staying as they are"
    return [
        f"The systems compared on held-out {plain_text(one.scores.measure)}"
        f"{drawn if documents else ''}:\n\n{text}"
        for one, text in zip(several, texts, strict=True)
    ]


def json_results(results: Results) -> str:
    """Everything that is printed, at full precision."""
    compared, refused = comparisons(results)
    content = {
        "manifest": results.manifest,
        "systems": results.summary,
        **note_texts(distinct([*results.notes, *refused])),
        "comparisons": claim_records(compared),
    }
    return json_text(content)


def plan_text(settings: Settings, tasks: tuple[Task, ...]) -> str:
    """What would be run."""
    given: Any = settings
    if settings.task == "ranking":
        from heldout.report.ranking_results import ranking_plan

        lines = ranking_plan(given)
    else:
        from heldout.report.prediction_results import prediction_plan

        lines = prediction_plan(given)
    for system in settings.systems:
        mine = sum(task.system == system.name for task in tasks)
        lines.append(
            f"{plain_text(system.name)}: {system.shown_points()}, {count_of(mine, 'task')}"
        )
    loaded = [place for system in settings.systems for place in system.loaded()]
    said = f"loaded {', '.join(map(plain_text, dict.fromkeys(loaded)))}; " if loaded else ""
    lines.append(f"{count_of(len(tasks), 'task')} in all; {said}nothing was run")
    lines += note_lines(settings.notes)
    return "".join(line + "\n" for line in lines)
