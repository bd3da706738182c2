"""Tune over existing runs: each split selects a run on its training queries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.data.notes import count_of, named_few
from heldout.data.run_inputs import as_qrels
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.measure.parse import parse_measure
from heldout.measure.ranking.evaluate import Missing, evaluate_runs
from heldout.notes import Note, distinct
from heldout.tune.choice_variance import (
    REPLICATES,
    Sides,
    TunedPoints,
    choice_spreads,
    draw_counts,
    rechoose,
)
from heldout.tune.run_groups import run_groups
from heldout.tune.tuned_folds import cross_validate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from heldout.data.run import Qrels
    from heldout.data.run_inputs import QrelsLike, RunLike
    from heldout.data.scores import ChoiceSpread
    from heldout.data.words import Floats
    from heldout.measure.ranking.evaluate import RankingEvaluation
    from heldout.measure.ranking.names import RankingMeasure
    from heldout.resample.plan import Plan
    from heldout.resample.split import Splits
    from heldout.tune.choice import Rule
    from heldout.tune.listed import Listed
    from heldout.tune.run_groups import RunGroup
    from heldout.tune.tuned_folds import Edge, TunedFolds

    Path_ = str | os.PathLike[str]
    RunsOf = Path_ | Iterable[Path_] | Mapping[str, RunLike]

__all__ = ["VERY_DIFFERENT", "TunedRuns", "TunedSystem", "relevant_a_query", "tune_runs"]

VERY_DIFFERENT: Final = 3
"""Warn when one system was tuned over this many times as many points as another."""


@dataclass(frozen=True, slots=True, eq=False)
class TunedSystem:
    """A system tuned by selecting among its runs.

    Parameters
    ----------
    name
        Name of the system.
    runs
        The names of its runs, in the order in which ties are broken.
    sources
        Paths of the runs, or their names.
    points
        The parameters in the names if all have the same ones; otherwise None.
    folds
        The selected runs and their scores.
    judged
        The share of judged documents in the held-out top 10.
    values
        Runs × queries, in the measure, as the splits order the queries.
    """

    name: str
    runs: tuple[str, ...]
    sources: tuple[str, ...]
    points: Listed | None
    folds: TunedFolds
    judged: float
    values: Floats

    @property
    def tuned(self) -> bool:
        """Whether there was more than one run to choose from."""
        return len(self.runs) > 1

    @property
    def shipped(self) -> str:
        """The run selected on all queries."""
        return self.runs[self.folds.final.number]

    def edge_notes(self) -> list[Note]:
        """Return warnings about selected values at the edge of the range tried."""
        count = len(self.folds.folds)
        return [_edge_note(edge, count) for edge in self.folds.edges if self.tuned]


def _edge_note(edge: Edge, count: int) -> Note:
    times = f"in {edge.folds} of {count_of(count, 'split')}" if edge.folds else ""
    overall = "on all queries" if edge.shipped else ""
    where = " and ".join(part for part in (times, overall) if part)
    joint = " " if "*" in edge.name else "="  # a pattern of names is not a parameter
    text = (
        f"{edge.name}{joint}{edge.value}, the {edge.side} value tried, was selected {where}; "
        "extend the grid beyond it if possible"
    )
    return Note("at-an-end", text)


@dataclass(frozen=True, slots=True, eq=False)
class TunedRuns:
    """Systems tuned on the same training data.

    Parameters
    ----------
    measure
        The measure used to select and score runs.
    systems
        One or more systems.
    splits
        The splits of the queries, the same for all systems.
    data
        A fingerprint of the judgements.
    notes
        Warnings about the scores.
    policies
        How ties, missing queries and unjudged documents were treated, in words.
    """

    measure: str
    systems: tuple[TunedSystem, ...]
    splits: Splits
    data: str
    notes: tuple[Note, ...]
    policies: tuple[tuple[str, str], ...]

    def system(self, name: str) -> TunedSystem:
        """Return a system by name."""
        for one in self.systems:
            if one.name == name:
                return one
        names = ", ".join(system.name for system in self.systems)
        raise InputError(f"no system {name!r}; there are {names}")

    @property
    def all_notes(self) -> tuple[Note, ...]:
        """All warnings: about the splits, the scores, and values at the edge of the range tried."""
        several = len(self.systems) > 1
        edges = [
            note.of(system.name) if several else note
            for system in self.systems
            for note in system.edge_notes()
        ]
        return distinct([*self.splits.notes, *self.notes, *edges])

    def scores(self) -> Scores:
        """Return the held-out value of every query and system, for comparisons."""
        table = np.stack([system.folds.units for system in self.systems], axis=1)
        kept = ~np.isnan(table).any(axis=1)
        ids = self.splits.ids
        return Scores(
            self.measure,
            tuple(system.name for system in self.systems),
            tuple(ids[at] for at in np.flatnonzero(kept).tolist()),
            table[kept],
            self.systems[0].folds.higher_is_better,
            dropped=tuple(ids[at] for at in np.flatnonzero(~kept).tolist()),
            judged=tuple(system.judged for system in self.systems),
            data=self.data,
            notes=self.notes,
            choices=_choices(self),
            unit="query",
            range=self.range,
        )

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest possible value of the measure."""
        return parse_measure(self.measure, "ranking").range


