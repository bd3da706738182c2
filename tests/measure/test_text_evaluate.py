"""Evaluations of texts, and the scores that go to `heldout.compare`."""

from __future__ import annotations

import numpy as np
import pytest
from samples import corpus

from heldout.data.segments import Segments
from heldout.errors import InputError, MeasureError
from heldout.infer.compare import compare
from heldout.measure.evaluate import evaluate

pytest.importorskip("sacrebleu")


@pytest.fixture(scope="module")
def found():
    references, one = corpus(30, seed=1)
    _, other = corpus(30, seed=1, rate=0.1)
    return evaluate(references, {"A": one, "B": other}, ["BLEU", "ROUGE-L", "sentBLEU"])


def test_scores_of_corpus_and_segments(found):
    assert found.names == ("A", "B")
    assert found.value(1, "BLEU") > found.value(0, "BLEU")
    assert found.per_unit(0, "ROUGE-L").mean() == pytest.approx(found.value(0, "ROUGE-L"))
    # the BLEU of a corpus is no mean of sentences
    assert abs(found.per_unit(0, "BLEU").mean() - found.value(0, "BLEU")) > 0.1
    heads = [f"{name}|nrefs:1" for name in ("BLEU", "ROUGE-L", "sentBLEU")]
    assert ["|".join(one.split("|")[:2]) for one in found.about] == heads


def test_means_go_to_compare(found):
    scores = found.scores("ROUGE-L")
    assert scores.systems == ("A", "B")
    assert np.array_equal(scores.column("B"), found.per_unit(1, "ROUGE-L"))
    claim = compare(scores).claims[0]
    assert claim.difference.estimate == pytest.approx(
        found.value(1, "ROUGE-L") - found.value(0, "ROUGE-L")
    )
    assert found.scores("sentBLEU").measure == "sentBLEU"


def test_corpus_scores_do_not_go_to_compare_of_means(found):
    with pytest.raises(MeasureError, match="not a mean over segments"):
        found.scores("BLEU")
    with pytest.raises(MeasureError, match="TER was not computed; there are BLEU"):
        found.value(0, "TER")


def test_systems_are_paired_by_id():
    references = Segments("references", ("p", "q"), (("a b",), ("c",)), has_ids=True)
    system = Segments("A", ("q", "p"), (("c",), ("a b",)), has_ids=True)
    assert evaluate(references, [system], ["ExactMatch"]).value(0, "ExactMatch") == 1


@pytest.mark.parametrize(
    ("references", "systems", "measures", "message"),
    [
        (["a"], {}, ["BLEU"], "no systems given"),
        (None, {"A": ["a"]}, ["TER"], "TER needs references"),
        ([[]], {"A": ["a"]}, ["BLEU"], "segment 1 has no reference"),
        ([], {"A": []}, ["BLEU"], "no segments given"),
        (["a"], {"A": [["a", "b"]]}, ["BLEU"], "A, segment 1: 2 texts, expected one"),
        (["a", "b"], {"A": ["a"]}, ["BLEU"], "A has 1 segment, the references have 2"),
        (["a"], [Segments.of(["a"], "S")] * 2, ["BLEU"], "duplicate system name: S"),
    ],
)
def test_what_does_not_fit_is_refused(references, systems, measures, message):
    with pytest.raises(InputError, match=message):
        evaluate(references, systems, measures, task="text")


def test_perplexity_needs_no_references():
    one = Segments("A", ("1",), (("",),), ((-1.0, -3.0),))
    assert evaluate(None, [one], ["Perplexity"]).value(0, "ppl") == pytest.approx(np.exp(2))
