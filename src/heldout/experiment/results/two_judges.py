"""Human and machine judgements in an experiment: tune on either, judge rankings by both."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from heldout.data.collection import Collection
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.lists import NONE
from heldout.experiment.results.summary import for_training
from heldout.measure.ranking.machine import JudgedTwice, judged_twice
from heldout.measure.ranking.run_checks import score_run
from heldout.notes import Note, count_of, distinct

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.data.qrels import Qrels
    from heldout.data.words import Flags, Floats
    from heldout.experiment.experiment import TuneOn
    from heldout.experiment.given import Machine
    from heldout.experiment.outcomes import HeldOut, RankedOutcome
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.results.results import Results
    from heldout.measure.ranking.run_checks import ScoredRun
    from heldout.resample.split import Splits


class TwoJudges(NamedTuple):
    """Human and machine judgements of the queries of a collection."""

    judged: JudgedTwice  # both, ready to score runs
    collection: Collection  # with the human judgements
    tuned: Collection  # with the judgements that parameters are tuned on
    notes: tuple[Note, ...]  # what was noticed about the collection and the judgements

    def check_splits(self, splits: Splits) -> None:
        """Refuse splits that hold out too few queries of either kind."""
        held = np.logical_or.reduce([split.test > 0 for split in splits])
        ids = {self.collection.queries.ids[place] for place in np.flatnonzero(held).tolist()}
        human, every = set(self.judged.human.queries), set(self.judged.machine.queries)
        people, others = len(ids & human), len(ids & every - human)
        if people < 3 or others < 2:
            raise InputError(
                f"only {count_of(people, 'query', 'queries')} with human judgements and {others} "
                "with those of the machine alone are held out: use folds"
            )


def two_judges(
    collection: Collection, machine: Machine, tune_on: TuneOn, *, assume_random: bool
) -> TwoJudges:
    """Join the judgements of a machine to a collection with human judgements."""
    known, by_machine = set(collection.queries.ids), machine.qrels
    there = [query for query in by_machine.queries if query in known]
    if not there:
        raise InputError(
            f"the machine judged none of the {len(known):,} queries of the collection: check that "
            "both use the same query ids"
        )
    notes = []
    missing = len(by_machine.queries) - len(there)
    if missing:
        queries = count_of(missing, "query", "queries")
        text = f"{queries} of the machine left out: the collection does not have them"
        notes.append(Note("machine-incomplete", text))
        by_machine = by_machine.select(there)
    judged = judged_twice(
        collection.qrels, by_machine, assume_random=assume_random, name=machine.name
    )
    tuned = collection
    if tune_on == "machine":
        text = (
            "parameters were tuned on machine judgements: training scores and scores under machine "
            "judgements alone are too good for the systems that were tuned; report the combined "
            "estimates, which human judgements of held-out queries correct"
        )
        notes.append(Note("tuned-on-machine", text))
        tuned = Collection(
            collection.documents, collection.queries, judged.machine, name=collection.name
        )
    others = (note for note in collection.notes if note.code != "unjudged-queries")
    return TwoJudges(judged, collection, tuned, (*others, *notes, *judged.notes))


# ---- judge held-out rankings by both ------------------------------------------------------------


def judge_held_out(
    prepared: PreparedRankings, judged: JudgedTwice, outcomes: Sequence[RankedOutcome]
) -> tuple[list[RankedOutcome], list[RankedOutcome], tuple[Note, ...]]:
    """Return the outcomes under human judgements, those under the machine's, and notes."""
    # Queries without a relevant document count: of those a machine judged alone nobody knows it.
    both: tuple[list[RankedOutcome], list[RankedOutcome]] = [], []
    scored: list[ScoredRun] = []
    for system, outcome in zip(prepared.systems, outcomes, strict=True):
        repeats: dict[object, list[tuple[HeldOut, Flags]]] = defaultdict(list)
        for side, split in zip(outcome.held_out, prepared.splits, strict=True):
            # The folds of a repeat hold out different queries, and are judged together.
            repeats[side.key.repeat, side.key.run].append((side, split.test > 0))
        runs = [_run(prepared, system.name, sides) for sides in repeats.values()]
        for judge, qrels in zip(both, (judged.human, judged.machine), strict=True):
            held_out, runs_of_judge = [], []
            for run, sides in zip(runs, repeats.values(), strict=True):
                values, own = _values(prepared, qrels, run)
                runs_of_judge += own
                held_out += [
                    side._replace(
                        values=np.where(queries, values, np.nan),
                        lists=side.lists.top(prepared.shown),
                    )
                    for side, queries in sides
                ]
            judge.append(replace(outcome, held_out=tuple(held_out)))
        scored += runs_of_judge[:1]  # under the judgements of the machine
    return *both, judged.run_notes(scored)


