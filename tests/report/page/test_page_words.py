"""What a page says is what was found, and its data are what the files hold."""

import json
import re

import numpy as np
import polars as pl
import pytest

from heldout.data.qrels import Qrels
from heldout.data.run import Run
from heldout.data.scores import Scores
from heldout.experiment.experiment import Experiment
from heldout.infer.compare import compare
from heldout.infer.ledger import Look, record_looks
from heldout.report.charts.of_comparison import charts_of_comparison
from heldout.report.page.answer import board_answer
from heldout.report.page.board import board_of_comparison
from heldout.report.page.board_tables import comparison_tables
from heldout.report.page.citations import bibliography
from heldout.report.page.markup import esc, json_block, table_markup
from heldout.report.page.of_comparison import part_of_comparisons
from heldout.report.page.of_results import part_of_results
from heldout.report.page.parts import PageTable
from heldout.report.page.worth import worth_showing
from heldout.report.tables import Table

IMAGE = '"><img src=x onerror=alert(1)>'
TEXTS = ["</script>", "<!--", "<script>", "&amp;", "\u2028", IMAGE, "\x00\x1b[31m", "\ud800"]


@pytest.mark.parametrize("text", TEXTS)
def test_data_come_back_and_end_no_script(text):
    block = json_block("x", {"a": [text]})
    inner = re.fullmatch(
        r'<script type="application/json" id="x">(.*)</script>', block, re.DOTALL
    ).group(1)
    assert "<" not in inner
    assert json.loads(inner) == {"a": [text]}


def test_tables_escape_every_cell():
    cells = Table((IMAGE, IMAGE), ((IMAGE, IMAGE),), IMAGE, notes=(IMAGE,))
    table = PageTable(cells, ((IMAGE, IMAGE),))
    assert "<img" not in table_markup(table, "x")
    assert table_markup(table, "x").count(esc(IMAGE)) >= 8


def scored(values, **more):
    """Scores of systems A, B, …"""
    names = "ABCDEFGHIJ"[: values.shape[1]]
    return Scores("AP", list(names), [f"q{n}" for n in range(len(values))], values, **more)


@pytest.fixture
def shifted():
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.6, (60, 1))
    return base + rng.normal(0, 0.02, (60, 3)) + np.array([0.0, 0.1, 0.101])


def answer_to(comparison, where=""):
    return board_answer(board_of_comparison(comparison), where)


def test_answer_names_the_best_and_what_is_open(shifted):
    made = compare(scored(shifted))
    headline, more = answer_to(made, "on 60 queries")
    best = max(made.systems, key=lambda row: row.mean.estimate)
    low, high = best.mean.low, best.mean.high
    assert headline == (
        f"{best.name} has the highest AP of 3 systems on 60 queries, {best.mean.estimate:.4f} "
        f"[{low:.4f}, {high:.4f}], and is significantly better than 1 other."
    )
    other = "B" if best.name == "C" else "C"
    assert more == f"Not significantly different from {best.name}: {other}."


def test_answer_goes_the_other_way_for_errors(shifted):
    (headline,) = answer_to(compare(scored(shifted, higher_is_better=False)))
    assert headline.startswith("A has the lowest AP of 3 systems, ")
    assert headline.endswith("and is significantly better than all others.")


def test_answer_against_a_baseline(shifted):
    made = compare(scored(shifted), baseline="B")
    headline, worse = answer_to(made)
    base = made.systems[1].mean
    assert headline == (
        f"Of 2 systems compared with B (AP {base.estimate:.4f} [{base.low:.4f}, {base.high:.4f}]), "
        "1 is worse and 1 is not significantly different."
    )
    assert worse == f"Worse: A ({made.claims[0].difference.estimate:+.4f})."


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_two_systems_have_one_sentence_with_the_better_one_first(shifted, order):
    values = shifted[:, order]
    made = compare(scored(values))
    better, other = "AB"[order.index(1)], "AB"[order.index(0)]
    high, low = values[:, order.index(1)].mean(), values[:, order.index(0)].mean()
    gap = made.claims[0].difference
    ends = sorted([abs(gap.low), abs(gap.high)])
    (headline,) = answer_to(made, "on new queries")
    assert headline == (
        f"{better} is better than {other} on new queries: AP {high:.4f} vs {low:.4f}, "
        f"{high - low:+.4f} [{ends[0]:.4f}, {ends[1]:.4f}]."
    )


