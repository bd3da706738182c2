"""Values of runs under machine judgements, beside those under human judgements."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.qrels import Qrels
from heldout.errors import InputError
from heldout.measure.names import parse_measure
from heldout.measure.ranking.run_checks import run_warnings
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.run import Run
    from heldout.data.scores import MachineScores
    from heldout.measure.base import Measure
    from heldout.measure.ranking.evaluate import RunScores

    Score = Callable[[Qrels, Run, Sequence[Measure]], RunScores]

__all__ = ["JudgedTwice", "MachineEvaluation", "judged_twice"]

COMPLETE: Final = 0.95
"""Share of the documents with human judgements that the machine must have judged, too."""

NAMED: Final = 4
"""Letters of a name from which on it is not the same by chance."""

COPIED: Final = 100
"""Judgements of people and machine from which on it is strange that all are equal."""

JUDGED_APART: Final = 0.05
"""Difference in judged top documents between human queries and others that is worth a warning."""


@dataclass(frozen=True, slots=True, eq=False)
class MachineEvaluation:
    """The values of runs under machine judgements.

    Parameters
    ----------
    human
        The queries that people have judged as well.
    runs
        The values of each run on all queries of the machine; the last column is ``Judged@10``.
    warnings
        What was noticed about both judgements.
    judge
        The name of the machine; empty if it is unknown.
    """

    human: frozenset[str]
    runs: tuple[RunScores, ...]
    warnings: tuple[Note, ...]
    judge: str = ""

    def scores(self, measure: int, queries: Sequence[str], missing: str) -> MachineScores:
        """Return the scores of the human queries, and of the queries of the machine alone.

        Parameters
        ----------
        measure
            The number of the measure.
        queries
            The human queries that count, in order.
        missing
            Whether queries that a run lacks count 0 or are left out; queries that no run has are
            always left out.
        """
        from heldout.data.scores import MachineScores  # for comparisons only

        every = self.runs[0].queries
        rows = {query: row for row, query in enumerate(every)}
        present = np.stack([run.present for run in self.runs])
        ranked = (np.all if missing == "skip" else np.any)(present, axis=0).tolist()
        extra = [row for row, query in enumerate(every) if query not in self.human and ranked[row]]
        values = np.stack([run.columns[measure] for run in self.runs], 1).astype(np.float64)
        return MachineScores(values[[rows[query] for query in queries]], values[extra])

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noticed about both judgements, and about the runs under those of the machine."""
        return (*self.warnings, *self.ranking_notes)

    @property
    def ranking_notes(self) -> tuple[Note, ...]:
        """What was noticed about the runs under the judgements of the machine."""
        own = run_warnings([replace(run, ranking=None) for run in self.runs], missing="zero")
        every = (*self._own_judge(), *self._apart())
        return (*every, *(note.of("machine judgements") for note in own))

    def _own_judge(self) -> list[Note]:
        """Warn if a system has the name of the machine: it may be the model that judges."""
        same = [run.name for run in self.runs if _same_model(run.name, self.judge)]
        if not same:
            return []
        text = (
            f"{same[0]} has the name of the machine ({self.judge}): if it is the same model, it "
            "judges its own work and prefers it; the combined estimates correct it, scores under "
            "machine judgements alone do not"
        )
        return [Note("own-judge", text)]

    def _apart(self) -> list[Note]:
        """Warn if the machine judged the runs on human queries less (or more) completely."""
        known, others = (
            float(np.mean([run.columns[-1][self._rows(human=side)].mean() for run in self.runs]))
            for side in (True, False)
        )
        if abs(known - others) <= JUDGED_APART:
            return []
        text = (
            f"the machine judged {known:.0%} of the top 10 documents of human queries and "
            f"{others:.0%} of those of other queries: let it judge both alike, or the combined "
            "estimates are biased"
        )
        return [Note("machine-incomplete", text)]

    def _rows(self, *, human: bool) -> list[int]:
        queries = enumerate(self.runs[0].queries)
        return [row for row, query in queries if (query in self.human) is human]


