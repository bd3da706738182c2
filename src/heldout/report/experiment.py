"""The results of an experiment of any task, in words and as JSON."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.as_json import json_text
from heldout.errors import HeldoutError
from heldout.infer.comparison import note_measures
from heldout.notes import Note, count_of, distinct
from heldout.report.claim_words import tests_line, verdict_of_many
from heldout.report.claims import claim_records, claims_texts
from heldout.report.machine import estimate_lines
from heldout.report.short_claims import claim_line, wrapped
from heldout.report.tables import note_lines, plain_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.experiment.prepare import Prepared
    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Claim, Comparison
    from heldout.report.tables import Table

__all__ = [
    "Compared",
    "comparisons",
    "json_results",
    "loaded_code",
    "plan_text",
    "result_sentences",
    "result_tables",
    "results_text",
]

_FEW: Final = 3
"""Claims that are all shown in sentences; of more pairs those of the best system are."""


class Compared(NamedTuple):
    """The systems compared.

    Parameters
    ----------
    comparisons
        One per measure.
    refused
        Why they were not compared in the others.
    """

    comparisons: list[Comparison]
    refused: list[Note]


def comparisons(results: Results) -> Compared:
    """The systems compared in each measure that has a better and a worse; none for one system."""
    if len(results.systems) < 2:
        return Compared([], [])
    found, refused = [], []
    for measure in results.measures:
        if results.higher_is_better(measure) is None:
            continue
        try:
            found.append(results.compare(measure))
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


def result_sentences(results: Results, *, full: bool = False) -> tuple[str, ...]:
    """Return what the numbers mean; `full`: at length, with the parameters of each split."""
    if results.task == "ranking":
        from heldout.report.ranking_results import ranking_sentences

        return tuple(ranking_sentences(results, full=full))
    from heldout.report.prediction_results import prediction_sentences

    return tuple(prediction_sentences(results, full=full))


def results_text(
    results: Results,
    *,
    terminal: bool = False,
    full: bool = False,
    quiet: bool = False,
) -> str:
    """The estimates, which system is better, and what to know about it.

    Parameters
    ----------
    results
        Of an experiment.
    terminal
        Whether a terminal shows it, which has a width.
    full
        Show all columns of the comparisons, the parameters that each split of an estimator
        selected, what the numbers mean and how they were made, and, of document folds, compare the
        systems over queries, too.
    quiet
        Leave out notes and warnings.
    """
    width = shutil.get_terminal_size().columns if terminal else None
    compared, refused = comparisons(results)
    notes = distinct([*results.notes, *refused])
    parts = [aligned(one, width) for one in result_tables(results)]
    meanings = result_sentences(results, full=full)
    answers = [*_answers(results, compared), *meanings]
    parts.append(wrapped([*answers, *([] if quiet else note_lines(notes))], width))
    if quiet and not full:
        return "\n".join(parts)
    if full:
        parts += _compared(results, compared, notes, terminal=terminal)
    else:
        shown = [note for one in compared for note in one.warnings if note not in set(notes)]
        parts[-1] += wrapped(note_lines(shown), width)
    return "\n".join(parts)


def _answers(results: Results, compared: Sequence[Comparison]) -> list[str]:
    """Which system is better, one sentence per pair and measure."""
    if results.manifest["settings"]["by"] in {"document", "both"}:
        from heldout.report.ranking_results import document_answers

        return list(document_answers(results))
    lines = []
    for one in compared:
        named = f"{plain_text(one.scores.measure)}: " if len(compared) > 1 else ""
        shown = _decisive(one)
        lines += [f"{named}{claim_line(one, claim)}" for claim in shown]
        lines += [f"{named}{line}" for line in estimate_lines(one)]
        if len(shown) < len(one.claims):
            lines.append(f"{verdict_of_many(one)}; only those with the best system are shown.")
    return [*lines, *([tests_line(compared[0])] if compared else [])]


def _decisive(comparison: Comparison) -> list[Claim]:
    """All claims about a baseline; of all pairs those about the best system."""
    if comparison.baseline is not None or len(comparison.claims) <= _FEW:
        return list(comparison.claims)
    sign = 1 if comparison.scores.higher_is_better else -1
    best = max(comparison.systems, key=lambda row: sign * row.mean.estimate).name
    return [claim for claim in comparison.claims if best in {claim.first, claim.second}]


def _compared(
    results: Results,
    several: list[Comparison],
    known: Sequence[Note],
    *,
    terminal: bool,
) -> list[str]:
    """The comparisons, each with its heading."""
    texts = claims_texts(several, "table", terminal=terminal, known=known)
    # The unit of the tests is the query, whatever the estimates above are for.
    documents = results.manifest["settings"]["by"] in {"document", "both"}
    drawn = ", for new queries on these documents" if documents else ""
    return [
        f"Comparison in held-out {plain_text(one.scores.measure)}{drawn}:\n\n{text}"
        for one, text in zip(several, texts, strict=True)
    ]


def json_results(results: Results) -> str:
    """Everything that is printed, at full precision."""
    compared, refused = comparisons(results)
    content = {
        "manifest": results.manifest,
        "systems": results.summary,
        "warnings": [note.to_dict() for note in distinct([*results.notes, *refused])],
        "comparisons": claim_records(compared),
    }
    return json_text(content)


def plan_text(prepared: Prepared) -> str:
    """What would be run: the data, the splits, and the settings of each system."""
    given: Any = prepared
    if prepared.experiment.task == "ranking":
        from heldout.report.ranking_results import ranking_plan

        lines = ranking_plan(given)
    else:
        from heldout.report.prediction_results import prediction_plan

        lines = prediction_plan(given)
    splits = count_of(len(prepared.splits), "split")
    for system in prepared.systems:
        search = system.search
        tried = f"{search.trials} trials of Optuna"
        if search.how != "optuna":
            tried = count_of(len(search.points), "setting")
        lines.append(f"{plain_text(system.name)}: {tried} × {splits}")
    loaded = ", ".join(map(plain_text, loaded_code(prepared)))
    said = f"loaded {loaded}; " if loaded else ""
    lines.append(f"{count_of(len(prepared.systems), 'system')} in all; {said}nothing was run")
    lines += note_lines(prepared.notes)
    return "".join(line + "\n" for line in lines)


def loaded_code(prepared: Prepared) -> list[str]:
    """The files and modules whose code was executed to make the systems, each once."""
    references = [
        reference
        for system in prepared.systems
        for reference in getattr(system, "references", [getattr(system, "reference", "")])
    ]
    return list(dict.fromkeys(text.rpartition(":")[0] for text in references if text))