def _choices(tuned: TunedRuns) -> dict[tuple[str, str], ChoiceSpread]:
    """What the selection of runs adds to the variance of differences."""
    sides = Sides.of(tuned.splits)
    if len(tuned.systems) < 2 or not sides.shared:
        return {}
    counts = draw_counts(len(tuned.splits.ids), REPLICATES, tuned.splits.seed or 0)
    systems = {
        system.name: TunedPoints(
            system.values,
            rechoose(
                system.values,
                sides,
                counts,
                rule=system.folds.rule,
                higher_is_better=system.folds.higher_is_better,
            )
            if system.tuned
            else None,
        )
        for system in tuned.systems
    }
    return choice_spreads(systems, sides)


def tune_runs(
    qrels: QrelsLike,
    systems: RunsOf | Mapping[str, RunsOf],
    measure: str | RankingMeasure = "nDCG@10",
    *,
    plan: Plan | None = None,
    rule: Rule = "best",
    missing: Missing = "zero",
    progress: Callable[[str], None] | None = None,
) -> TunedRuns:
    """Select a run on the training queries of every split and score it on the held-out queries.

    Parameters
    ----------
    qrels
        Judgements: an object, a dictionary, a frame, or the path of a qrels file.
    systems
        The runs of one system: a path with ``*`` or ``?``, paths, or ``{name: run}``, where a run
        is an object, a frame or a path; or several systems as ``{system: runs}``, where `runs` is
        a list of paths, a path with ``*``, or ``{name: run}``. A system with one run is not tuned.
    measure
        The measure used to select and score: a name or a measure, including those of ir_measures.
    plan
        How to split the queries; 10-fold cross-validation by default. All systems share the splits.
    rule
        ``best`` or ``one-se``, see `heldout.tune.choice.choose`. The simpler run is the one with
        the lower parameters in its name.
    missing
        How to treat judged queries that a run lacks: ``zero`` counts them 0, ``skip`` leaves out,
        for all runs, the queries that some run lacks.
    progress
        Called with the name of each run when it is read.

    Examples
    --------
    >>> from heldout import KFold, Run
    >>> judged = {f"q{n}": {"d": 1} for n in range(6)}
    >>> runs = {
    ...     f"w={w}": Run.from_dict({query: {"d": w, "e": 0.5} for query in judged})
    ...     for w in (0.1, 0.6)
    ... }
    >>> system = tune_runs(judged, {"mine": runs}, "RR", plan=KFold(3)).systems[0]
    >>> system.shipped, system.folds.mean
    ('w=0.6', 1.0)
    """
    from heldout.resample.plans import KFold  # the default plan only

    chosen_by = _comparable(parse_measure(measure, "ranking"))
    groups = run_groups(systems)
    judgements = as_qrels(qrels, subtopics=chosen_by.definition.subtopics)
    result = _evaluate(judgements, groups, chosen_by, missing, progress)
    queries = result.queries()
    splits = (plan or KFold(10)).splits(queries)
    tuned = tuple(_tune(group, result, chosen_by, splits, rule, at) for at, group in _spans(groups))
    notes = distinct([*_lacking(result), *_undefined(tuned), *_effort(tuned)])
    return TunedRuns(
        str(chosen_by), tuned, splits, judgements.fingerprint(), notes, result.policies
    )


def _comparable(measure: RankingMeasure) -> RankingMeasure:
    """Return the measure if runs can be ranked by it; otherwise raise an error."""
    family = measure.definition
    if family.aggregate in {"text", "gmean"}:
        raise MeasureError(f"{measure} has no mean over queries: choose another, such as AP")
    if family.higher_is_better is None:
        raise MeasureError(f"{measure} has no better or worse: choose another, such as nDCG@10")
    return measure


def _evaluate(
    judgements: Qrels,
    groups: list[RunGroup],
    measure: RankingMeasure,
    missing: Missing,
    progress: Callable[[str], None] | None,
) -> RankingEvaluation:
    named = {}
    for group in groups:
        for label, source in zip(group.runs, group.sources, strict=True):
            named[f"{group.name}: {label}"] = source
    return evaluate_runs(
        judgements, named, [measure, "Judged@10"], missing=missing, progress=progress
    )


