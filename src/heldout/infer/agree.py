"""`agree`: how far machine judgements agree with human ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.data.frames import is_frame, is_nested
from heldout.data.qrels import Qrels
from heldout.errors import InputError
from heldout.infer.agreement import (
    Agreement,
    JudgeAgreement,
    QueryAgreement,
    agreement_statistics,
)
from heldout.infer.results import check_level
from heldout.measure.agreement import confusion, mean_over_pairs
from heldout.notes import Note, count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.data.qrels import QrelsLike
    from heldout.data.run import Runs
    from heldout.measure.base import Measure

    Machines = QrelsLike | Sequence[QrelsLike] | Mapping[str, QrelsLike]

__all__ = ["LEAST_PAIRS", "agree"]

LEAST_PAIRS: Final = 10
"""Pairs judged by both from which on agreement is computed: fewer are probably wrong ids."""

FEW_QUERIES: Final = 20
"""Below this number of queries there is a warning: intervals cover less than they promise."""

_ENDINGS: Final = (
    *(".gz", ".xz", ".bz2", ".zst"),
    *(".qrels", ".txt", ".csv", ".tsv", ".jsonl", ".json", ".parquet"),
)

Judged = dict[tuple[str, str], int]
"""Grades by query and document."""


def agree(
    human: QrelsLike,
    machines: Machines,
    runs: Runs | None = None,
    measures: str | Measure | Sequence[str | Measure] = "nDCG@10",
    *,
    rel: int = 1,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> Agreement:
    """Return how far machine judgements agree with human judgements of the same documents.

    Parameters
    ----------
    human
        Judgements: an object, ``{query: {document: grade}}``, a pandas or Polars frame, or the path
        of a file. Negative grades mean "not judged".
    machines
        The same of one machine, or of several in a list or as ``{name: judgements}``.
    runs
        Systems to rank under both judgements, as `heldout.evaluate` takes them: their scores, the
        agreement of their order, and the pairs whose verdict differs.
    measures
        The measures that the systems are ranked by.
    rel
        The lowest grade that counts as relevant, for the binary kappa and for measures.
    level
        The confidence level of intervals, and of the verdicts about systems.
    seed
        Of the bootstrap over queries for the order of the systems.
    progress
        Called with the number of judges done and of all.

    Returns
    -------
    Agreement
        Confusion by grade, Cohen's kappa, Krippendorff's alpha, over- and underrating for each
        machine, with intervals that treat queries as the units.

    Examples
    --------
    >>> human = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(5)}
    >>> machine = {f"q{n}": {"a": 2, "b": 1, "c": n % 2} for n in range(5)}
    >>> found = agree(human, {"model": machine}).judges[0].statistics
    >>> round(found.kappa.estimate, 2), round(found.overrated.estimate, 2)
    (0.8, 0.13)
    """
    check_level(level)
    if isinstance(rel, bool) or not isinstance(rel, int) or rel < 1:
        raise InputError(f"rel={rel}: expected a positive integer")
    truth = _grades(Qrels.of(human))
    judges = {name: _grades(Qrels.of(one)) for name, one in _named(machines).items()}
    for name, judged in judges.items():
        _check_common(truth, name, judged)
    grades = tuple(sorted({*truth.values(), *(g for one in judges.values() for g in one.values())}))
    found = []
    for number, (name, judged) in enumerate(judges.items(), 1):
        judge = _judge(truth, name, judged, grades, rel, level)
        found.append(judge)
        if progress and runs is None:
            progress(number, len(judges))
    if runs is not None:
        from heldout.infer.judged_orders import judged_orders

        orders = judged_orders(
            truth, judges, runs, measures, rel=rel, level=level, seed=seed, progress=progress
        )
        found = [replace(one, orders=orders[one.name]) for one in found]
    return Agreement(tuple(found), grades, rel, level, tuple(_notes(found)))


def _named(machines: Any) -> dict[str, Any]:
    """Return the judgements of each machine by its name: given, of the file, or a number."""
    if isinstance(machines, Mapping):
        if machines and all(_is_qrels(one) for one in machines.values()):
            return {str(name): one for name, one in machines.items()}
        return {"machine": machines}
    if _is_qrels(machines):
        return {_stem(machines) or "machine": machines}
    several = list(machines)
    if not several:
        raise InputError("no machine judgements given")
    names = [_stem(one) or f"machine {number}" for number, one in enumerate(several, 1)]
    if len(set(names)) < len(names):  # files of the same name in several folders
        names = [
            str(one) if isinstance(one, str | os.PathLike) else name
            for one, name in zip(several, names, strict=True)
        ]
    if len(set(names)) < len(names):
        raise InputError(f"two machines have the same name: {', '.join(names)}")
    return dict(zip(names, several, strict=True))


def _is_qrels(given: Any) -> bool:
    """Return whether this is one set of judgements; the judgements of one query are not."""
    if isinstance(given, Mapping):
        return bool(given) and is_nested(given)
    return isinstance(given, Qrels | str | os.PathLike) or is_frame(given)


def _stem(given: Any) -> str:
    if not isinstance(given, str | os.PathLike):
        return ""
    name = Path(given).name
    for ending in _ENDINGS:
        name = name.removesuffix(ending)
    return name or str(given)


def _grades(qrels: Qrels) -> Judged:
    """Return the grades by query and document; negative ones mean "not judged"."""
    return {
        (query, doc): grade
        for query, docs in qrels.to_dict().items()
        for doc, grade in docs.items()
        if grade >= 0
    }


def _check_common(truth: Judged, name: str, judged: Judged) -> None:
    common = sum(pair in judged for pair in truth)
    if common >= LEAST_PAIRS:
        return
    raise InputError(
        f"{name}: {count_of(common, 'pair')} of query and document judged by both, expected at "
        f"least {LEAST_PAIRS}: check that the ids are the same (human: {_some(truth)}; {name}: "
        f"{_some(judged)})"
    )


def _some(judged: Judged) -> str:
    return ", ".join(f"{query} {doc}" for query, doc in list(judged)[:2]) or "no judgements"


def _judge(
    truth: Judged, name: str, judged: Judged, grades: tuple[int, ...], rel: int, level: float
) -> JudgeAgreement:
    queries = dict(_by_query(truth, judged))
    codes = [np.searchsorted(grades, np.array(given).T) for given in queries.values()]
    tables = np.stack([confusion(both[0], both[1], len(grades)) for both in codes])
    total = tables.sum(axis=0)
    pairs = int(total.sum())
    gaps = np.subtract.outer(grades, grades).T
    exact, difference = mean_over_pairs(tables, gaps == 0), mean_over_pairs(tables, gaps)
    return JudgeAgreement(
        name=name,
        pairs=pairs,
        queries=len(queries),
        only_human=len(truth) - pairs,
        only_machine=len(judged) - pairs,
        counts=total,
        mean_human=float(total.sum(axis=1) @ grades) / pairs,
        mean_machine=float(total.sum(axis=0) @ grades) / pairs,
        statistics=agreement_statistics(tables, grades, rel, level),
        by_query=tuple(
            QueryAgreement(query, len(given), float(exact[row]), float(difference[row]))
            for row, (query, given) in enumerate(queries.items())
        ),
    )


def _by_query(truth: Judged, judged: Judged) -> Iterator[tuple[str, list[tuple[int, int]]]]:
    """Yield the grades of both judges for each query that they share."""
    found: dict[str, list[tuple[int, int]]] = {}
    for pair, grade in truth.items():
        if pair in judged:
            found.setdefault(pair[0], []).append((grade, judged[pair]))
    yield from found.items()


def _notes(judges: Sequence[JudgeAgreement]) -> Iterator[Note]:
    for one in judges:
        if one.only_human > one.pairs:
            missing = count_of(one.only_human, "human pair")
            yield Note(
                "pairs-not-shared",
                f"{one.name} did not judge {missing} and shares {one.pairs:,}: agreement on the "
                "others is unknown",
                count=one.only_human,
            )
    if len({one.pairs for one in judges}) > 1:
        listed = ", ".join(f"{one.name} {one.pairs:,}" for one in judges)
        yield Note(
            "pairs-not-shared",
            f"the judges are compared on different pairs ({listed}): differences between them may "
            "come from the pairs",
        )
    if all(np.count_nonzero(one.counts.sum(1)) == 1 for one in judges):
        yield Note(
            "one-grade",
            "people gave all shared pairs the same grade, so kappa and alpha say nothing: judge "
            "documents that are not relevant, too",
        )
    fewest = min(one.queries for one in judges)
    if fewest < FEW_QUERIES:
        yield Note(
            "few-units",
            f"{count_of(fewest, 'query', 'queries')}: intervals of agreement are too short below "
            f"{FEW_QUERIES}",
            count=fewest,
        )
