"""Estimates from human and machine judgements, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.infer.comparison_notes import machine_notes
from heldout.notes import count_of, distinct
from heldout.report.claim_words import bounds
from heldout.report.tables import Table, html_page, note_lines, plain_text, tables_text

if TYPE_CHECKING:
    from heldout.infer.comparison import Comparison
    from heldout.infer.prediction_powered import Combined
    from heldout.measure.base import Measure
    from heldout.measure.evaluation import Evaluation
    from heldout.notes import Note

__all__ = [
    "comparison_estimates",
    "estimate_lines",
    "estimates_json",
    "estimates_notes",
    "estimates_table",
    "estimates_text",
    "machine_dict",
]

HEAD = [
    *("human", "human interval", "machine (biased)", "machine interval (biased)"),
    *("combined", "combined interval", "weight", "counts like"),
]


def comparison_estimates(comparison: Comparison) -> Table:
    """One row per system, then one per pair: human-only, machine-only and combined estimates."""
    machine = comparison.machine
    if machine is None:
        raise ValueError("there are no machine judgements")
    rows = [
        [plain_text(row.name), *_cells(estimates, "z.4f")]
        for row, estimates in zip(comparison.systems, machine.systems, strict=True)
    ]
    rows += [
        [f"{plain_text(claim.first)} - {plain_text(claim.second)}", *_cells(estimates, "+z.4f")]
        for claim, estimates in zip(comparison.claims, machine.differences, strict=True)
    ]
    return Table([plain_text(comparison.scores.measure), *HEAD], rows)


def _cells(estimates: Combined, digits: str) -> list[str]:
    human, combined = estimates.human, estimates.combined
    return [
        f"{human.estimate:{digits}}",
        bounds(human, digits),
        f"{estimates.machine.estimate:{digits}}",
        bounds(estimates.machine, digits),
        f"{combined.estimate:{digits}}",
        bounds(combined, digits),
        f"{estimates.weight:.2f}",
        f"{estimates.effective:.0f}",
    ]


def estimate_lines(comparison: Comparison) -> list[str]:
    """What human judgements alone and machine judgements alone say, and what the machine adds."""
    machine = comparison.machine
    if machine is None:
        return []
    differences = machine.differences
    first = differences[0]
    if len(differences) > 1:
        return [_many_count(first.queries, [one.effective for one in differences])]
    human, level = first.human, f"{round(100 * first.human.level, 6):g}%"
    every = count_of(first.queries + first.machine_queries, "query", "queries")
    by_people = f"difference {human.estimate:+z.4f}, {level} CI {bounds(human, '+z.4f')}"
    by_machine = f"Machine judgements alone ({every}, biased): {first.machine.estimate:+z.4f}."
    return [f"Human judgements alone: {by_people}. {by_machine}", _count(first)]


def _count(estimates: Combined) -> str:
    queries = count_of(estimates.queries, "human query", "human queries")
    like = round(estimates.effective)
    if like > estimates.queries:
        return f"Your {queries} count like {like} (weight of the machine {estimates.weight:.2f})."
    return (
        f"The machine does not help: your {queries} count like {like}; leave it out (weight of the "
        f"machine {estimates.weight:.2f})."
    )


def _many_count(queries: int, effective: list[float]) -> str:
    low, high = round(min(effective)), round(max(effective))
    like = f"{low}" if low == high else f"{low} to {high}"
    return (
        f"Your {count_of(queries, 'human query', 'human queries')} count like {like} in the pairs."
    )


def machine_dict(comparison: Comparison) -> dict[str, Any] | None:
    """Estimates of systems and differences as plain values; None without a machine."""
    if comparison.machine is None:
        return None
    systems = zip(comparison.systems, comparison.machine.systems, strict=True)
    claims = zip(comparison.claims, comparison.machine.differences, strict=True)
    return {
        "systems": [{"name": row.name, **_values(one)} for row, one in systems],
        "differences": [
            {"first": claim.first, "second": claim.second, **_values(one)} for claim, one in claims
        ],
    }


def _values(estimates: Combined) -> dict[str, Any]:
    return {
        "human": estimates.human._asdict(),
        "machine": {**estimates.machine._asdict(), "biased": True},
        "combined": estimates.combined._asdict(),
        "weight": estimates.weight,
        "queries": estimates.queries,
        "machine_queries": estimates.machine_queries,
        "effective_queries": estimates.effective,
    }


def estimates_table(evaluation: Evaluation, level: float = 0.95) -> Table:
    """One row per run and measure of an evaluation with machine judgements."""
    rows = [
        [plain_text(name), str(measure), *_cells(estimates, "z.4f")]
        for name in evaluation.names
        for measure in _estimated(evaluation)
        for estimates in [evaluation.estimates(name, measure, level=level)]
    ]
    return Table(["run", "measure", *HEAD], rows, texts=2)


def _estimated(evaluation: Evaluation) -> list[Measure]:
    """The measures that have a mean over queries and a better and a worse."""
    return [
        measure
        for measure in evaluation.measures
        if measure.aggregate == "mean"
        and measure.higher_is_better is not None
        and measure.family != "Judged"
    ]


def estimates_notes(evaluation: Evaluation) -> tuple[Note, ...]:
    """Warnings about the evaluation and about the judgements, for all measures."""
    found = (
        note
        for measure in _estimated(evaluation)
        for note in machine_notes(evaluation.scores(measure))
        if note.code != "few-differ"  # it is about differences
    )
    return distinct([*evaluation.notes, *found])


def estimates_text(
    evaluation: Evaluation, kind: str, *, level: float = 0.95, terminal: bool = False
) -> str:
    """The table of `estimates_table` in a format.

    Parameters
    ----------
    evaluation
        With machine judgements.
    kind
        ``table``, ``tsv``, ``csv``, ``md``, ``latex`` or ``html``.
    level
        Of the intervals.
    terminal
        Whether a terminal shows it.
    """
    table = estimates_table(evaluation, level)
    if kind not in {"table", "tsv", "csv"}:
        table = Table(
            table.head, table.rows, texts=2, notes=[*note_lines(estimates_notes(evaluation))]
        )
    text = tables_text([table], kind, terminal=terminal)
    return html_page("Evaluation", text) if kind == "html" else text


def estimates_json(evaluation: Evaluation, level: float = 0.95) -> str:
    """All estimates at full precision."""
    content = {
        "measures": [str(measure) for measure in _estimated(evaluation)],
        "warnings": [note.to_dict() for note in estimates_notes(evaluation)],
        "runs": [
            {
                "name": name,
                "estimates": {
                    str(measure): _values(evaluation.estimates(name, measure, level=level))
                    for measure in _estimated(evaluation)
                },
            }
            for name in evaluation.names
        ],
    }
    return json_text(content)
