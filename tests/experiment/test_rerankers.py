"""Functions that rerank the first documents of another system, tuned in the folds."""

import os
from collections import Counter

import pytest
from experiment_data import small_collection

import heldout
from heldout.cli import main

COLLECTION = small_collection()

CODE = '''
def mix(train, test, candidates, weight=0.5):
    """Add the share of query words in a document to its first score."""
    texts = dict(test.collection.documents.pairs())
    asked = dict(zip(test.collection.queries.ids, test.collection.queries.texts))
    return {
        query: {
            document: (1 - weight) * score + weight * share(texts[document], asked[query])
            for document, score in ranked.items()
        }
        for query, ranked in candidates.to_dict().items()
    }


def share(text, query):
    words = text.split()
    return 10 * sum(words.count(word) for word in query.split()) / len(words)
'''


def keep(train, test, candidates):
    """The first stage as it is."""
    del train, test
    return candidates


def _run(systems, **more):
    given = {"plan": heldout.KFold(3), "measures": ["nDCG@10", "AP"]} | more
    return heldout.Experiment(collection=COLLECTION, systems=systems, **given).run()


def test_a_reranker_that_changes_nothing_has_the_values_of_the_tuned_first_stage():
    results = _run(
        [
            "bm25(k1=1:8:8, b=0.6:1:5)",
            heldout.System.of(keep, first="bm25", parameters={"depth": 1000}),
        ],
        plan=heldout.KFold(6),
    )
    # In every fold it gets the ranking of the parameters that were chosen for the fold.
    assert len(set(results.folds.filter(system="bm25")["parameters"])) > 1
    for measure in ("nDCG@10", "AP"):
        first, second = results.scores(measure).values.T.tolist()
        assert first == second


def test_the_first_stage_is_a_model_a_run_or_vectors(tmp_path):
    run = heldout.search(heldout.Index.build(COLLECTION.documents), COLLECTION.queries)
    run.write(tmp_path / "bm25.run")
    for first in (
        "bm25",
        "bm25(k1=0.9, b=0.4)",
        run,
        tmp_path / "bm25.run",
        heldout.System.of(run),
    ):
        results = _run([heldout.System.of(keep, first=first, parameters={"depth": 10})])
        assert results.value("keep") > 0
        if first != "bm25(k1=0.9, b=0.4)":
            cut = {query: dict(list(one.items())[:10]) for query, one in run.to_dict().items()}
            expected = heldout.evaluate(COLLECTION.qrels, cut, "AP").value()
            assert results.value("keep", "AP") == pytest.approx(expected)


def test_candidates_are_those_of_each_side_and_as_deep_as_the_parameter_says():
    seen = []

    def look(train, test, candidates, train_candidates, depth):
        seen.append((depth, test.collection.queries.ids, candidates, train_candidates, train))
        return candidates

    system = heldout.System.of(look, first="bm25", space={"depth": [3, 20]})
    results = _run([system])
    assert set(results.folds["parameters"]) <= {'{"depth": 3}', '{"depth": 20}'}
    assert {depth for depth, *_ in seen} == {3, 20}
    for depth, asked, candidates, train_candidates, train in seen:
        assert set(candidates.queries) == set(asked)
        assert set(train_candidates.queries) == set(train.collection.queries.ids)
        counts = Counter(len(one) for one in candidates.to_dict().values())
        assert max(counts) <= depth
    # Nine tuning calls see their own training queries, three tests see others.
    assert (
        sum(set(asked).isdisjoint(train.collection.queries.ids) for _, asked, *_, train in seen)
        == 3
    )


