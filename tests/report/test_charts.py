"""Charts: their numbers against frames made by hand, what Vega draws, files that hold them."""

import json
import math
import sys
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

import heldout
from heldout.experiment.studies.bias import BiasRow, BiasStudy, StudySettings
from heldout.infer.blocks import Nemenyi
from heldout.report.charts import systems, tuning
from heldout.report.charts.draw import data, theme
from heldout.report.charts.find import NAMES

sys.path.append(str(Path(__file__).parents[2] / "docs" / "_extension"))
from gallery_charts import gallery

VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


def frame_of(of, key, **context):
    """The numbers of a chart."""
    return {chart.key: chart.frame for chart in heldout.charts(of, **context)}[key]


def rows(frame, *columns):
    return frame.select(columns).rows()


SCORES = heldout.Scores.of(
    {
        "A": {"q1": 0.2, "q2": 0.4, "q3": 0.6, "q4": 0.1},
        "B": {"q1": 0.5, "q2": 0.4, "q3": 0.5, "q4": 0.3},
    },
    "AP",
)
LOSSES = heldout.Scores("loss", ("A", "B"), tuple("xy"), [[1.0, 3.0], [2.0, 2.0]], False)


def spread(count, systems):
    """Systems that are 1 apart, with a little noise that cancels."""
    noise = np.resize([0.1, -0.1], count)
    values = np.column_stack([at + noise * (-1) ** at for at in range(systems)])
    return heldout.Scores("m", [f"s{at}" for at in range(systems)], range_of(count), values)


def range_of(count):
    return tuple(map(str, range(count)))


def noisy(names, count=12, gap=0.2, up=True):
    means = gap * np.arange(len(names))
    values = np.random.default_rng(0).normal(means, 0.5, (count, len(names)))
    return heldout.Scores("m", tuple(names), range_of(count), values, up)


# Systems


def test_forest_by_hand():
    frame = frame_of(heldout.compare(SCORES), "forest")
    assert frame["system"].to_list() == ["B", "A"]
    assert frame["mean"].to_list() == pytest.approx([0.425, 0.325])
    # 0.425 ± t(3, 0.975) · sd / √4, the sd of .5 .4 .5 .3 being √(0.0275 / 3)
    half = 3.182446305284263 * math.sqrt(0.0275 / 3) / 2
    assert (frame["low"][0], frame["high"][0]) == pytest.approx((0.425 - half, 0.425 + half))
    assert frame_of(heldout.compare(LOSSES), "forest")["system"].to_list() == ["A", "B"]


def test_pairs_are_sorted_named_with_letters_and_the_better_system_first():
    frame = frame_of(heldout.compare(spread(6, 3), correction="tukey"), "pairs")
    assert frame["pair"].to_list() == ["s2 (a) − s0 (c)", "s2 (a) − s1 (b)", "s1 (b) − s0 (c)"]
    assert frame["difference"].to_list() == pytest.approx([2.0, 1.0, 1.0])
    assert frame["significant"].all()
    for up in (True, False):
        scores = noisy(("mid", "high", "low"), up=up)
        means = dict(zip(scores.systems, scores.values.mean(axis=0), strict=True))
        for row in frame_of(heldout.compare(scores), "pairs").iter_rows(named=True):
            assert row["pair"].startswith(row["first"])
            assert (means[row["first"]] > means[row["second"]]) == up
            gap = means[row["first"]] - means[row["second"]]
            assert row["difference"] == pytest.approx(gap)
            assert row["low"] < row["difference"] < row["high"]
        based = frame_of(heldout.compare(scores, baseline="mid"), "pairs")
        assert set(based["second"]) == {"mid"}
    frame = frame_of(heldout.compare(SCORES, alternative="greater"), "pairs")
    assert frame["difference"].to_list() == pytest.approx([0.1])
    assert frame["high"].to_list() == [None]  # an open interval has no bound
    assert frame["low"][0] < 0.1
    frame = frame_of(heldout.compare(spread(6, 13)), "pairs")  # of very many, those of the best
    assert (len(frame), set(frame["first"])) == (12, {"s12"})


@pytest.mark.parametrize("baseline", [None, "A"])
def test_queries_are_shown_for_the_best_system_and_its_closest_rivals(baseline):
    found = heldout.charts(heldout.compare(noisy("ABCDEF", 60), baseline=baseline))
    shown = [chart for chart in found if chart.key.startswith("query-differences")]
    pairs = [chart.title.rpartition(": ")[2].split(" − ") for chart in shown]
    assert len(pairs) == 3
    assert [pair[bool(baseline)] for pair in pairs] == ["A" if baseline else "F"] * 3
    gaps = [chart.frame["difference"].mean() for chart in shown]
    assert baseline or gaps == sorted(gaps)


