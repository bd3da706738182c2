"""From records of tasks to what is known of each system: folds, values, lists, estimates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.experiment.align import merge_lists
from heldout.experiment.choices import Chosen, choose_for_calls, choose_static, grid_values
from heldout.experiment.do_models import TOP
from heldout.experiment.document_estimates import document_estimates, mean_of
from heldout.experiment.lists import NONE, Lists, measure_lists
from heldout.experiment.rank_table import RankTable
from heldout.experiment.systems import ModelSystem
from heldout.experiment.tasks import EVERYTHING, is_static

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.experiment.config import Settings
    from heldout.experiment.journal import Record
    from heldout.experiment.tasks import Task
    from heldout.resample.split import Split, SplitKey

    Floats = NDArray[np.float64]

__all__ = ["FoldRow", "HeldOut", "Outcome", "Place", "outcome_of"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value comes from; None where it comes from all folds together."""

    repeat: int
    fold: int | None = None
    other: int | None = None
    run: int | None = None

    @classmethod
    def of(cls, key: SplitKey) -> Place:
        """The place of a split."""
        return cls(key.repeat, key.fold, key.other, key.run)


@dataclass(frozen=True, slots=True, eq=False)
class FoldRow:
    """What was chosen for one split, and what it was worth, by the measure it was chosen by."""

    place: Place
    chosen: Chosen
    held_out: float


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """What some queries got where they, or the documents, were held out.

    Parameters
    ----------
    place
        Where.
    number
        The point; −1: several, one a fold.
    values
        Measures × queries; NaN: not held out here, or undefined.
    lists
        The top of their ranked lists.
    """

    place: Place
    number: int
    values: Floats
    lists: Lists


@dataclass(frozen=True, slots=True, eq=False)
class Outcome:
    """All that is known of one system.

    Parameters
    ----------
    folds, held_out
        One a split.
    final
        The choice on everything.
    training
        Measures × queries on the data that the final value was chosen on; NaN: not known.
    estimates
        Where documents were held out: estimates of each measure, a list for each repeat.
    """

    folds: tuple[FoldRow, ...]
    held_out: tuple[HeldOut, ...]
    final: Chosen
    training: Floats
    estimates: tuple[list[dict[str, Any]], ...] = field(default=())

    def per_query(self) -> Floats:
        """Measures × queries: the mean of what each query got where it was held out."""
        total = np.zeros_like(self.held_out[0].values)
        times = np.zeros(total.shape, np.int64)
        for one in self.held_out:
            there = np.isfinite(one.values)
            total += np.where(there, one.values, 0.0)
            times += there
        return np.where(times > 0, total / np.maximum(times, 1), np.nan)


def outcome_of(
    settings: Settings, tasks: Sequence[Task], records: Mapping[str, Record], number: int
) -> Outcome:
    """Put together what the tasks of a system have found."""
    system = settings.systems[number]
    mine = [task for task in tasks if task.system == number]
    if is_static(system, settings.by):
        return _static(settings, mine, records, number)
    if isinstance(system, ModelSystem):
        kind = mine[-1].kind
        if kind == "side":
            return _sides(settings, mine, records, number)
        works = {"folds": _document_folds, "both": _two_way}
        return works[kind](settings, [(one.split, records[one.key]) for one in mine])
    return _calls(settings, mine, records, number)


def _static(
    settings: Settings, tasks: Sequence[Task], records: Mapping[str, Record], number: int
) -> Outcome:
    system = settings.systems[number]
    values = grid_values(tasks, records, number)
    chosen, final = choose_static(settings, system, values)
    lists = _lists_by_point(tasks, records)
    folds, held_out = [], []
    for split, choice in zip(settings.splits, chosen, strict=True):
        place, mine = Place.of(split.key), split.test > 0
        own = np.where(mine, values[:, choice.number], np.nan)
        folds.append(FoldRow(place, choice, mean_of(np.repeat(own[-1], split.test))))
        held_out.append(HeldOut(place, choice.number, own[:-1], _only(lists[choice.number], mine)))
    return Outcome(tuple(folds), tuple(held_out), final, values[:-1, final.number])


def _lists_by_point(tasks: Sequence[Task], records: Mapping[str, Record]) -> dict[int, Lists]:
    found = {}
    for task in tasks:
        record = records[task.key]
        if task.kind == "lists":
            for at, point in enumerate(record["numbers"]):
                found[point] = Lists(record["documents"][:, at], record["scores"][:, at])
        elif task.kind == "point":
            found[task.point] = Lists(record["documents"], record["scores"])
    return found


