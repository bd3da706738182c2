"""Evaluate a run with a peer and print one line a query: the five measures of the benchmark.

Used as a program (``python peers.py NAME QRELS RUN``), so that a peer's start-up counts as it does
for its users.
"""

from __future__ import annotations

import sys
from typing import Any

Values = dict[str, list[float]]


def by_pytrec_eval(qrels: str, run: str) -> Values:
    import pytrec_eval

    with open(qrels) as judged, open(run) as ranked:  # noqa: PTH123
        judgements, ranking = pytrec_eval.parse_qrel(judged), pytrec_eval.parse_run(ranked)
    names = {"ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000"}
    found = pytrec_eval.RelevanceEvaluator(judgements, names).evaluate(ranking)
    order = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_1000")
    return {query: [values[name] for name in order] for query, values in found.items()}


def by_ir_measures(qrels: str, run: str) -> Values:
    import ir_measures

    names = ("nDCG@10", "AP", "P@10", "RR", "R@1000")
    measures = [ir_measures.parse_measure(name) for name in names]
    judged, ranked = ir_measures.read_trec_qrels(qrels), ir_measures.read_trec_run(run)
    found: dict[str, dict[Any, float]] = {}
    for metric in ir_measures.iter_calc(measures, judged, ranked):
        found.setdefault(metric.query_id, {})[metric.measure] = metric.value
    return {query: [values[one] for one in measures] for query, values in found.items()}


def by_ranx(qrels: str, run: str) -> Values:
    import ranx

    judged = ranx.Qrels.from_file(qrels, kind="trec")
    ranked = ranx.Run.from_file(run, kind="trec")
    names = ["ndcg@10", "map", "precision@10", "mrr", "recall@1000"]
    found = ranx.evaluate(judged, ranked, names, return_mean=False, make_comparable=True)
    queries = list(judged.qrels)
    columns = [found[name].tolist() for name in names]
    return {query: [column[row] for column in columns] for row, query in enumerate(queries)}


PEERS = {"pytrec_eval": by_pytrec_eval, "ir_measures": by_ir_measures, "ranx": by_ranx}


if __name__ == "__main__":
    name, qrels_path, run_path = sys.argv[1:]
    for query, values in PEERS[name](qrels_path, run_path).items():
        print(query, *map(repr, map(float, values)))
