"""Every drawing is one that Vega can draw as it is meant, light and dark."""

import json
import sys
from pathlib import Path

import altair as alt
import numpy as np
import polars as pl
import pytest
import vl_convert

import heldout
from heldout.data.predictions import ClassPredictions
from heldout.infer.compare import compare
from heldout.report.charts.by_query import query_differences_data
from heldout.report.charts.marks import inline
from heldout.report.charts.named import NAMES
from heldout.report.charts.of_comparison import charts_of_comparison, shown_claims
from heldout.report.charts.of_files import NEEDS
from heldout.report.charts.of_predictions import charts_of_predictions
from heldout.report.charts.theme import responsive, themed, titled
from heldout.report.charts.tuning import draw_tuning

sys.path.append(str(Path(__file__).parents[3] / "docs" / "_extension"))
from gallery_charts import gallery

VERSION = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])


@pytest.fixture(scope="module")
def every():
    return {one.key: one for one in gallery()}


def vega(spec):
    return vl_convert.vegalite_to_vega(spec, vl_version=VERSION, show_warnings=True)


BOTH = ((False, dict), (True, responsive))


def compiles(chart, capfd, themes=BOTH[:1]):
    """Compile a chart: nothing may be warned of."""
    for dark, finish in themes:
        spec = finish(titled(themed(chart, dark=dark), "title", "caption").to_dict())
        capfd.readouterr()
        assert vega(spec)["marks"]
        assert capfd.readouterr().err == ""


def test_warnings_would_be_seen(capfd):
    chart = alt.Chart(inline(pl.DataFrame({"a": [1]}))).mark_bar().encode(x="a:Q", shape="a:N")
    with pytest.raises(AssertionError):
        compiles(chart, capfd)


def test_the_gallery_has_every_chart_once(every):
    assert list(every) == list(NAMES) == list(NEEDS)
    for one in every.values():
        assert one.title
        assert one.caption.endswith(".")
        assert len(one.frame)


@pytest.mark.parametrize("name", list(NAMES))
def test_every_chart_of_the_gallery_compiles(name, every, capfd):
    """In both themes, one of them as wide as a page."""
    compiles(every[name].chart, capfd, BOTH)


@pytest.mark.parametrize("name", list(NAMES))
def test_every_chart_says_in_words_what_it_shows(name, every):
    assert len(every[name].chart.to_dict()["description"]) > 40


@pytest.mark.parametrize("name", list(NAMES))
def test_no_drawing_names_a_colour_or_loads_anything(name, every):
    """A colour of its own would be right in one theme at the most."""
    spec = every[name].chart.to_dict()
    spec.pop("datasets", None)
    spec.pop("$schema")
    text = json.dumps(spec)
    assert '"url"' not in text
    assert "#" not in text.replace("@10", "")


def rows(*given, names):
    return pl.DataFrame(list(given), schema=names, orient="row")


TUNED = ["mean", "low", "high", "whole", "times", "shipped"]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, 2.0, 3.0],
        [0.01, 0.1, 1.0, 10.0],
        ["english", "none"],
        [None, 3],
    ],
)
def test_curves_of_one_parameter_compile(values, capfd):
    data = [(value, 0.1, 0.05, 0.2, None, at, at == 0) for at, value in enumerate(values)]
    compiles(draw_tuning(rows(*data, names=["a.b[0]'", *TUNED])), capfd)


def test_each_setting_on_held_out_data_is_a_second_curve(capfd):
    test = ["test", "test_low", "test_high"]
    data = [(w, 0.1, 0.05, 0.2, None, 1, False, 0.1, 0.05, 0.15) for w in (0.0, 0.5, 1.0)]
    drawn = draw_tuning(rows(*data, names=["w", *TUNED, *test]))
    compiles(drawn, capfd)
    assert "held-out data" in json.dumps(drawn.to_dict())


