"""The score on what was seen is shown beside the held-out one only at the same size."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

from heldout.experiment.experiment import Experiment
from heldout.experiment.systems import System
from heldout.resample.holdout import HoldOut
from heldout.resample.plans import Bootstrap, KFold

COLLECTION = small_collection(documents=160, queries=40)


def estimate(system, **fields):
    settings = {"collection": COLLECTION, "by": "document", "measures": ["nDCG@10"], **fields}
    results = Experiment(systems=[system], **settings).run()
    return results.estimate(results.systems[0])


@pytest.mark.parametrize("plan", [HoldOut(0.2, repeats=20), Bootstrap(20)], ids=str)
def test_a_fixed_model_has_no_optimism_under_hold_outs(plan):
    """Nothing is tuned, so seen and held out differ by chance alone, whatever their sizes."""
    found = estimate("bm25", plan=plan)
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    assert abs(found["optimism"]) < 0.05
    whole = Experiment(collection=COLLECTION, systems="bm25", plan=KFold(2)).run()
    # On the whole collection it does far worse: that is no match for a part of the documents.
    assert whole.estimate("bm25")["value"] < found["value"] - 0.06


def test_a_seen_side_smaller_than_the_held_out_one_cannot_be_compared():
    found = estimate("bm25(k1=1:2:2)", plan=HoldOut(0.7))
    assert found["train"] is None
    assert found["optimism"] is None


def test_functions_whose_folds_are_merged_show_their_optimism():
    system = System.of(overlap, "f", comparable=True, space={"power": [0.0, 0.5, 1.0]})
    found = estimate(system, plan=KFold(4))
    assert found["optimism"] == pytest.approx(found["train"] - found["value"])
    held = estimate(system, plan=HoldOut(0.2))
    assert held["train"] is None
    assert held["optimism"] is None


def test_the_seen_part_does_not_depend_on_the_order_of_the_documents():
    from heldout.data.collection import Collection

    texts = dict(COLLECTION.documents.pairs())
    turned = Collection(
        dict(reversed(texts.items())), COLLECTION.queries.to_dict(), COLLECTION.qrels.to_dict()
    )
    plan = HoldOut(0.2)
    one, other = (
        estimate("bm25(k1=1:2:2)", plan=plan, collection=each) for each in (COLLECTION, turned)
    )
    np.testing.assert_allclose(one["train"], other["train"], rtol=1e-12)
