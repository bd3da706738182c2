"""Values of runs under machine judgements, beside those under human judgements."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import file_stem
from heldout.data.qrels import Qrels
from heldout.errors import InputError
from heldout.measure.ranking.run_checks import run_notes
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.scores import MachineScores
    from heldout.measure.base import Measure
    from heldout.measure.evaluation import Evaluation
    from heldout.measure.ranking.run_checks import ScoredRun

COMPLETE: Final = 0.95  # share of the documents that people judged, which the machine must judge
NAMED: Final = 4  # letters of a name from which on it is not the same by chance
COPIED: Final = 100  # judgements from which on it is strange that people and machine always agree
JUDGED_APART: Final = 0.05  # of the top documents of human queries and of others: worth a warning


class JudgedTwice(NamedTuple):
    """Human and machine judgements of the same queries, ready to score runs."""

    human: Qrels  # without the queries that the machine has not judged
    machine: Qrels  # of the same and of further queries
    name: str  # of the machine; empty if it is unknown
    assume_random: bool
    notes: tuple[Note, ...]

    def evaluation(
        self, runs: Sequence[ScoredRun], measures: Sequence[Measure], missing: str
    ) -> Evaluation:
        """Return the values of runs on the human queries, and on those that any (all) runs have."""
        from heldout.measure.ranking.evaluate import evaluation_of

        present = np.stack([run.present for run in runs])
        ranked = (np.all if missing == "skip" else np.any)(present, axis=0)
        human = set(self.human.queries)
        counted = ranked | np.array([query in human for query in self.machine.queries])
        notes = (*self.notes, *self.run_notes(runs))
        return evaluation_of(runs, tuple(measures), counted, notes=notes, truth=self.machine)

    def run_notes(self, runs: Sequence[ScoredRun]) -> tuple[Note, ...]:
        """Return what was noticed about runs under the judgements of the machine."""
        notes = []
        same = [run.name for run in runs if _same_model(run.name, self.name)]
        if same:
            text = (
                f"{same[0]} has the name of the machine ({self.name}): if it is the same model, "
                "it judges its own work and prefers it; the combined estimates correct it, scores "
                "under machine judgements alone do not"
            )
            notes.append(Note("own-judge", text))
        people = set(self.human.queries)
        human = np.array([query in people for query in runs[0].units])
        known, others = (
            float(np.mean([run.judged.values[rows].mean() for run in runs]))
            for rows in (human, ~human)
        )
        if abs(known - others) > JUDGED_APART:
            text = (
                f"the machine judged {known:.0%} of the top 10 documents of human queries and "
                f"{others:.0%} of those of other queries: let it judge both alike, or the combined "
                "estimates are biased"
            )
            notes.append(Note("machine-incomplete", text))
        return (*notes, *(note.of("machine judgements") for note in run_notes(runs)))


def judged_twice(
    human: Qrels, machine: Any, *, assume_random: bool = False, name: str = ""
) -> JudgedTwice:
    """Return human and machine judgements; `name` is that of the machine (default: the file's)."""
    if machine is None:
        raise InputError("assume_random goes with machine judgements: pass machine")
    by_machine = Qrels.of(machine)
    judged = set(by_machine.queries)
    common = [query for query in human.queries if query in judged]
    if not common:
        raise InputError(
            "the machine judged none of the queries with human judgements: it must judge them, "
            "too, because they show how far it is off"
        )
    if len(judged) < len(common) + 2:
        raise InputError(
            "the machine judged only the queries with human judgements: combined estimates "
            "need further queries; leave machine out (heldout agree compares judgements)"
        )
    notes = []
    left_out = len(human.queries) - len(common)
    if left_out:
        human = human.select(common)
        queries = count_of(left_out, "query", "queries")
        text = f"{queries} with human judgements left out: the machine did not judge them"
        notes.append(Note("machine-incomplete", text))
    notes += _compared(human, by_machine)
    if not assume_random:
        text = (
            f"combined estimates are unbiased only if the {len(human.queries)} queries with human "
            f"judgements are a random sample of all {len(judged)}; confirm it (assume_random), or "
            "draw such queries at random"
        )
        notes.append(Note("random-sample", text))
    name = name or machine_name(machine)
    return JudgedTwice(human, by_machine, name, assume_random, tuple(notes))


def machine_name(given: Any) -> str:
    """Return the name of a machine: that of the file of its judgements, if there is one."""
    return file_stem(os.fspath(given)) if isinstance(given, str | os.PathLike) else ""


def _compared(human: Qrels, machine: Qrels) -> list[Note]:
    """Warn if the machine judged too few documents that people judged, or all exactly alike."""
    ours, theirs = human.to_dict(), machine.to_dict()
    total = sum(map(len, ours.values()))
    pairs = [
        (grade, theirs[query][doc])
        for query, docs in ours.items()
        for doc, grade in docs.items()
        if doc in theirs[query]
    ]
    notes = []
    if len(pairs) >= COPIED and all(grade == other for grade, other in pairs):
        text = (
            f"the machine gave all {len(pairs):,} documents with human judgements the grade that "
            "people gave: if human judgements were copied into its file, combined estimates "
            "are biased; give the machine's own"
        )
        notes.append(Note("machine-copies", text))
    if len(pairs) < COMPLETE * total:
        text = (
            f"the machine judged {len(pairs):,} of the {total:,} documents with human judgements "
            f"({len(pairs) / total:.0%}): let it judge the others, too"
        )
        notes.append(Note("machine-incomplete", text))
    return notes


def machine_scores(evaluation: Evaluation, measure: Measure) -> MachineScores | None:
    """Return scores of the human queries that count, and of the queries of the machine alone."""
    from heldout.data.scores import MachineScores  # for comparisons only

    machine = evaluation.machine
    if machine is None:
        return None
    rows = {query: row for row, query in enumerate(machine.units())}
    human = set(evaluation.truth.queries)
    extra = [row for query, row in rows.items() if query not in human]
    values = np.column_stack([machine.per_unit(name, measure) for name in machine.names])
    return MachineScores(values[[rows[query] for query in evaluation.units()]], values[extra])


def _same_model(system: str, judge: str) -> bool:
    """Return whether one name is the other, or a whole part of it, such as gpt4o of bm25-gpt4o."""
    names = [re.sub(r"[^a-z0-9]+", " ", name.lower()).strip() for name in (system, judge)]
    short, long = sorted(names, key=len)
    return len(short) >= NAMED and f" {short} " in f" {long} "
