"""Objects that show themselves in a notebook, and the charts that they have."""

from html.parser import HTMLParser

import pytest

import heldout

EVIL = '"><img src=x onerror=alert(1)>'
ALLOWED = {
    "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "b", "figure", "figcaption", "svg",
    "g", "path", "text", "rect", "line", "defs", "clippath", "lineargradient", "stop", "div",
    "style",
}  # fmt: skip
PAIR = {"A": {"a": 0.1, "b": 0.2, "c": 0.4}, "B": {"a": 0.3, "b": 0.1, "c": 0.7}}


class Reader(HTMLParser):
    """The tags and the texts of a display, which has no scripts."""

    def __init__(self, markup):
        super().__init__()
        self.tags, self.texts = set(), []
        self.feed(markup)
        assert self.tags <= ALLOWED

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data):
        self.texts.append(data)


def read(thing):
    found = Reader(thing._repr_html_())
    assert {"table", "svg"} <= found.tags
    return found.texts


@pytest.fixture(scope="module")
def results(example_files):
    return heldout.Results.read(example_files / "results")


def test_a_comparison_is_an_answer_a_table_and_a_picture():
    several = {EVIL: PAIR["A"], "B": PAIR["B"], "C": {"a": 0.3, "b": 0.5, "c": 0.6}}
    texts = read(heldout.compare(heldout.Scores.of(several, "AP")))
    assert texts.count(EVIL) >= 2  # in a table, and in the picture
    pair = heldout.compare(heldout.Scores.of(PAIR, "AP"))
    texts = read(pair)  # two systems are drawn as their difference
    assert str(pair).splitlines()[0] in texts
    assert {"Difference in AP.", "B − A"} <= set(texts)
    assert "AP of each system." not in texts


def test_one_chart_by_its_name(results, tmp_path):
    drawn = heldout.chart(results, "tuning", dark=True)
    assert drawn.to_dict()["title"]["text"] == "bm25: AP by k1"
    heldout.save_chart(drawn, tmp_path / "tuning.svg")
    assert (tmp_path / "tuning.svg").read_text().startswith("<svg")
    with pytest.raises(heldout.InputError, match="this Comparison: no chart tuning"):
        heldout.chart(heldout.compare(heldout.Scores.of(PAIR, "AP")), "tuning")
    with pytest.raises(heldout.InputError, match="no chart nothing; available: forest"):
        heldout.chart(results, "nothing")
