"""Studies in which the truth is known."""

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import HeldoutError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.bias import StudySettings, bias_study, unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

NDCG = parse_measure("nDCG@10")
FIXED = grid("bm25", k1=[1.0], b=[0.5])
COLLECTION = topical_collection(240, relevant=0.5)
INDEX = indexed(COLLECTION)
ONE = Candidates.make(INDEX, COLLECTION, FIXED)


def study(candidates=ONE, **settings):
    own = {"draws": 6, "replicates": 0, "tuning": "fixed", **settings}
    return bias_study(candidates, StudySettings(own.pop("measure", NDCG), **own))


def by_name(study):
    return {row.estimator: row for row in study.rows}


def test_the_truth_is_that_of_documents_added_one_by_one():
    """Every unseen document in an index of its own with the seen ones."""
    side = np.random.default_rng(3).integers(0, 3, 240)  # seen, unseen, neither
    seen, unseen = (
        {doc: text for where, (doc, text) in zip(side, COLLECTION.documents.pairs(), strict=True)
         if where == wanted}
        for wanted in (0, 1)
    )  # fmt: skip
    run = {}
    for doc, text in unseen.items():
        own = heldout.Index.build({**seen, doc: text})
        for query, scores in search(own, COLLECTION.queries, FIXED[0]).to_dict().items():
            if doc in scores:
                run.setdefault(query, {})[doc] = round(scores[doc], 9)
    qrels = {
        query: {doc: grade for doc, grade in rows.items() if doc in unseen}
        for query, rows in COLLECTION.qrels.to_dict().items()
    }
    qrels = {query: rows for query, rows in qrels.items() if any(rows.values())}
    wanted = heldout.evaluate(qrels, run, ["nDCG@10"])
    values = unseen_values(ONE, side == 0, side == 1, 0, NDCG)
    places = [COLLECTION.queries.ids.index(query) for query in wanted.units()]
    assert np.isfinite(values).sum() == len(qrels)
    assert values[places] == pytest.approx(wanted.per_unit(0, 0))


def test_rows_are_of_the_draws():
    done = study(sets=2, replicates=20)
    assert [row.estimator for row in done.rows] == [
        "pooled", "pooled-unmatched", "training",
        "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff",
    ]  # fmt: skip
    assert (done.sample_size, done.target_size) == (60, 120)
    for record, row in zip(done.to_dict(), done.rows, strict=True):
        assert row.default == (row.coverage is not None) == (row.estimator == "pooled")
        assert (record["estimator"], record["bias"]) == (row.estimator, row.bias)
        mine = [mean for mean in done.means if mean[2] == row.estimator]
        assert [mean[:2] for mean in mine] == [(draw, set_) for draw in range(6) for set_ in (0, 1)]
        error = np.array([value - truth for *_, value, truth in mine])
        assert row.bias == pytest.approx(error.mean())
        assert row.rmse == pytest.approx(np.sqrt((error**2).mean()))
        # Two draws share an order of the documents, and their sets what is unseen: 3 units.
        units = error.reshape(3, 4).mean(axis=1)
        assert row.se == pytest.approx(units.std(ddof=1) / np.sqrt(3))
    lines = str(done).splitlines()
    assert "for these queries on 120 new documents include the truth" in lines[0]
    assert lines[0].endswith("(6 draws are too few to judge that).")
    assert "Nothing is tuned." in lines


def test_per_fold_with_zeros_is_far_below_the_truth_and_pooled_is_not():
    done = by_name(study(draws=24))
    assert done["per-fold-zero"].bias < -0.15
    assert done["per-fold"].bias > 0.08
    assert abs(done["pooled"].bias) < 3 * done["pooled"].se + 0.01
    assert done["pooled"].rmse < done["per-fold"].rmse
    assert done["pooled"].coverage is None
    # Draws that share an order are balanced: independent ones would have three times the error.
    balanced = done["training"]
    assert balanced.se < balanced.rmse / np.sqrt(24) / 3


def test_what_over_fits_on_purpose_shows_in_the_training_score_alone():
    priors = np.random.default_rng(0).normal(0, 2, (240, 30))
    candidates = Candidates.make(INDEX, COLLECTION, FIXED * 30, priors=priors)
    nested = by_name(study(candidates, tuning="nested", draws=16))
    assert nested["training"].bias > 0.04
    assert abs(nested["pooled"].bias) < 0.5 * nested["training"].bias
    leaking = by_name(study(candidates, tuning="pre-split", draws=16))
    assert leaking["pooled"].bias > nested["pooled"].bias + 0.01
    assert leaking["training"].bias == pytest.approx(nested["training"].bias)
    assert "leaks" in str(study(candidates, tuning="pre-split", draws=2))


REFUSED = [
    ({"fraction": 0.0}, "fraction=0.0: expected greater than 0"),
    ({"fraction": float("nan")}, "fraction=nan"),
    ({"draws": 1}, "draws=1: expected greater than or equal to 2"),
    ({"folds": 100}, "too few for 100 folds"),
    ({"sets": 100}, "too few for 5 folds"),
    ({"tuning": "magic"}, "tuning='magic': expected 'fixed', 'nested' or 'pre-split'"),
    ({"seed": -1}, "seed=-1"),
    ({"measure": parse_measure("Bpref"), "fraction": 0.2}, "Bpref cannot be estimated"),
]


def test_refusals():
    for settings, message in REFUSED:
        with pytest.raises(HeldoutError, match=message):
            study(**settings)
    texts = {f"d{n:02}": f"word{n} common" for n in range(40)}
    small = heldout.Collection(texts, {"q": "common"}, {"q": {"d03": 1}})
    two = Candidates.make(INDEX, COLLECTION, FIXED * 2)
    for candidates, message in (
        (Candidates.make(indexed(small), small, FIXED), r"draw \d: no query has a relevant doc"),
        (two, "nothing is tuned, but there are 2 settings"),
    ):
        with pytest.raises(HeldoutError, match=message):
            study(candidates)