def test_queries_by_hand(monkeypatch):
    texts = {"q3": "three\nwords  here"}
    frame = frame_of(heldout.compare(SCORES), "query-differences", texts=texts)
    assert frame["query"].to_list() == ["q1", "q4", "q2", "q3"]
    assert frame["difference"].to_list() == pytest.approx([0.3, 0.2, 0.0, -0.1])
    assert frame["better"].to_list() == ["B", "B", "equal", "A"]
    assert frame["text"].to_list() == ["", "", "", "three words here"]
    assert frame["place"].to_list() == [1, 2, 3, 4]
    errors = heldout.compare(replace(SCORES, higher_is_better=False))
    frame = frame_of(errors, "query-differences")
    better = dict(frame.select("query", "better").iter_rows())
    assert better == {"q1": "A", "q4": "A", "q2": "equal", "q3": "B"}
    frame = frame_of(heldout.compare(SCORES), "heatmap")
    assert frame["system"].to_list() == ["B"] * 4 + ["A"] * 4
    # means over the systems: q4 .2, q1 .35, q2 .4, q3 .55
    assert frame["query"].to_list() == ["q4", "q1", "q2", "q3"] * 2
    assert frame["value"].to_list() == [0.3, 0.5, 0.4, 0.5, 0.1, 0.2, 0.4, 0.6]
    monkeypatch.setattr(systems, "MOST_COLUMNS", 2)
    grouped = systems.heatmap(SCORES, {}).frame
    assert grouped["queries"].to_list() == [2, 2, 2, 2]
    assert grouped["value"].to_list() == pytest.approx([0.4, 0.45, 0.15, 0.5])
    assert grouped["query"].to_list() == ["q4", "q2"] * 2


def test_the_groups_of_demsars_example():
    """Demšar (2006), section 3.2.2: four trees, 14 data sets, critical difference 1.12 at 0.10."""
    nemenyi = Nemenyi(1.12, 0.9, (3.143, 2.000, 2.893, 1.964))
    scores = SimpleNamespace(systems=("C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"), size="14 sets")
    compared = SimpleNamespace(scores=scores, friedman=(SimpleNamespace(p=1.0), nemenyi))
    frame = systems.critical_difference(compared).frame
    shown, groups = (frame.filter(kind=kind) for kind in ("system", "group"))
    assert shown["name"].to_list() == ["C4.5+m+cf", "C4.5+m", "C4.5+cf", "C4.5"]
    assert rows(groups, "name", "rank", "end") == [
        ("C4.5+m+cf to C4.5+cf", 1.964, 2.893),
        ("C4.5+cf to C4.5", 2.893, 3.143),
    ]
    assert frame.filter(kind="critical")["end"].to_list() == [2.12]


@given(st.lists(st.floats(1, 6), min_size=1, max_size=7), st.floats(0.1, 3))
def test_groups_are_the_largest_sets_without_a_difference(ranks, critical):
    ranks = sorted(ranks)
    alike = [
        set(part)
        for size in range(2, len(ranks) + 1)
        for part in combinations(range(len(ranks)), size)
        if max(ranks[at] for at in part) - min(ranks[at] for at in part) <= critical
    ]
    largest = [one for one in alike if not any(one < other for other in alike)]
    found = [set(range(first, last + 1)) for first, last in systems.rank_groups(ranks, critical)]
    assert sorted(map(sorted, found)) == sorted(map(sorted, largest))


def test_what_is_as_extreme_as_observed_is_the_p_value():
    tails = [(12, "two-sided"), (12, "greater"), (12, "less"), (60, "two-sided")]
    for up in (True, False):
        for units, tail in tails:
            values = np.random.default_rng(4).normal([0.2, 0.0], 1, size=(units, 2))
            scores = heldout.Scores("m", ("A", "B"), range_of(units), values, up)
            comparison = heldout.compare(scores, tests=["randomization"], alternative=tail)
            p = comparison.claims[0].outcomes[0].p
            frame = frame_of(comparison, "null")
            # All assignments of signs, or 20,000 of them.
            error = 1e-9 if units < 16 else 5 * math.sqrt(p * (1 - p) / 20_000)
            assert frame["beyond"].sum() == pytest.approx(p, abs=error), (up, units, tail)
            assert frame["within"].sum() + frame["beyond"].sum() == pytest.approx(1)