def _only(lists: Lists, mine: NDArray[np.bool_]) -> Lists:
    """The lists of some queries."""
    documents = np.where(mine[:, None], lists.documents, NONE).astype(np.int32)
    return Lists(documents, np.where(mine[:, None], lists.scores, -np.inf))


def _document_folds(settings: Settings, records: list[tuple[int, Record]]) -> Outcome:
    folds, held_out = [], []
    for repeat, record in records:
        for fold, number in enumerate(record["chosen"]):
            means = record["surface"][fold]
            chosen = Chosen(number, float(means[number]), means)
            row = FoldRow(Place(repeat, fold), chosen, float(record["fold_scores"][fold]))
            folds.append(row)
        held_out.append(_held_out(Place(repeat), record, record["values"]))
    return _merged(settings, folds, held_out, [record for _, record in records])


def _two_way(settings: Settings, records: list[tuple[int, Record]]) -> Outcome:
    folds, held_out = [], []
    nothing = np.zeros(0)
    for repeat, record in records:
        for fold, numbers in enumerate(record["chosen"]):
            mine = record["query_folds"] == fold
            values = np.where(mine, record["values"], np.nan)
            for other, number in enumerate(numbers):
                chosen = Chosen(number, record["train"][fold][other], nothing)
                folds.append(FoldRow(Place(repeat, fold, other), chosen, mean_of(values[-1])))
            one = _held_out(Place(repeat, fold), record, values[:-1])
            held_out.append(HeldOut(one.place, one.number, one.values, _only(one.lists, mine)))
    return _merged(settings, folds, held_out, [record for _, record in records])


def _held_out(place: Place, record: Record, values: Floats) -> HeldOut:
    numbers = np.unique(np.array(record["chosen"] if place.fold is None else
                                 record["chosen"][place.fold]))  # fmt: skip
    number = int(numbers[0]) if len(numbers) == 1 else -1
    return HeldOut(place, number, values, Lists(record["documents"], record["scores"]))


def _merged(
    settings: Settings, folds: list[FoldRow], held_out: list[HeldOut], records: list[Record]
) -> Outcome:
    """Repeats differ in their folds; the choice on everything is the same in all of them."""
    del settings
    first = records[0]
    number, means = first["final"], first["final_surface"]
    final = Chosen(number, float(means[number]) if len(means) else float("nan"), means)
    training = np.stack([record["train_values"] for record in records]).mean(axis=0)
    estimates = tuple(record["estimates"] for record in records)
    return Outcome(tuple(folds), tuple(held_out), final, training, estimates)


def _sides(
    settings: Settings, tasks: Sequence[Task], records: Mapping[str, Record], number: int
) -> Outcome:
    from heldout.tune.choose import choose

    whole = grid_values(tasks, records, number)
    final = Chosen.of(
        choose(whole[-1], rule=settings.rule, higher_is_better=settings.higher_is_better)
    )
    folds, held_out, estimates = [], [], []
    for task in tasks:
        if task.kind != "side":
            continue
        record = records[task.key]
        place = Place.of(settings.splits.key(task.split))
        chosen = Chosen(record["number"], record["train"], record["surface"])
        folds.append(FoldRow(place, chosen, mean_of(record["values"][-1])))
        lists = Lists(record["documents"], record["scores"])
        held_out.append(HeldOut(place, chosen.number, record["values"][:-1], lists))
        estimates.append(record["estimates"])
    # The estimates have a score on what was seen that is of their own size.
    training = np.full(whole.shape[::2], np.nan)[:-1]
    return Outcome(tuple(folds), tuple(held_out), final, training, tuple(estimates))


def _calls(
    settings: Settings, tasks: Sequence[Task], records: Mapping[str, Record], number: int
) -> Outcome:
    system: Any = settings.systems[number]
    chosen = choose_for_calls(settings, tasks, records, number)
    tests = {task.split: records[task.key] for task in tasks if task.kind == "test"}
    folds = tuple(
        FoldRow(Place.of(settings.splits.key(at)), chosen[at], mean_of(record["values"][-1]))
        for at, record in tests.items()
    )
    training = _call_training(settings, tasks, records, chosen[EVERYTHING].number)
    pooled = settings.by != "query" and system.comparable
    if settings.by != "query" and not settings.splits.partitions:
        training[:] = np.nan  # of another size than what was held out: no match for it
    if pooled:
        held_out, estimates = _pooled_calls(settings, tests, training)
    else:
        held_out, estimates = [_called(settings, at, one) for at, one in tests.items()], []
    return Outcome(folds, tuple(held_out), chosen[EVERYTHING], training, tuple(estimates))


