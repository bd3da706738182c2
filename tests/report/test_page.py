"""What a page says is what was found, and its data are what the files hold."""

import re

import numpy as np
import polars as pl
import pytest

from heldout import Experiment, Qrels, Run, Scores, compare
from heldout.report.answers import answer
from heldout.report.comparison import systems_table
from heldout.report.page import page
from heldout.report.page.render import chart_runtime
from heldout.report.standing import standing

IMAGE = '"><img src=x onerror=alert(1)>'
TEXTS = ["</script>", "<!--", "<script>", "&amp;", "\u2028", IMAGE, "\x00\x1b[31m"]
RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 3))


def scored(values, **more):
    """Scores of systems A, B, …"""
    names = "ABCDEFGHIJ"[: values.shape[1]]
    return Scores("AP", list(names), [f"q{n}" for n in range(len(values))], values, **more)


@pytest.fixture
def shifted():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.6, (60, 1))
    return base + rng.normal(0, 0.02, (60, 3)) + np.array([0.0, 0.1, 0.101])


def test_names_are_texts_everywhere(read):
    """In markup, in charts, and in data, which no name can end."""
    values = np.random.default_rng(0).normal(0.5, 0.1, (len(TEXTS), len(TEXTS)))
    units = [f"u{name}u" for name in TEXTS]
    text = page(compare(Scores("AP", TEXTS, units, values)), made=[(IMAGE, IMAGE)])
    shown = read(text)
    assert not {"img", "script>"} & set(shown.tags)
    assert shown.tags.count("script") == 4  # of units, of charts, the runtime and the page's own
    assert shown.data("part-1-data")["systems"] == TEXTS
    assert shown.data("part-1-data")["units"] == units
    for name in ("part-1-data", "charts"):
        assert "<" not in shown.blocks[name]
    words = "".join(line for line in shown.texts if line not in shown.blocks.values())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028]", words)
    assert shown.pairs[IMAGE] == IMAGE


def test_the_answer_and_the_tables_are_those_of_the_terminal(shifted, read):
    made = compare(scored(shifted))
    board, shown = standing(made), read(page(made))
    assert answer(board) in shown.texts
    table = systems_table(board, full=True)
    (rows,) = (rows for title, rows in shown.tables.items() if "of each system" in title)
    assert [row[0] for row in rows[1:]] == board.names
    assert rows[1:] == [[cell.text for cell in row[1:]] for row in table.cells]
    assert made.to_latex() in shown.texts
    assert "Differences in AP: 3 pairs" in shown.texts
    for name in {"vs best", "p", "group", "won/tied/lost"} & set(rows[0]):
        assert shown.pairs[name] == shown.titles[name]  # columns say what they are


def keys(shown):
    return [name.removeprefix("part-1-") for name in shown.figures]


def test_charts_that_show_nothing_or_are_too_large_are_left_out(shifted, read, monkeypatch):
    pair = read(page(compare(scored(shifted[:, :2]))))
    assert keys(pair) == ["pairs", "query-differences", "null"]
    several = keys(read(page(compare(scored(shifted)))))
    assert several == ["forest", "pairs", "query-differences", "heatmap"]
    many = np.repeat(shifted, 6, axis=0) + np.random.default_rng(0).normal(0, 0.01, (360, 3))
    assert "heatmap" not in keys(read(page(compare(scored(many)))))
    monkeypatch.setattr("heldout.report.page.content.MOST", 59)
    shown = read(page(compare(scored(shifted[:, :2]))))
    assert "query-differences" not in keys(shown)
    assert any("60 rows are too many for a page" in line for line in shown.texts)


def test_the_runtime_is_bundled_again_where_the_kept_one_was_changed(tmp_path, monkeypatch):
    assert "</script" not in chart_runtime()
    bundled = []
    monkeypatch.setattr("vl_convert.javascript_bundle", lambda one: bundled.append(one) or "x()")
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    assert chart_runtime() == chart_runtime() == "x()"
    assert len(bundled) == 1
    (kept,) = tmp_path.iterdir()
    kept.write_text(kept.read_text(encoding="utf-8") + "alert(1)", encoding="utf-8")
    assert chart_runtime() == "x()"
    assert len(bundled) == 2


def test_values_of_the_explorer_are_those_of_the_results(shown, results):
    units = shown.data("part-1-data")
    for at, measure in enumerate(results.measures):
        scores = results.scores(measure)
        for number, system in enumerate(results.systems):
            column = dict(zip(units["units"], units["values"][at][number], strict=True))
            assert [column[unit] for unit in scores.units] == pytest.approx(
                scores.column(system).tolist(), abs=1e-6
            )


def test_rankings_are_those_of_the_results(shown, results, evil_collection):
    units, rankings = shown.data("part-1-data"), shown.data("part-1-rankings")
    documents, judged = rankings["documents"], evil_collection.qrels.to_dict()
    assert rankings["note"].startswith("Queries were held out several times")
    for number, system in enumerate(results.systems):
        own = results.held_out.filter(system=system, repeat=0)
        for at, unit in enumerate(units["units"]):
            wanted = own.filter(pl.col("unit") == unit).sort("rank")["document"].to_list()
            assert [documents[one] for one in rankings["lists"][number][at]] == wanted
    for at, unit in enumerate(units["units"]):
        for document, grade in rankings["grades"][at]:
            assert judged[unit][documents[document]] == grade
        assert rankings["relevant"][at] == 2
        listed = {documents[one] for own in rankings["lists"] for one in own[at]}
        lost = {documents[one] for one, _ in rankings["grades"][at]} - listed
        assert lost == {doc for doc, grade in judged[unit].items() if grade > 0} - listed
    assert rankings["lines"][documents.index("d1")] == evil_collection.documents.text(1)


