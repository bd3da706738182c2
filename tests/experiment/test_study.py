"""Studies in which the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from document_data import indexed, topical_collection

import heldout
from heldout.errors import HeldoutError
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.studies.bias import StudySettings, _division, bias_study, unseen_values
from heldout.measure.names import parse_measure
from heldout.retrieve.models import grid
from heldout.retrieve.search import search

NDCG = parse_measure("nDCG@10")
FIXED = grid("bm25", k1=[1.0], b=[0.5])
GRID = grid("bm25", k1=[0.3, 1.0, 4.0], b=[0.0, 0.5, 1.0])
FIELDS = {
    "estimator", "bias", "se", "rmse", "coverage", "mean", "truth", "default", "system", "measure",
    "tuning", "fraction", "draws", "sets", "folds", "seed", "sample_size", "target_size",
    "queries_left_out", "estimand", "coverage_se",
}  # fmt: skip
COLLECTION = topical_collection(240, relevant=0.5)
INDEX = indexed(COLLECTION)
ONE = Candidates.make(INDEX, COLLECTION, FIXED)


def study(candidates=ONE, **settings):
    own = {"draws": 6, "replicates": 0, "tuning": "fixed", **settings}
    return bias_study(candidates, StudySettings(own.pop("measure", NDCG), **own))


def by_name(study):
    return {row.estimator: row for row in study.rows}


@pytest.fixture(scope="module")
def plain():
    """Six draws with one set each, and intervals."""
    return study(replicates=20)


@pytest.fixture(scope="module")
def sets():
    """Six draws with two sets each."""
    return study(sets=2)


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


def test_rows_and_the_default(plain):
    assert [row.estimator for row in plain.rows] == [
        "pooled", "training", "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff",
    ]  # fmt: skip
    assert [row.estimator for row in plain.rows if row.default] == ["pooled"]
    assert (plain.sample_size, plain.target_size) == (120, 120)
    for record, row in zip(plain.to_dict(), plain.rows, strict=True):
        assert row.bias == pytest.approx(row.mean - row.truth)
        assert row.rmse >= abs(row.bias) - 1e-12
        assert (row.coverage is not None) == row.default
        assert set(record) == FIELDS
        assert (record["estimator"], record["bias"]) == (row.estimator, row.bias)
        assert record["default"] is (record["estimator"] == "pooled")
        assert (record["draws"], record["measure"]) == (6, "nDCG@10")
    lines = str(plain).splitlines()
    assert "for these queries on 120 new documents include the truth" in lines[0]
    assert lines[3].startswith("pooled ")
    design = "bm25(k1=1, b=0.5), nDCG@10: 6 draws of 120 training documents, truth on 120 other"
    assert any(line.startswith(design) for line in lines)
    assert "Nothing is tuned." in lines


def test_bias_se_and_rmse_are_those_of_the_draws(sets):
    for row in sets.rows:
        mine = [mean for mean in sets.means if mean[2] == row.estimator]
        assert [mean[:2] for mean in mine] == [(draw, set_) for draw in range(6) for set_ in (0, 1)]
        error = np.array([value - truth for *_, value, truth in mine])
        assert row.bias == pytest.approx(error.mean())
        assert row.rmse == pytest.approx(np.sqrt((error**2).mean()))
        # Two draws share an order of the documents, and their sets what is unseen: 3 units.
        units = error.reshape(3, 4).mean(axis=1)
        assert row.se == pytest.approx(units.std(ddof=1) / np.sqrt(3))


def test_every_document_is_seen_once_in_a_turn():
    """The training score of a fixed system is that of the other side in the next draw, nearly."""
    settings = StudySettings(NDCG, fraction=0.5, draws=4, tuning="fixed")
    first, second, third = (_division(240, settings, 120, draw, 0) for draw in range(3))
    assert ((first[0] >= 0) == second[1]).all()
    assert ((second[0] >= 0) == first[1]).all()
    assert ((third[0] >= 0) != (first[0] >= 0)).any()
    sixth = StudySettings(NDCG, fraction=0.1667, draws=12, tuning="fixed")
    times = np.sum([_division(240, sixth, 40, draw, 0)[0] >= 0 for draw in range(6)], axis=0)
    assert (times == 1).all()


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


def test_a_larger_truth_is_met_by_size_matching():
    done = by_name(study(fraction=1 / 6, draws=12, folds=4))
    assert abs(done["pooled-unmatched"].bias) > 0.06
    assert abs(done["pooled"].bias) < 0.5 * abs(done["pooled-unmatched"].bias)


def test_what_over_fits_on_purpose_shows_in_the_training_score_alone():
    priors = np.random.default_rng(0).normal(0, 2, (240, 30))
    candidates = Candidates.make(INDEX, COLLECTION, FIXED * 30, priors=priors)
    nested = by_name(study(candidates, tuning="nested", draws=16))
    assert nested["training"].bias > 0.04
    assert abs(nested["pooled"].bias) < 0.5 * nested["training"].bias
    leaking = by_name(study(candidates, tuning="pre-split", draws=16))
    assert leaking["pooled"].bias > nested["pooled"].bias + 0.01
    assert leaking["training"].bias == pytest.approx(nested["training"].bias)


def test_tuned_studies():
    candidates = Candidates.make(INDEX, COLLECTION, GRID)
    for tuning in ("nested", "pre-split"):
        done = study(candidates, tuning=tuning, draws=2, sets=2)
        assert done.sample_size == 60
        assert all(0 < row.mean < 1 and 0 < row.truth < 1 for row in done.rows)
        assert ("leaks" in str(done)) == (tuning == "pre-split")
    with pytest.raises(HeldoutError, match="nothing is tuned, but there are 9 settings"):
        study(candidates)


def test_the_coverage_has_a_standard_error_and_few_draws_are_pointed_out(plain):
    def said(coverage, se):
        row = replace(plain.rows[0], bias=0.0, se=0.001, coverage=coverage, coverage_se=se)
        return str(replace(plain, rows=(row,))).splitlines()[0]

    assert "83.3% ± 15.2% of its 95% intervals" in said(0.833, 0.152)
    assert said(0.833, 0.152).endswith("(6 draws are too few to judge that).")
    assert said(0.94, 0.0168).endswith(
        "94.0% ± 1.7% of its 95% intervals for these queries on 120 new documents include the "
        "truth."
    )


REFUSED = [
    ({"fraction": 0.0}, "fraction=0.0: expected greater than 0"),
    ({"fraction": 1.0}, "fraction=1.0: expected less than 1"),
    ({"fraction": float("nan")}, "fraction=nan"),
    ({"draws": 1}, "draws=1: expected greater than or equal to 2"),
    ({"folds": 1}, "folds=1: expected an integer of at least 2"),
    ({"sets": 0}, "sets=0: expected an integer of at least 1"),
    ({"folds": 100}, "too few for 100 folds"),
    ({"sets": 100}, "too few for 5 folds"),
    ({"tuning": "magic"}, "tuning='magic': expected 'fixed', 'nested' or 'pre-split'"),
    ({"seed": -1}, "seed=-1"),
    ({"measure": parse_measure("AP_IA")}, "whole ranked lists"),
    ({"measure": parse_measure("Bpref"), "fraction": 0.2}, "Bpref cannot be estimated"),
]


def test_refusals():
    for settings, message in REFUSED:
        with pytest.raises(HeldoutError, match=message):
            study(**settings)
    texts = {f"d{n:02}": f"word{n} common" for n in range(40)}
    small = heldout.Collection(texts, {"q": "common"}, {"q": {"d03": 1}})
    with pytest.raises(HeldoutError, match=r"draw \d: no query has a relevant document on the"):
        study(Candidates.make(indexed(small), small, FIXED))
