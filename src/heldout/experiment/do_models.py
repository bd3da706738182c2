"""Tasks of built-in models: all values of a grid in one walk, nothing is indexed anew."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import InputError
from heldout.experiment.candidates import Candidates
from heldout.experiment.document_estimates import document_estimates, mean_of
from heldout.experiment.documents import cross_validate_documents
from heldout.experiment.estimators import pool
from heldout.experiment.tasks import CHUNK
from heldout.retrieve.sides import Side, seen_side, whole_side
from heldout.retrieve.statistics import weighted_statistics
from heldout.tune.choose import choose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from heldout.experiment.config import Settings
    from heldout.experiment.journal import Record
    from heldout.experiment.systems import ModelSystem
    from heldout.experiment.tasks import Task
    from heldout.resample.combined import TwoWaySplits
    from heldout.retrieve.shards import AnyIndex

    Floats = NDArray[np.float64]

__all__ = ["TOP", "do_both", "do_folds", "do_grid", "do_lists", "do_side"]

TOP = 10
"""Documents of each ranked list that are kept for the report."""
_PARTS = 10
"""Parts of a seen side that are measured beside a held-out one, at most."""


def _candidates(settings: Settings, index: AnyIndex, system: ModelSystem) -> Candidates:
    return Candidates.make(index, settings.collection, system.models(), depth=settings.depth)


def do_grid(settings: Settings, index: AnyIndex, system: ModelSystem, task: Task) -> Record:
    """Some values on all queries: measures × values × queries, the tuning measure last."""
    candidates = _candidates(settings, index, system)
    numbers = range(task.point, min(task.point + CHUNK, len(candidates)))
    side = whole_side(index, candidates.vocabulary)
    measures = [*settings.measures, settings.tune_for]
    return {"values": candidates.evaluate(side, measures, numbers)}


def do_lists(
    settings: Settings, index: AnyIndex, system: ModelSystem, numbers: Sequence[int]
) -> Record:
    """The top of the rankings of chosen values."""
    candidates = _candidates(settings, index, system)
    side = whole_side(index, candidates.vocabulary)
    found = candidates.rank(side, numbers, k=TOP, judged=False)
    return {
        "numbers": list(numbers),
        "documents": found.documents[:, 0],
        "scores": found.scores[:, 0],
    }


def do_folds(settings: Settings, index: AnyIndex, system: ModelSystem, repeat: int) -> Record:
    """A model under document folds."""
    found = cross_validate_documents(
        index,
        settings.collection,
        system.models(),
        settings.splits.folds(repeat),
        tune_for=settings.tune_for,
        measures=settings.measures,
        inner=settings.inner,
        rule=settings.rule,
        estimator=settings.estimator,
        target_size=settings.target_size,
        depth=settings.depth,
        k=TOP,
        seed=settings.seed,
        replicates=settings.replicates,
        level=1 - settings.alpha,
    )
    return {
        "chosen": list(found.choices.chosen),
        "surface": found.choices.surface,
        "final": found.choices.final,
        "final_surface": found.choices.final_surface,
        "fold_scores": found.fold_scores,
        "values": found.values,
        "train_values": found.train_values,
        "estimates": [asdict(one) for one in found.estimates],
        "documents": found.documents,
        "scores": found.scores,
    }


def do_both(settings: Settings, index: AnyIndex, system: ModelSystem, repeat: int) -> Record:
    """A model under two-way folds: held-out queries over held-out documents.

    For each fold of the queries a value is chosen for each fold of the documents, on the queries
    and documents that neither holds out; the documents are then merged into one ranking.
    """
    queries, documents = _folds_of(settings.splits, repeat)  # type: ignore[arg-type]
    candidates = _candidates(settings, index, system)
    counts = int(queries.max()) + 1, int(documents.max()) + 1
    table, measures = candidates.table, [*settings.measures, settings.tune_for]
    tuning = [
        candidates.evaluate(
            seen_side(index, candidates.vocabulary, (documents >= 0) & (documents != fold)),
            [settings.tune_for],
        )[0]
        for fold in (*range(counts[1]), counts[1])  # the last: no document is held out
    ]
    values = np.full((len(measures), table.n_queries), np.nan)
    lists = np.full((table.n_queries, max(settings.depth, TOP)), -1, np.int32)
    scores = np.full(lists.shape, -np.inf)
    counted = (documents >= 0)[table.documents]
    chosen, train = [], []
    for fold in range(counts[0]):
        seen = ((queries >= 0) & (queries != fold)).astype(np.int32)
        picks = [_choose(settings, one, seen) for one in tuning]
        own = [pick.number for pick in picks[:-1]]
        pooled = pool(candidates, documents, own, picks[-1].number, lists.shape[1])
        found = table.evaluate(
            pooled.ranks[:, None], counted, pooled.retrieved, measures, settings.depth
        )[:, 0]
        mine = queries == fold
        values[:, mine], lists[mine], scores[mine] = (
            found[:, mine],
            pooled.documents[mine],
            pooled.scores[mine],
        )
        chosen.append(own)
        train.append([pick.mean for pick in picks[:-1]])
    everything = (queries >= 0).astype(np.int32)
    final = _choose(settings, tuning[-1], everything)
    training = candidates.evaluate(
        seen_side(index, candidates.vocabulary, documents >= 0), settings.measures, [final.number]
    )[:, 0]
    return {
        "query_folds": queries,
        "chosen": chosen,
        "train": train,
        "final": final.number,
        "final_surface": final.means,
        "values": values,
        "train_values": np.where(queries >= 0, training, np.nan),
        "estimates": document_estimates(
            settings, table, lists, documents >= 0, values[:-1], training
        ),
        "documents": lists[:, :TOP],
        "scores": scores[:, :TOP],
    }


def _folds_of(splits: TwoWaySplits, repeat: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Folds of queries and of documents; a plan with one repeat goes with all of the other."""
    return (
        splits.queries.folds(repeat % splits.queries.repeats),
        splits.documents.folds(repeat % splits.documents.repeats),
    )


