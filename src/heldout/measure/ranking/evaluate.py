"""Evaluate runs against judgements: one number per query and measure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.data.frames import Library, frame_of
from heldout.data.ids import Ids, respell
from heldout.data.parallel import run_threads
from heldout.data.qrels import Qrels
from heldout.data.run import Run, as_runs
from heldout.errors import InputError, MeasureError
from heldout.measure.base import JUDGED_ONLY, Means
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measure, parse_measures
from heldout.measure.ranking.judged import join
from heldout.measure.ranking.policies import policies_in_words, variants_in_words
from heldout.measure.ranking.run_checks import (
    distinct_names,
    look_swapped,
    ranking_digest,
    run_warnings,
    subtopic_warnings,
    swap_warnings,
    unshared_ids,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from heldout.data.qrels import QrelsLike
    from heldout.data.run import Runs, TiePolicy
    from heldout.data.scores import Scores
    from heldout.data.words import Flags, Floats
    from heldout.infer.prediction_powered import Combined
    from heldout.measure.base import Measure, Task, Value
    from heldout.measure.ranking.machine import MachineEvaluation
    from heldout.notes import Note

__all__ = ["DEFAULT_MEASURES", "Missing", "RankingEvaluation", "RunScores", "evaluate_runs"]

Missing = Literal["zero", "skip"]
"""How to treat a judged query without a ranked list: count it 0, or leave it out."""

DEFAULT_MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000", "Judged@10")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunScores:
    """The values of one run.

    Parameters
    ----------
    name
        The run's name.
    queries
        The judged queries, in bytewise order.
    present
        Whether the run has each of them.
    columns
        For each measure, the value of every query.
    unjudged
        Number of queries of the run without judgements, which are ignored.
    ties
        The run's tie policy.
    unshared
        Some document ids of the run and of the judgements if they have no document in common;
        else empty.
    ranking
        A digest of the ranking, to find copies; None if there is only one run.
    """

    name: str
    queries: tuple[str, ...]
    present: Flags
    columns: tuple[NDArray[Any], ...]
    unjudged: int = 0
    ties: str = "docid-desc"
    unshared: tuple[str, str] = ("", "")
    ranking: int | None = None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RankingEvaluation(Evaluation):
    """The values of several runs on the same judgements.

    Parameters
    ----------
    measures
        The measures, one column each.
    runs
        The values of each run.
    missing
        How to treat judged queries without a ranked list.
    policies
        How ties, missing queries and unjudged documents were treated, in words.
    qrels
        The judgements.
    machine
        The values under machine judgements, if there are any.
    swapped
        Whether judgements and runs look swapped.
    """

    measures: tuple[Measure, ...]
    runs: tuple[RunScores, ...]
    missing: Missing
    policies: tuple[tuple[str, str], ...]
    qrels: Qrels | None = None
    machine: MachineEvaluation | None = None
    swapped: bool = False

    @property
    def task(self) -> Task:
        """Ranking."""
        return "ranking"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple([run.name for run in self.runs])

    @property
    def notes(self) -> tuple[Note, ...]:
        """Warnings about misleading scores: wrong ids, most queries missing, copies.

        Examples
        --------
        >>> evaluate_runs({"q": {"d1": 1}}, {"q": {"D1": 1.0}}).notes[0].code
        'no-common-document'
        """
        return (
            *swap_warnings(swapped=self.swapped),
            *(subtopic_warnings(self.qrels) if needs_subtopics(self.measures) else ()),
            *run_warnings(self.runs, missing=self.missing),
            *(() if self.machine is None else self.machine.notes),
        )

    @property
    def warnings(self) -> tuple[Note, ...]:
        """The notes."""
        return self.notes

    def counted(self) -> Flags:
        """Return which judged queries count: all, or those that every run has."""
        every = np.ones(len(self.runs[0].queries), np.bool_)
        if self.missing == "skip":
            for run in self.runs:
                every &= run.present
        return every

    def queries(self) -> list[str]:
        """Return the queries that count."""
        return [self.runs[0].queries[row] for row in np.flatnonzero(self.counted())]

    def units(self, system: str | int = 0) -> tuple[str, ...]:  # noqa: ARG002 - the same for all
        """Return the queries that count."""
        return tuple(self.queries())

    def values(self, run: str | int, measure: str | Measure | int) -> Floats:
        """Return the value of each query that counts."""
        return self._per_unit(self._system(run), self._measure(measure))

    def mean(self, run: str | int, measure: str | Measure | int) -> float:
        """Return the mean (or sum, or geometric mean) over the queries that count."""
        return self._value(self._system(run), self._measure(measure))

    def _value(self, system: int, measure: int) -> float:
        return Means(
            self._per_unit(system, measure), how=self.measures[measure].definition.how
        ).value()

    def _per_unit(self, system: int, measure: int) -> Floats:
        return self.runs[system].columns[measure][self.counted()]

    def scores(self, measure: str | Measure | int = 0) -> Scores:
        """Return the scores of all runs in one measure, paired by query, for comparisons."""
        from heldout.data.scores import Scores  # for comparisons only

        number, twice = self._measure(measure), self.machine
        columns = [self.values(run, number) for run in range(len(self.runs))]
        known = self.measures[number]
        if known.definition.how in {"text", "geometric"}:
            raise MeasureError(f"{known} has no mean over queries: compare another, such as AP")
        if known.higher_is_better is None:
            raise MeasureError(f"{known} has no better or worse: it cannot be compared")
        judged = parse_measure("Judged@10", "ranking")
        shares: tuple[float, ...] = ()
        if judged in self.measures:
            shares = tuple(self.mean(run, judged) for run in range(len(self.runs)))
        return Scores(
            str(known),
            self.names,
            tuple(self.queries()),
            np.stack(columns, axis=1).astype(np.float64),
            known.higher_is_better,
            judged=shares,
            notes=(
                *swap_warnings(swapped=self.swapped),
                *run_warnings(self.runs, missing=self.missing, every_gap=True),
                *(() if twice is None else twice.notes),
            ),
            data=self.qrels.fingerprint() if self.qrels is not None else "",
            unit="query",
            range=known.range,
            machine=None if twice is None else twice.scores(number, self.queries(), self.missing),
            outputs=tuple(run.ranking for run in self.runs if run.ranking is not None),
        )

    def estimates(
        self,
        system: Any = None,
        measure: str | Measure | int | None = None,
        *,
        level: float = 0.95,
    ) -> Combined:
        """Return the human-only, machine-only and combined estimates of a run in a measure.

        Parameters
        ----------
        system, measure
            As for `value`.
        level
            The confidence level of the intervals.
        """
        from heldout.infer.scoring.machine import system_estimates  # needs this evaluation

        number, at = self._places(system, measure)
        return system_estimates(self.scores(at), number, level)

    _columns = ("run", "query_id")

    def _rows(self, system: int, measure: int) -> tuple[list[str | None], Any]:
        if self.measures[measure].aggregate == "none":
            return [], []
        return list(self.queries()), self._per_unit(system, measure).astype(np.float64)

    def to_frame(self, library: Library = "polars") -> Any:
        """Return a table with the columns ``run``, ``query_id``, ``measure``, ``value``.

        Parameters
        ----------
        library
            Library of the frame: ``polars`` or ``pandas``.
        """
        if all(measure.aggregate == "none" for measure in self.measures):
            raise MeasureError("texts such as RelString do not fit into a table of numbers")
        frame = Evaluation.to_frame(self)
        return frame_of(frame, library)


def evaluate_runs(
    qrels: QrelsLike,
    runs: Runs,
    measures: str | Measure | Iterable[str | Measure] = DEFAULT_MEASURES,
    *,
    missing: Missing = "zero",
    depth: int | None = None,
    rel: int = 1,
    judged_only: bool = False,
    ties: TiePolicy | None = None,
    single_precision: bool = False,
    machine: Any = None,
    assume_random: bool = False,
    progress: Callable[[str], None] | None = None,
) -> RankingEvaluation:
    """Evaluate runs against judgements.

    Parameters
    ----------
    qrels
        Judgements: an object, ``{query: {document: grade}}``, a pandas or Polars frame with the
        column names of PyTerrier, ir_measures or BEIR, or the path of a qrels file.
    runs
        One run or several in a list, or ``{name: run}``: objects, ``{query: {document: score}}``,
        frames, or paths.
    measures
        Names such as ``"nDCG@10"``, or measures, including those of ir_measures (``nDCG @ 10``).
    missing
        How to treat judged queries without a ranked list: ``"zero"`` counts them 0, ``"skip"``
        averages over the queries that all runs have.
    depth
        Use only the first `depth` documents of each query.
    rel
        The lowest grade that counts as relevant, for measures that do not set it themselves.
    judged_only
        Ignore documents without a judgement, for measures that do not set it themselves.
    machine
        Judgements of a machine (see `heldout.evaluate`).
    assume_random
        Whether the judged queries are known to be a random sample of those of the machine.
    progress
        Called with the name of each run when it is done.
    ties, single_precision
        How runs are read; see `heldout.read_run`.

    Returns
    -------
    RankingEvaluation
        The values of all queries and their means.

    Examples
    --------
    >>> qrels = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}}
    >>> run = {"q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 1.0}}
    >>> evaluate_runs(qrels, run, ["RR", "P@1"]).summary()
    {'run': {'RR': 0.75, 'P@1': 0.5}}
    """
    _check_settings(missing, depth, rel)
    reading = {"ties": ties, "single_precision": single_precision}
    options: dict[str, Any] = {name: value for name, value in reading.items() if value}
    parsed = _parse(measures, rel, judged_only=judged_only)
    subtopics = needs_subtopics(parsed)
    judgements = Qrels.of(qrels, subtopics=subtopics)
    twice = None
    if machine is not None or assume_random:
        from heldout.measure.ranking.machine import judged_twice  # rarely needed

        twice = judged_twice(judgements, machine, assume_random=assume_random)
        judgements = twice.human

    items = as_runs(runs)

    def score_by(qrels: Qrels, run: Run, wanted: Sequence[Measure]) -> RunScores:
        return score_run(qrels, run, wanted, depth)

    def score(item: Any) -> tuple[RunScores, RunScores | None]:
        run = Run.of(item, **options)
        scores = score_by(judgements, run, parsed)
        if len(items) > 1:
            scores = replace(scores, ranking=ranking_digest(run))
        return scores, None if twice is None else twice.score(score_by, run, parsed)

    scores, by_machine = [], []
    for done, second in map(score, items):
        scores.append(replace(done, queries=judgements.queries))  # not a copy for each run
        by_machine += [] if second is None else [second]
        if progress:
            progress(done.name)
    if not scores:
        raise InputError("no runs given")
    policies = (
        *policies_in_words([one.ties for one in scores], missing, depth, options),
        *variants_in_words(parsed),
    )
    result = RankingEvaluation(
        parsed,
        distinct_names(scores, items),
        missing,
        policies,
        judgements,
        None if twice is None else twice.evaluation(by_machine),
        look_swapped(qrels, items),
    )
    if not result.counted().any():
        raise InputError(
            "no judged query is in all runs: count missing queries as 0 (missing='zero')"
        )
    return result


def _parse(measures: Any, rel: int, *, judged_only: bool) -> tuple[Measure, ...]:
    """Parse the measures, with the settings as their defaults."""
    defaults: dict[str, Value] = {}
    if rel != 1:
        defaults["rel"] = rel
    if judged_only:
        defaults[JUDGED_ONLY] = True
    parsed = tuple(parse_measures(measures, "ranking", **defaults))
    if not parsed:
        raise MeasureError("no measures given")
    return parsed


def needs_subtopics(measures: Iterable[Measure]) -> bool:
    """Return whether a measure of diversity is among the measures."""
    return any(one.definition.needs == "subtopics" for one in measures)


def _check_settings(missing: str, depth: int | None, rel: int) -> None:
    if missing not in get_args(Missing):
        raise InputError(f"missing={missing!r}: expected one of {', '.join(get_args(Missing))}")
    if depth is not None and (not isinstance(depth, int) or depth < 1):
        raise InputError(f"depth={depth!r}: expected a positive integer")
    if not isinstance(rel, int) or rel < 0:
        raise InputError(f"rel={rel!r}: expected a non-negative integer")


def score_run(
    qrels: Qrels, run: Run, measures: Sequence[Measure], depth: int | None = None
) -> RunScores:
    """Compute all measures for one run."""
    run = _spelled_like(run, qrels)
    judged = join(qrels, run, depth)
    if not judged.present.any():
        raise InputError(
            f"run {run.name} and the qrels have no query in common: the run has "
            f"{_some(run.queries)}, the qrels have {_some(qrels.queries)}"
        )

    def column(measure: Measure) -> NDArray[Any]:
        return measure.units(judged).per_unit()

    columns = tuple(run_threads(column, measures) if len(run) > 10**6 else map(column, measures))
    unjudged = len(run.queries) - int(judged.present.sum())
    return RunScores(
        run.name,
        judged.queries,
        judged.present,
        columns,
        unjudged,
        run.ties,
        unshared_ids(qrels, run, judged, depth),
    )


def _spelled_like(run: Run, qrels: Qrels) -> Run:
    """Return the run with ids as the judgements write them, 10.0 or 10."""
    run = replace(run, queries=tuple(respell(run.queries, qrels.queries)))
    docs = respell(run.docs, qrels.docs)
    return run if docs is run.docs else replace(run, docs=Ids.of(docs))


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
