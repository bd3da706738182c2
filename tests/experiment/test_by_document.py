"""Held-out documents, alone and with queries: choices, pooled estimates, sizes, intervals."""

import json
from types import SimpleNamespace
from typing import get_args

import numpy as np
import polars as pl
import pytest
from document_data import indexed, topical_collection
from experiment_data import overlap, small_collection

import heldout
from heldout import Bootstrap, Collection, Experiment, HoldOut, Index, KFold, Model, System, View
from heldout.experiment.documents.candidates import Candidates, choose_in_folds
from heldout.experiment.documents.estimates import Estimate
from heldout.experiment.documents.lists import measure_lists
from heldout.experiment.documents.pooling import pool
from heldout.experiment.fields import Method
from heldout.experiment.results.summary import document_differences
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

SMALL = small_collection()
SMALL_INDEX = Index.build(SMALL)
NDCG, PRECISION = parse_measure("nDCG@10"), parse_measure("P@5")
MODELS = grid("bm25", k1=[0.3, 4.0], b=[0.0, 0.5, 1.0])
TOPICAL = topical_collection(160)
INDEX = indexed(TOPICAL)
FOLDS = 4
# Each document is in a fold, or not in the sample.
FOLD_OF = np.random.default_rng(2).choice([-1, 0, 1, 2, 3], 160).astype(np.int32)


def run(*systems, **fields):
    given = {"collection": SMALL, "by": "document", "plan": KFold(3), "measures": ["AP"]}
    if fields.get("collection", SMALL) is SMALL:
        given["index"] = SMALL_INDEX
    return Experiment(systems=systems, **given | {"replicates": 100} | fields).run()


def sampled(**fields):
    """The results of an experiment with the folds above."""
    ids = TOPICAL.documents.ids
    given = {name: fold for name, fold in zip(ids, FOLD_OF.tolist(), strict=True) if fold >= 0}
    own = {
        "collection": TOPICAL,
        "index": INDEX,
        "plan": heldout.GivenFolds(given, strict=False),
        "measures": ["nDCG@10", "P@5"],
    }
    return run("bm25(k1=0.3,4, b=0,0.5,1)", **own | fields)


# ---- choices ------------------------------------------------------------------------------------


def means_on(kept):
    """Mean nDCG@10 of every setting when only some documents exist."""
    texts = [pair for pair, keep in zip(TOPICAL.documents.pairs(), kept, strict=True) if keep]
    own, names = Index.build(dict(texts)), {name for name, _ in texts}
    qrels = {
        query: {doc: grade for doc, grade in rows.items() if doc in names}
        for query, rows in TOPICAL.qrels.to_dict().items()
    }
    qrels = {query: rows for query, rows in qrels.items() if any(rows.values())}
    runs = [search(own, TOPICAL.queries, model, name=str(model)) for model in MODELS]
    scores = heldout.evaluate(qrels, runs, ["nDCG@10"])
    return [scores.value(number, 0) for number in range(len(MODELS))]


def test_settings_are_chosen_on_training_sides_as_by_new_indexes():
    each, final = choose_in_folds(Candidates.make(INDEX, TOPICAL, MODELS), FOLD_OF, FOLDS, NDCG)
    seen = [(FOLD_OF >= 0) & (fold != FOLD_OF) for fold in range(FOLDS)]
    for choice, kept in zip([*each, final], [*seen, FOLD_OF >= 0], strict=True):
        means = means_on(kept)
        assert choice.means == pytest.approx(means)
        assert choice.number == int(np.argmax(means))
    (split,) = HoldOut(0.3).splits(TOPICAL, "document")
    row = sampled(plan=HoldOut(0.3)).folds.row(0, named=True)
    means = means_on(split.train > 0)
    assert (row["number"], row["train"]) == (np.argmax(means), pytest.approx(max(means)))


def test_what_is_held_out_or_not_in_the_sample_has_no_say_in_the_choice():
    """Priors, judgements and texts of those documents are replaced by tempting ones."""
    models, priors = [MODELS[1]] * 12, np.random.default_rng(1).normal(0, 2, (160, 12))

    def chosen(index, collection, priors):
        candidates = Candidates.make(index, collection, models, priors=priors)
        each, final = choose_in_folds(candidates, FOLD_OF, FOLDS, NDCG)
        return [*each, final]

    clean = chosen(INDEX, TOPICAL, priors)
    assert len({choice.number for choice in clean}) > 1
    moved = 0
    for fold in (*range(FOLDS), -1):
        held, tempting = fold == FOLD_OF, priors.copy()
        own = range(FOLDS + 1) if fold == -1 else [fold]  # choices that must not change
        tempting[held, int(np.argmin(clean[fold].means))] = 1e6
        relevant = {f"d{number:03}": 2 for number in np.flatnonzero(held).tolist()}
        qrels = {
            query: {doc: grade for doc, grade in rows.items() if not held[int(doc[1:])]} | relevant
            for query, rows in TOPICAL.qrels.to_dict().items()
        }
        texts = {
            name: "t1 t2 t3 " * 50 if poisoned else text
            for poisoned, (name, text) in zip(held, TOPICAL.documents.pairs(), strict=True)
        }
        poisoned = Collection(texts, TOPICAL.queries, qrels)
        again = chosen(indexed(poisoned), poisoned, tempting)
        for at in own:
            assert again[at].number == clean[at].number
            assert np.array_equal(again[at].means, clean[at].means)
        moved += sum(a.number != b.number for a, b in zip(again, clean, strict=True))
    assert moved  # the poison does work where it is seen


