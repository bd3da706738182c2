"""Functions that rerank the first documents of another system, tuned in the folds."""

import pytest
from experiment_data import small_collection

import heldout
from heldout import System

COLLECTION = small_collection()


def keep(train, test, candidates):
    """The first stage as it is."""
    del train, test
    return candidates


def run(systems, **more):
    given = {"plan": heldout.KFold(3), "measures": ["nDCG@10", "AP"]} | more
    return heldout.Experiment(collection=COLLECTION, systems=systems, **given).run()


@pytest.mark.parametrize(
    ("by", "plan"),
    [("query", heldout.KFold(6)), ("document", heldout.KFold(4, repeats=2))],
)
def test_a_reranker_that_changes_nothing_has_the_values_of_the_tuned_first_stage(by, plan):
    """In every fold it gets the ranking of the parameters that were chosen for the fold."""
    same = System.of(keep, first="bm25", parameters={"depth": 1000}, comparable=True)
    results = run(["bm25(k1=1:8:8, b=0.6:1:5)", same], by=by, plan=plan)
    assert results.folds.filter(system="bm25")["parameters"].n_unique() > 1
    for measure in ("nDCG@10", "AP"):
        first, second = results.scores(measure).values.T.tolist()
        assert first == second


def test_candidates_are_those_of_each_side_and_as_deep_as_the_parameter_says():
    seen, tests = [], 0

    def look(train, test, candidates, train_candidates, depth):
        seen.append((depth, train, test, candidates, train_candidates))
        return candidates

    run([System.of(look, first="bm25", space={"depth": [3, 20]})])
    assert {depth for depth, *_ in seen} == {3, 20}
    for depth, train, test, candidates, train_candidates in seen:
        assert set(candidates.queries) == set(test.collection.queries.ids)
        assert set(train_candidates.queries) == set(train.collection.queries.ids)
        assert max(map(len, candidates.to_dict().values())) <= depth
        tests += set(candidates.queries).isdisjoint(train_candidates.queries)
    assert tests == 3  # tuning ranks the training queries
