"""Human and machine judgements in an experiment: tune on either, judge rankings by both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection import Collection
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.ranked_lists import NONE
from heldout.measure.ranking.machine import JudgedTwice, judged_twice
from heldout.measure.ranking.run_checks import ScoredRun, score_run
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats
    from heldout.experiment.machine_fields import GivenMachine
    from heldout.experiment.schema import TuneOn
    from heldout.experiment.settings import RankingSettings
    from heldout.experiment.systems.outcomes import HeldOut, RankedOutcome
    from heldout.resample.split import Splits

__all__ = ["JudgedOutcomes", "TwoJudges", "judge_held_out", "two_judges"]

_ABSENT = "(absent) "
"""Takes the place of a document that the collection does not have."""


@dataclass(frozen=True, slots=True, eq=False)
class TwoJudges:
    """Human and machine judgements of the queries of a collection.

    Parameters
    ----------
    judged
        Both, ready to score runs.
    tune_on
        Whose judgements of the training queries parameters are tuned on.
    collection
        The collection with the human judgements.
    notes
        What was noticed about the collection and the judgements.
    """

    judged: JudgedTwice
    tune_on: TuneOn
    collection: Collection
    notes: tuple[Note, ...]

    @property
    def tuned(self) -> Collection:
        """The collection with the judgements that parameters are tuned on."""
        if self.tune_on == "human":
            return self.collection
        known = self.collection
        return Collection(known.documents, known.queries, self.judged.machine, name=known.name)

    def check_splits(self, splits: Splits) -> None:
        """Refuse splits that hold out too few queries of either kind."""
        held = np.zeros(len(self.collection.queries), np.bool_)
        for split in splits:
            held |= split.test > 0
        ids = [one for one, there in zip(self.collection.queries.ids, held, strict=True) if there]
        human, every = set(self.judged.human.queries), set(self.judged.machine.queries)
        people, others = (sum(one in part for one in ids) for part in (human, every - human))
        if people < 3 or others < 2:
            raise InputError(
                f"only {count_of(people, 'query', 'queries')} with human judgements and {others} "
                "with those of the machine alone are held out: use folds"
            )


def two_judges(
    collection: Collection, machine: GivenMachine, tune_on: TuneOn, *, assume_random: bool
) -> TwoJudges:
    """Join both judgements to the queries of a collection.

    Parameters
    ----------
    collection
        With the human judgements.
    machine
        Judgements of a machine; queries that the collection does not have are left out.
    tune_on
        As for `TwoJudges`.
    assume_random
        Whether the queries with human judgements are known to be a random sample.
    """
    known = set(collection.queries.ids)
    there = [query for query in machine.qrels.queries if query in known]
    if not there:
        raise InputError(
            f"the machine judged none of the {len(known):,} queries of the collection: check that "
            "both use the same query ids"
        )
    notes = []
    missing = len(machine.qrels.queries) - len(there)
    if missing:
        queries = count_of(missing, "query", "queries")
        text = f"{queries} of the machine left out: the collection does not have them"
        notes.append(Note("machine-incomplete", text))
        machine = machine._replace(qrels=machine.qrels.select(there))
    judged = judged_twice(
        collection.qrels, machine.qrels, assume_random=assume_random, name=machine.name
    )
    if tune_on == "machine":
        text = (
            "parameters were tuned on machine judgements: training scores and scores under machine "
            "judgements alone are too good for the systems that were tuned; report the combined "
            "estimates, which human judgements of held-out queries correct"
        )
        notes.append(Note("tuned-on-machine", text))
    others = (note for note in collection.notes if note.code != "unjudged-queries")
    return TwoJudges(judged, tune_on, collection, (*others, *notes, *judged.notes))


@dataclass(frozen=True, slots=True, eq=False)
class JudgedOutcomes:
    """Held-out rankings under both judgements.

    Parameters
    ----------
    human, machine
        The outcomes of all systems with the values of held-out queries under the judgements.
    notes
        What was noticed about the rankings.
    """

    human: tuple[RankedOutcome, ...]
    machine: tuple[RankedOutcome, ...]
    notes: tuple[Note, ...]


def judge_held_out(
    settings: RankingSettings, both: TwoJudges, outcomes: Sequence[RankedOutcome]
) -> JudgedOutcomes:
    """Judge the held-out rankings of all systems by both judgements.

    As in `heldout.compare`, every query with human judgements counts, also one without a relevant
    document: queries that only the machine judged cannot be left out by what people say.

    Parameters
    ----------
    settings
        The experiment; its rankings are as deep as the measures need.
    both
        The judgements.
    outcomes
        Of the systems, in order.
    """
    human, machine, scored = [], [], []
    for system, outcome in zip(settings.systems, outcomes, strict=True):
        judge = _Judge(settings, both.judged, system.name)
        parts = [judge.values(part) for part in _together(outcome.held_out)]
        by_people, by_machine = (
            [one for part in parts for one in part[side]] for side in ("human", "machine")
        )
        human.append(replace(outcome, held_out=tuple(by_people)))
        machine.append(replace(outcome, held_out=tuple(by_machine)))
        scored += judge.scored[:1]
    return JudgedOutcomes(tuple(human), tuple(machine), both.judged.run_notes(scored))


def _together(held_out: Sequence[HeldOut]) -> list[list[HeldOut]]:
    """Return the folds of each repeat together: they hold out different queries."""
    parts: dict[tuple[int, int | None], list[HeldOut]] = {}
    for one in held_out:
        parts.setdefault((one.place.repeat, one.place.run), []).append(one)
    return list(parts.values())


class _Judge:
    """Judges the rankings of one system."""

    def __init__(self, settings: RankingSettings, judged: JudgedTwice, name: str) -> None:
        self.settings, self.judged, self.name = settings, judged, name
        self.held = {(one.key.repeat, one.key.fold): one.test > 0 for one in settings.splits}
        self.shown = settings.shown
        self.scored: list[ScoredRun] = []
        self.numbers = {one: at for at, one in enumerate(settings.collection.queries.ids)}

    def values(self, folds: Sequence[HeldOut]) -> dict[str, list[HeldOut]]:
        """Return the same held-out queries with their values under each of the judgements."""
        mine = [self.held[one.place.repeat, one.place.fold or 0] for one in folds]
        ids = self.settings.collection.queries.ids
        held = {ids[at] for at in np.flatnonzero(np.logical_or.reduce(mine)).tolist()}
        run = self._run(folds, held)

        tables = {}
        for side, qrels in (("human", self.judged.human), ("machine", self.judged.machine)):
            if held.isdisjoint(qrels.queries):
                tables[side] = np.full((len(self.settings.measures), len(ids)), np.nan)
            elif side == "human":
                scored = score_run(qrels.select(held), run, self.settings.measures)
                tables[side] = self._table(scored)
            else:
                judged = self.judged._replace(machine=qrels.select(held))
                self.scored.append(judged.score(run, self.settings.measures))
                tables[side] = self._table(self.scored[-1])
        return {
            side: [
                replace(
                    one, values=np.where(where, values, np.nan), lists=one.lists.top(self.shown)
                )
                for one, where in zip(folds, mine, strict=True)
            ]
            for side, values in tables.items()
        }

    def _table(self, scored: ScoredRun) -> Floats:
        """Return measures × queries of the collection; NaN: not judged."""
        measures = len(self.settings.measures)
        values = np.full((measures, len(self.numbers)), np.nan)
        columns = [self.numbers[query] for query in scored.units]
        values[:, columns] = np.stack([one.values for one in scored.values[:measures]])
        return values

    def _run(self, folds: Sequence[HeldOut], held: set[str]) -> Run:
        """Return the ranked lists of several folds as one run; the rank decides the order."""
        queries, docs, scores = [], [], []
        names, ids = self.settings.collection.queries.ids, self.settings.collection.documents.ids
        for one in folds:
            query, place = np.nonzero(one.lists.documents != NONE)
            queries += [names[at] for at in query.tolist()]
            numbers = one.lists.documents[query, place].tolist()
            docs += [
                ids[number] if number >= 0 else f"{_ABSENT}{at}"
                for number, at in zip(numbers, place.tolist(), strict=True)
            ]
            scores += (-place).tolist()
        empty = sorted(held - set(queries))  # nothing was found: they count 0
        columns = {
            "query": [*queries, *empty],
            "doc": [*docs, *(f"{_ABSENT}0" for _ in empty)],
            "score": [*scores, *(0 for _ in empty)],
        }
        return Run.of(columns, self.name)
