"""A slow, readable reference for every model: formulas as the papers have them, dictionaries."""

from __future__ import annotations

import math
from collections import Counter


class Side:
    """Statistics of train documents that have multiplicities; a document may be added."""

    def __init__(self, documents, weights, extra=None):
        counted = [(Counter(doc), weight) for doc, weight in zip(documents, weights, strict=True)]
        if extra is not None:
            counted.append((Counter(extra), 1))
        self.m = sum(weight for _, weight in counted)
        self.length = sum(sum(doc.values()) * weight for doc, weight in counted)
        self.df, self.cf = Counter(), Counter()
        for doc, weight in counted:
            for term, count in doc.items():
                self.df[term] += weight
                self.cf[term] += weight * count

    @property
    def avdl(self):
        return self.length / self.m


def idf(name, m, df):
    forms = {
        "bm25-robertson": lambda: max(math.log((m - df + 0.5) / (df + 0.5)), 0.0),
        "bm25-lucene": lambda: math.log(1 + (m - df + 0.5) / (df + 0.5)),
        "bm25-atire": lambda: math.log(m / df),
        "bm25-l": lambda: math.log((m + 1) / (df + 0.5)),
    }
    return forms.get(name, lambda: math.log((m + 1) / df))()


def part(name, p, c, length, avdl):
    norm = length / avdl
    if name == "bm25-l":
        ctd = c / (1 - p["b"] + p["b"] * norm)
        return (p["k1"] + 1) * (ctd + p["delta"]) / (p["k1"] + ctd + p["delta"])
    if name.startswith("bm25"):
        value = c / (c + p["k1"] * (1 - p["b"] + p["b"] * norm))
        scale = 1 if name in ("bm25-lucene", "bm25-robertson") else p["k1"] + 1
        return scale * value + (p["delta"] if name == "bm25-plus" else 0)
    if name == "tf-idf":
        return (1 + math.log(c)) / (1 - p["s"] + p["s"] * norm)
    assert name == "pivoted"
    return (1 + math.log(1 + math.log(c))) / (1 - p["s"] + p["s"] * norm)


def probability(name, p, c, length, distinct, background):
    if name == "ql-jm":
        return p["lambda"] * c / length + (1 - p["lambda"]) * background
    if name == "ql-dirichlet":
        return (c + p["mu"] * background) / (length + p["mu"])
    assert name == "ql-absolute"
    return max(c - p["delta"], 0) / length + p["delta"] * distinct / length * background


def score(name, p, query, document, side, k3=math.inf):
    """None where the document has no word of the query."""
    words, asked = Counter(document), Counter(query)
    if not any(term in words for term in asked):
        return None
    total = 0.0
    for term, times in asked.items():
        c, length = words[term], len(document)
        if name.startswith("ql-"):
            if side.cf[term] == 0:
                continue
            chance = probability(name, p, c, length, len(words), side.cf[term] / side.length)
            total += times * (math.log(chance) if chance > 0 else -math.inf)
        elif c:
            weight = times if math.isinf(k3) else (k3 + 1) * times / (k3 + times)
            total += weight * idf(name, side.m, side.df[term]) * part(name, p, c, length, side.avdl)
    return total