def machine_name(given: Any) -> str:
    """Return the name of a machine: that of the file of its judgements, if there is one."""
    if not isinstance(given, str | os.PathLike):
        return ""
    return os.path.basename(given).split(".")[0]  # noqa: PTH119 - pathlib starts slowly


def judged_twice(human: Qrels, machine: Any, *, assume_random: bool) -> JudgedTwice:
    """Return human and machine judgements."""
    if machine is None:
        raise InputError("assume_random goes with machine judgements: pass machine")
    return JudgedTwice(human, machine, assume_random=assume_random)


class JudgedTwice:
    """Human and machine judgements of the same queries, ready to score runs.

    Parameters
    ----------
    human
        The human judgements. Queries that the machine has not judged are left out.
    machine
        The machine's, of the same and of further queries.
    assume_random
        Whether the human queries are known to be a random sample.
    name
        The name of the machine: by default that of the file.
    """

    def __init__(
        self, human: Qrels, machine: Any, *, assume_random: bool = False, name: str = ""
    ) -> None:
        self.machine = Qrels.of(machine)
        self.name = name or machine_name(machine)
        judged = set(self.machine.queries)
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
        self.left_out = len(human.queries) - len(common)
        self.human = human.select(common) if self.left_out else human
        self.assume_random = assume_random

    def score(self, score: Score, run: Run, measures: Sequence[Measure]) -> RunScores:
        """Return the values of a run under the machine's judgements."""
        wanted = [*measures, parse_measure("Judged@10", "ranking")]
        return score(self.machine, run, wanted)

    def evaluation(self, runs: Sequence[RunScores]) -> MachineEvaluation:
        """Return the values of all runs, with warnings."""
        human = frozenset(self.human.queries)
        return MachineEvaluation(human, tuple(runs), self.notes, self.name)

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noticed about both judgements."""
        return (*self._incomplete(), *self._not_random())

    def _incomplete(self) -> list[Note]:
        notes = []
        if self.left_out:
            queries = count_of(self.left_out, "query", "queries")
            text = f"{queries} with human judgements left out: the machine did not judge them"
            notes.append(Note("machine-incomplete", text))
        ours, theirs = self.human.to_dict(), self.machine.to_dict()
        total = sum(map(len, ours.values()))
        pairs = [
            (grade, theirs[query][doc])
            for query, docs in ours.items()
            for doc, grade in docs.items()
            if doc in theirs[query]
        ]
        shared = len(pairs)
        if shared >= COPIED and all(one == other for one, other in pairs):
            text = (
                f"the machine gave all {shared:,} documents with human judgements the grade that "
                "people gave: if human judgements were copied into its file, combined estimates "
                "are biased; give the machine's own"
            )
            notes.append(Note("machine-copies", text))
        if shared < COMPLETE * total:
            text = (
                f"the machine judged {shared:,} of the {total:,} documents with human judgements "
                f"({shared / total:.0%}): let it judge the others, too"
            )
            notes.append(Note("machine-incomplete", text))
        return notes

    def _not_random(self) -> list[Note]:
        if self.assume_random:
            return []
        every = len(self.machine.queries)
        text = (
            f"combined estimates are unbiased only if the {len(self.human.queries)} queries with "
            f"human judgements are a random sample of all {every}; confirm it with --assume-random "
            "(assume_random=True), or draw such queries with heldout split --sample"
        )
        return [Note("random-sample", text)]


def _same_model(system: str, judge: str) -> bool:
    """Return whether one name is the other, or a whole part of it, such as gpt4o of bm25-gpt4o."""
    names = [re.sub(r"[^a-z0-9]+", " ", name.lower()).strip() for name in (system, judge)]
    short, long = sorted(names, key=len)
    return len(short) >= NAMED and f" {short} " in f" {long} "