# ---- estimates ----------------------------------------------------------------------------------


def test_the_estimate_is_the_pooled_ranking_of_the_chosen_settings():
    found, points = sampled(), [dict(model.parameters) for model in MODELS]
    chosen = [points.index(json.loads(text)) for text in found.folds["parameters"]]
    candidates = Candidates.make(INDEX, TOPICAL, MODELS)
    pooled = pool(candidates, FOLD_OF, chosen, found.summary[0]["ship_number"], 1000)
    counted = (FOLD_OF >= 0)[candidates.table.documents]
    values = measure_lists(candidates.table, pooled, counted, [NDCG, PRECISION], 1000)
    defined = np.isfinite(values)
    assert found.values["value"].to_list() == values[defined].tolist()
    for row, measure in enumerate(["nDCG@10", "P@5"]):
        estimate = found.estimate("bm25", measure)
        assert estimate["value"] == pytest.approx(np.nanmean(values[row]))
        assert estimate["low"] < estimate["value"] < estimate["high"]
        assert estimate["estimator"] == "pooled"
        assert estimate["estimand"] == "these queries on new documents"
        assert estimate["n_queries"] == defined[row].sum()
        assert estimate["left_out"] == (~defined[row]).sum()
        assert estimate["target_size"] == (FOLD_OF >= 0).sum()
        assert estimate["optimism"] == pytest.approx(estimate["train"] - estimate["value"])


def test_a_training_side_without_relevant_documents_is_refused():
    texts = {f"d{number}": f"word{number} common" for number in range(12)}
    small = Collection(texts, {"q": "common"}, {"q": {"d3": 1}})
    with pytest.raises(heldout.HeldoutError, match="no query on the training side has a relevant"):
        run("bm25(k1=1,2)", collection=small)


def test_every_estimator_by_name():
    found = {}
    for method in get_args(Method):
        estimate = sampled(method=method).estimate("bm25", "nDCG@10")
        assert estimate["estimator"] == method
        assert (estimate["left_out"] == 0) == (method == "per-fold-zero")
        found[method] = estimate["value"]
    assert len(set(found.values())) == len(found)
    assert found["per-fold-zero"] < found["pooled"] < found["training"]


def test_a_larger_target_is_harder_to_rank_and_is_named():
    size = int((FOLD_OF >= 0).sum())
    plain, same, larger = (
        sampled(target_size=target).summary[0]["estimates"] for target in (None, size, 5 * size)
    )
    assert plain == same
    assert {row["target_size"] for row in larger} == {5 * size}
    assert larger[1]["value"] > plain[1]["value"] + 0.02  # P@5: more relevant documents to find
    assert larger[0]["value"] != plain[0]["value"]
    assert larger[0]["optimism"] == plain[0]["optimism"]


def test_folds_that_can_be_merged_are_one_ranking():
    """Scores depend on document and query alone, so the folds merged are the whole ranking."""
    mine = System.of(overlap, "f", space={"power": [0.0, 0.5, 1.0]}, comparable=True)
    results = run(mine, measures=["nDCG@10", "AP"])
    assert results.folds["number"].n_unique() == 1
    power = [0.0, 0.5, 1.0][results.folds["number"][0]]
    whole = overlap(None, View(SMALL), power)
    wanted = heldout.evaluate(SMALL.qrels, whole, ["nDCG@10", "AP"])
    for at, measure in enumerate(["nDCG@10", "AP"]):
        scores = results.scores(measure)
        assert scores.units == tuple(wanted.units())
        assert scores.values[:, 0] == pytest.approx(wanted.per_unit(0, at), abs=1e-12)
    estimate = results.estimate("f")
    assert estimate["estimand"] == "these queries on new documents"
    assert estimate["low"] < estimate["value"] < estimate["high"]


def test_folds_that_cannot_be_merged_are_measured_one_by_one():
    results = run(System.of(overlap, "f", comparable=False))
    for split in KFold(3).splits(SMALL, "document"):
        view = split.view(SMALL, "test")
        judged = view.qrels.to_dict().items()
        qrels = {query: grades for query, grades in judged if max(grades.values()) > 0}
        wanted = heldout.evaluate(qrels, overlap(None, view), ["AP"])
        expected = dict(zip(wanted.units(), wanted.per_unit(0, 0).tolist(), strict=True))
        found = results.values.filter(fold=split.key.fold)
        assert dict(found.select("unit", "value").iter_rows()) == pytest.approx(expected)
    estimate = results.estimate("f")
    assert estimate["low"] is None
    assert "as few as a fold has" in estimate["estimand"]


