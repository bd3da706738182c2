"""Fusion against plain definitions, ranx, and what must hold for any runs."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pytest
from fusion_reference import fused_query, in_order, random_runs

import heldout
from heldout.data.words import mix
from heldout.errors import InputError
from heldout.retrieve.fuse import METHODS, NORMS, Fusion, fuse_runs, fuse_tops, judged_ranks

OF_SCORES = [name for name, method in METHODS.items() if method.uses_scores]
OF_RANKS = [name for name in METHODS if name not in OF_SCORES]
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


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("how", OF_SCORES)
def test_methods_of_scores_follow_their_definition(how, norm):
    options = OPTIONS.get(how, {})
    for seed in SEEDS:
        runs = random_runs(seed)
        wanted = expected(runs, how, norm=norm, **options)
        assert_fused(heldout.fuse(runs, how, norm=norm, **options), wanted)


@pytest.mark.parametrize("how", OF_RANKS)
def test_methods_of_ranks_follow_their_definition(how):
    options = OPTIONS.get(how, {})
    for seed in SEEDS:
        runs = random_runs(seed)
        assert_fused(heldout.fuse(runs, how, **options), expected(runs, how, **options))


def test_reciprocal_rank_fusion_by_hand():
    # Ranks 1 and 3, 2 and 1, 3 alone, 2 alone; k = 60.
    runs = [{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"b": 9.0, "d": 8.0, "a": 7.0}}]
    assert heldout.fuse(runs).to_dict()["q"] == pytest.approx(
        {"b": 1 / 62 + 1 / 61, "a": 1 / 61 + 1 / 63, "d": 1 / 62, "c": 1 / 63}
    )


@pytest.mark.parametrize("how", [one for one in METHODS if one != "wsum"])
def test_the_order_of_the_runs_does_not_matter(how):
    # Sums of three numbers depend on their order in the last bit, and the last bit decides ranks.
    runs = random_runs(5, runs=4, queries=8)
    options = OPTIONS.get(how, {})
    first = heldout.fuse(runs, how, **options).to_dict()
    for order in itertools.permutations(runs):
        again = heldout.fuse(list(order), how, **options).to_dict()
        assert {query: list(again[query].items()) for query in first} == {
            query: list(ranked.items()) for query, ranked in first.items()
        }


def test_scaled_weights_give_the_same_ranking():
    runs = random_runs(3)
    one = heldout.fuse(runs, "wsum", weights=[1, 2, 5]).to_dict()
    half = heldout.fuse(runs, "wsum", weights=[0.5, 1, 2.5]).to_dict()
    assert [list(ranked) for ranked in one.values()] == [list(ranked) for ranked in half.values()]


def test_a_run_with_weight_one_keeps_its_ranking():
    runs = random_runs(1, runs=2)
    fused = heldout.fuse(runs, "wsum", norm="rank", weights=[1, 0]).to_dict()
    for query, ranked in runs[0].items():
        assert list(fused[query])[: len(ranked)] == in_order(ranked)


def test_depth_keeps_the_best():
    runs = random_runs(2)
    whole, cut = heldout.fuse(runs).to_dict(), heldout.fuse(runs, depth=3).to_dict()
    assert cut == {query: dict(list(ranked.items())[:3]) for query, ranked in whole.items()}


def test_blocks_of_queries_change_nothing(monkeypatch):
    runs = random_runs(4, queries=30)
    whole = heldout.fuse(runs, "combmnz").to_dict()
    monkeypatch.setattr("heldout.retrieve.fuse.BLOCK", 40)
    assert heldout.fuse(runs, "combmnz").to_dict() == whole


def test_ids_of_any_length_are_joined():
    long = "https://example.org/" + "x" * 70
    runs = [
        {"q": {"a": 3.0, long: 2.0, "middle-sized-id": 1.0}},
        {"q": {long: 5.0, "middle-sized-id": 4.0}},
    ]
    found = heldout.fuse(runs, "combmnz", norm="rank").to_dict()["q"]
    assert found == pytest.approx(
        {long: 2 * (2 / 3 + 1), "middle-sized-id": 2 * (1 / 3 + 0.5), "a": 1}
    )
    short = [{"q": {"a": 1.0, "b": 0.5}}, {"q": {"long-document-id": 1.0, "b": 0.5}}]
    assert set(heldout.fuse(short).to_dict()["q"]) == {"a", "b", "long-document-id"}


@pytest.mark.parametrize("how", METHODS)
def test_ranks_of_judged_documents_are_those_of_the_fused_run(how):
    for seed in SEEDS:
        runs = [heldout.Run.of(run) for run in random_runs(seed)]
        qrels = heldout.Qrels.of(random_judgements(seed))
        base = Fusion(how, **OPTIONS.get(how, {}))
        points = [base, Fusion("wsum", "zscore", (0, 1, 1)), Fusion("rrf", k=1), base]
        ranks, retrieved = judged_ranks(runs, qrels, points)
        for number, point in enumerate(points):
            ranked = fuse_runs(runs, point).to_dict()
            rows = zip(qrels.query_of_row().tolist(), qrels.docs.tolist(), strict=True)
            wanted = [_rank(list(ranked.get(qrels.queries[q], ())), doc) for q, doc in rows]
            assert ranks[:, number].tolist() == wanted
            assert retrieved.tolist() == [len(ranked.get(q, ())) for q in qrels.queries]


@pytest.mark.parametrize("how", METHODS)
@pytest.mark.parametrize("depth", [1, 4, 30])
def test_first_documents_are_those_of_the_fused_run(how, depth):
    runs = [heldout.Run.of(run) for run in random_runs(7)]
    points = [Fusion(how, **OPTIONS.get(how, {})), Fusion("wsum", "rank", (1, 0, 0))]
    tops = fuse_tops(runs, points, depth)
    for point, top in zip(points, tops, strict=True):
        wanted = fuse_runs(runs, point, depth=depth)
        assert [list(one.items()) for one in top.to_dict().values()] == [
            list(one.items()) for one in wanted.to_dict().values()
        ]


def random_judgements(seed):
    rng = np.random.default_rng(seed + 100)
    return {
        f"q{query}": {f"doc-{doc}": int(rng.integers(0, 3)) for doc in rng.permutation(18)[:5]}
        for query in range(8)
    }


def _rank(ranked, doc):
    return ranked.index(doc) + 1 if doc in ranked else 0


@pytest.mark.parametrize(
    ("how", "options", "words"),
    [
        ("rff", {}, "how='rff': expected one of rrf, wsum"),
        ("combsum", {"norm": "minmx"}, "norm='minmx': expected one of minmax"),
        ("rrf", {"norm": "minmax"}, "rrf uses ranks alone: leave out norm"),
        ("rrf", {"weights": [1, 1]}, "rrf has no weights: it is a parameter of wsum"),
        ("wsum", {}, "wsum needs a weight per run"),
        ("wsum", {"weights": [1]}, "1 weight for 2 runs"),
        ("wsum", {"weights": [1, -1]}, "weights is -1: expected a number of at least 0"),
        ("wsum", {"weights": [0, 0]}, "all weights are 0"),
        ("wsum", {"weights": [float("nan"), 1]}, "weights is nan"),
        ("wsum", {"weights": "ab"}, "weights='ab': expected a number per run"),
        ("bordafuse", {}, "how='bordafuse': expected one of rrf, wsum"),
        ("combsum", {"k": 60}, "combsum has no k: it is a parameter of rrf"),
        ("rrf", {"k": -1}, "k is -1: expected a number of at least 0"),
        ("rrf", {"depth": 0}, "depth=0: expected a positive integer"),
        ("rrf", {"ties": "best"}, "ties='best': expected one of"),
        ("combsum", {"norm": "max"}, "run ql, query q: norm=max divides by the highest score"),
    ],
)
def test_wrong_parameters_are_named(how, options, words):
    runs = [
        heldout.Run.of({"q": {"a": 1.0}}, "bm25"),
        heldout.Run.of({"q": {"a": -2.0, "b": -3.0}}, "ql"),
    ]
    with pytest.raises(InputError, match=re.escape(words)):
        heldout.fuse(runs, how, **options)


def test_one_run_is_not_a_fusion():
    with pytest.raises(InputError, match="two or more runs, got 1"):
        heldout.fuse([{"q": {"a": 1.0}}])


def test_scores_that_overflow_are_refused():
    runs = [{"q": {"a": 1.7e308, "b": 0.0}}, {"q": {"a": 1.7e308, "b": 1.0}}]
    with pytest.raises(InputError, match="not a finite number"):
        heldout.fuse(runs, "combsum", norm="none")


def test_a_fusion_says_what_it_is():
    assert str(Fusion("wsum", weights=(0.3, 0.7))) == "wsum(norm=minmax, weights=0.3/0.7)"


def test_ids_with_one_hash_are_refused():
    # Different words with one hash, found by undoing the second half of the mixing.
    first, second = colliding_ids()
    runs = [{"q": {first: 1.0}}, {"q": {second: 1.0}}]
    with pytest.raises(InputError, match="same 64-bit hash"):
        heldout.fuse(runs)


def colliding_ids():
    """Two ids of 16 bytes with the same hash: the second words make up for the first."""
    rng = np.random.default_rng(0)

    def letters():
        return np.frombuffer(bytes(rng.integers(97, 123, 8).tolist()), "<u8")

    one, other, rest = letters(), letters(), letters()
    while True:
        fitting = mix(one) ^ rest ^ mix(other)
        text = other.tobytes() + fitting.tobytes()
        if b"\0" not in text:
            try:
                return (one.tobytes() + rest.tobytes()).decode(), text.decode()
            except UnicodeDecodeError:
                pass
        one, other, rest = letters(), letters(), letters()
