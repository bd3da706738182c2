"""Fusion against plain definitions, ranx, and what must hold for any runs."""

import itertools
from contextlib import suppress

import numpy as np
import pytest
from fusion_reference import fused_query, in_order, random_runs

import heldout
from heldout.data.words import mix
from heldout.retrieve.fuse import METHODS, NORMS, Fusion, fuse_runs, judged_ranks
from refusals import refusal

OPTIONS = {"wsum": {"weights": (0.2, 0.5, 0.3)}}
SEEDS = range(6)


def expected(runs, how, **options):
    queries = dict.fromkeys(query for run in runs for query in run)
    return {
        query: fused_query(how, [run.get(query, {}) for run in runs], **options)
        for query in queries
    }


def assert_fused(run, wanted):
    found = run.to_dict()
    assert list(found) == list(wanted)
    for query, scores in wanted.items():
        assert found[query] == pytest.approx(scores, abs=1e-12, rel=1e-12)
        assert list(found[query]) == in_order(found[query])  # the one order of heldout


def same_order(one, other):
    return [list(ranked.items()) for ranked in one.values()] == [
        list(ranked.items()) for ranked in other.values()
    ]


@pytest.mark.parametrize("how", METHODS)
def test_methods_follow_their_definition(how):
    options = OPTIONS.get(how, {})
    for norm in NORMS if METHODS[how].uses_scores else [None]:
        given = options | ({"norm": norm} if norm else {})
        for seed in SEEDS:
            runs = random_runs(seed)
            assert_fused(heldout.fuse(runs, how, **given), expected(runs, how, **given))


def test_fusion_by_hand_and_of_ids_of_any_length():
    # Ranks 1 and 3, 2 and 1, 3 alone, 2 alone; k = 60.
    long, middle = "https://example.org/" + "x" * 70, "middle-sized-id"
    runs = [{"q": {"a": 3.0, long: 2.0, middle: 1.0}}, {"q": {long: 9.0, "d": 8.0, "a": 7.0}}]
    wanted = {long: 1 / 62 + 1 / 61, "a": 1 / 61 + 1 / 63, "d": 1 / 62, middle: 1 / 63}
    assert heldout.fuse(runs).to_dict()["q"] == pytest.approx(wanted)
    for some in (runs, [{"q": {"a": 3.0, middle: 2.0}}, {"q": {middle: 1.0}}]):
        assert_fused(heldout.fuse(some, "combmnz"), expected(some, "combmnz", norm="minmax"))


def test_the_order_of_the_runs_and_blocks_of_queries_do_not_matter(monkeypatch):
    # Sums of three numbers depend on their order in the last bit, and the last bit decides ranks.
    runs = random_runs(5, runs=4, queries=8)
    for how in METHODS:
        if how != "wsum":
            first = heldout.fuse(runs, how).to_dict()
            for order in itertools.permutations(runs):
                again = heldout.fuse(list(order), how).to_dict()
                assert same_order({query: again[query] for query in first}, first), how
    runs = random_runs(4, queries=30)
    whole = heldout.fuse(runs, "combmnz").to_dict()
    monkeypatch.setattr("heldout.retrieve.fuse.BLOCK", 40)
    assert heldout.fuse(runs, "combmnz").to_dict() == whole


def random_judgements(seed):
    rng = np.random.default_rng(seed + 100)
    return {
        f"q{query}": {f"doc-{doc}": int(rng.integers(0, 3)) for doc in rng.permutation(18)[:5]}
        for query in range(8)
    }


@pytest.mark.parametrize("how", METHODS)
def test_judged_ranks_and_first_documents_are_those_of_the_fused_run(how):
    base = Fusion(how, **OPTIONS.get(how, {}))
    points = [base, Fusion("wsum", "zscore", (0, 1, 1)), Fusion("rrf", k=1), base]
    for seed in SEEDS:
        runs = [heldout.Run.of(run) for run in random_runs(seed)]
        qrels = heldout.Qrels.of(random_judgements(seed))
        ranks, retrieved = judged_ranks(runs, qrels, points)
        for number, point in enumerate(points):
            ranked = {query: list(docs) for query, docs in fuse_runs(runs, point).to_dict().items()}
            wanted = []
            for query, doc in zip(qrels.query_of_row().tolist(), qrels.docs.tolist(), strict=True):
                docs = ranked.get(qrels.queries[query], [])
                wanted.append(docs.index(doc) + 1 if doc in docs else 0)
            assert ranks[:, number].tolist() == wanted
            assert retrieved.tolist() == [len(ranked.get(q, ())) for q in qrels.queries]
    points = [base, Fusion("wsum", "rank", (1, 0, 0))]
    for depth in (1, 4, 30):
        for point in points:
            whole, cut = fuse_runs(runs, point), fuse_runs(runs, point, depth=depth)
            first = {query: list(docs)[:depth] for query, docs in whole.to_dict().items()}
            assert {query: list(docs) for query, docs in cut.to_dict().items()} == first


WRONG = [
    ("rff", {}, "how='rff': expected one of rrf, wsum"),
    ("combsum", {"norm": "minmx"}, "norm='minmx': expected one of minmax"),
    ("rrf", {"norm": "minmax"}, "rrf uses ranks alone: leave out norm"),
    ("rrf", {"weights": [1, 1]}, "rrf has no weights: it is a parameter of wsum"),
    ("wsum", {}, "wsum needs a weight per run"),
    ("wsum", {"weights": [1]}, "1 weight for 2 runs"),
    ("wsum", {"weights": [1, -1]}, "weights is -1: expected a number of at least 0"),
    ("rrf", {"k": -1}, "k is -1: expected a number of at least 0"),
    ("rrf", {"depth": 0}, "depth=0: expected a positive integer"),
    ("combsum", {"norm": "max"}, "run ql, query q: norm=max divides by the highest score"),
]


def test_what_cannot_be_fused_is_refused():
    bm25 = heldout.Run.of({"q": {"a": 1.0}}, "bm25")
    ql = heldout.Run.of({"q": {"a": -2.0, "b": -3.0}}, "ql")
    for how, options, words in WRONG:
        assert words in refusal(heldout.fuse, [bm25, ql], how, **options), how
    assert "two or more runs, got 1" in refusal(heldout.fuse, [bm25])
    runs = [{"q": {"a": 1.7e308, "b": 0.0}}, {"q": {"a": 1.7e308, "b": 1.0}}]
    assert "not a finite number" in refusal(heldout.fuse, runs, "combsum", norm="none")
    # Different words with one hash.
    first, second = colliding_ids()
    assert "same 64-bit hash" in refusal(heldout.fuse, [{"q": {first: 1.0}}, {"q": {second: 1.0}}])
    assert str(Fusion("wsum", weights=(0.3, 0.7))) == "wsum(norm=minmax, weights=0.3/0.7)"


def colliding_ids():
    """Two ids of 16 bytes with one hash, found by undoing the second half of the mixing."""
    rng = np.random.default_rng(0)
    while True:
        one, other, rest = (
            np.frombuffer(bytes(rng.integers(97, 123, 8).tolist()), "<u8") for _ in range(3)
        )
        text = other.tobytes() + (mix(one) ^ rest ^ mix(other)).tobytes()
        if b"\0" not in text:
            with suppress(UnicodeDecodeError):
                return (one.tobytes() + rest.tobytes()).decode(), text.decode()