def test_two_systems_without_a_difference():
    values = np.random.default_rng(1).normal(0.5, 0.1, (30, 2))
    (headline,) = answer_to(compare(scored(values)))
    assert headline.startswith("No significant difference between ")
    (headline,) = answer_to(compare(scored(values), alternative="greater"))
    assert headline.startswith("B is not significantly better than A: ")
    (headline,) = answer_to(compare(scored(values[:, [0, 0]])))
    assert headline == "A and B have identical AP scores."


def test_systems_are_sorted_with_their_difference_to_the_best(shifted):
    made = compare(scored(shifted))
    first, pairs = comparison_tables(made, ("query", "queries"))
    rows = first.table.rows
    assert [row[0] for row in rows] == ["1", "2", "3"]
    means = {row.name: row.mean.estimate for row in made.systems}
    order = sorted(means, key=lambda name: -means[name])
    assert [row[1] for row in rows] == order
    at = first.table.head.index("Δ to best")
    assert rows[0][at] == "best"
    for row in rows[1:]:
        assert float(row[at].rstrip("*")) == pytest.approx(
            means[row[1]] - means[order[0]], abs=6e-5
        )
    assert [row[-1] for row in rows] == [
        next(one.letters for one in made.systems if one.name == name) for name in order
    ]
    assert pairs.fold == "All 3 pairs"
    for better, other, gap, *_ in pairs.table.rows:
        assert means[better] > means[other]
        assert float(gap.rstrip("*")) == pytest.approx(means[better] - means[other], abs=6e-5)


def test_charts_that_show_nothing_are_left_out(shifted):
    def keys(comparison):
        return [one.key for one in worth_showing(charts_of_comparison(comparison), comparison)]

    assert keys(compare(scored(shifted[:, :2]))) == ["pairs", "query-differences", "null"]
    several = keys(compare(scored(shifted)))
    assert several == ["forest", "pairs", "query-differences", "heatmap"]
    many = np.repeat(shifted, 6, axis=0) + np.random.default_rng(0).normal(0, 0.01, (360, 3))
    assert "heatmap" not in keys(compare(scored(many)))


def test_values_of_the_explorer_are_those_of_the_results(part, results):
    for at, measure in enumerate(results.measures):
        scores = results.scores(measure)
        for number, system in enumerate(results.systems):
            column = dict(zip(part.units["units"], part.units["values"][at][number], strict=True))
            assert [column[one] for one in scores.units] == pytest.approx(
                scores.column(system).tolist(), abs=1e-6
            )


def test_rankings_are_those_of_the_results(part, results, collection):
    documents = part.rankings["documents"]
    for number, system in enumerate(results.systems):
        own = results.held_out.filter(pl.col("system") == system)
        for at, unit in enumerate(part.units["units"]):
            wanted = own.filter(pl.col("unit") == unit).sort("rank")["document"].to_list()
            shown = [documents[one] for one in part.rankings["lists"][number][at]]
            assert shown == wanted
    judged = collection.qrels.to_dict()
    for at, unit in enumerate(part.units["units"]):
        flat = part.rankings["grades"][at]
        for document, grade in zip(flat[::2], flat[1::2], strict=True):
            assert judged[unit][documents[document]] == grade
        assert part.rankings["relevant"][at] == 2
        lost = {documents[one] for one in part.rankings["missed"][at][::2]}
        assert lost == {
            one for one, grade in judged[unit].items() if grade > 0 and one not in listed(part, at)
        }
    place = documents.index("d1")
    assert part.rankings["lines"][place] == collection.documents.text(1)


def listed(part, at):
    lists = part.rankings["lists"]
    return {part.rankings["documents"][one] for own in lists for one in own[at]}


def test_every_number_of_the_tables_has_a_source(part):
    for shown in (*part.tables, *part.tuning, *part.splits):
        table, told = shown.table, {name for name, _ in shown.sources}
        assert set(table.head[table.texts :]) <= told, table.title


def test_provenance_has_fingerprints_seed_policies_and_signatures(part, results):
    told = dict(part.provenance)
    for name, value in results.manifest["fingerprints"].items():
        assert value in told.values(), name
    assert told["seed"] == "0"
    assert told["system B & co"] == "ql-jm; 3 settings tried: lambda = 0.1, 0.5, 0.9"
    assert told["measure nDCG@10"].startswith("nDCG(dcg='log2'")
    for words in results.manifest["policies"].values():
        assert words in told.values()


