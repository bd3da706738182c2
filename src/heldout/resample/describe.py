"""Statistics of splits: sizes, overlaps, and the relevant documents of each query."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.notes import Note, count_of, named_few
from heldout.resample.groups import same_texts
from heldout.resample.plans import KFold
from heldout.resample.stratify import relevant_per_query
from heldout.shown import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from heldout.data.collection import Collection
    from heldout.data.words import Flags, Ints
    from heldout.resample.split import Split, Splits

DESCRIBED: Final = 1000  # splits that are inspected; leave-one-out can have very many
SMALL: Final = 30  # fewer units are few
PLENTY: Final = 5000  # units for which one hold-out is enough


@dataclass(frozen=True, slots=True)
class SplitRow:
    """Statistics of one split; sizes count units as often as they were drawn."""

    key: str
    train: int
    test: int
    validation: int | None = None
    documents_train: int | None = None  # if queries and documents are both held out
    documents_test: int | None = None
    relevant_least: int | None = None  # on the test side, per query that has any in the collection
    relevant_median: float | None = None
    relevant_most: int | None = None
    without_test: int | None = None  # queries without a relevant document on a side
    without_train: int | None = None
    pro10: float | None = None  # mean over queries of min(10, relevant on the test side) / 10


@dataclass(frozen=True, slots=True)
class Description(Shown):
    """Statistics of splits."""

    plan: str
    summary: str  # how the units were split, in words
    unit: str
    seed: int | None
    fingerprint: str
    units: int  # the number of units
    count: int  # the number of splits
    rows: tuple[SplitRow, ...]  # the first splits
    overlapping: int  # how many of these have a unit on two sides; 0 unless a plan is wrong
    never_held_out: int  # units that no split holds out
    often_held_out: int  # units that a repeat holds out more than once
    notes: tuple[Note, ...]
    advice: str  # a suitable plan for this number of units

    def to_frame(self) -> pl.DataFrame:
        """Return a frame with one row per split, without empty columns."""
        import polars as pl  # slow to import

        frame = pl.DataFrame([asdict(row) for row in self.rows], infer_schema_length=None)
        return frame[[column.name for column in frame if column.null_count() < len(frame)]]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as a dictionary, for JSON."""
        return asdict(self) | {"notes": [note.to_dict() for note in self.notes]}


def describe_splits(splits: Splits, collection: Collection | None = None) -> Description:
    """Describe splits; the judgements of the collection are used to count relevant documents."""
    rows, overlapping = [], 0
    held: dict[int, Ints] = {}
    texts = _repeated_texts(splits)
    twins = np.zeros(len(splits.ids), np.bool_)
    for split in islice(splits, DESCRIBED):
        rows.append(_row(split, collection))
        overlapping += overlaps(split)
        times = held.setdefault(split.key.repeat, np.zeros(len(split.test), np.int64))
        times += split.test > 0
        if texts is not None:
            twins |= (split.test > 0) & np.isin(texts, texts[split.train > 0])
    tables = np.array([splits.units.active(times) for times in held.values()])
    # Crossed with documents, or used for several runs, a unit is held out several times.
    several = splits.crossed is not None or splits.runs > 1
    return Description(
        plan=repr(splits.plan),
        summary=splits.words(),
        unit=splits.unit,
        seed=splits.seed,
        fingerprint=splits.fingerprint,
        units=len(splits.units),
        count=len(splits),
        rows=tuple(rows),
        overlapping=overlapping,
        never_held_out=0 if len(splits) > DESCRIBED else int((tables.sum(axis=0) == 0).sum()),
        often_held_out=0 if several else int((tables > 1).any(axis=0).sum()),
        notes=(*splits.notes, *_relevance_notes(splits, rows), *_twin_notes(splits, twins)),
        advice=_advice(len(splits.units), splits.units.plural),
    )


def overlaps(split: Split) -> bool:
    """Return whether a unit (of two kinds: one of each) is on two sides of a split."""
    present = np.sum([weights > 0 for weights in split.sides().values()], axis=0)
    twice = bool((present > 1).any())
    return twice and (split.documents is None or overlaps(split.documents))


