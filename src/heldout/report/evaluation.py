"""An evaluation as a table, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.measure.ranking.run_checks import lacks_most
from heldout.notes import count_of
from heldout.report.tables import Table, html_page, note_lines, plain_text, tables_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.measure.ranking.evaluate import RankingEvaluation as Evaluation

__all__ = ["evaluation_json", "evaluation_table", "evaluation_text", "policy_lines"]

ALL = "all"


def _cells(
    evaluation: Evaluation, *, per_query: bool, summary: bool, ordered: bool
) -> Iterator[tuple[int, str | None, list[Any]]]:
    """Run, query and values: the queries of each run, then its means, which have no query."""
    queries = evaluation.queries()
    for number in _best_first(evaluation) if ordered else range(len(evaluation.names)):
        if per_query:
            columns = [
                evaluation.values(number, at).tolist() for at in range(len(evaluation.measures))
            ]
            for row, query in enumerate(queries):
                yield number, query, [column[row] for column in columns]
        if summary:
            means = [evaluation.mean(number, at) for at in range(len(evaluation.measures))]
            yield number, None, means


def _best_first(evaluation: Evaluation) -> list[int]:
    """The numbers of the runs, in the order of the first measure; undefined means come last."""
    sign = -1 if evaluation.measures[0].higher_is_better is not False else 1

    def key(number: int) -> tuple[bool, float]:
        mean = evaluation.mean(number, 0)
        return (math.isnan(mean), 0.0 if math.isnan(mean) else sign * mean)

    return sorted(range(len(evaluation.names)), key=key)


def _format(value: Any, digits: int | None, undefined: str, *, integral: bool) -> str:
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return undefined
    if integral:
        return str(round(value))
    return repr(float(value)) if digits is None else f"{value:.{digits}f}"


def evaluation_table(
    evaluation: Evaluation,
    *,
    per_query: bool = False,
    summary: bool = True,
    digits: int | None = 4,
    undefined: str = "undefined",
    ordered: bool = False,
) -> Table:
    """One row per run, or per query and run; the best mean of each measure is bold.

    Parameters
    ----------
    evaluation
        What is shown.
    per_query, summary
        Whether to show the queries, and the means.
    digits
        Of values; None for all.
    undefined
        Text of a value that does not exist.
    ordered
        Whether the best run of the first measure comes first.
    """
    integral = [measure.definition.integral for measure in evaluation.measures]
    names = evaluation.names
    best = _best(evaluation) if summary and len(names) > 1 else set()
    texts = 2 if per_query else 1
    rows: list[list[str]] = []
    bold = set()
    for number, query, values in _cells(
        evaluation, per_query=per_query, summary=summary, ordered=ordered
    ):
        if query is None:
            bold |= {(len(rows), texts + at) for run, at in best if run == number}
        shown = [
            _format(value, digits, undefined, integral=whole)
            for value, whole in zip(values, integral, strict=True)
        ]
        rows.append([names[number], *([query or ALL] if per_query else []), *shown])
    head = ["run", *(["query"] if per_query else []), *map(str, evaluation.measures)]
    notes = ["; ".join(policy_lines(evaluation))]
    return Table(head, rows, texts=texts, notes=notes, bold=bold)


def evaluation_text(
    evaluation: Evaluation,
    kind: str,
    *,
    per_query: bool = False,
    summary: bool = True,
    digits: int | None = 4,
    terminal: bool = False,
) -> str:
    """The table of `evaluation_table`, with policies below it where they are not said elsewhere.

    Parameters
    ----------
    evaluation, per_query, summary, digits
        As for `evaluation_table`.
    kind
        ``table``, ``tsv`` or ``csv`` (without policies; in CSV an undefined value is an empty
        cell), ``md``, ``latex`` or ``html`` (a page).
    terminal
        Whether a terminal shows it.
    """
    undefined = "" if kind == "csv" else "undefined"
    table = evaluation_table(
        evaluation,
        per_query=per_query,
        summary=summary,
        digits=digits,
        undefined=undefined,
        ordered=kind == "table" and not per_query,
    )
    if kind == "table":
        table = replace(table, notes=())
    text = tables_text([table], kind, terminal=terminal)
    return html_page("Evaluation", text) if kind == "html" else text


def policy_lines(evaluation: Evaluation) -> list[str]:
    """Warnings, then what was done about ties, missing queries and unjudged ones, in words."""
    judged = len(evaluation.runs[0].queries)
    counted = len(evaluation.queries())
    queries = f"{counted} of {judged} judged" if counted < judged else f"{judged}"
    lines = [
        *note_lines(evaluation.warnings),
        f"queries: {queries}",
        *(f"{what}: {how}" for what, how in evaluation.policies),
    ]
    for run in evaluation.runs:
        lacks = judged - int(run.present.sum())
        warned = evaluation.missing == "zero" and lacks_most(run)
        if lacks and not warned:
            queries = count_of(lacks, "judged query", "judged queries")
            lines.append(f"{plain_text(run.name)} lacks {queries}")
        if run.unjudged:
            queries = count_of(run.unjudged, "query", "queries")
            lines.append(f"{plain_text(run.name)} has {queries} without judgements: ignored")
    return lines


def _best(evaluation: Evaluation) -> set[tuple[int, int]]:
    """(run, measure) of the best means."""
    best = set()
    for at, measure in enumerate(evaluation.measures):
        better = measure.higher_is_better
        if better is None:
            continue
        means = [evaluation.mean(run, at) for run in range(len(evaluation.names))]
        top = max(means) if better else min(means)
        best |= {(run, at) for run, mean in enumerate(means) if mean == top}
    return best


def evaluation_json(
    evaluation: Evaluation, *, per_query: bool = False, summary: bool = True
) -> str:
    """All numbers at full precision; an undefined value is null."""
    runs = []
    queries = evaluation.queries()
    names = [str(measure) for measure in evaluation.measures]
    for number, run in enumerate(evaluation.runs):
        entry: dict[str, Any] = {"name": run.name}
        if summary:
            means = (evaluation.mean(number, at) for at in range(len(names)))
            entry["means"] = dict(zip(names, means, strict=True))
        entry["judged_queries_missing"] = len(run.queries) - int(run.present.sum())
        entry["queries_without_judgements"] = run.unjudged
        if per_query:
            columns = [evaluation.values(number, at).tolist() for at in range(len(names))]
            entry["queries"] = {
                query: {name: column[row] for name, column in zip(names, columns, strict=True)}
                for row, query in enumerate(queries)
            }
        runs.append(entry)
    content = {
        "measures": names,
        "queries": len(queries),
        "policies": dict(evaluation.policies),
        "warnings": [note.to_dict() for note in evaluation.warnings],
        "runs": runs,
    }
    return json_text(content)