# Experiments and studies


SETTINGS = {"task": "ranking", "by": "query", "measures": ["AP"], "tune_for": "AP", "splits": 3}


def experiment(**changes):
    """Results of a made-up experiment: three folds, two parameters."""
    points = [{"k": k, "b": b, "fixed": 7} for k in (1, 2) for b in (0.0, 0.5)]
    surface = [
        ("sys", repeat, fold, None, None, number, json.dumps(point), mean, other)
        for repeat, fold, base in ((0, 0, 0.0), (0, 1, 0.1), (0, 2, 0.2), (None, None, 0.5))
        for number, (point, mean) in enumerate(
            zip(points, [base + 0.1, base + 0.2, base + 0.3, base + 0.4], strict=True)
        )
        for other in [None if fold is None else mean - 0.2 * fold]
    ]
    folds = [
        ("sys", 0, fold, None, None, number, json.dumps(points[number]), train, held, "")
        for fold, number, train, held in ((0, 3, 0.4, 0.3), (1, 3, 0.5, 0.6), (2, 1, 0.6, 0.3))
    ]
    head = ["system", "repeat", "fold", "other", "run", "number", "parameters"]
    estimate = {"measure": "AP", "value": 0.375, "low": 0.2, "high": 0.5, "train": 0.5}
    system = {"name": "sys", "tuned": True, "points": 4, "ship_number": 3, "estimates": [estimate]}
    fields = {
        "values": pl.DataFrame(),
        "folds": pl.DataFrame(folds, schema=[*head, "train", "held_out", "edges"], orient="row"),
        "surface": pl.DataFrame(surface, schema=[*head, "mean", "held_out"], orient="row"),
        "held_out": pl.DataFrame(),
        "summary": [system],
        "manifest": {"settings": SETTINGS},
        "timings": {},
    }
    return heldout.Results(**(fields | changes))


def test_tuning_and_optimism_by_hand():
    chart = tuning.tuning(experiment(), "sys")
    frame = chart.frame
    assert chart.title == "sys: AP by k, b"  # what is the same everywhere is no axis
    assert rows(frame, "k", "b") == [(1, 0.0), (1, 0.5), (2, 0.0), (2, 0.5)]
    for name, expected in {
        "mean": [0.2, 0.3, 0.4, 0.5],
        "low": [0.1, 0.2, 0.3, 0.4],
        "high": [0.3, 0.4, 0.5, 0.6],
        "whole": [0.6, 0.7, 0.8, 0.9],
        "test": [0.0, 0.1, 0.2, 0.3],
        "test_low": [-0.1, 0.0, 0.1, 0.2],
        "test_high": [0.1, 0.2, 0.3, 0.4],
        "times": [0, 1, 0, 2],
        "held_out": [0.375] * 4,
    }.items():
        assert frame[name].to_list() == pytest.approx(expected), name
    assert frame["shipped"].to_list() == [False, False, False, True]
    frame = tuning.optimism(experiment(), "AP").frame
    assert frame["split"].to_list() == ["r0/f0", "r0/f1", "r0/f2", None]
    assert frame["seen"].to_list() == [0.4, 0.5, 0.6, 0.5]
    assert frame["held_out"].to_list() == [0.3, 0.6, 0.3, 0.375]
    assert frame["gap"].to_list() == pytest.approx([0.1, -0.1, 0.3, 0.125])
    # A fold of documents is a smaller collection than what was seen: the two are not comparable.
    manifest = {"settings": SETTINGS | {"by": "document"}}
    frame = tuning.optimism(experiment(manifest=manifest), "AP").frame
    assert frame["split"].to_list() == [None]