def test_bibliography_has_what_was_used(part):
    found = bibliography(part.methods)
    for key in ("heldout", "holm", "randomization", "ndcg", "bm25", "ql"):
        assert len(re.findall(rf"^@\w+\{{{key},$", found, re.MULTILINE)) == 1
    assert "{tukey," not in found
    assert found.count("{") == found.count("}")


def test_a_comparison_of_runs_shows_their_lists():
    runs = {
        "A": Run.of({"q1": {"x": 2.0, "y": 1.0}, "q2": {"x": 1.0}}),
        "B": Run.of({"q1": {"y": 2.0}}),
    }
    qrels = Qrels.of({"q1": {"y": 1, "z": 2}, "q2": {"x": 0, "w": 1}})
    scores = Scores("AP", ["A", "B"], ["q1", "q2"], [[0.1, 0.9], [0.2, 0.2]])
    part = part_of_comparisons([compare(scores)], runs=runs, qrels=qrels)
    documents = part.rankings["documents"]
    lists = [[[documents[n] for n in own] for own in system] for system in part.rankings["lists"]]
    assert lists == [[["x", "y"], ["x"]], [["y"], []]]
    assert part.rankings["relevant"] == [2, 1]
    assert [documents[n] for n in part.rankings["missed"][0][::2]] == ["z"]


def test_ledger_shows_looks_at_these_data_only(results, tmp_path):
    path = tmp_path / "looks.jsonl"
    data = results.manifest["fingerprints"]["collection"]
    looks = [Look(name, ("A", name), "AP", "t", 0.01, 0.1, 9, "") for name in (data, "other")]
    record_looks(path, looks)
    part = part_of_results(results, ledger=str(path))
    assert [row[2] for row in part.looks.table.rows] == [f"A - {data}"]
    assert (
        "has 1 evaluation on these data, and evaluations on 1 other data"
        in (part.looks.table.notes[0])
    )


def test_new_documents_are_answered_by_their_own_interval(collection):
    found = Experiment(
        collection=collection, systems=["bm25", "ql-jm"], by="document", plan={"folds": 3}
    ).run()
    (kept,) = found.summary[1]["differences"]
    part = part_of_results(found)
    shown = kept["low"] > 0 or kept["high"] < 0
    assert " on new documents: nDCG@10 " in part.answer[0]
    assert part.answer[0].startswith("No significant difference") != shown
    ends = sorted([abs(kept["low"]), abs(kept["high"])])
    if shown:
        assert f"[{ends[0]:.4f}, {ends[1]:.4f}]" in part.answer[0]
    first, other, _ = part.tables
    gap = next(row for row in first.table.rows if "best" not in row)[3]
    assert abs(float(gap.rstrip("*"))) == pytest.approx(abs(kept["difference"]), abs=6e-5)
    assert "p" not in first.table.head  # tests over queries answer another question
    assert other.fold.startswith("Another question")
    (pairs,) = [one for one in part.charts if one.key == "pairs"]
    assert abs(pairs.frame["difference"][0]) == pytest.approx(abs(kept["difference"]))
    assert "null" not in [one.key for one in part.charts]


def test_the_policy_lets_nothing_in(page_text):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page_text).group(1)
    rules = dict(one.strip().split(" ", 1) for one in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert set(rules) == {"default-src", "script-src", "style-src", "base-uri", "form-action"}
    for name in ("script-src", "style-src"):
        assert re.fullmatch(r"'sha256-[\w+/=]+'( 'sha256-[\w+/=]+')*", rules[name])


def test_the_runtime_is_bundled_anew_where_the_kept_one_was_changed(tmp_path, monkeypatch):
    import vl_convert

    from heldout.report.page.runtime import chart_runtime

    assert "</script" not in chart_runtime()
    bundled = []
    monkeypatch.setattr(vl_convert, "javascript_bundle", lambda one: bundled.append(one) or "x()")
    monkeypatch.setenv("HELDOUT_CACHE", str(tmp_path))
    assert chart_runtime() == chart_runtime() == "x()"
    assert len(bundled) == 1
    (kept,) = tmp_path.iterdir()
    kept.write_text(kept.read_text(encoding="utf-8") + "alert(1)", encoding="utf-8")
    assert chart_runtime() == "x()"
    assert len(bundled) == 2