def _called(settings: Settings, at: int, record: Record) -> HeldOut:
    lists = Lists(record["documents"], record["scores"])
    place = Place.of(settings.splits.key(at))
    return HeldOut(place, record["number"], record["values"][:-1], lists.top(TOP))


def _call_training(
    settings: Settings, tasks: Sequence[Task], records: Mapping[str, Record], final: int
) -> Floats:
    """What the final value got on everything, where that was measured: by the tuning measure."""
    shape = len(settings.measures), len(settings.collection.queries)
    training = np.full(shape, np.nan)
    if settings.inner is None and settings.tune_for in settings.measures:
        row = settings.measures.index(settings.tune_for)
        for task in tasks:
            if (task.kind, task.split, task.point) == ("tune", EVERYTHING, final):
                training[row] = records[task.key]["values"]
    return training


def _pooled_calls(
    settings: Settings, tests: Mapping[int, Record], training: Floats
) -> tuple[list[HeldOut], list[list[dict[str, Any]]]]:
    """Merge the held-out documents of all folds of a repeat into one ranking."""
    table = RankTable.of(settings.collection)
    order = _id_order(settings)
    held_out, estimates = [], []
    for repeat in _by_repeat(settings, tests).values():
        parts = []
        for place, members in repeat.items():
            splits = [settings.splits[at] for at in members]
            lists = _joined([tests[at] for at in members], order, settings.depth)
            documents, asked = _ranked(settings, splits)
            counted = documents[table.documents] & asked[table.queries]
            values = measure_lists(table, lists, counted, settings.measures, settings.depth)
            numbers = {tests[at]["number"] for at in members}
            number = numbers.pop() if len(numbers) == 1 else -1
            held_out.append(HeldOut(place, number, values, lists.top(TOP)))
            parts.append((asked, values, lists.documents))
        values, whole = parts[0][1:]
        for asked, own, documents_of_part in parts[1:]:
            values = np.where(asked, own, values)
            whole = np.where(asked[:, None], documents_of_part, whole)
        estimates.append(document_estimates(settings, table, whole, documents, values, training))
    return held_out, estimates


def _id_order(settings: Settings) -> NDArray[np.int32]:
    """Place of each document's id, bytewise: ties are broken by it."""
    ids = settings.collection.documents.ids
    by_id = sorted(range(len(ids)), key=lambda at: ids[at].encode())
    order = np.empty(len(ids), np.int32)
    order[np.array(by_id, np.int64)] = np.arange(len(ids))
    return order


def _by_repeat(
    settings: Settings, tests: Mapping[int, Record]
) -> dict[Place, dict[Place, list[int]]]:
    """For each repeat the splits whose documents are merged: those of the same queries."""
    found: dict[Place, dict[Place, list[int]]] = {}
    for at in tests:
        key = settings.splits.key(at)
        repeat = Place(key.repeat, run=key.run)
        mine = Place(key.repeat, key.fold, run=key.run) if settings.by == "both" else repeat
        found.setdefault(repeat, {}).setdefault(mine, []).append(at)
    return found


def _joined(records: Sequence[Record], order: NDArray[np.int32], depth: int) -> Lists:
    width = max(record["documents"].shape[1] for record in records)
    padded = [
        (
            np.pad(one["documents"], ((0, 0), (0, width - one["documents"].shape[1])),
                   constant_values=NONE),
            np.pad(one["scores"], ((0, 0), (0, width - one["scores"].shape[1])),
                   constant_values=-np.inf),
        )
        for one in records
    ]  # fmt: skip
    documents = np.stack([one for one, _ in padded], axis=1)
    scores = np.stack([one for _, one in padded], axis=1)
    return Lists(*merge_lists(documents, scores, order, depth))


def _ranked(
    settings: Settings, splits: Sequence[Split]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Documents that were held out in any of the splits, and queries that were asked."""
    if settings.by == "both":
        documents = [one.documents.test > 0 for one in splits if one.documents is not None]
        return np.logical_or.reduce(documents), splits[0].test > 0
    held = np.logical_or.reduce([one.test > 0 for one in splits])
    return held, np.ones(len(settings.collection.queries), np.bool_)
