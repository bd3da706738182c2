"""From what each library keeps in memory to the values of every query, warm: 1.5 million rows."""

from __future__ import annotations

import argparse
import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING

import collection
import heldout
from harness import Values, differences, race, report, save

if TYPE_CHECKING:
    from collections.abc import Callable

MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000")


def ours(qrels: heldout.Qrels, run: heldout.Run) -> Values:
    found = heldout.evaluate(qrels, run, MEASURES)
    columns = [found.per_unit(0, at).tolist() for at in range(len(MEASURES))]
    return {query: [column[row] for column in columns] for row, query in enumerate(found.units())}


def pytrec_evaluator(qrels: heldout.Qrels, run: heldout.Run) -> Callable[[], Values]:
    import pytrec_eval

    names = {"ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000"}
    order = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_1000")
    evaluator, ranked = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), names), run.to_dict()

    def work() -> Values:
        return {q: [v[name] for name in order] for q, v in evaluator.evaluate(ranked).items()}

    return work


def ranx_evaluator(qrels: heldout.Qrels, run: heldout.Run) -> Callable[[], Values]:
    import ranx

    judged, ranked = ranx.Qrels(qrels.to_dict()), ranx.Run(run.to_dict())
    names = ["ndcg@10", "map", "precision@10", "mrr", "recall@1000"]

    def work() -> Values:
        found = ranx.evaluate(judged, ranked, names, return_mean=False)
        columns = [found[name].tolist() for name in names]
        return {q: [c[row] for c in columns] for row, q in enumerate(judged.qrels)}

    return work


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=Path(__file__).parent / "data")
    options = parser.parse_args()
    paths = collection.make(collection.IN_MEMORY, options.data)
    qrels, run = heldout.read_qrels(paths[0]), heldout.read_run(paths[1])
    works: dict[str, Callable[[], Values]] = {"heldout": lambda: ours(qrels, run)}
    if importlib.util.find_spec("pytrec_eval"):
        works["pytrec_eval"] = pytrec_evaluator(qrels, run)
    if importlib.util.find_spec("ranx"):
        works["ranx"] = ranx_evaluator(qrels, run)
    values = {name: work() for name, work in works.items()}  # compiles and warms up, too
    agreement = {}
    for name, found in values.items():
        wrong = differences(values["heldout"], found, 1e-9)
        agreement[name] = "equal" if not wrong else f"{wrong} differ"

    def contestant(work: Callable[[], Values]) -> Callable[[], None]:
        def run_once() -> None:
            work()

        return run_once

    timings = race({name: contestant(work) for name, work in works.items()}, options.rounds)
    report(f"{len(run):,} rows in memory to values, warm", timings, agreement)
    seconds = {name: timing.seconds for name, timing in timings.items()}
    save("evaluate_memory", {"seconds": seconds, "values": agreement})


if __name__ == "__main__":
    main()