def test_provenance_has_fingerprints_seed_policies_and_signatures(results, shown):
    pairs = shown.pairs
    for name, value in results.manifest["fingerprints"].items():
        assert pairs[f"fingerprint of the {name}"] == value
    assert pairs["seed"] == "0"
    assert pairs["system B & co"] == "ql-jm; 3 settings tried; lambda = 0.1, 0.5, 0.9"
    assert pairs["measure nDCG@10"].startswith("nDCG(dcg='log2'")
    assert set(results.manifest["policies"].values()) <= set(pairs.values())


def test_provenance_says_what_a_system_is(evil_collection, read):
    given = {"bm25": "bm25", "ql": "ql-jm", "both": "rrf(bm25, ql, k=10,60)"}
    results = Experiment(collection=evil_collection, systems=given, plan={"folds": 2}).run()
    assert read(page(results)).pairs["system both"] == "rrf; 2 settings tried; k = 10, 60"


def test_bibliography_has_what_was_used(page_text):
    keys = re.findall(r"@\w+\{([\w-]+),\n", page_text)
    assert len(set(keys)) == len(keys)
    assert {"heldout", "ndcg", "bm25", "ql"} <= set(keys)
    assert "tukey" not in keys


def test_a_comparison_of_runs_shows_their_lists(read):
    runs = {
        "A": Run.of({"q1": {"x": 2.0, "y": 1.0}, "q2": {"x": 1.0}}),
        "B": Run.of({"q1": {"y": 2.0}}),
    }
    qrels = Qrels.of({"q1": {"y": 1, "z": 2}, "q2": {"x": 0, "w": 1}})
    scores = Scores("AP", ["A", "B"], ["q1", "q2"], [[0.1, 0.9], [0.2, 0.2]])
    rankings = read(page(compare(scores), runs=runs, qrels=qrels)).data("part-1-rankings")
    documents = rankings["documents"]
    lists = [[[documents[n] for n in own] for own in system] for system in rankings["lists"]]
    assert lists == [[["x", "y"], ["x"]], [["y"], []]]
    assert rankings["relevant"] == [2, 1]
    assert [documents[n] for n, _ in rankings["grades"][0]] == ["y", "z"]


def test_new_documents_are_answered_by_their_own_interval(evil_collection, read):
    found = Experiment(
        collection=evil_collection, systems=["bm25", "ql-jm"], by="document", plan={"folds": 3}
    ).run()
    (kept,) = found.summary[1]["differences"]
    shown = read(page(found))
    (said,) = (line for line in shown.texts if " on new documents: nDCG@10 " in line)
    ends = sorted([abs(kept["low"]), abs(kept["high"])])
    assert said.startswith("No significant") != (kept["low"] > 0 or kept["high"] < 0)
    assert all(f"{end:.4f}" in said for end in ends)
    head, *rows = next(iter(shown.tables.values()))
    gap = next(row for row in rows if row[2] != "—")[2]
    assert abs(float(gap.rstrip("*"))) == pytest.approx(abs(kept["difference"]), abs=6e-5)
    assert "p" not in head  # tests over queries answer another question
    assert any(line.startswith("Another question") for line in shown.texts)
    assert "pairs" in keys(shown)
    assert "null" not in keys(shown)


def test_rows_have_truth_and_predictions(classified, classified_page, read):
    shown = read(classified_page)
    units, system = shown.data("part-1-data"), classified.systems.index("k-NN")
    assert sorted(units["units"]) == sorted(classified.held_out["unit"].unique())
    assert "part-1-rankings" not in shown.blocks
    at = units["units"].index("7")
    own = classified.held_out.filter((pl.col("system") == "k-NN") & (pl.col("unit") == "7"))
    assert len(own) == 2
    assert all(said in units["predicted"][system][at] for said in set(own["prediction"]))
    assert own["truth"].to_list() == [units["truth"][at]] * 2
    right = (own["prediction"] == own["truth"]).mean()
    assert [measure["name"] for measure in units["measures"]] == ["accuracy"]
    assert units["values"][0][system][at] == right
    assert {"roc", "calibration"} <= set(keys(shown))


def test_a_measure_that_is_undefined_for_a_system_leaves_its_cells_empty(read):
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import LinearSVC

    results = Experiment(
        task="classification",
        data=(X, np.where(X[:, 0] > 0, "yes", "no")),
        systems={"margin": LinearSVC(), "logistic": LogisticRegression()},
        measures=["log-loss"],
        plan={"folds": 2},
    ).run()
    (values,) = read(page(results)).data("part-1-data")["values"]
    margin, logistic = (values[results.systems.index(name)] for name in ("margin", "logistic"))
    assert margin == [None] * 80
    assert None not in logistic


def test_the_policy_lets_nothing_in(page_text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page_text).group(1)
    rules = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    for name in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[\w+/=]+'( 'sha256-[\w+/=]+')*", rules[name])


def test_results_and_comparisons_write_pages(results, shifted, tmp_path):
    results.report(tmp_path / "a.html", title="mine")
    compare(scored(shifted)).report(tmp_path / "b.html")
    assert "<h1>mine</h1>" in (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "Which of 3 systems is best?" in (tmp_path / "b.html").read_text(encoding="utf-8")