def _advice(units: int, plural: str) -> str:
    """Return a rule of thumb for a plan, given the number of units."""
    if plural == "documents":
        return (
            "the number of relevant documents per query matters, not the number of documents: use "
            "5 folds stratified by relevance, and if Pro10 is far below 1, pool the folds into "
            "one ranking"
        )
    if units < SMALL:
        return (
            f"{units} {plural} are few: leave-one-out trains on all but one, but it cannot be "
            "stratified, and a majority-class baseline on two balanced classes is then always "
            "wrong (true error: 50 %)"
        )
    if units >= PLENTY:
        return f"{units} {plural} are many: holding out a fifth is enough"
    return f"{units} {plural}: 10 stratified folds, repeated if you can afford it"


def _row(split: Split, collection: Collection | None) -> SplitRow:
    other = split.documents
    sizes: dict[str, Any] = {
        "key": str(split.key),
        "train": split.n_train,
        "test": split.n_test,
        "validation": None if split.validation is None else int(split.validation.sum()),
        "documents_train": None if other is None else other.n_train,
        "documents_test": None if other is None else other.n_test,
    }
    if collection is None or split.unit == "instance" or not len(collection.judgements):
        return SplitRow(**sizes)
    return SplitRow(**sizes, **_relevant(split, collection))


def _relevant(split: Split, collection: Collection) -> dict[str, Any]:
    """Return statistics of the relevant documents per query on both sides."""
    anywhere = relevant_per_query(collection) > 0
    counts = {}
    for side in ("train", "test"):
        view = split.view(collection, side)
        judged = collection.judgements
        relevant = judged.grades > 0
        times = view.document_weights[judged.documents[relevant]]
        on_side = np.bincount(judged.queries[relevant], times, len(collection.queries))
        asked = anywhere & (view.query_weights > 0)
        counts[side] = on_side[asked].astype(np.int64)
    test, train = counts["test"], counts["train"]
    if not len(test):
        return {"without_test": 0, "without_train": int((train == 0).sum())}
    return {
        "relevant_least": int(test.min()),
        "relevant_median": float(np.median(test)),
        "relevant_most": int(test.max()),
        "without_test": int((test == 0).sum()),
        "without_train": int((train == 0).sum()),
        "pro10": float(np.minimum(test, 10).mean() / 10),
    }


def _relevance_notes(splits: Splits, rows: Sequence[SplitRow]) -> Iterator[Note]:
    documents = splits.by_unit[-1]
    judged = [row for row in rows if row.without_test is not None]
    if documents.unit != "document" or not judged:
        return
    plan = documents.plan
    settled = not isinstance(plan, KFold) or plan.stratify == "relevance"
    test = max(row.without_test or 0 for row in judged)
    train = max(row.without_train or 0 for row in judged)
    if test:
        yield Note(
            "empty-test",
            f"up to {_queries_have(test)} no relevant document on a test side, where measures are "
            "undefined for them: pool the folds into one ranking, or use fewer folds"
            + ("" if settled else " or stratify by relevance"),
            count=test,
        )
    if train:
        yield Note(
            "empty-train",
            f"up to {_queries_have(train)} no relevant document on a training side, so that they "
            "do not help to choose parameters there"
            + ("" if settled else "; stratify by relevance to have fewer"),
            count=train,
        )


def _queries_have(count: int) -> str:
    return f"{count_of(count, 'query', 'queries')} {'has' if count == 1 else 'have'}"


def _repeated_texts(splits: Splits) -> Ints | None:
    """Return the numbers of the texts of queries, if some are equal; documents have their notes."""
    units = splits.units
    if units.collection is None or units.unit != "query":
        return None
    codes = same_texts(units)
    if int(codes.max()) + 1 == len(codes):
        return None
    return units.expand(codes, -1)


def _twin_notes(splits: Splits, twins: Flags) -> Iterator[Note]:
    count = int(twins.sum())
    if count:
        named = named_few((splits.ids[place] for place in np.flatnonzero(twins).tolist()), count)
        yield Note(
            "twins",
            f"{splits.units.plural} with the same text on training and test side: {count} "
            f"({named}): group duplicates",
            count=count,
        )