def test_bias_by_hand():
    def study(means=((0, 0, "pooled", 0.5, 0.5),), queries=((0, 0, "pooled", 0.5, 0.4, 0.2),)):
        row = BiasRow("pooled", 0.02, 0.01, 0.05, None, 0.52, 0.5, True)
        settings = StudySettings(heldout.parse_measure("AP"), draws=2)
        return BiasStudy(settings, (row,), 10, 10, means, queries, 0.0)

    frame = frame_of(study(), "bias")
    assert frame.rows() == [("pooled", 0.02, 0.01, 0.01, 0.03, 0.05, True)]
    means = [  # draw, set, estimator, estimate, truth
        *((0, 0, "pooled", 0.4, 0.5), (0, 0, "zero", 0.1, 0.2)),
        *((0, 1, "pooled", 0.7, 0.6), (0, 1, "zero", 0.3, 0.4)),
        *((1, 0, "pooled", 0.6, 0.7), (1, 0, "zero", 0.2, 0.2)),
        *((1, 1, "pooled", 0.9, 0.8), (1, 1, "zero", 0.1, 0.4)),
    ]
    frame = frame_of(study(means), "bias-means")
    found = {(one, name): mean for one, name, mean in frame["set", "estimator", "mean"].iter_rows()}
    by_hand = {"truth": (0.6, 0.7), "pooled": (0.5, 0.8), "zero": (0.15, 0.2)}
    expected = {(at + 1, name): pair[at] for name, pair in by_hand.items() for at in (0, 1)}
    assert found == pytest.approx(expected)
    assert frame["draws"].to_list() == [2] * 6
    queries = [(0, 1, "pooled", 0.7, 0.5, 0.3), (1, 0, "training", 0.2, 0.4, 1.0)]
    of, texts = study(queries=queries), {"a": "alpha", "b": "beta"}
    frame = frame_of(of, "bias-queries", texts=texts)
    assert frame.drop("difference").rows() == [(1, 1, "b", "beta", 0.7, 0.5, 0.3)]
    assert frame["difference"].to_list() == pytest.approx([0.2])
    assert frame_of(of, "bias-queries-2")["query"].to_list() == ["0"]


# Predictions


def predictions(scores, truth, classes=("no", "yes"), probabilities=True):
    table = np.asarray(scores, float)
    table = np.column_stack([1 - table, table]) if table.ndim == 1 else table
    known = (range_of(len(truth)), classes, np.asarray(truth), None, table)
    return heldout.ClassPredictions("A", *known, probabilities=probabilities)


def test_curves_by_hand():
    one = predictions([0.9, 0.6, 0.5, 0.2], [1, 0, 1, 0])
    frame = frame_of(one, "roc")
    curve, hull = (frame.filter(hull=inside) for inside in (False, True))
    assert rows(curve, "fp_rate", "tp_rate", "threshold") == [
        (0.0, 0.0, None),
        (0.0, 0.5, 0.9),
        (0.5, 0.5, 0.6),
        (0.5, 1.0, 0.5),
        (1.0, 1.0, 0.2),
    ]
    assert rows(hull, "fp_rate", "tp_rate") == [(0, 0), (0, 0.5), (0.5, 1), (1, 1)]
    assert (set(curve["auc"]), set(hull["auc"])) == ({0.75}, {0.875})
    assert set(frame["positive"]) == {"yes"}
    frame = frame_of(one, "precision-recall")
    assert frame["recall"].to_list() == [0.5, 0.5, 1.0, 1.0]
    assert frame["precision"].to_list() == pytest.approx([1.0, 0.5, 2 / 3, 0.5])
    assert set(frame["share"]) == {0.5}
    assert frame["average_precision"][0] == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)


def test_calibration_by_hand():
    frame = frame_of(predictions([0.05, 0.08, 0.95, 0.92, 0.93], [0, 1, 1, 1, 0]), "calibration")
    assert frame["units"].to_list() == [2, 3]
    assert frame["confidence"].to_list() == pytest.approx([0.065, 2.8 / 3])
    assert frame["share"].to_list() == pytest.approx([0.5, 2 / 3])
    # Wilson's interval of 1 in 2: centre ½, half width z √(n/4 + z²/4) / (n + z²)
    z = 1.959963984540054
    half = z * math.sqrt(2 * 0.25 + z * z / 4) / (2 + z * z)
    assert (frame["low"][0], frame["high"][0]) == pytest.approx((0.5 - half, 0.5 + half))
    table = [[0.8, 0.1, 0.1], [0.2, 0.5, 0.3], [0.1, 0.18, 0.72]]
    # Of three classes the predicted one is calibrated.
    frame = frame_of(predictions(table, [0, 2, 2], ("x", "y", "z")), "calibration")
    assert frame["confidence"].to_list() == pytest.approx([0.5, 0.76])
    assert frame["share"].to_list() == [0.0, 1.0]


# Drawings


@pytest.fixture(scope="module")
def every():
    return {chart.key: chart for chart in gallery()}


def warnings_of(spec, capfd):
    capfd.readouterr()
    assert vl_convert.vegalite_to_vega(spec, vl_version=VERSION, show_warnings=True)["marks"]
    return capfd.readouterr().err


def compiles(chart, capfd):
    """Compile a chart as in a file and as in a page: nothing may be warned of."""
    assert warnings_of(chart.themed().to_dict(), capfd) == "", chart.key
    page = chart.specification() | {"config": theme(dark=True, transparent=True)}
    assert warnings_of(page, capfd) == "", chart.key


