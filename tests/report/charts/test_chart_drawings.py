"""Every drawing is one that Vega can draw as it is meant, light and dark."""

import json
import math
import sys
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert
from test_chart_data import experiment

import heldout
from heldout.data.predictions import ClassPredictions
from heldout.report.charts import tuning
from heldout.report.charts.draw import data, theme
from heldout.report.charts.find import NAMES

sys.path.append(str(Path(__file__).parents[3] / "docs" / "_extension"))
from gallery_charts import gallery

VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


@pytest.fixture(scope="module")
def every():
    return {chart.key: chart for chart in gallery()}


def warnings_of(spec, capfd):
    capfd.readouterr()
    assert vl_convert.vegalite_to_vega(spec, vl_version=VERSION, show_warnings=True)["marks"]
    return capfd.readouterr().err


def compiles(chart, capfd):
    """Compile a chart as in a file and as in a page: nothing may be warned of."""
    assert warnings_of(chart.themed().to_dict(), capfd) == ""
    page = chart.specification() | {"config": theme(dark=True, transparent=True)}
    assert warnings_of(page, capfd) == ""


def test_warnings_would_be_seen(capfd):
    chart = data(pl.DataFrame({"a": [1]})).mark_bar().encode(x="a:Q", shape="a:N")
    assert warnings_of(chart.to_dict(), capfd)


@pytest.mark.parametrize("name", list(NAMES))
def test_every_chart_compiles_has_words_and_names_no_colour(name, every, capfd):
    """A colour of its own would be right in one theme at the most."""
    chart = every[name]
    compiles(chart, capfd)
    spec = chart.specification()
    assert chart.caption.endswith(".")
    assert spec.pop("description") == f"{chart.title}. {chart.caption}"
    del spec["datasets"], spec["$schema"]
    text = json.dumps(spec)
    assert '"url"' not in text
    assert "#" not in text


def tuned(values):
    """Results of a system with one or more parameters, each setting with its training score."""
    settings = [(n, json.dumps(point)) for n, point in enumerate(values)]
    surface = [
        ("sys", repeat, 0, number, text, 0.1 * number, test)
        for number, text in settings
        for repeat, test in ((0, 0.2), (None, None))
    ]
    head = ["system", "repeat", "fold", "number", "parameters", "mean", "held_out"]
    frame = pl.DataFrame(surface, schema=head, orient="row", infer_schema_length=None)
    chart = tuning.tuning(experiment(surface=frame), "sys")
    return chart, json.dumps(chart.specification())


@pytest.mark.parametrize(
    ("points", "logarithmic"),
    [
        ([{"a.b[0]'": value} for value in (1.0, 2.0, 3.0)], False),
        ([{"C": value} for value in (0.01, 0.1, 1.0, 10.0)], True),
        ([{"stemmer": value} for value in ("english", "none")], False),
        ([{"k": value} for value in (None, 3)], False),
        ([{"k": k, "b": b, "d": d} for k in (1, 2) for b in (0.5, 1.0) for d in "xy"], False),
    ],
)
def test_tuned_parameters_of_all_kinds_compile(points, logarithmic, capfd):
    chart, text = tuned(points)
    compiles(chart, capfd)
    assert ('"type": "log"' in text) == logarithmic
    assert ("held-out data" in text) == (len(points[0]) == 1)


def test_panels_of_three_classes_compile(capfd):
    generator = np.random.default_rng(0)
    table, truth = generator.dirichlet([1, 1, 1], 30), generator.integers(0, 3, 30)
    units = tuple(map(str, range(30)))
    one = ClassPredictions("A", units, tuple("xyz"), truth, None, table, probabilities=True)
    made = heldout.charts(one)
    assert [chart.key for chart in made] == ["roc", "precision-recall", "calibration"]
    for chart in made:
        compiles(chart, capfd)


def scored(names, count=12):
    values = np.random.default_rng(0).normal(
        np.linspace(0, 1, len(names)), 0.5, (count, len(names))
    )
    return heldout.Scores("m", tuple(names), tuple(map(str, range(count))), values)


EVIL = ('"><img src=x onerror=alert(1)>', "</script><script>alert(2)</script>", "'a' + b.c[0]\\")


@pytest.mark.parametrize(
    ("names", "options"),
    [(EVIL, {}), ("AB", {"alternative": "greater"}), ("AB", {"alternative": "less"})],
)
def test_comparisons_compile(names, options, capfd):
    comparison = heldout.compare(scored(names), **options)
    for chart in heldout.charts(comparison, texts={"1": EVIL[1]}):
        compiles(chart, capfd)


def test_each_judge_has_its_own_panel(every):
    """A layer with data of its own would show the grades of all judges in every panel."""
    (cells,) = every["grade-confusion"].specification()["spec"]["layer"]
    assert "data" not in cells


def test_several_measures_of_the_same_systems_compile(capfd):
    comparisons = [heldout.compare(scored("ABC", count)) for count in (12, 15)]
    (chart,) = heldout.charts(comparisons)
    assert chart.frame["system"].to_list() == ["C", "B", "A"]
    compiles(chart, capfd)


def test_thousands_of_queries_are_data(capfd):
    """Altair's own limit of 5,000 rows is not for charts that are made to hold more."""
    made = {chart.key: chart for chart in heldout.charts(heldout.compare(scored("AB", 6000)))}
    assert len(made["query-differences"].frame) == 6000
    assert len(made["heatmap"].frame) == 600
    compiles(made["query-differences"], capfd)
    title = made["heatmap"].specification()["layer"][0]["encoding"]["x"]["title"]
    assert all(len(line) < 45 for line in title)  # a line of a phone


def test_what_is_not_finite_is_null_and_digits_are_few():
    frame = pl.DataFrame({"x": [1 / 3, math.nan, math.inf], "n": [1234567, 1, 2]})
    assert data(frame).data.values == [
        {"x": 0.333333, "n": 1234567},
        {"x": None, "n": 1},
        {"x": None, "n": 2},
    ]


def contrast(one, other):
    """The ratio of WCAG 2.1."""

    def light(colour):
        parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        parts = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    first, second = sorted((light(one), light(other)), reverse=True)
    return (first + 0.05) / (second + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_letters_and_first_colours_stand_out_from_the_paper(dark):
    config = theme(dark=dark)
    paper = config["background"]
    assert contrast(config["axis"]["labelColor"], paper) > 7
    assert contrast(config["title"]["subtitleColor"], paper) > 4.5
    for colour in config["range"]["category"][:3]:
        assert contrast(colour, paper) > 3
