"""Evaluate runs against judgements: one number per query and measure."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np

from heldout.data.qrels import Qrels
from heldout.data.run import Run, as_runs
from heldout.errors import Argument, InputError, MeasureError
from heldout.measure.evaluation import Evaluation
from heldout.measure.names import parse_measures
from heldout.measure.ranking.run_checks import (
    distinct_names,
    input_notes,
    lacking_note,
    ranking_digest,
    run_notes,
    score_run,
)
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from heldout.data.qrels import QrelsLike
    from heldout.data.run import Runs, TiePolicy
    from heldout.data.scores import Scores
    from heldout.data.words import Flags
    from heldout.measure.base import Measure, UnitScores
    from heldout.measure.ranking.run_checks import ScoredRun

Missing = Literal["zero", "skip"]
"""How to treat a judged query without a ranked list: count it 0, or leave it out."""

DEFAULT_MEASURES: Final = ("nDCG@10", "AP", "P@10", "RR", "R@1000", "Judged@10")
_TIES: Final = {
    "docid-desc": "by score, then document id descending (as trec_eval)",
    "docid-asc": "by score, then document id ascending",
    "input": "by score, then in input order",
}
_MISSING: Final = {
    "zero": "count 0 (an empty list)",
    "skip": "are left out (queries that all runs have)",
}
_GAINS: Final = {
    "log2": "gain = grade, discount log2(rank + 1) (as trec_eval)",
    "exp-log2": "gain = 2^grade - 1, discount log2(rank + 1) (Burges et al.)",
    "classic": "gain = grade, discount log(rank) from the base on (Järvelin & Kekäläinen)",
}


def evaluate_runs(
    qrels: QrelsLike,
    runs: Runs,
    measures: str | Measure | Iterable[str | Measure] | None = None,
    *,
    missing: Missing | None = None,
    depth: int | None = None,
    rel: int | None = None,
    judged_only: bool = False,
    ties: TiePolicy | None = None,
    single_precision: bool = False,
    machine: Any = None,
    assume_random: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Evaluation:
    """Evaluate runs against judgements; the parameters are those of `heldout.evaluate`."""
    missing, rel = missing or "zero", 1 if rel is None else rel
    _check_settings(missing, depth, rel)
    defaults: dict[str, Any] = {} if rel == 1 else {"rel": rel}
    defaults |= {"judged_only": True} if judged_only else {}
    given = DEFAULT_MEASURES if measures is None else measures
    wanted = tuple(parse_measures(given, "ranking", **defaults))
    if not wanted:
        raise MeasureError("no measures given")
    diversity = needs_subtopics(wanted)
    judgements, both = Qrels.of(qrels, subtopics=diversity), None
    if machine is not None or assume_random:
        from heldout.measure.ranking.machine import judged_twice  # rarely needed

        both = judged_twice(judgements, machine, assume_random=assume_random)
        judgements = both.human
    items = as_runs(runs)
    scored: list[ScoredRun] = []
    by_machine: list[ScoredRun] = []
    reading: dict[str, Any] = {"single_precision": single_precision}
    reading |= {} if ties is None else {"ties": ties}
    for item in items:
        run = Run.of(item, **reading)
        digest = ranking_digest(run) if len(items) > 1 else None
        scored.append(score_run(judgements, run, wanted, depth)._replace(digest=digest))
        if both is not None:
            by_machine.append(score_run(both.machine, run, wanted, depth))
        if progress:
            progress(len(scored), len(items))
    if not scored:
        raise InputError("no runs given")
    names = distinct_names([run.name for run in scored], items)
    scored = [run._replace(name=name) for run, name in zip(scored, names, strict=True)]
    present = np.stack([run.present for run in scored])
    counted = np.all(present, axis=0) | (missing == "zero")
    if not counted.any():
        raise InputError(
            "no judged query is in all runs: count missing queries as 0 (",
            Argument("missing", "'zero'"),
            ")",
        )
    twice = None
    if both is not None:
        by_machine = [run._replace(name=name) for run, name in zip(by_machine, names, strict=True)]
        twice = both.evaluation(by_machine, wanted, missing)
    queries = f"{len(counted)}" if counted.all() else f"{counted.sum()} of {len(counted)} judged"
    policies = policies_in_words([run.ties for run in scored], missing, depth, single_precision)
    return evaluation_of(
        scored,
        wanted,
        counted,
        notes=(
            *input_notes(qrels, items, judgements.subtopics if diversity else None),
            *run_notes(scored, missing),
            *(() if twice is None else twice.notes),
        ),
        about=(
            f"queries: {queries}",
            *(f"{what}: {how}" for what, how in (*policies, *variants_in_words(wanted))),
            *(line for run in scored for line in _run_words(run, missing)),
        ),
        truth=judgements,
        defaults=defaults,
        machine=twice,
    )


def evaluation_of(
    runs: Sequence[ScoredRun], measures: tuple[Measure, ...], counted: Flags, **more: Any
) -> Evaluation:
    """Return the evaluation of measured runs on the queries that count."""
    units = tuple(compress(runs[0].units, counted))
    computed: dict[tuple[str, Measure], UnitScores] = {
        (run.name, measure): values._replace(values=values.values[counted])
        for run in runs
        for measure, values in zip(measures, run.values, strict=True)
    }
    data = {
        run.name: run._replace(
            units=units, values=(), judged=run.judged._replace(values=run.judged.values[counted])
        )
        for run in runs
    }
    return Evaluation("ranking", measures, data, computed=computed, **more)


def refuse_incomparable(measure: Measure) -> None:
    """Refuse measures without a mean over queries, or without a better and a worse."""
    if measure.aggregate == "none" or measure.definition.how in {"text", "geometric"}:
        raise MeasureError(f"{measure} has no mean over queries: compare another, such as AP")
    if measure.higher_is_better is None:
        raise MeasureError(f"{measure} has no better or worse: it cannot be compared")


def query_scores(evaluation: Evaluation, measure: Measure) -> Scores:
    """Return the scores of all runs in one measure, paired by query, for comparisons."""
    from heldout.data.scores import Scores  # for comparisons only
    from heldout.measure.ranking.machine import machine_scores

    names, units = evaluation.names, evaluation.units()
    refuse_incomparable(measure)
    runs: list[ScoredRun] = [evaluation.data[name] for name in names]
    kept = set(units)
    dropped = tuple(query for query in evaluation.truth.queries if query not in kept)
    gaps = (run for run in runs if run.lacks and not run.lacks_most)  # a note is about the others
    return Scores(
        str(measure),
        names,
        units,
        np.column_stack([evaluation.per_unit(name, measure) for name in names]).astype(np.float64),
        bool(measure.higher_is_better),
        dropped=dropped,
        judged=tuple(run.judged.value() for run in runs),
        notes=(*evaluation.notes, *(() if dropped else map(lacking_note, gaps))),
        data=evaluation.truth.fingerprint(),
        unit="query",
        range=measure.range,
        machine=machine_scores(evaluation, measure),
        outputs=tuple(run.digest for run in runs if run.digest is not None),
    )


def _check_settings(missing: str, depth: int | None, rel: int) -> None:
    if missing not in get_args(Missing):
        raise InputError(
            f"expected one of {', '.join(get_args(Missing))}", argument="missing", value=missing
        )
    if depth is not None and (not isinstance(depth, int) or depth < 1):
        raise InputError("expected a positive integer", argument="depth", value=depth)
    if not isinstance(rel, int) or rel < 0:
        raise InputError("expected a non-negative integer", argument="rel", value=rel)


def needs_subtopics(measures: Iterable[Measure]) -> bool:
    """Return whether a measure of diversity is among the measures."""
    return any(measure.definition.needs == "subtopics" for measure in measures)


def policies_in_words(
    ties: Sequence[str], missing: str, depth: int | None = None, single: bool = False
) -> list[tuple[str, str]]:
    """Describe how ties, missing queries and depth were treated."""
    order = " / ".join(_TIES[policy] for policy in dict.fromkeys(ties))
    order += ", scores as 32-bit floats" if single else ""
    policies = [("ties", order), ("judged queries that a run lacks", _MISSING[missing])]
    return policies + ([] if depth is None else [("depth", f"first {depth} documents")])


def variants_in_words(measures: Sequence[Measure]) -> list[tuple[str, str]]:
    """Describe measures of which there are several variants under one name."""
    variants: dict[str, list[str]] = {}
    for measure in measures:
        if "dcg" in measure.parameters:
            variants.setdefault(measure.parameters["dcg"], []).append(str(measure))
    return [(", ".join(names), _GAINS[dcg]) for dcg, names in variants.items()]


def _run_words(run: ScoredRun, missing: str) -> list[str]:
    """Say what of a run does not count, unless a warning says so."""
    words = []
    if run.lacks and not (missing == "zero" and run.lacks_most):
        words.append(f"{run.name} lacks {count_of(run.lacks, 'judged query', 'judged queries')}")
    if run.unjudged:
        queries = count_of(run.unjudged, "query", "queries")
        words.append(f"{run.name} has {queries} without judgements: ignored")
    return words
