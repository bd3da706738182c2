"""Objects that show themselves in a notebook."""

import subprocess
import sys
from html.parser import HTMLParser

import numpy as np
import pytest

import heldout
from heldout.experiment.studies.bias import BiasRow, BiasStudy, StudySettings
from heldout.measure.names import parse_measure

EVIL = '"><img src=x onerror=alert(1)>'
ALLOWED = {
    "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "b", "figure", "figcaption", "svg",
    "g", "path", "text", "rect", "line", "defs", "clippath", "lineargradient", "stop", "div",
    "style",
}  # fmt: skip


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)


def read(markup):
    reader = Reader()
    reader.feed(markup)
    assert reader.tags <= ALLOWED
    return reader


def scores():
    table = {
        EVIL: {"a": 0.1, "b": 0.2, "c": 0.4},
        "B": {"a": 0.3, "b": 0.1, "c": 0.7},
        "C": {"a": 0.3, "b": 0.5, "c": 0.6},
    }
    return heldout.Scores.of(table, "AP")


def test_a_comparison_is_an_answer_a_table_and_the_forest_plot():
    found = read(heldout.compare(scores())._repr_html_())
    assert {"table", "svg", "p"} <= found.tags
    assert found.texts.count(EVIL) >= 2  # in a table, and in the picture
    assert "AP of each system." in found.texts


def test_two_systems_are_drawn_as_their_difference():
    table = {"A": {"a": 0.1, "b": 0.2, "c": 0.4}, "B": {"a": 0.3, "b": 0.1, "c": 0.7}}
    pair = heldout.compare(heldout.Scores.of(table, "AP"))
    found = read(pair._repr_html_())
    assert str(pair).splitlines()[0] in found.texts
    assert "Difference in AP." in found.texts
    assert "B − A" in found.texts
    assert "AP of each system." not in found.texts


def test_frames_of_both_libraries_come_back():
    import pandas as pd

    ranked = pd.DataFrame({"qid": ["1", "2"], "docno": ["x", "y"], "score": [0.5, 2.0]})
    judged = pd.DataFrame({"qid": ["1", "2"], "docno": ["x", "z"], "label": [1, 1]})
    run, qrels = heldout.Run.of(ranked), heldout.Qrels.of(judged)
    back = run.to_frame("pandas")
    assert isinstance(back, pd.DataFrame)
    assert back.to_dict("list") == {
        "query_id": ["1", "2"],
        "doc_id": ["x", "y"],
        "rank": [1, 1],
        "score": [0.5, 2.0],
    }
    assert list(qrels.to_frame("pandas").columns) == ["query_id", "doc_id", "relevance"]
    shown = heldout.evaluate(judged, {"mine": ranked}, "AP").to_frame("pandas")
    assert shown.to_dict("list") == {
        "system": ["mine"] * 2,
        "unit": ["1", "2"],
        "measure": ["AP"] * 2,
        "value": [1.0, 0.0],
    }
    with pytest.raises(heldout.InputError, match="expected polars or pandas"):
        run.to_frame("arrow")


@pytest.fixture(scope="module")
def results():
    documents = {f"d{at}": f"{'red ' * (at % 3)}{'blue ' * (at % 4)}x{at % 5}" for at in range(20)}
    queries = {f"q{at}": ["red", "blue", "red blue"][at % 3] + f" x{at % 5}" for at in range(8)}
    judged = {f"q{at}": {f"d{at}": 1, f"d{at + 5}": 1} for at in range(8)}
    return heldout.Experiment(
        collection=heldout.Collection(documents, queries, judged),
        systems=["bm25(k1=0.5:1.5:3)", "ql-jm"],
        measures=["AP"],
        plan=heldout.KFold(4),
    ).run()


def test_results_say_which_system_is_better_and_draw_the_difference(results):
    found = read(results._repr_html_())
    assert {"table", "svg", "p"} <= found.tags
    (claim,) = [one for one in found.texts if " on queries not used for tuning: AP " in one]
    assert "bm25" in claim
    assert "ql-jm" in claim
    assert "Difference in AP." in found.texts
    value = results.estimate("bm25", "AP")["value"]
    assert f"{value:.4f}" in found.texts


def test_results_of_estimators_are_a_table_too():
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(0)
    x = generator.normal(size=(60, 2))
    y = (x[:, 0] + generator.normal(size=60) > 0).astype(int)
    found = heldout.Experiment(
        task="classification",
        data=(x, y),
        systems={"logistic": (LogisticRegression(), {"C": [0.1, 1.0]})},
        measures=["accuracy"],
        plan=heldout.KFold(3),
    ).run()
    shown = read(found._repr_html_())
    assert f"{found.value('logistic'):.4f}" in shown.texts
    keys = [one.key for one in heldout.charts(found)]
    assert {"forest", "tuning", "optimism", "roc", "calibration"} <= set(keys)


def test_a_bias_study_is_a_table_and_a_chart():
    row = BiasRow("pooled", 0.02, 0.01, 0.05, 0.95, 0.52, 0.5, True)
    settings = StudySettings(parse_measure("AP"), draws=2)
    means = ((0, 0, "pooled", 0.5, 0.5),)
    queries = ((0, 0, "pooled", 0.5, 0.4, 0.2),)
    study = BiasStudy(settings, (row,), 10, 10, means, queries, 0.0)
    found = read(study._repr_html_())
    assert {"+0.0200", "95.0%"} <= set(found.texts)
    assert [one.key for one in heldout.charts(study)] == ["bias", "bias-means", "bias-queries"]


def test_one_chart_by_its_name(results, tmp_path):
    drawn = heldout.chart(results, "tuning", dark=True)
    assert drawn.to_dict()["title"]["text"] == "bm25: AP by k1"
    heldout.save_chart(drawn, tmp_path / "tuning.svg")
    assert (tmp_path / "tuning.svg").read_text().startswith("<svg")
    with pytest.raises(heldout.InputError, match="this Comparison: no chart tuning"):
        heldout.chart(heldout.compare(scores()), "tuning")
    with pytest.raises(heldout.InputError, match="no chart nothing; available: forest"):
        heldout.chart(results, "nothing")


def test_a_comparison_prints_a_few_lines():
    table = {"A": {"a": 0.1, "b": 0.2, "c": 0.4}, "B": {"a": 0.3, "b": 0.1, "c": 0.7}}
    pair = heldout.compare(heldout.Scores.of(table, "AP"))
    assert repr(pair) == "<Comparison of A, B in AP on 3 units>"
    lines = str(pair).splitlines()
    low, high = pair.claims[0].difference.low, pair.claims[0].difference.high
    assert lines[0] == (
        "No significant difference between B and A: AP 0.3667 vs 0.2333, difference +0.1333, "
        f"95% CI [{low:+.4f}, {high:+.4f}], p = 0.5000."
    )
    assert lines[1].startswith("3 units: 2 won, 0 tied, 1 lost")
    assert any(line.startswith("Test: Fisher's randomization test (two-sided") for line in lines)


def test_objects_do_not_import_the_report_before_they_are_shown():
    code = (
        "import sys, heldout\n"
        "run = heldout.Run.of({'q': {'d': 1.0}}, 'r')\n"
        "repr(run), repr(heldout.KFold(2).splits(4, 'instance'))\n"
        "assert not [name for name in sys.modules if name.startswith('heldout.report')]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)  # noqa: S603 - this Python