@pytest.mark.parametrize("tuned_first", [False, True])
def test_its_parameters_are_chosen_in_the_folds(tmp_path, monkeypatch, tuned_first):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rank.py").write_text(CODE)
    first = "bm25(k1=0.5,2)" if tuned_first else "bm25"
    text = "mixed=rerank(first=bm25, function=rank.py:mix, depth=20, weight=0:1:3)"
    results = _run([first, text])
    chosen = results.folds.filter(system="mixed")
    assert len(chosen) == 3
    assert all("weight" in one for one in chosen["parameters"])
    # The best weight on the training queries of a fold cannot be worse there than weight 0.
    surface = results.surface.filter(system="mixed").drop_nulls("fold")
    for part in surface.partition_by("fold"):
        best = chosen.filter(fold=part["fold"][0])["train"][0]
        assert best == pytest.approx(part["mean"].max())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rerank(first=bm25)", "rerank needs function"),
        ("rerank(function=rank.py:mix)", "rerank needs first"),
        ("rerank(bm25, function=rank.py:mix)", "'bm25' is not a parameter"),
        ("rerank(first=bm25, function=rank.py)", "expected file.py:name"),
        ("rerank(first=bm25, function=rank.py:none)", "rank.py has no 'none'"),
        (
            "rerank(first=bm25, function=rank.py:mix, depth=0)",
            "the depth must be a positive integer, not 0",
        ),
        ("rerank(first=bm25, function=rank.py:mix, depth=5, depth=6)", "depth is given twice"),
        ("rerank(first=none, function=rank.py:mix)", "none is neither another system of this"),
        ("rerank(first=bm25(k1=1,2), function=rank.py:mix)", "must be a system of its own"),
        ("rerank(first=mix, function=rank.py:mix)", "mix is neither another system"),
    ],
)
def test_wrong_rerankers(tmp_path, monkeypatch, capsys, text, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rank.py").write_text(CODE)
    with pytest.raises(SystemExit, match="2"):
        main(["run", "pydocs", "--system", text])
    assert message in capsys.readouterr().err


def test_what_it_cannot_do_is_said_before_anything_runs():
    with pytest.raises(heldout.HeldoutError, match="say that its scores of documents in different"):
        _run([heldout.System.of(keep, first="bm25")], by="document")
    system = heldout.System.of(keep, first="bm25", comparable=True)
    with pytest.raises(heldout.HeldoutError, match="which needs folds"):
        _run([system], by="document", plan=heldout.HoldOut(0.3))
    mine = heldout.System.of(lambda train, test: {}, "mine")  # noqa: ARG005 - never called
    with pytest.raises(heldout.HeldoutError, match="mine cannot be reranked: its ranking"):
        _run([mine, heldout.System.of(keep, first="mine")])
    with pytest.raises(heldout.InputError, match="a reranker is a function"):
        heldout.System.of(dict, first="bm25", kind="function")
    with pytest.raises(heldout.HeldoutError, match=r"keep\(alpha=1\) failed: TypeError"):
        _run([heldout.System.of(keep, first="bm25", parameters={"alpha": 1})])


def test_on_new_documents_a_reranker_that_changes_nothing_has_the_values_of_its_first_stage():
    model = "bm25(k1=1:8:8, b=0.6:1:5)"
    system = heldout.System.of(keep, first="bm25", parameters={"depth": 1000}, comparable=True)
    results = _run([model, system], by="document", plan=heldout.KFold(4, repeats=2))
    assert len(set(results.folds.filter(system="bm25")["parameters"])) > 1
    for measure in ("nDCG@10", "AP"):
        first, second = results.scores(measure).values.T.tolist()
        assert first == second


def test_on_new_documents_candidates_are_the_first_of_all_held_out_documents():
    seen = []

    def look(train, test, candidates, train_candidates):
        seen.append((train, test, candidates, train_candidates))
        return candidates

    system = heldout.System.of(look, first="bm25", parameters={"depth": 5}, comparable=True)
    results = _run(["bm25", system], by="document", keep_depth=10)
    pooled = results.predictions("bm25").to_dict()
    together = {query: {} for query in pooled}
    assert len(seen) == 3
    for train, test, candidates, train_candidates in seen:
        for query, ranked in candidates.to_dict().items():
            assert set(ranked) <= set(test.collection.documents.ids)
            together[query] |= ranked
        for ranked in train_candidates.to_dict().values():
            assert set(ranked) <= set(train.collection.documents.ids)
            assert len(ranked) == 5
    for query, ranked in pooled.items():
        assert set(together[query]) == set(list(ranked)[:5])


def elsewhere(train, test, candidates):
    """Return the candidates, and fail in the process that started the run with two workers."""
    del train, test
    if os.environ.get("NOT_IN") == str(os.getpid()):
        raise RuntimeError("called in the main process")
    return candidates


@pytest.mark.parametrize("by", ["query", "document"])
def test_with_two_processes_the_results_are_the_same(tmp_path, monkeypatch, by):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rank.py").write_text(CODE + PLAIN)
    systems = [
        "bm25(k1=0.5,2)",
        "plain=rank.py:plain(comparable=true)",
        heldout.System.of(elsewhere, first="bm25", comparable=True),
        "mixed=rerank(first=bm25, function=rank.py:mix, weight=0,1, comparable=true)",
    ]
    given = {"collection": COLLECTION, "systems": systems, "plan": heldout.KFold(2), "by": by}
    one = heldout.Experiment(**given).run(workers=1)
    monkeypatch.setenv("NOT_IN", str(os.getpid()))
    two = heldout.Experiment(**given).run(workers=2)
    assert one.values.equals(two.values)
    assert one.held_out.equals(two.held_out)


PLAIN = """
def plain(train, test):
    return {query: {test.collection.documents.ids[0]: 1.0} for query in test.collection.queries.ids}
"""
