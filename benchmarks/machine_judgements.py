"""Measure coverage, false claims and gain of estimates from human and machine judgements.

A population of queries has values under human judgements and under those of several machines. A
draw takes n queries with human judgements and four times as many with the machine's alone, with
replacement; the truth is the mean over the population. The error of a machine in a query is that of
a query of a real judgement file, taken as a whole: the share of each machine grade among the
documents of each human grade (errors within a query are not independent). ``hostile`` is such a
machine that gives the top ten documents of one system the best grade in half of the cases. Queries
are repeated in the population, each time with other errors.

Shifting the human values of a difference to a mean of 0 shifts the estimate alike, so that the rate
of false claims about two systems is exactly one minus the coverage of their difference. For several
systems there are two nulls: all are shifted to a common mean under human judgements (``shifted``;
ties become a constant difference), or queries are drawn with unequal probabilities for which the
means are equal (``tilted``; ties stay ties). A draw with any significant pair is a false claim.

    python benchmarks/machine_judgements.py --data FOLDER --judgements FOLDER [--part several]

``--data`` holds cranfield/, scifact/ and trec_covid_r1/ (judgements and runs/), ``--judgements``
a file human.qrels and a folder machine/.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

import heldout
from harness import show
from heldout import Analyzer, Index, Model, Qrels
from heldout.data.scores import MachineScores
from heldout.infer.intervals import DIFFERING
from heldout.infer.prediction_powered import combined_means
from heldout.infer.romano_wolf import romano_wolf
from heldout.retrieve.search import search

Array = np.ndarray
Grades = dict[str, dict[str, int]]
Values = dict[str, Array]
"""For each measure, queries x systems."""

MEASURES = ("nDCG@10", "P@10", "AP")
SIZES = (15, 25, 50, 100)
MACHINE_PER_HUMAN = 4
POOL = 20
FEW = 3
BATCH = 2_000
HOSTILE, MODEL = "hostile", "willia-umbrela1"
"""The machine that favours a system, and the one that it is made of."""

REPLICATES = 199
COPIES = {"cranfield": 2, "scifact": 2, "trec-covid": 10}
"""How often the queries are repeated, each time with other errors of the machines."""

MODELS = {
    "bm25": Model.make("bm25", k1=0.9, b=0.4),
    "bm25-long": Model.make("bm25", k1=2.0, b=0.9),
    "ql": Model.make("ql-dirichlet", mu=1000),
    "tf-idf": Model.make("tf-idf"),
}


class Population(NamedTuple):
    """Values of queries under human judgements and under each machine."""

    name: str
    human: Values
    machines: dict[str, Values]


class Cell(NamedTuple):
    """One row of the results: ``difference`` is the pair, or empty for a single system."""

    population: str
    machine: str
    measure: str
    n: int
    difference: str
    coverage: float
    human_coverage: float
    gain: float
    warned: bool


def profiles(folder: Path, levels: int) -> dict[str, Array]:
    """Error profiles of each machine: queries x human grades x machine grades, as shares."""
    human = heldout.read_qrels(folder / "human.qrels").to_dict()
    result = {}
    for path in sorted((folder / "machine").glob("*.qrels")):
        machine = heldout.read_qrels(path).to_dict()
        tables = np.zeros((len(human), levels, levels))
        for table, (query, docs) in zip(tables, human.items(), strict=True):
            for doc, grade in docs.items():
                table[coarse(grade, levels), coarse(machine[query][doc], levels)] += 1
        pooled = tables.sum(0) / tables.sum((0, 2))[:, None]
        counts = tables.sum(2, keepdims=True)
        # A query with few documents of a human grade takes the shares of all queries.
        result[path.stem] = np.where(counts >= FEW, tables / np.maximum(counts, 1), pooled)
    return result


def coarse(grade: int, levels: int) -> int:
    """Four grades of the judgement files as two or three."""
    return int(grade >= 2) if levels == 2 else min(grade, 2)


def judge(
    human: Grades, pool: dict[str, set[str]], profile: Array, generator: np.random.Generator
) -> Grades:
    """Judgements of a machine for the judged and the pooled documents of all queries."""
    top = profile.shape[1] - 1
    result = {}
    for query, judged in human.items():
        shares = profile[generator.integers(len(profile))]
        docs = sorted(pool[query] | set(judged))
        true = np.array([min(max(judged.get(doc, 0), 0), top) for doc in docs])
        given = (generator.random(len(docs))[:, None] > np.cumsum(shares[true], 1)).sum(1)
        result[query] = dict(zip(docs, np.minimum(given, top).tolist(), strict=True))
    return result


def values(judgements: Grades, runs: dict[str, heldout.Run]) -> Values:
    evaluation = heldout.evaluate(Qrels.of(judgements), runs, list(MEASURES))
    return {measure: evaluation.scores(measure).values for measure in MEASURES}


def population(name: str, data: Path, judgements: Path) -> Population:
    """Evaluate runs under human judgements, all machines, and a hostile one."""
    human, runs, levels = _collection(name, data)
    ranked = {run: _top(one.to_dict(), POOL) for run, one in runs.items()}
    pool = {
        query: {doc for run in ranked.values() for doc in run.get(query, [])} for query in human
    }
    favoured = ranked[list(ranked)[-1]]
    copies = COPIES[name]
    machines: dict[str, Values] = {}
    every = profiles(judgements, levels)
    for number, (machine, profile) in enumerate([*every.items(), (HOSTILE, every[MODEL])]):
        parts = []
        for copy in range(copies):
            generator = np.random.default_rng([number, copy])
            given = judge(human, pool, profile, generator)
            if machine == HOSTILE:
                favour(given, favoured, levels - 1, generator)
            parts.append(values(given, runs))
        machines[machine] = {one: np.concatenate([part[one] for part in parts]) for one in MEASURES}
    by_people = values(human, runs)
    repeated = {one: np.tile(by_people[one], (copies, 1)) for one in MEASURES}
    return Population(name, repeated, machines)


def favour(
    given: Grades, favoured: dict[str, list[str]], best: int, generator: np.random.Generator
) -> None:
    """Give the top ten documents of one system the best grade in half of the cases."""
    for query, docs in given.items():
        for doc in favoured.get(query, [])[:10]:
            if generator.random() < 0.5:
                docs[doc] = best


def _collection(name: str, data: Path) -> tuple[Grades, dict[str, heldout.Run], int]:
    """Human judgements, runs, and the number of grades."""
    if name == "trec-covid":
        folder = data / "trec_covid_r1"
        runs = {path.stem: heldout.read_run(path) for path in sorted((folder / "runs").iterdir())}
        return heldout.read_qrels(folder / "qrels-rnd1.txt").to_dict(), runs, 3
    path = data / name / name if name == "cranfield" else data / name
    collection = heldout.read_collection(path)
    index = Index.build(collection.documents, Analyzer(stop="english", stemmer="english"))
    runs = {
        system: search(index, collection.queries, model, k=100) for system, model in MODELS.items()
    }
    assert collection.qrels is not None
    graded = collection.qrels.to_dict()
    return {q: {d: int(g > 0) for d, g in docs.items()} for q, docs in graded.items()}, runs, 2


def _top(run: dict[str, dict[str, float]], depth: int) -> dict[str, list[str]]:
    return {query: list(docs)[:depth] for query, docs in run.items()}


def cells(one: Population, n: int, draws: int, seed: int) -> list[Cell]:
    """Coverage of one system and of two differences, for all machines and measures."""
    generator = np.random.default_rng([seed, n])
    queries = len(one.human[MEASURES[0]])
    parts = [
        (
            generator.integers(0, queries, (n, size)),
            generator.integers(0, queries, (MACHINE_PER_HUMAN * n, size)),
        )
        for size in [min(BATCH, draws)] * max(draws // BATCH, 1)
    ]
    result = []
    for machine, given in one.machines.items():
        for measure in MEASURES:
            last = one.human[measure].shape[1] - 1
            for first, second in ((0, None), (1, 0), (last, 0)):
                both = one.human[measure], given[measure]
                y, f = (
                    part[:, first] - (0.0 if second is None else part[:, second]) for part in both
                )
                covered, by_human, gain = _coverage(y, f, parts, plus_four=second is not None)
                differ = n * float(np.mean(np.abs(y) > 1e-12))
                name = "" if second is None else f"{first}-{second}"
                warned = second is not None and differ < DIFFERING
                result.append(
                    Cell(one.name, machine, measure, n, name, covered, by_human, gain, warned)
                )
    return result


def _coverage(
    y: Array, f: Array, parts: list[tuple[Array, Array]], *, plus_four: bool
) -> tuple[float, float, float]:
    """Coverage of combined and human intervals, and the ratio of their true variances."""
    truth, rows = y.mean(), []
    for human, extra in parts:
        drawn = y[human]
        estimates = combined_means(drawn, f[human], f[extra], plus_four=plus_four).estimate
        quantile = float(stdtrit(len(human) - 1, 0.975))
        mean, error = drawn.mean(0), drawn.std(0, ddof=1) / np.sqrt(len(human))
        covered = np.abs(estimates.value - truth) <= quantile * estimates.error + 1e-12
        by_human = np.abs(mean - truth) <= quantile * error + 1e-12
        rows.append(np.stack([covered, by_human, estimates.value, mean]))
    both = np.concatenate(rows, 1)
    gain = both[3].var() / both[2].var() if both[2].var() > 0 else 1.0
    return float(both[0].mean()), float(both[1].mean()), float(gain)


def family_rate(
    one: Population, machine: str, measure: str, n: int, draws: int, null: str
) -> float:
    """Share of draws with any false claim about four systems of equal means."""
    human, given = (part[measure][:, :4] for part in (one.human, one.machines[machine]))
    chances = None
    if null == "tilted":
        chances = tilted(human[:, 1:] - human[:, :1])
    else:
        human = human - human.mean(0)
    generator = np.random.default_rng([n, 5])
    claims = 0
    for draw in range(draws):
        rows = generator.choice(len(human), n, p=chances)
        extra = generator.choice(len(human), MACHINE_PER_HUMAN * n, p=chances)
        part = MachineScores(given[rows], given[extra])
        found = romano_wolf(human[rows], machine=part, replicates=REPLICATES, seed=draw)
        claims += bool(np.nanmin(found.p) <= 0.05 + 1e-12)
    return claims / draws


def tilted(gaps: Array) -> Array:
    """Probabilities of queries, nearest to equal ones, for which all differences have mean 0."""
    power = np.zeros(gaps.shape[1])
    for _ in range(100):
        chances = np.exp(gaps @ power)
        chances /= chances.sum()
        mean = chances @ gaps
        power -= np.linalg.solve((gaps * chances[:, None]).T @ gaps - np.outer(mean, mean), mean)
    assert np.abs(mean).max() < 1e-9
    return chances


def show_coverage(every: list[Cell]) -> None:
    groups: dict[tuple[str, int, str], list[Cell]] = {}
    for cell in every:
        kind = "difference" if cell.difference else "one system"
        kind += ", few differ" if cell.warned else ""
        groups.setdefault((cell.population, cell.n, kind), []).append(cell)
    rows = []
    for key, part in groups.items():
        rates = np.array([cell.coverage for cell in part])
        least = min(cell.human_coverage for cell in part)
        shown = (rates.mean(), rates.min(), rates.max(), least)
        rows.append([*key, len(part), *(f"{one:.3f}" for one in shown)])
    heads = ["population", "n", "estimate", "cells", "mean", "least", "greatest"]
    show("Coverage of combined estimates", [*heads, "human only: least"], rows)


def show_gain(every: list[Cell], n: int) -> None:
    gains: dict[str, dict[tuple[str, bool], list[float]]] = {}
    for cell in every:
        if cell.n == n:
            row = gains.setdefault(cell.machine, {})
            row.setdefault((cell.population, bool(cell.difference)), []).append(cell.gain)
    keys = sorted(next(iter(gains.values())))
    heads = [f"{name}, {'difference' if pair else 'one system'}" for name, pair in keys]
    rows = [
        [machine, *(f"{n * np.mean(row[key]):.0f}" for key in keys)]
        for machine, row in gains.items()
    ]
    show(f"Effective queries for {n} with human judgements", ["machine", *heads], rows)


def show_several(several: list[Population], draws: int) -> None:
    def row(one: Population, machine: str, null: str, measure: str) -> list[str]:
        rates = [family_rate(one, machine, measure, n, draws, null) for n in (25, 50, 100)]
        return [one.name, machine, null, measure, *(f"{rate:.3f}" for rate in rates)]

    cases = [(machine, "shifted") for machine in several[0].machines] + [(MODEL, "tilted")]
    ways = product(cases, several, MEASURES)
    rows = (row(one, machine, null, measure) for (machine, null), one, measure in ways)
    heads = ["population", "machine", "null", "measure", "n = 25", "n = 50", "n = 100"]
    show(f"Share of draws with a false claim about four systems, {draws:,} draws", heads, rows)


def write_example(data: Path, judgements: Path, folder: Path) -> None:
    """Write the files of the guide: Cranfield, 50 human queries, the errors of a real machine."""
    human, runs, levels = _collection("cranfield", data)
    tops = [_top(run.to_dict(), POOL) for run in runs.values()]
    pool = {query: {doc for top in tops for doc in top.get(query, [])} for query in human}
    given = judge(human, pool, profiles(judgements, levels)[MODEL], np.random.default_rng(1))
    folder.mkdir(parents=True, exist_ok=True)
    drawn = np.random.default_rng(1).choice(sorted(human, key=str.encode), 50, replace=False)
    people = {query: human[query] for query in sorted(drawn.tolist(), key=str.encode)}
    Qrels.of(people).write(folder / "human.qrels")
    Qrels.of(given).write(folder / "llm.qrels")
    for name, run in runs.items():
        replace(run, name=name).write(folder / f"{name}.run")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--judgements", type=Path, required=True, metavar="FOLDER")
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--part", choices=("coverage", "several"), help="one part alone")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--example", type=Path, metavar="FOLDER", help="write the guide's files")
    options = parser.parse_args()
    if options.example:
        write_example(options.data, options.judgements, options.example)
        return
    names = ("cranfield", "scifact", "trec-covid")
    several = [population(name, options.data, options.judgements) for name in names]
    if options.part != "several":
        every = [
            cell
            for one in several
            for n in SIZES
            for cell in cells(one, n, options.draws, options.seed)
        ]
        show_coverage(every)
        show_gain(every, 50)
    if options.part != "coverage":
        show_several(several, options.draws)


if __name__ == "__main__":
    main()
