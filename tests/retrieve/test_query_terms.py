"""Queries as numbers of terms: as the definition says, whatever was asked before."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.search import search

TEXTS = [
    "The cats ran; the cat runs, cats running!",
    "a cafe\u0301 and the café: naïve cats",
    "検索 cats エンジン",
    "",
    "nothing known here",
]
QUERIES = [
    "running cats cats",
    "",
    "the THE naïve cafe\u0301",
    "検索エンジン",
    "zebra",
    "cats RUN ran",
]


def cut(text: str) -> list[str]:
    return ["", *text.split(" ")]


ANALYZERS = [
    Analyzer(),
    Analyzer(stop="english", stemmer="english"),
    Analyzer(lower=False),
    Analyzer(function=cut),
]


def as_defined(index: Index, text: str) -> dict[int, float]:
    counted = Counter(index.analyzer.analyze(text))
    numbers = index.term_numbers(list(counted)).tolist()
    return dict(sorted((n, c) for n, c in zip(numbers, counted.values(), strict=True) if n >= 0))


def encoded(index: Index, texts: list[str]) -> list[dict[int, float]]:
    found = index.encode(texts)
    terms, counts = found.numbers[found.places].tolist(), found.counts.tolist()
    return [
        dict(zip(terms[a:b], counts[a:b], strict=True)) for a, b in pairwise(found.offsets.tolist())
    ]


@pytest.mark.parametrize("analyzer", ANALYZERS, ids=Analyzer.signature)
def test_encoded_queries_are_counted_terms(analyzer):
    index = Index.build(TEXTS, analyzer)
    wanted = [as_defined(index, query) for query in QUERIES]
    assert any(wanted)
    for texts in (QUERIES, QUERIES[::-1], QUERIES[2:4], []):
        found = encoded(index, texts)
        assert found == [wanted[QUERIES.index(one)] for one in texts]
        assert all(list(one) == sorted(one) for one in found)


@pytest.mark.parametrize("longer", [[], ["x" * 65]])
def test_a_search_returns_ids_of_any_kind(longer):
    names = ["short", "of-more-than-eight-bytes", "mit-ß", *longer]
    index = Index.build({name: f"word{'s' * n} common" for n, name in enumerate(names)})
    found = search(index, {"q": "common wordss"}).to_dict()["q"]
    assert set(found) == set(names)
    assert next(iter(found)) == "mit-ß"
