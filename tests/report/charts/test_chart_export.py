"""Charts as files: real pictures, nothing half-written, names that stay text."""

import json
from xml.etree import ElementTree as ET

import pytest

import heldout
from heldout.errors import InputError
from heldout.report.charts import export
from heldout.report.charts.export import SUFFIXES, chart_bytes, check_suffix, save_chart

EVIL = '"><img src=x onerror=alert(1)>'
WORSE = "</script><script>alert(2)</script>"
SCORES = heldout.Scores.of(
    {EVIL: {"a": 0.1, "b": 0.2, "c": 0.4}, WORSE: {"a": 0.3, "b": 0.1, "c": 0.7}}
)
MAGIC = {".png": b"\x89PNG\r\n\x1a\n", ".pdf": b"%PDF-", ".svg": b"<svg ", ".html": b"<!doctype"}


@pytest.fixture(scope="module")
def chart():
    return heldout.chart(heldout.compare(SCORES), "query-differences")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_are_what_their_suffix_says(suffix, chart, tmp_path):
    path = tmp_path / f"chart{suffix.upper()}"
    save_chart(chart, path)
    content = path.read_bytes()
    if suffix == ".json":
        assert "$schema" in json.loads(content)
    else:
        assert content.startswith(MAGIC[suffix])
    assert len(content) > 1000
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


def test_a_picture_is_twice_as_large_as_its_drawing(chart):
    content = chart_bytes(chart, ".png")
    width = int.from_bytes(content[16:20], "big")
    assert width > 1200


@pytest.mark.parametrize("name", ["chart.jpg", "chart", "chart.png.gz"])
def test_other_suffixes_are_refused_with_those_there_are(name):
    with pytest.raises(InputError, match=r"\.png, \.svg, \.pdf, \.html, \.json"):
        check_suffix(name)


def test_a_failure_leaves_what_was_there(chart, tmp_path, monkeypatch):
    path = tmp_path / "chart.svg"
    path.write_text("before")

    def fail(*_):
        raise RuntimeError("no picture")

    monkeypatch.setattr(export, "chart_bytes", fail)
    with pytest.raises(RuntimeError):
        save_chart(chart, path)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["chart.svg"]


def test_a_place_that_does_not_exist_is_said_to_be_so(chart, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        save_chart(chart, tmp_path / "nowhere" / "chart.svg")


def test_names_are_text_in_a_picture(chart):
    root = ET.fromstring(chart_bytes(chart, ".svg"))  # noqa: S314 - our own
    assert {one.tag.rpartition("}")[2] for one in root.iter()} <= {
        "svg", "g", "path", "text", "tspan", "rect", "line", "defs", "clipPath", "linearGradient",
        "stop",
    }  # fmt: skip
    shown = {one.text for one in root.iter() if one.text}
    assert {EVIL, WORSE} <= shown
    for one in root.iter():
        assert not [name for name in one.attrib if name.startswith("on")]


def test_names_do_not_leave_the_data_of_a_page(chart):
    page = chart_bytes(chart, ".html").decode()
    assert WORSE not in page
    assert EVIL not in page
    assert page.count("<script") == page.count("</script") == 3
    assert "default-src 'none'" in page.partition("</head>")[0].replace("&#x27;", "'")


def test_a_page_draws_itself_without_a_network(chart, tmp_path, chromium):
    path = tmp_path / "chart.html"
    save_chart(chart, path)
    said, asked = [], []
    page = chromium.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(path.as_uri())
    page.wait_for_selector("svg")
    texts = page.eval_on_selector_all("svg text", "all => all.map((one) => one.textContent)")
    page.hover("svg .mark-rect path >> nth=0")
    tip = page.wait_for_selector("#vg-tooltip-element.visible").inner_text()
    images = page.locator("img").count()
    page.close()
    assert said == []
    assert asked == [path.as_uri()]
    assert {EVIL, WORSE} <= set(texts)
    assert EVIL in tip
    assert images == 0
