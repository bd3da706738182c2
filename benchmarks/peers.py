"""What peers are asked for: values of every query from files or objects, randomization tests.

As a program (``python peers.py NAME QRELS RUN``) it prints one line a query, so that the start-up
of a peer counts as it does for its users.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import heldout
    from harness import Values
    from heldout.data.words import Floats

MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000")
TREC_NAMES = ("ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000")
TREC_ORDER = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_1000")
RANX_NAMES = ["ndcg@10", "map", "precision@10", "mrr", "recall@1000"]


# Values of every query, from files


def by_pytrec_eval(qrels: str, run: str) -> Values:
    import pytrec_eval

    with open(qrels) as judged, open(run) as ranked:  # noqa: PTH123
        judgements, ranking = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked)
    found = pytrec_eval.RelevanceEvaluator(judgements, set(TREC_NAMES)).evaluate(ranking)
    return {query: [values[name] for name in TREC_ORDER] for query, values in found.items()}


def by_ir_measures(qrels: str, run: str) -> Values:
    import ir_measures

    measures = [ir_measures.parse_measure(name) for name in MEASURES]
    judged, ranked = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    found: dict[str, dict[Any, float]] = {}
    for metric in ir_measures.iter_calc(measures, judged, ranked):
        found.setdefault(metric.query_id, {})[metric.measure] = metric.value
    return {query: [values[one] for one in measures] for query, values in found.items()}


def by_ranx(qrels: str, run: str) -> Values:
    import ranx

    judged = ranx.Qrels.from_file(qrels, kind="trec")
    return ranx_values(judged, ranx.Run.from_file(run, kind="trec"), make_comparable=True)


def ranx_values(judged: Any, ranked: Any, **options: bool) -> Values:
    import ranx

    found = ranx.evaluate(judged, ranked, RANX_NAMES, return_mean=False, **options)
    columns = [found[name].tolist() for name in RANX_NAMES]
    return {query: [column[row] for column in columns] for row, query in enumerate(judged.qrels)}


PROGRAMS = {"pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures, "ranx": by_ranx}


# The same from objects in memory, which are made before


def pytrec_eval_in_memory(qrels: heldout.Qrels, run: heldout.Run) -> Callable[[], Values]:
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator(qrels.to_dict(), set(TREC_NAMES))
    ranked = run.to_dict()
    return lambda: {
        query: [values[name] for name in TREC_ORDER]
        for query, values in evaluator.evaluate(ranked).items()
    }


def ranx_in_memory(qrels: heldout.Qrels, run: heldout.Run) -> Callable[[], Values]:
    import ranx

    judged, ranked = ranx.Qrels(qrels.to_dict()), ranx.Run(run.to_dict())
    return lambda: ranx_values(judged, ranked)


IN_MEMORY = {"pytrec_eval": pytrec_eval_in_memory, "ranx": ranx_in_memory}


# Two-tailed randomization tests of paired scores


def scipy_test(first: Floats, second: Floats, replicates: int) -> float:
    from scipy.stats import permutation_test

    def statistic(x: Floats, y: Floats, axis: int) -> Floats:
        return np.asarray(np.mean(x - y, axis=axis))

    found = permutation_test(
        (first, second),
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=replicates,
        batch=max(1, 50_000_000 // len(first)),  # its memory would not be bounded otherwise
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def ranx_test(first: Floats, second: Floats, replicates: int) -> float:
    from ranx.statistical_tests import fisher_randomization_test

    return float(fisher_randomization_test(first, second, replicates)[0])


TESTS = {"scipy": scipy_test, "ranx": ranx_test}


if __name__ == "__main__":
    name, qrels_path, run_path = sys.argv[1:]
    for query, values in PROGRAMS[name](qrels_path, run_path).items():
        print(query, *map(repr, map(float, values)))
