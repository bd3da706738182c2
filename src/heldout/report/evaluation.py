"""An evaluation as a table, in words and as JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.measure.base import Undefined
from heldout.report.tables import Table, html_page, note_lines, plain_text, tables_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.measure.evaluation import Evaluation

__all__ = ["evaluation_json", "evaluation_table", "evaluation_text", "policy_lines"]

ALL = "all"


def _cells(
    evaluation: Evaluation, *, per_query: bool, summary: bool, ordered: bool
) -> Iterator[tuple[str, str | None, list[Any]]]:
    """Run, query and values: the queries of each run, then its means, which have no query."""
    for name in _best_first(evaluation) if ordered else evaluation.names:
        if per_query:
            columns = [evaluation.per_unit(name, one).tolist() for one in evaluation.measures]
            for query, *values in zip(evaluation.units(), *columns, strict=True):
                yield name, query, values
        if summary:
            yield name, None, [evaluation.value(name, measure) for measure in evaluation.measures]


def _best_first(evaluation: Evaluation) -> list[str]:
    """The runs in the order of the first measure; undefined means come last."""
    sign = -1 if evaluation.measures[0].higher_is_better is not False else 1

    def key(name: str) -> tuple[bool, float]:
        mean = evaluation.value(name, 0)
        return (True, 0.0) if isinstance(mean, Undefined) else (False, sign * mean)

    return sorted(evaluation.names, key=key)


def _format(value: Any, digits: int | None, undefined: str, *, integral: bool) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Undefined) or math.isnan(value):
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
    best = _best(evaluation) if summary and len(evaluation.names) > 1 else set()
    texts = 2 if per_query else 1
    rows: list[list[str]] = []
    bold = set()
    for name, query, values in _cells(
        evaluation, per_query=per_query, summary=summary, ordered=ordered
    ):
        if query is None:
            bold |= {(len(rows), texts + at) for run, at in best if run == name}
        shown = [
            _format(value, digits, undefined, integral=whole)
            for value, whole in zip(values, integral, strict=True)
        ]
        rows.append([name, *([query or ALL] if per_query else []), *shown])
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
    return [*note_lines(evaluation.notes), *map(plain_text, evaluation.about)]


def _best(evaluation: Evaluation) -> set[tuple[str, int]]:
    """(run, number of the measure) of the best means."""
    best = set()
    for at, measure in enumerate(evaluation.measures):
        means = {name: evaluation.value(name, measure) for name in evaluation.names}
        defined = [mean for mean in means.values() if not isinstance(mean, Undefined)]
        if measure.higher_is_better is not None and defined:
            top = max(defined) if measure.higher_is_better else min(defined)
            best |= {(name, at) for name, mean in means.items() if mean == top}
    return best


def evaluation_json(
    evaluation: Evaluation, *, per_query: bool = False, summary: bool = True
) -> str:
    """All numbers at full precision; an undefined value is null."""
    runs = []
    names = [str(measure) for measure in evaluation.measures]
    for name, run in evaluation.data.items():
        entry: dict[str, Any] = {"name": name}
        if summary:
            means = (evaluation.value(name, measure) for measure in evaluation.measures)
            entry["means"] = {
                measure: None if isinstance(mean, Undefined) else mean
                for measure, mean in zip(names, means, strict=True)
            }
        entry["judged_queries_missing"] = run.lacks
        entry["queries_without_judgements"] = run.unjudged
        if per_query:
            columns = [evaluation.per_unit(name, one).tolist() for one in evaluation.measures]
            entry["queries"] = {
                query: dict(zip(names, values, strict=True))
                for query, *values in zip(evaluation.units(), *columns, strict=True)
            }
        runs.append(entry)
    content = {
        "measures": names,
        "queries": len(evaluation.units()),
        "about": list(evaluation.about),
        "warnings": [note.to_dict() for note in evaluation.notes],
        "runs": runs,
    }
    return json_text(content)
