"""Stratification: by classes, by quartiles of numbers, or by relevance to each query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.resample.assign import Labels
from heldout.resample.groups import coded
from heldout.resample.hashing import id_keys, random_order
from heldout.resample.units import PlanError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.collection import Collection
    from heldout.data.words import Floats, Ints
    from heldout.resample.units import Units

BANDS: Final = 4  # of numbers, which are divided at their quartiles
CLASSES: Final = 10  # the most distinct numbers of a query field that are taken as classes


@dataclass(frozen=True, slots=True, eq=False)
class Strata:
    """One stratum per unit."""

    codes: Ints  # the number of the stratum of each unit
    names: tuple[str, ...]  # sorted classes, or bands from low to high
    banded: bool = False  # whether they are bands of numbers


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """The queries that each document is relevant to, as pairs."""

    documents: Ints  # positions among the units
    queries: Ints
    names: tuple[str, ...]  # the ids of the queries


Stratification = Strata | Relevance


def stratification(given: Any, units: Units) -> Stratification | None:
    """Return the strata that the parameter `stratify` of a plan means for these units."""
    if given is None:
        return None
    if isinstance(given, str) and given == "labels":
        if units.labels is None:
            raise PlanError(
                "needs labels: use splits(ids, labels=…) or split(X, y)",
                argument="stratify",
                value=given,
            )
        return _of_values(units.column(units.labels, "labels"))
    if isinstance(given, str) and given in {"relevance", "length"}:
        return _built_in(given, units)
    values = units.column(given, "stratify")
    return _of_field(values) if isinstance(given, str) else _of_values(values)


def _built_in(name: str, units: Units) -> Stratification:
    collection = units.collection
    if collection is None:
        raise PlanError("needs a collection, not only ids", argument="stratify", value=name)
    if name == "relevance" and units.unit == "document":
        return _relevance(collection, units)
    if name == "relevance":
        counts = relevant_per_query(collection)
        if not counts.any():
            raise PlanError(
                "the collection has no relevant documents", argument="stratify", value=name
            )
    elif units.unit == "query":
        counts = np.array([len(text.split()) for text in collection.queries.texts], np.int64)
    else:
        counts = collection.documents.word_counts()
    return _bands(units.active(counts).astype(np.float64))


def relevant_per_query(collection: Collection) -> Ints:
    """Return the number of relevant documents of each query."""
    rows = collection.judgements
    return np.bincount(rows.queries[rows.grades > 0], minlength=len(collection.queries))


def _relevance(collection: Collection, units: Units) -> Relevance:
    rows = collection.judgements
    relevant = rows.grades > 0
    if not relevant.any():
        raise PlanError(
            "the collection has no relevant documents", argument="stratify", value="relevance"
        )
    documents, queries = rows.documents[relevant], rows.queries[relevant]
    if units.places is not None:
        documents = units.expand(np.arange(len(units.places)), -1)[documents]
        documents, queries = documents[documents >= 0], queries[documents >= 0]
    return Relevance(documents, queries, collection.queries.ids)


def _of_field(values: list[Any]) -> Strata:
    """Return strata by a field of queries: bands if it has many distinct numbers, else classes."""
    numbers = _numbers(values)
    if numbers is not None and len(set(numbers.tolist())) > CLASSES:
        return _bands(numbers)
    return _classes(values)


def _of_values(values: list[Any]) -> Strata:
    """Return strata by labels: bands for numbers with decimals, else classes."""
    fractional = any(isinstance(value, float | np.floating) and value % 1 for value in values)
    numbers = _numbers(values) if fractional else None
    return _classes(values) if numbers is None else _bands(numbers)


def _numbers(values: list[Any]) -> Floats | None:
    try:
        numbers = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        return None
    return numbers if np.isfinite(numbers).all() else None


def _classes(values: Sequence[Any]) -> Strata:
    names, codes = coded(values, "stratum")
    return Strata(codes, names)


def _bands(values: Floats) -> Strata:
    """Divide numbers at their quartiles; equal numbers stay together."""
    edges = np.unique(np.quantile(values, np.arange(1, BANDS) / BANDS, method="inverted_cdf"))
    band = np.searchsorted(edges, values, side="left")
    there, codes = np.unique(band, return_inverse=True)
    names = tuple(_band_name(values[band == number]) for number in there.tolist())
    return Strata(codes.astype(np.int64), names, banded=True)


def _band_name(values: Floats) -> str:
    low, high = float(values.min()), float(values.max())
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def label_rows(strata: Stratification, groups: Ints | None, word: np.uint64) -> Labels:
    """Return strata or relevance as labels of units, or of groups of units."""
    if isinstance(strata, Strata):
        units, labels = np.arange(len(strata.codes)), strata.codes
    else:
        units, labels = strata.documents, strata.queries
    names = strata.names
    order = random_order(id_keys(names), names, word)
    if groups is None:
        return Labels(units, labels, np.ones(len(units), np.int64), order, word)
    pairs = groups[units] * len(names) + labels
    different, counts = np.unique(pairs, return_counts=True)
    return Labels(different // len(names), different % len(names), counts, order, word)


def shuffled(strata: Strata, word: np.uint64) -> Ints:
    """Return the strata in random order, which decides the parts that get an extra unit.

    Bands keep their order, so that a neighbour compensates for a band too small for all folds.
    """
    if strata.banded:
        return strata.codes
    order = random_order(id_keys(strata.names), strata.names, word)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[strata.codes]