def test_a_fixed_model_has_no_optimism_under_hold_outs():
    """Nothing is tuned, so seen and held out differ by chance alone, for all sizes."""
    collection = small_collection(documents=160, queries=40)
    for plan in (HoldOut(0.2, repeats=20), Bootstrap(20)):
        found = run("bm25", plan=plan, collection=collection).estimate("bm25")
        assert found["optimism"] == pytest.approx(found["train"] - found["value"])
        assert abs(found["optimism"]) < 0.05


# ---- differences --------------------------------------------------------------------------------


def test_a_difference_on_new_documents_by_hand():
    def outcome(value, halves, target_halves):
        numbers = (value, value, value, "", 11, 0, 0.0, 100)
        estimate = Estimate("AP", "pooled", *numbers, halves, target_halves)
        return SimpleNamespace(estimates=[[estimate]])

    prepared = SimpleNamespace(
        experiment=SimpleNamespace(level=0.95),
        measures=[parse_measure("AP", "ranking")],
        systems=[SimpleNamespace(name="a"), SimpleNamespace(name="b")],
    )
    outcomes = [outcome(0.5, (0.3, -0.1), (0.2, 0.0)), outcome(0.4, (0.1, -0.1), (0.2, 0.2))]
    none, [difference] = document_differences(prepared, outcomes)
    assert none == []
    # Means of squares: (.2² + 0) / 2 and (0 + .2²) / 2; t with 10 degrees of freedom.
    half = 2.2281388519649385 * (0.02 + 0.02) ** 0.5
    numbers = [difference.pop(name) for name in ("low", "difference", "high")]
    assert numbers == pytest.approx([-0.1 - half, -0.1, -0.1 + half])
    assert difference == {"system": "a", "measure": "AP"}


def test_pairing_makes_the_interval_narrower_than_two_apart():
    systems = ["bm25(k1=1, b=0.5)", "copy=bm25(k1=1, b=0.5)", "tf-idf"]
    results = run(*systems, collection=TOPICAL)
    [copied] = results.summary[1]["differences"]
    assert [copied[name] for name in ("system", "difference", "low", "high")] == ["bm25", 0, 0, 0]
    first, last = (results.estimate(name) for name in ("bm25", "tf-idf"))
    [row] = [row for row in results.summary[2]["differences"] if row["system"] == "bm25"]
    assert row["difference"] == pytest.approx(last["value"] - first["value"])
    apart = np.hypot(first["high"] - first["low"], last["high"] - last["low"])
    assert 0 < row["high"] - row["low"] < apart
    assert "on new documents" in str(results).splitlines()[0]


# ---- queries and documents ----------------------------------------------------------------------


BOTH = {"by": "both", "plan": heldout.cross(KFold(3), KFold(2))}


def test_pooled_values_of_both_are_those_of_the_choice_of_their_query_fold():
    """Documents are pooled again for the settings that each query fold has chosen."""
    results = run("bm25(k1=0.2,2.2,8)", **BOTH)
    estimate = results.estimate("bm25")
    assert (estimate["estimand"], estimate["n_queries"]) == ("new queries on new documents", 24)
    assert estimate["low"] < estimate["value"] < estimate["high"]
    assert results.folds.height == 3 * 2
    assert results.surface.height == (3 * 2 + 1) * 3
    folds = BOTH["plan"].splits(SMALL).crossed[1].folds().astype(np.int32)
    points = [{"b": 0.75} | point for point in System.of("bm25(k1=0.2,2.2,8)").search.points]
    models = [Model.make("bm25", **point) for point in points]
    candidates = Candidates.make(SMALL_INDEX, SMALL, models)
    everything = np.ones(len(candidates.table), np.bool_)
    final = results.summary[0]["ship_number"]
    for fold in range(3):
        chosen = results.folds.filter(fold=fold).sort("other")["number"].to_list()
        pooled = pool(candidates, folds, chosen, final, 1000)
        (values,) = measure_lists(candidates.table, pooled, everything, [parse_measure("AP")], 1000)
        for unit, value in results.values.filter(fold=fold).select("unit", "value").iter_rows():
            assert value == pytest.approx(values[SMALL.queries.ids.index(unit)])


def test_the_choice_of_a_query_fold_does_not_see_its_queries():
    folds = BOTH["plan"].splits(SMALL).crossed[0].folds()
    other = {SMALL.queries.ids[place] for place in np.flatnonzero(folds == 1)}
    judged = {
        query: {doc: (0 if grade else 2) if query in other else grade for doc, grade in own.items()}
        for query, own in SMALL.qrels.to_dict().items()
    }
    turned = Collection(SMALL.documents, SMALL.queries, judged)
    before, after = (
        run("bm25(k1=0.2:2.2:5, b=0,1)", collection=each, **BOTH).folds for each in (SMALL, turned)
    )
    columns = ["fold", "other", "number", "train"]
    for hidden in (True, False):
        one, two = (
            each.filter((pl.col("fold") == 1) == hidden).select(columns) for each in (before, after)
        )
        assert one.equals(two) == hidden