def test_every_chart_compiles_has_words_and_names_no_colour(every, capfd):
    """A colour of its own would be right in one theme at the most."""
    bad = data(pl.DataFrame({"a": [1]})).mark_bar().encode(x="a:Q", shape="a:N")
    assert warnings_of(bad.to_dict(), capfd)  # they would be seen
    assert list(every) == list(NAMES)
    for chart in every.values():
        compiles(chart, capfd)
        spec = chart.specification()
        assert chart.caption.endswith(".")
        assert spec.pop("description") == f"{chart.title}. {chart.caption}"
        del spec["datasets"], spec["$schema"]
        text = json.dumps(spec)
        assert '"url"' not in text
        assert "#" not in text
    # A layer with data of its own would show the grades of all judges in every panel.
    (cells,) = every["grade-confusion"].specification()["spec"]["layer"]
    assert "data" not in cells


EVIL = ('"><img src=x onerror=alert(1)>', "</script><script>alert(2)</script>", "'a' + b.c[0]\\")


def test_charts_of_odd_things_compile(capfd):
    generator = np.random.default_rng(0)
    classes = predictions(
        generator.dirichlet([1, 1, 1], 30), generator.integers(0, 3, 30), tuple("xyz")
    )
    assert [c.key for c in heldout.charts(classes)] == ["roc", "precision-recall", "calibration"]
    several = [heldout.compare(noisy("ABC", count)) for count in (12, 15)]
    evil = heldout.charts(heldout.compare(noisy(EVIL)), texts={"1": EVIL[1]})
    for charts in (evil, heldout.charts(classes), heldout.charts(several)):
        for chart in charts:
            compiles(chart, capfd)
    assert heldout.charts(several)[0].frame["system"].to_list() == ["C", "B", "A"]
    # Altair's own limit of 5,000 rows is not for charts that are made to hold more.
    made = {chart.key: chart for chart in heldout.charts(heldout.compare(noisy("AB", 6000)))}
    assert (len(made["query-differences"].frame), len(made["heatmap"].frame)) == (6000, 600)
    compiles(made["query-differences"], capfd)
    frame = pl.DataFrame({"x": [1 / 3, math.nan, math.inf], "n": [1234567, 1, 2]})
    assert data(frame).data.values == [  # what is not finite is null, and digits are few
        {"x": 0.333333, "n": 1234567},
        {"x": None, "n": 1},
        {"x": None, "n": 2},
    ]


# Files


@pytest.fixture(scope="module")
def evil_comparison():
    return heldout.compare(noisy(EVIL[:2]))


def test_files_are_what_their_suffix_says_or_are_not_there(evil_comparison, tmp_path, monkeypatch):
    chart = heldout.chart(evil_comparison, "query-differences")
    heldout.save_chart(chart, tmp_path / "chart.PNG")
    content = (tmp_path / "chart.PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    assert int.from_bytes(content[16:20], "big") > 1200  # twice as large as its drawing
    assert [one.name for one in tmp_path.iterdir()] == ["chart.PNG"]
    for name in ("chart.jpg", "chart", "chart.png.gz"):
        with pytest.raises(heldout.InputError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
            heldout.save_chart(chart, tmp_path / name)
    path = tmp_path / "chart.svg"
    path.write_text("before")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        heldout.save_chart(chart, path)
    assert path.read_text() == "before"
    assert {one.name for one in tmp_path.iterdir()} == {"chart.PNG", "chart.svg"}


def test_a_page_draws_itself_without_a_network(evil_comparison, tmp_path, visit):
    path = tmp_path / "chart.html"
    chart = heldout.chart(evil_comparison, "query-differences", dark=True)
    heldout.save_chart(chart, path)
    text = path.read_text()
    assert not [name for name in EVIL[:2] if name in text]
    assert "default-src 'none'" in text.partition("</head>")[0].replace("&#39;", "'")
    page = visit(color_scheme="light").open(path)
    bar = page.wait_for_selector(".vega-embed svg .mark-rect path")
    texts = page.eval_on_selector_all("svg text", "all => all.map((one) => one.textContent)")
    bar.hover()
    tip = page.wait_for_selector("#vg-tooltip-element.visible").inner_text()
    paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert page.locator("img").count() == 0
    assert set(EVIL[:2]) <= set(texts)
    assert EVIL[0] in tip
    assert paper == "rgb(20, 23, 27)"  # a dark chart is on a dark page
