"""`agree`: how far machine judgements agree with human ones, and what that does to systems."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.as_json import plain
from heldout.data.files import file_stem
from heldout.data.frames import is_frame, is_nested
from heldout.data.qrels import Qrels
from heldout.errors import InputError
from heldout.infer.intervals import UNBOUNDED, around, inside
from heldout.infer.results import Estimate, Interval, check_level
from heldout.measure.agreement import (
    alpha_of_confusion,
    cohen_kappa,
    confusion,
    mean_over_pairs,
)
from heldout.measure.ranking.run_checks import distinct_names
from heldout.notes import Note, count_of
from heldout.shown import Reported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

    from heldout.data.qrels import QrelsLike
    from heldout.data.run import Runs
    from heldout.data.words import Floats
    from heldout.infer.comparison import Comparison
    from heldout.infer.order_agreement import OrderAgreement, VerdictChange
    from heldout.measure.base import Measure

    Machines = QrelsLike | Sequence[QrelsLike] | Mapping[str, QrelsLike]
    Judged = dict[str, dict[str, int]]  # grades by query and document

LEAST_PAIRS: Final = 10  # judged by both: with fewer, the ids are probably wrong
FEW_QUERIES: Final = 20  # below this there is a warning: intervals cover less than they promise
JACKKNIFE: Final = "t, jackknife over queries"


class QueryAgreement(NamedTuple):
    """The agreement on one query."""

    query: str
    pairs: int  # documents that both judged
    exact: float  # the share with the same grade
    difference: float  # the mean grade of the machine minus that of the human


class JudgedOrder(NamedTuple):
    """The systems under human and under machine judgements, in one measure."""

    measure: str
    human: Comparison  # on the queries that both judged
    machine: Comparison
    agreement: OrderAgreement  # of the orders of the systems; the human one is the truth
    changes: tuple[VerdictChange, ...]  # pairs of systems whose verdicts differ

    def to_dict(self) -> dict[str, Any]:
        """Return the means of the systems under both, and what differs."""
        machine = {row.name: row.mean for row in self.machine.systems}
        return {
            "measure": self.measure,
            "systems": [
                {"name": row.name, "human": row.mean, "machine": machine[row.name]}
                for row in self.human.systems
            ],
            "correlations": self.agreement,
            "verdicts": len(self.human.claims),
            "verdict_changes": self.changes,
        }


class JudgeStatistics(NamedTuple):
    """The statistics of one machine, with intervals that treat queries as the units."""

    exact: Interval  # the share of pairs with the same grade
    kappa: Interval  # Cohen's
    kappa_linear: Interval  # weighted by the distance of the grades
    kappa_quadratic: Interval  # weighted by its square
    kappa_binary: Interval  # of relevant (grades from `Agreement.rel` on) and not relevant
    alpha: Interval  # Krippendorff's, for ordinal grades
    overrated: Interval  # the share of pairs that the machine grades higher
    underrated: Interval
    difference: Interval  # the mean grade of the machine minus that of the human


class JudgeAgreement(NamedTuple):
    """The agreement of one machine with the human."""

    name: str
    pairs: int  # of query and document that both judged
    queries: int
    only_human: int  # pairs that only the human judged
    only_machine: int
    counts: Floats  # the confusion matrix: a row per human grade, a column per machine grade
    mean_human: float
    mean_machine: float
    statistics: JudgeStatistics
    by_query: tuple[QueryAgreement, ...]
    orders: tuple[JudgedOrder, ...] = ()  # the systems under both, one per measure


@dataclass(frozen=True, slots=True, eq=False)
class Agreement(Reported):
    """The agreement of machines with a human; see `heldout.agree`.

    Parameters
    ----------
    judges
        The machines: numbers of pairs and queries, ``counts`` by human and machine grade,
        ``statistics`` with intervals, ``by_query``, and the ``orders`` of systems.
    grades
        The grades of rows and columns of the confusion matrices.
    rel
        The lowest grade that counts as relevant.
    level
        The confidence level of the intervals, which treat queries as the units.
    notes
        Warnings.
    """

    judges: tuple[JudgeAgreement, ...]
    grades: tuple[int, ...]
    rel: int
    level: float
    notes: tuple[Note, ...] = ()

    def judge(self, name: str) -> JudgeAgreement:
        """Return the agreement of one machine by its name."""
        known = {judge.name: judge for judge in self.judges}
        if name not in known:
            raise KeyError(f"no judge {name!r}; there are {', '.join(known)}")
        return known[name]

    def to_frame(self) -> pl.DataFrame:
        """Return a Polars frame with one row per judge and statistic."""
        import polars as pl  # slow to import, seldom needed

        rows = [
            {"judge": judge.name, "statistic": name, **interval._asdict()}
            for judge in self.judges
            for name, interval in judge.statistics._asdict().items()
        ]
        return pl.DataFrame(rows)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers at full precision, as JSON types."""
        judges = []
        for judge in self.judges:
            record = judge._asdict()
            statistics, counts = record.pop("statistics"), record.pop("counts")
            orders = [order.to_dict() for order in judge.orders]
            judges.append(record | statistics._asdict() | {"confusion": counts, "orders": orders})
        own = {name: getattr(self, name) for name in ("level", "rel", "grades", "notes")}
        known: dict[str, Any] = plain(own | {"judges": judges})
        return known

    def __repr__(self) -> str:
        names = ", ".join(judge.name for judge in self.judges)
        return f"<Agreement of {names} with human judgements>"


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
    >>> statistics = agree(human, {"model": machine}).judges[0].statistics
    >>> round(statistics.kappa.estimate, 2), round(statistics.overrated.estimate, 2)
    (0.8, 0.13)
    """
    check_level(level)
    if isinstance(rel, bool) or not isinstance(rel, int) or rel < 1:
        raise InputError("expected a positive integer", argument="rel", value=rel)
    truth = _grades(human)
    judged = {name: _grades(given) for name, given in _named(machines).items()}
    every = (docs for each in (truth, *judged.values()) for docs in each.values())
    grades = tuple(sorted({grade for docs in every for grade in docs.values()}))
    judges = [_judge(truth, *each, grades, rel, level) for each in judged.items()]
    settings = {"level": level, "seed": seed}
    orders = repeat(()) if runs is None else _orders(truth, judged, runs, measures, rel, settings)
    for number, systems in zip(range(len(judges)), orders, strict=False):
        judges[number] = judges[number]._replace(orders=systems)
        if progress:
            progress(number + 1, len(judges))
    return Agreement(tuple(judges), grades, rel, level, tuple(_notes(judges)))


def _named(machines: Any) -> dict[str, Any]:
    """Return the judgements of each machine by its name, which is given or that of its file."""
    if isinstance(machines, Mapping) and machines and all(map(_is_qrels, machines.values())):
        return {str(name): given for name, given in machines.items()}
    several = [machines] if isinstance(machines, Mapping) or _is_qrels(machines) else list(machines)
    if not several:
        raise InputError("no machine judgements given")
    names = [
        file_stem(os.fspath(given)) if isinstance(given, str | os.PathLike) else "machine"
        for given in several
    ]
    return dict(zip(distinct_names(names, several), several, strict=True))


def _is_qrels(given: Any) -> bool:
    """Return whether this is one set of judgements; the judgements of one query are not."""
    if isinstance(given, Mapping):
        return bool(given) and is_nested(given)
    return isinstance(given, Qrels | str | os.PathLike) or is_frame(given)


def _grades(given: QrelsLike) -> Judged:
    """Return the grades by query and document; negative ones mean "not judged"."""
    every = Qrels.of(given).to_dict().items()
    judged = ((query, {doc: g for doc, g in docs.items() if g >= 0}) for query, docs in every)
    return {query: docs for query, docs in judged if docs}


def _judge(
    truth: Judged, name: str, judged: Judged, grades: tuple[int, ...], rel: int, level: float
) -> JudgeAgreement:
    queries: dict[str, list[tuple[int, int]]] = {}
    for query, docs in truth.items():
        theirs = judged.get(query, {})
        if both := [(grade, theirs[doc]) for doc, grade in docs.items() if doc in theirs]:
            queries[query] = both
    pairs = sum(map(len, queries.values()))
    if pairs < LEAST_PAIRS:
        raise InputError(
            f"{name}: {count_of(pairs, 'pair')} of query and document judged by both, expected at "
            f"least {LEAST_PAIRS}: check that the ids are the same (human: {_first_two(truth)}; "
            f"{name}: {_first_two(judged)})"
        )
    codes = [np.searchsorted(grades, np.array(both).T) for both in queries.values()]
    tables = np.stack([confusion(human, machine, len(grades)) for human, machine in codes])
    total = tables.sum(axis=0)
    estimates, without, alone = (
        _statistics(each, grades, rel) for each in (total, total - tables, tables)
    )
    intervals = {
        name: _jackknife(name, float(estimate), without[name], level)
        for name, estimate in estimates.items()
    }
    spread = zip(alone["exact"].tolist(), alone["difference"].tolist(), strict=True)
    return JudgeAgreement(
        name=name,
        pairs=pairs,
        queries=len(queries),
        only_human=sum(map(len, truth.values())) - pairs,
        only_machine=sum(map(len, judged.values())) - pairs,
        counts=total,
        mean_human=float(total.sum(axis=1) @ grades) / pairs,
        mean_machine=float(total.sum(axis=0) @ grades) / pairs,
        statistics=JudgeStatistics(**intervals),
        by_query=tuple(
            QueryAgreement(query, len(both), *values)
            for (query, both), values in zip(queries.items(), spread, strict=True)
        ),
    )


def _first_two(judged: Judged) -> str:
    pairs = [f"{query} {doc}" for query, docs in judged.items() for doc in docs]
    return ", ".join(pairs[:2]) or "no judgements"


def _statistics(table: Floats, grades: tuple[int, ...], rel: int) -> dict[str, Floats]:
    """Return the statistics of one confusion matrix, or of each of several."""
    gaps = np.subtract.outer(grades, grades).T  # the grade of the machine minus the human's
    high = np.asarray(grades) >= rel
    sides = np.stack([~high, high]).astype(np.float64)
    return {
        "exact": mean_over_pairs(table, gaps == 0),
        "kappa": cohen_kappa(table, grades),
        "kappa_linear": cohen_kappa(table, grades, "linear"),
        "kappa_quadratic": cohen_kappa(table, grades, "quadratic"),
        "kappa_binary": cohen_kappa(sides @ table @ sides.T, (0, 1)),
        "alpha": alpha_of_confusion(table),
        "overrated": mean_over_pairs(table, gaps > 0),
        "underrated": mean_over_pairs(table, gaps < 0),
        "difference": mean_over_pairs(table, gaps),
    }


def _jackknife(name: str, estimate: float, without: Floats, level: float) -> Interval:
    """Return the interval of a statistic, given its values without one query after the other."""
    if (count := len(without)) < 2 or not np.isfinite(without).all():
        return Interval(estimate, np.nan, np.nan, level, JACKKNIFE)
    error = np.sqrt((count - 1) / count * ((without - without.mean()) ** 2).sum())
    least = 0.0 if name in {"exact", "overrated", "underrated"} else -1.0
    ends = UNBOUNDED if name == "difference" else (least, 1.0)
    return inside(around(Estimate(np.array(estimate), error, count - 1, JACKKNIFE), level), ends)


def _orders(
    truth: Judged,
    judges: Mapping[str, Judged],
    runs: Any,
    measures: Any,
    rel: int,
    settings: dict[str, Any],
) -> Iterator[tuple[JudgedOrder, ...]]:
    """Yield, for each judge, the systems under both judgements of the queries that both judged."""
    from heldout.data.run import Run, as_runs
    from heldout.infer.compare import compare
    from heldout.infer.order_agreement import order_agreement, verdict_changes
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import evaluate_runs, refuse_incomparable

    wanted = parse_measures(measures, "ranking", **({} if rel == 1 else {"rel": rel}))
    for measure in wanted:
        refuse_incomparable(measure)
    items = as_runs(runs)
    read = [Run.of(item) for item in items]
    if len(read) < 2:
        raise InputError("runs: the order of systems needs at least two runs")
    systems = dict(zip(distinct_names([run.name for run in read], items), read, strict=True))

    def compared(judged: Judged, queries: tuple[str, ...]) -> list[Comparison]:
        qrels = {query: judged[query] for query in queries}
        evaluation = evaluate_runs(qrels, systems, wanted, rel=rel)
        return [compare(evaluation.scores(measure), **settings) for measure in wanted]

    by_people: dict[tuple[str, ...], list[Comparison]] = {}
    for judged in judges.values():
        shared = tuple(query for query in truth if query in judged)
        if shared not in by_people:
            by_people[shared] = compared(truth, shared)
        yield tuple(
            JudgedOrder(
                human.scores.measure,
                human,
                machine,
                order_agreement(human.scores, machine.scores, **settings),
                verdict_changes(human, machine),
            )
            for human, machine in zip(by_people[shared], compared(judged, shared), strict=True)
        )


def _notes(judges: Sequence[JudgeAgreement]) -> Iterator[Note]:
    for judge in judges:
        if judge.only_human > judge.pairs:
            missing = count_of(judge.only_human, "human pair")
            text = (
                f"{judge.name} did not judge {missing} and shares {judge.pairs:,}: agreement on "
                "the others is unknown"
            )
            yield Note("pairs-not-shared", text, count=judge.only_human)
    if len({judge.pairs for judge in judges}) > 1:
        listed = ", ".join(f"{judge.name} {judge.pairs:,}" for judge in judges)
        text = (
            f"the judges are compared on different pairs ({listed}): differences between them may "
            "come from the pairs"
        )
        yield Note("pairs-not-shared", text)
    if all(np.count_nonzero(judge.counts.sum(1)) == 1 for judge in judges):
        text = (
            "people gave all shared pairs the same grade, so kappa and alpha say nothing: judge "
            "documents that are not relevant, too"
        )
        yield Note("one-grade", text)
    if (fewest := min(judge.queries for judge in judges)) < FEW_QUERIES:
        queries = count_of(fewest, "query", "queries")
        text = f"{queries}: intervals of agreement are too short below {FEW_QUERIES}"
        yield Note("few-units", text, count=fewest)
