"""Results: what is written is what is read, units are queries, claims are those of compare."""

import json

import numpy as np
import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout.as_json import json_text
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment
from heldout.experiment.results.results import Results
from heldout.experiment.systems.base import System
from heldout.infer.compare import compare
from heldout.notes import Note
from heldout.report import text
from heldout.resample.plans import Bootstrap, KFold


@pytest.fixture(scope="module")
def results():
    return Experiment(
        collection=small_collection(),
        systems=["bm25(k1=0.2:2.2:9)", "ql-jm(lambda=0.1,0.5)", System.of(overlap, "f")],
        plan=KFold(4, repeats=3),
        measures=["nDCG@10", "RR", "Judged@10"],
        baseline="f",
    ).run()


def test_what_is_written_is_what_is_read(results, tmp_path):
    results.write(tmp_path / "results")
    again = Results.read(tmp_path / "results")
    for name in ("values", "folds", "surface", "held_out"):
        assert getattr(again, name).equals(getattr(results, name))
    assert again.summary == results.summary
    assert again.manifest == results.manifest
    assert text(again) == text(results)


def test_an_unfinished_folder_is_not_read(results, tmp_path):
    results.write(tmp_path)
    (tmp_path / "manifest.json").rename(tmp_path / "manifest")
    with pytest.raises(InputError, match="has no results"):
        Results.read(tmp_path)


def test_a_query_counts_once_however_often_it_was_held_out(results):
    scores = results.scores("RR")
    assert len(scores.units) == 24
    rows = results.to_frame()
    for column, system in enumerate(scores.systems):
        for at, unit in enumerate(scores.units):
            mine = rows.filter(
                (rows["system"] == system) & (rows["unit"] == unit) & (rows["measure"] == "RR")
            )
            assert len(mine) == 3
            assert scores.values[at, column] == pytest.approx(mine["value"].mean())


def test_the_comparison_is_that_of_the_held_out_scores(results):
    mine = results.compare("RR")
    theirs = compare(results.scores("RR"), baseline="f", tuned=["bm25", "ql-jm"])
    assert mine.baseline == "f"
    assert [one.adjusted for one in mine.claims] == [one.adjusted for one in theirs.claims]
    assert any("tuned" in one.text for one in mine.warnings)
    assert results.compare(baseline="bm25").baseline == "bm25"


def test_the_page_of_results_is_written_whole(results, tmp_path):
    results.report(tmp_path / "page.html", title="Which <ranker>?")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Which &lt;ranker&gt;?" in page
    with pytest.raises(InputError, match="is a directory"):
        results.report(tmp_path)


def test_a_measure_without_a_direction_is_shown_but_not_compared(results):
    assert [one.scores.measure for one in results.comparisons.compared] == ["nDCG@10", "RR"]
    assert "Judged@10" in text(results)
    with pytest.raises(InputError, match="no direction"):
        results.compare("Judged@10")
    with pytest.raises(InputError, match="was not computed"):
        results.scores("AP")


def test_json_is_whole_and_finite(results):
    found = json.loads(json_text(results.to_dict()))
    for one in found["systems"]:
        assert len(one["estimates"]) == 3
        assert sum(chosen["times"] for chosen in one["chosen"]) == 12
    untuned = found["systems"][2]
    assert untuned["estimates"][0]["train"] is None
    assert untuned["edges"] == []


def test_the_lists_are_the_top_of_what_was_measured(results):
    """The first relevant document in the kept lists gives the reciprocal rank."""
    judged = small_collection().qrels.to_dict()
    lists = results.held_out.filter(results.held_out["system"] == "bm25")
    values = results.values.filter(
        (results.values["system"] == "bm25") & (results.values["measure"] == "RR")
    )
    assert lists["rank"].max() == 10
    for repeat, unit, value in values.select("repeat", "unit", "value").iter_rows():
        mine = lists.filter((lists["repeat"] == repeat) & (lists["unit"] == unit))
        ranks = [
            rank
            for rank, document in mine.select("rank", "document").iter_rows()
            if judged[unit].get(document, 0) > 0
        ]
        if ranks:
            assert value == pytest.approx(1 / min(ranks))
        else:
            assert value < 1 / 10


def test_the_surface_has_every_value_of_every_split(results):
    mine = results.surface.filter(results.surface["system"] == "bm25")
    assert len(mine) == 9 * (12 + 1)
    for fold in results.folds.filter(results.folds["system"] == "bm25").iter_rows(named=True):
        means = mine.filter(
            (mine["repeat"] == fold["repeat"]) & (mine["fold"] == fold["fold"])
        ).sort("number")
        assert int(np.argmax(means["mean"].round(12))) == fold["number"]
        assert means["mean"][fold["number"]] == fold["train"]
        assert means["held_out"][fold["number"]] == pytest.approx(fold["held_out"])


def test_queries_that_were_never_held_out_are_not_said_to_have_no_relevant_document():
    few = Experiment(collection=small_collection(), systems="bm25", plan=Bootstrap(2)).run()
    left = few.estimate("bm25")["left_out"]
    assert left > 0  # every query has relevant documents, but some were drawn each time
    (note,) = [line for line in text(few).splitlines() if "left out" in line]
    assert f"{left} queries" in note
    assert "never held out" in note


def test_the_question_about_other_queries_is_answered_on_request_alone():
    settings = {"collection": small_collection(), "systems": ["bm25", "ql-jm"]}
    results = Experiment(by="document", **settings).run()
    assert "on new documents" in text(results)
    assert "For new queries on these documents" not in text(results)
    assert "For new queries on these documents" in text(results, full=True)
    by_query = Experiment(**settings).run()
    assert "For new queries on these documents" not in text(by_query, full=True)
    assert "tun" not in text(by_query)  # nothing was tuned


def test_notes_are_kept_with_their_codes(tmp_path):
    collection = small_collection()
    more = {**collection.queries.to_dict(), "q99": "a query that nobody judged"}
    unjudged = heldout.Collection(collection.documents, more, collection.qrels)
    found = Experiment(collection=unjudged, systems="bm25", plan=KFold(3)).run(tmp_path / "out")
    words = "queries without a judgement: 1 (q99)"
    kept = [{"code": "unjudged-queries", "text": words, "severity": "info", "count": 1}]
    place = tmp_path / "out" / "manifest.json"
    manifest = json.loads(place.read_text())
    assert manifest["notes"] == kept
    assert Note("unjudged-queries", words, "info", 1) in found.notes
    assert f"Note: {words}. [unjudged-queries]" in text(Results.read(tmp_path / "out"))


@pytest.mark.parametrize(("points", "warned"), [(5, False), (6, True)])
def test_uneven_tuning_is_warned_about_as_in_the_tuning_of_runs(points, warned):
    systems = [f"bm25(k1=0.2:2.2:{points})", "ql-jm(lambda=0.1,0.5)"]
    found = Experiment(collection=small_collection(), systems=systems, plan=KFold(3)).run()
    said = any("very different numbers" in note.text for note in found.scores().notes)
    assert said == warned == (points >= 3 * 2)