def _choose(settings: Settings, values: Floats, weights: NDArray[np.int32]) -> Any:
    if not np.isfinite(values[:, weights > 0]).any():
        raise InputError("no query of a train side has a relevant document there: use fewer folds")
    return choose(values, weights, rule=settings.rule, higher_is_better=settings.higher_is_better)


def do_side(settings: Settings, index: AnyIndex, system: ModelSystem, number: int) -> Record:
    """A model on one split of the documents that is not one of several folds."""
    split = settings.splits[number]
    candidates = _candidates(settings, index, system)
    terms = weighted_statistics(
        index, candidates.vocabulary, np.minimum(split.train, 255).astype(np.uint8)[:, None]
    )
    zero = np.zeros(index.n_documents, np.int32)
    seen = Side(np.where(split.train > 0, 0, -1).astype(np.int32), zero, 1, terms, added=False)
    ranked = np.where(split.test > 0, 0, -1).astype(np.int32)
    unseen = Side(ranked, zero, 1, terms, added=True, relative=True)
    record: Record = {"number": 0, "train": float("nan"), "surface": np.full(1, np.nan)}
    if len(candidates) > 1:
        values = candidates.evaluate(seen, [settings.tune_for])[0]
        choice = _choose(settings, values, np.ones(values.shape[1], np.int32))
        record = {"number": choice.number, "train": choice.mean, "surface": choice.means}
    found = candidates.rank(unseen, [record["number"]], k=max(settings.depth, TOP))
    measures, lists = [*settings.measures, settings.tune_for], found.documents[:, 0, 0]
    values = candidates.table.evaluate(
        found.ranks, candidates.counted(unseen), found.retrieved[:, 0], measures, settings.depth
    )[:, 0]
    estimates = document_estimates(
        settings, candidates.table, lists, split.test > 0, values[:-1], share=len(settings.splits)
    )
    size = int((split.test > 0).sum())
    train = _seen_alike(settings, candidates, seen, size, record["number"])
    for one, mean in zip(estimates, train, strict=True):
        one |= {"train": mean, "optimism": mean - one["value"]}
    return {
        **record,
        "values": values,
        "estimates": estimates,
        "documents": lists[:, :TOP],
        "scores": found.scores[:, 0, 0, :TOP],
    }


def _seen_alike(
    settings: Settings, candidates: Candidates, seen: Side, size: int, number: int
) -> list[float]:
    """Mean of each measure on parts of the seen side that are as large as the held-out one.

    The train side is another number of documents, and a score depends on that number; so it is cut
    into parts of the held-out side's size, each ranked by itself. NaN: it is smaller.
    """
    index, table = candidates.index, candidates.table
    rows = np.flatnonzero(seen.statistics >= 0)
    parts = min(len(rows) // max(size, 1), _PARTS)
    if not parts:
        return [float("nan")] * len(settings.measures)
    by_id = rows[np.argsort(np.asarray(index.id_order)[rows])]
    drawn = np.random.default_rng([settings.seed, 0x7365656E]).permutation(by_id)[: parts * size]
    part = np.full(index.n_documents, -1, np.int32)
    part[drawn] = np.arange(len(drawn)) % parts
    ranked = np.where(part >= 0, 0, -1).astype(np.int32)
    side = replace(seen, statistics=ranked, lists=np.maximum(part, 0), n_lists=parts)
    found = candidates.rank(side, [number])
    means = [
        [
            mean_of(values)
            for values in table.evaluate(
                found.ranks,
                part[table.documents] == one,
                found.retrieved[:, one],
                settings.measures,
                settings.depth,
            )[:, 0]
        ]
        for one in range(parts)
    ]
    return [mean_of(np.array(column)) for column in zip(*means, strict=True)]