def _run(prepared: PreparedRankings, name: str, sides: Sequence[tuple[HeldOut, Flags]]) -> Run:
    """Return the ranked lists of several sides as one run; the rank decides the order."""
    queries, documents = prepared.collection.queries.ids, prepared.collection.documents.ids
    run: dict[str, dict[str, float]] = {}
    for side, asked in sides:
        run |= {queries[row]: {} for row in np.flatnonzero(asked).tolist()}
        row, place = np.nonzero(side.lists.documents != NONE)
        numbers = side.lists.documents[row, place].tolist()
        for query, rank, number in zip(row.tolist(), place.tolist(), numbers, strict=True):
            # A document that the collection does not have still takes its place.
            document = documents[number] if number >= 0 else f"(absent) {rank}"
            run[queries[query]][document] = -rank
    # Queries for which nothing was found count 0.
    return Run.of({query: ranked or {"(absent)": 0.0} for query, ranked in run.items()}, name)


def _values(prepared: PreparedRankings, qrels: Qrels, run: Run) -> tuple[Floats, list[ScoredRun]]:
    """Return measures x queries of a run, NaN without judgements, and the run, if it has any."""
    numbers = {query: number for number, query in enumerate(prepared.collection.queries.ids)}
    values = np.full((len(prepared.measures), len(numbers)), np.nan)
    if set(run.queries).isdisjoint(qrels.queries):
        return values, []
    scored = score_run(qrels.select(run.queries), run, prepared.measures)
    columns = [numbers[query] for query in scored.units]
    for row, own in zip(values, scored.values, strict=True):
        row[columns] = own.values
    return values, [scored]


# ---- combined estimates -------------------------------------------------------------------------


def combine(
    prepared: PreparedRankings, judged: JudgedTwice, results: Results, notes: Iterable[Note]
) -> None:
    """Replace estimates from human judgements by those from both; add notes to the manifest."""
    from heldout.infer.comparison_notes import machine_notes  # SciPy
    from heldout.infer.prediction_powered import system_estimates  # SciPy

    people = set(judged.human.queries)
    is_human = np.array([query in people for query in prepared.collection.queries.ids])
    trained = int((for_training(prepared) & is_human).sum())
    for measure in prepared.measures:
        if measure.higher_is_better is None:
            continue
        scores = results.scores(str(measure), systems=results.systems)
        # Of several systems, the comparison warns.
        notes = [*notes, *(machine_notes(scores) if len(results.systems) == 1 else ())]
        for number, entry in enumerate(results.summary):
            record = next(own for own in entry["estimates"] if own["measure"] == str(measure))
            estimates = system_estimates(scores, number, prepared.experiment.level)
            human, machine, combined = (
                {"value": interval.estimate, "low": interval.low, "high": interval.high}
                for interval in (estimates.human, estimates.machine, estimates.combined)
            )
            record |= {
                **combined,
                "interval": estimates.combined.method,
                "estimator": "combined, of human and machine judgements",
                "machine": {
                    "human": human,
                    "machine": machine,
                    "weight": estimates.weight,
                    "machine_queries": estimates.machine_queries,
                    "effective_queries": estimates.effective,
                },
                "left_out": len(people) - len(scores.units) - trained,
            }
            if prepared.experiment.tune_on == "machine":
                record["train"] = record["optimism"] = None  # of other judgements
    kept = results.manifest["notes"]
    kept += [plain for note in distinct(notes) if (plain := note.to_dict()) not in kept]