def test_factors_are_drawn_on_a_logarithmic_axis():
    data = [(value, 0.1, 0.1, 0.1, 0.1, 0, False) for value in (0.01, 0.1, 1.0, 10.0)]
    text = json.dumps(draw_tuning(rows(*data, names=["C", *TUNED])).to_dict())
    assert '"type": "log"' in text
    even = [(value, 0.1, 0.1, 0.1, 0.1, 0, False) for value in (1.0, 2.0, 3.0)]
    assert '"log"' not in json.dumps(draw_tuning(rows(*even, names=["C", *TUNED])).to_dict())


def test_three_parameters_compile(capfd):
    data = [
        (k, b, d, 0.1 * k + b, 0.1, 0.2, 0.3, 1, k == 1)
        for k in (1, 2)
        for b in (0.5, 1.0)
        for d in ("x", "y")
    ]
    compiles(draw_tuning(rows(*data, names=["k", "b", "d", *TUNED])), capfd)


def test_panels_of_three_classes_compile(capfd):
    generator = np.random.default_rng(0)
    table = generator.dirichlet([1, 1, 1], 30)
    truth = generator.integers(0, 3, 30)
    units = tuple(map(str, range(30)))
    one = ClassPredictions("A", units, tuple("xyz"), truth, None, table, probabilities=True)
    made = charts_of_predictions([one])
    assert [chart.key for chart in made] == ["roc", "precision-recall", "calibration"]
    for chart in made:
        compiles(chart.chart, capfd)


def scored(names, count=12, seed=0, **more):
    generator = np.random.default_rng(seed)
    values = generator.normal(np.linspace(0, 1, len(names)), 0.5, (count, len(names)))
    return heldout.Scores("m", tuple(names), tuple(map(str, range(count))), values, **more)


EVIL = ('"><img src=x onerror=alert(1)>', "</script><script>alert(2)</script>", "'a' + b.c[0]\\")


def test_names_of_any_characters_compile(capfd):
    for one in charts_of_comparison(compare(scored(EVIL)), texts={"1": EVIL[1]}):
        compiles(one.chart, capfd)


@pytest.mark.parametrize("tail", ["greater", "less"])
def test_comparisons_with_one_tail_compile(tail, capfd):
    for one in charts_of_comparison(compare(scored("AB"), alternative=tail)):
        compiles(one.chart, capfd)


def test_the_best_system_is_shown_against_its_closest_rivals():
    found = shown_claims(compare(scored(tuple("ABCDEF"), 60)))
    assert len(found) == 3
    assert all("F" in {claim.first, claim.second} for claim in found)
    sizes = [abs(claim.difference.estimate) for claim in found]
    assert sizes == sorted(sizes)
    based = shown_claims(compare(scored(tuple("ABCDEF"), 60), baseline="A"))
    assert [claim.second for claim in based] == ["A"] * 3


def test_thousands_of_queries_are_drawn():
    """Altair's own limit of 5,000 rows is not for charts that are made to hold more."""
    many = scored("AB", 6000)
    frame = query_differences_data(many, "A", "B")
    made = {one.key: one for one in charts_of_comparison(compare(many))}
    assert len(frame) == len(made["query-differences"].frame) == 6000
    assert vega(made["query-differences"].chart.to_dict())["marks"]
    assert len(made["heatmap"].frame) == 600
    title = made["heatmap"].chart.to_dict()["encoding"]["x"]["title"]
    assert all(len(line) < 45 for line in title)  # a line of a phone


def test_what_is_not_finite_is_null_and_digits_are_few():
    frame = pl.DataFrame({"x": [1 / 3, float("nan"), float("inf")], "n": [1234567, 1, 2]})
    assert inline(frame).to_dict()["values"] == [
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
def test_letters_and_first_colours_stand_out_from_the_paper(dark, every):
    config = themed(every["forest"].chart, dark=dark).to_dict()["config"]
    paper = config["background"]
    assert contrast(config["axis"]["labelColor"], paper) > 7
    assert contrast(config["title"]["subtitleColor"], paper) > 4.5
    for colour in config["range"]["category"][:3]:
        assert contrast(colour, paper) > 3
