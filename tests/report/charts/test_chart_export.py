"""Charts as files: real pictures, nothing half-written, names that stay text."""

import json
from xml.etree import ElementTree as ET

import pytest

import heldout
from heldout.errors import InputError
from heldout.report.charts import draw

EVIL = '"><img src=x onerror=alert(1)>'
WORSE = "</script><script>alert(2)</script>"
SCORES = heldout.Scores.of(
    {EVIL: {"a": 0.1, "b": 0.2, "c": 0.4}, WORSE: {"a": 0.3, "b": 0.1, "c": 0.7}}
)
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-", ".svg": b"<svg ", ".html": b"<!doctype"}


@pytest.fixture(scope="module")
def chart():
    return heldout.chart(heldout.compare(SCORES), "query-differences")


@pytest.mark.parametrize("suffix", draw.SUFFIXES)
def test_files_are_what_their_suffix_says(suffix, chart, tmp_path):
    path = tmp_path / f"chart{suffix.upper()}"
    heldout.save_chart(chart, path)
    content = path.read_bytes()
    if suffix == ".json":
        assert "$schema" in json.loads(content)
    else:
        assert content.lower().startswith(MAGIC[suffix].lower())
    if suffix == ".png":  # twice as large as its drawing
        assert int.from_bytes(content[16:20], "big") > 1200
    assert len(content) > 1000
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("name", ["chart.jpg", "chart", "chart.png.gz"])
def test_other_suffixes_are_refused_with_those_there_are(name, chart, tmp_path):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
        heldout.save_chart(chart, tmp_path / name)


def test_a_failure_leaves_what_was_there(chart, tmp_path, monkeypatch):
    path = tmp_path / "chart.svg"
    path.write_text("before")
    monkeypatch.setattr("vl_convert.vegalite_to_svg", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        heldout.save_chart(chart, path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["chart.svg"]
    with pytest.raises(InputError, match="cannot be written"):
        heldout.save_chart(chart, tmp_path / "nowhere" / "chart.json")


def test_names_are_text_in_a_picture():
    shown = heldout.charts(heldout.compare(SCORES))[2]
    root = ET.fromstring(shown.picture)  # noqa: S314 - our own
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= {
        "svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clipPath", "linearGradient",
        "stop",
    }  # fmt: skip
    assert {EVIL, WORSE} <= {one.text for one in root.iter() if one.text}
    for one in root.iter():
        assert not [name for name in one.attrib if name.startswith("on")]


def test_a_dark_chart_starts_a_dark_page(tmp_path, chromium):
    path = tmp_path / "chart.html"
    heldout.save_chart(heldout.chart(heldout.compare(SCORES), "forest", dark=True), path)
    page = chromium.new_page(color_scheme="light")
    page.goto(path.as_uri())
    page.wait_for_selector(".vega-embed svg")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(20, 23, 27)"
    page.close()


def test_a_page_draws_itself_without_a_network(chart, tmp_path, chromium):
    path = tmp_path / "chart.html"
    heldout.save_chart(chart, path)
    text = path.read_text()
    assert WORSE not in text
    assert EVIL not in text
    assert "default-src 'none'" in text.partition("</head>")[0].replace("&#39;", "'")
    said, asked = [], []
    page = chromium.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    bar = page.wait_for_selector(".vega-embed svg .mark-rect path")
    texts = page.eval_on_selector_all("svg text", "all => all.map((one) => one.textContent)")
    bar.hover()
    tip = page.wait_for_selector("#vg-tooltip-element.visible").inner_text()
    images = page.locator("img").count()
    page.close()
    assert said == []
    assert asked == [path.as_uri()]
    assert {EVIL, WORSE} <= set(texts)
    assert EVIL in tip
    assert images == 0
