"""Documents that belong together, in experiments and studies: a copy is no new document."""

import numpy as np
import pytest
from document_data import indexed, topical_collection
from experiment_data import small_collection, table_bytes

from heldout import Collection, Experiment, KFold
from heldout.cli import main
from heldout.experiment.documents.candidates import Candidates
from heldout.experiment.documents.cross_validate import _inner_side
from heldout.experiment.documents.uncertainty import _halves, _leaders
from heldout.experiment.studies.bias import StudySettings, _division, bias_study
from heldout.experiment.studies.curve import learning_curve
from heldout.measure.parse import parse_measure
from heldout.retrieve.models import grid

NDCG = parse_measure("nDCG@10")


def doubled(collection, change=lambda text: text):
    """The collection with a copy of every document, judged alike."""
    pairs = list(collection.documents.pairs())
    texts = dict(pairs) | {f"{one}-copy": change(text) for one, text in pairs}
    qrels = {
        query: {name: grade for one, grade in rows.items() for name in (one, f"{one}-copy")}
        for query, rows in collection.qrels.to_dict().items()
    }
    return Collection(texts, collection.queries, qrels, name=collection.name)


def memorise(train, test):
    """Rank documents whose text was relevant in what was seen above all others, in any order."""
    texts = {one: " ".join(text.split()[:4]) for one, text in train.collection.documents.pairs()}
    known = {
        query: {texts[one] for one, grade in rows.items() if grade > 0 and one in texts}
        for query, rows in train.qrels.to_dict().items()
    }
    here = [(one, " ".join(text.split()[:4])) for one, text in test.collection.documents.pairs()]
    return {
        query: {one: float(text in known.get(query, ())) for one, text in here}
        for query in test.collection.queries.ids
    }


def score(collection, groups):
    plan = {"folds": 5, "groups": groups}
    found = Experiment(
        collection=collection, systems=[memorise], by="document", plan=plan, measures=["nDCG@10"]
    ).run()
    return found.estimates["estimate"][0] if hasattr(found, "estimates") else found


def held_out_score(collection, groups):
    results = Experiment(
        collection=collection,
        systems={"memory": memorise},
        by="document",
        plan={"folds": 20, "groups": groups},
        measures=["nDCG@10"],
    ).run()
    estimate, = results.document_estimates("memory") if hasattr(
        results, "document_estimates"
    ) else results.summary["systems"][0]["estimates"]
    return estimate, results
