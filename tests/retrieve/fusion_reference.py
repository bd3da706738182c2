"""Fusion written plainly, one query at a time, and random runs to try it on."""

import math
from fractions import Fraction
from statistics import median

import numpy as np


def random_runs(seed, runs=3, queries=6, documents=14):
    """``{query: {document: score}}`` with ties, missing documents and missing queries."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(runs):
        run = {}
        for query in range(queries):
            if rng.random() < 0.15:
                continue
            docs = rng.permutation(documents)[: rng.integers(1, documents)]
            scores = rng.integers(1, 7, len(docs)) / 2  # few values, so that many are tied
            run[f"q{query}"] = {
                f"doc-{doc}": float(score) for doc, score in zip(docs, scores, strict=True)
            }
        found.append(run or {"q0": {"doc-1": 1.0}})
    return found


def in_order(ranked):
    """Score descending, then id descending."""
    return sorted(ranked, key=lambda doc: (ranked[doc], doc.encode()), reverse=True)


def normalised(norm, ranked, candidates):
    """The normalised score of every candidate of a query; None: the run lacks it."""
    scores = {doc: Fraction(ranked[doc]) for doc in ranked}
    places = {doc: at for at, doc in enumerate(in_order(ranked))}
    count, least, most = len(scores), min(scores.values()), max(scores.values())
    total = sum(scores.values()) - count * least
    mean = sum(scores.values()) / count
    deviation = math.sqrt(sum((one - mean) ** 2 for one in scores.values()) / count)
    value = {
        "none": lambda doc: scores[doc],
        "minmax": lambda doc: (scores[doc] - least) / (most - least) if most > least else 1,
        "max": lambda doc: scores[doc] / most,
        "sum": lambda doc: (scores[doc] - least) / total if total else Fraction(1, count),
        "zscore": lambda doc: float(scores[doc] - mean) / deviation if most > least else 0,
        "rank": lambda doc: 1 - Fraction(places[doc], count),
    }[norm]
    return {doc: value(doc) if doc in scores else None for doc in candidates}


def combined(how, values, weights):
    """Combine the values of one document; None where a run lacks it."""
    had = [one for one in values if one is not None]
    return {
        "combsum": lambda: sum(had),
        "wsum": lambda: sum(
            w * float(one) for w, one in zip(weights, values, strict=True) if one is not None
        ),
        "combmnz": lambda: sum(had) * len(had),
        "combanz": lambda: sum(had) / len(had),
        "combmax": lambda: max(had),
        "combmin": lambda: min(had),
        "combmed": lambda: median(had),
    }[how]()


def fused_query(how, lists, norm=None, weights=None, k=60):
    """Fuse the ranked lists of one query: ``{document: score}``."""
    candidates = sorted({doc for one in lists for doc in one})
    ranks = [{doc: at + 1 for at, doc in enumerate(in_order(one))} for one in lists]
    if norm is not None:
        rows = [
            normalised(norm, one, candidates) if one else dict.fromkeys(candidates) for one in lists
        ]
        return {doc: float(combined(how, [r[doc] for r in rows], weights)) for doc in candidates}
    return {
        doc: float(sum(1 / (Fraction(k) + one[doc]) for one in ranks if doc in one))
        for doc in candidates
    }
