"""The same runs under human and under machine judgements: scores, orders, verdicts."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.data.qrels import Qrels
from heldout.data.run import Run, as_runs
from heldout.errors import InputError, MeasureError
from heldout.infer.agreement import JudgedOrder
from heldout.infer.compare import compare
from heldout.infer.order_agreement import order_agreement, verdict_changes
from heldout.measure.names import parse_measures
from heldout.measure.ranking.evaluate import evaluate_runs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.infer.comparison import Comparison
    from heldout.measure.base import Measure

    Judged = Mapping[tuple[str, str], int]

__all__ = ["judged_orders"]


def judged_orders(
    truth: Judged,
    judges: Mapping[str, Judged],
    runs: Any,
    measures: str | Measure | Sequence[str | Measure],
    *,
    rel: int,
    level: float,
    seed: int,
    progress: Callable[[int, int], None] | None = None,
) -> dict[str, tuple[JudgedOrder, ...]]:
    """Return the systems under human judgements and those of each judge, for each measure.

    All judgements of the queries that both judged are used, as an evaluation would.

    Parameters
    ----------
    truth, judges
        Grades by query and document.
    runs, measures, rel, level, seed, progress
        As for `heldout.agree`.
    """
    for measure in parse_measures(measures, "ranking"):
        _refuse_incomparable(measure)
    names = list(measures) if isinstance(measures, list | tuple) else [measures]
    named = _named_runs(runs)
    settings = {"level": level, "seed": seed}
    human: dict[frozenset[str], list[Comparison]] = {}
    orders = {}
    for number, (name, judged) in enumerate(judges.items(), 1):
        shared = frozenset(query for query, _ in truth) & frozenset(query for query, _ in judged)
        if shared not in human:
            human[shared] = _compared(_select(truth, shared), named, names, rel, settings)
        machine = _compared(_select(judged, shared), named, names, rel, settings)
        orders[name] = tuple(
            _order(one, other) for one, other in zip(human[shared], machine, strict=True)
        )
        if progress:
            progress(number, len(judges))
    return orders


def _refuse_incomparable(measure: Any) -> None:
    """Refuse measures without a mean over queries, or without a better and a worse."""
    kind = measure.definition
    if kind.aggregate != "mean" or kind.higher_is_better is None or measure.family == "Judged":
        raise MeasureError(f"{measure}: systems cannot be ranked by it; use one such as AP")


def _named_runs(runs: Any) -> dict[str, Run]:
    """Return the runs by name, read once: by tag, or by file where tags repeat."""
    items = as_runs(runs)
    found = [Run.of(item) for item in items]
    if len(found) < 2:
        raise InputError("runs: the order of systems needs at least two runs")
    names = [one.name for one in found]
    if len(set(names)) < len(names):
        paths = [item for item in items if isinstance(item, str | os.PathLike)]
        names = [Path(path).name for path in paths] if len(paths) == len(items) else names
    if len(set(names)) < len(names):
        again = next(name for name in names if names.count(name) > 1)
        raise InputError(f"runs: two have the same name, {again}; pass {{name: run}}")
    return {name: replace(run, name=name) for name, run in zip(names, found, strict=True)}


def _select(judged: Judged, queries: frozenset[str]) -> Qrels:
    """Return the judgements of some queries."""
    rows = [(query, doc, grade) for (query, doc), grade in judged.items() if query in queries]
    names, docs, grades = zip(*rows, strict=True)
    return Qrels.of({"query": names, "doc": docs, "grade": grades})


def _compared(
    qrels: Qrels,
    runs: Mapping[str, Run],
    measures: Sequence[Any],
    rel: int,
    settings: Mapping[str, Any],
) -> list[Comparison]:
    """Return the comparison of all systems in each measure."""
    evaluation = evaluate_runs(qrels, runs, [*measures, "Judged@10"], rel=rel)
    return [compare(evaluation.scores(measure), **settings) for measure in evaluation.measures[:-1]]


def _order(human: Comparison, machine: Comparison) -> JudgedOrder:
    return JudgedOrder(
        human.scores.measure,
        human,
        machine,
        order_agreement(human.scores, machine.scores, level=human.level, seed=human.seed),
        verdict_changes(human, machine),
    )
