"""The demonstration leaves a page that can be shown."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from heldout.cli import main
from heldout.data.collection import Collection
from heldout.experiment.run import Experiment
from heldout.report.page import results_page


class Tags(HTMLParser):
    """Collects what is on a page, and refuses tags that do not close."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.text = [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    return tags


@pytest.fixture
def small(monkeypatch):
    """A collection in place of the documentation, which takes half a minute."""
    words = ["red", "green", "blue", "old", "new", "big"]
    documents = {
        f"d{n}": " ".join(words[(n * k) % 6] for k in range(1, 5)) + f" w{n % 7}" for n in range(40)
    }
    queries = {f"q{n}": f"{words[n % 6]} w{n % 7}" for n in range(20)}
    qrels = {f"q{n}": {f"d{n}": 2, f"d{n + 14}": 1} for n in range(20)}
    made = Collection(documents, queries, qrels, name="<small>")
    monkeypatch.setattr("heldout.data.collection_files.read_collection", lambda _: made)
    return made


@pytest.mark.usefixtures("small")
def test_demo_tunes_compares_and_leaves_a_page(tmp_path, capsys):
    main(["demo", str(tmp_path / "shown")])
    out = capsys.readouterr().out
    assert "New queries: " in out
    assert "New documents: " in out
    tags = read((tmp_path / "shown" / "report.html").read_text(encoding="utf-8"))
    assert sum(tag == "table" for tag, _ in tags.seen) == 4
    assert not [attrs for tag, attrs in tags.seen if tag in ("script", "link", "img", "iframe")]
    shown = "".join(tags.text)
    for number in re.findall(r"0\.\d{4}", out):
        assert number in shown
    assert "new queries on these documents" in shown
    assert "these queries on new documents" in shown


def test_names_are_escaped(small):
    results = Experiment(
        collection=small, systems={"<b>A</b>": "bm25", "B&": "ql-jm"}, plan={"folds": 4}
    ).run()
    page = results_page("<title>", ["1 < 2"], [("x & y", results)])
    tags = read(page)
    assert "<b>" not in page
    assert not [tag for tag, _ in tags.seen if tag == "b"]
    assert "<b>A</b>" in "".join(tags.text)
    assert "<small>" in "".join(tags.text)


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SystemExit) as left:
        main(["demo", str(tmp_path / "taken")])
    assert left.value.code == 2
    assert "cannot be made" in capsys.readouterr().err