def _spans(groups: list[RunGroup]) -> list[tuple[slice, RunGroup]]:
    """Return the slice of the evaluation's runs that belongs to each group."""
    found, begin = [], 0
    for group in groups:
        found.append((slice(begin, begin + len(group.runs)), group))
        begin += len(group.runs)
    return found


def _tune(
    group: RunGroup,
    result: RankingEvaluation,
    measure: RankingMeasure,
    splits: Splits,
    rule: Rule,
    runs: slice,
) -> TunedSystem:
    numbers = range(len(result.runs))[runs]

    def table(column: str | RankingMeasure) -> Floats:
        return np.stack([result.values(run, column) for run in numbers]).astype(np.float64)

    # Plans keep the order of the queries.
    values = table(measure)
    folds = cross_validate(
        values,
        splits,
        rule=rule,
        higher_is_better=bool(measure.higher_is_better),
        units=result.queries(),
        space=group.points,
    )
    judged = float(np.nanmean(folds.gather(table("Judged@10"))))
    sources = tuple(
        os.fspath(source) if isinstance(source, str | os.PathLike) else label
        for label, source in zip(group.runs, group.sources, strict=True)
    )
    return TunedSystem(group.name, group.runs, sources, group.points, folds, judged, values)


def _lacking(result: RankingEvaluation) -> list[Note]:
    """Warn about runs without some of the judged queries."""
    lacks = [(int((~run.present).sum()), run.name) for run in result.runs]
    few = [(count, name) for count, name in lacks if count]
    if not few:
        return []
    runs = f"{len(few)} of {len(lacks)} runs lack" if len(few) > 1 else f"{few[0][1]} lacks"
    most = max(few)
    worst = f" (at most {most[0]}: {most[1]})" if len(few) > 1 else ""
    amount = "judged queries" if len(few) > 1 or most[0] > 1 else "judged query"
    number = "" if len(few) > 1 else f"{most[0]} "
    if result.missing == "zero":
        count = "counts" if amount == "judged query" else "count"
        return [Note("missing-zero", f"{runs} {number}{amount}{worst}, which {count} 0")]
    left = len(result.runs[0].queries) - len(result.queries())
    are = "is" if left == 1 else "are"
    text = f"{runs} {number}{amount}{worst}: {left} {are} left out for all runs"
    return [Note("missing-left-out", text)]


def _undefined(systems: Iterable[TunedSystem]) -> list[Note]:
    found = []
    for system in systems:
        lost, never = system.folds.undefined, system.folds.never
        if lost:
            named = named_few(lost, len(lost))
            have = "has" if len(lost) == 1 else "have"
            queries = count_of(len(lost), "query", "queries")
            text = f"{queries} {have} no value for some run: {named}"
            found.append(Note("no-value", text).of(system.name))
        if never:
            named = named_few(never, len(never))
            were = "was" if len(never) == 1 else "were"
            queries = count_of(len(never), "query", "queries")
            text = f"{queries} {were} never held out: {named}"
            found.append(Note("never-held-out", text).of(system.name))
    return found


def _effort(systems: Iterable[TunedSystem]) -> list[Note]:
    """Warn when one system was tuned over many more runs; `compare` warns about untuned ones."""
    tuned = [system for system in systems if system.tuned]
    if len(tuned) < 2:
        return []
    most = max(tuned, key=lambda system: len(system.runs))
    least = min(tuned, key=lambda system: len(system.runs))
    if len(most.runs) < VERY_DIFFERENT * len(least.runs):
        return []
    numbers = f"{len(most.runs)} runs and {least.name} from {len(least.runs)}"
    text = f"{most.name} was chosen from {numbers}: a difference may be due to the search"
    return [Note("uneven-tuning", text)]


def relevant_a_query(qrels: Qrels) -> dict[str, float]:
    """Return the number of relevant documents of each query, for ``KFold(stratify=…)``.

    Plans bin numbers with decimals but treat integers as class labels, of which there would be too
    many, so the counts are given a tiny fractional part.

    Examples
    --------
    >>> from heldout import Qrels
    >>> relevant_a_query(Qrels.from_dict({"a": {"x": 1}, "b": {"x": 1, "y": 2}, "c": {"x": 0}}))
    {'a': 1.000000001, 'b': 2.000000002, 'c': 0.0}
    """
    counts = np.add.reduceat((qrels.grades > 0).astype(np.int64), qrels.offsets[:-1])
    return dict(zip(qrels.queries, (counts * (1 + 1e-9)).tolist(), strict=True))
