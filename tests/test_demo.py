"""The demonstration leaves a page that can be shown."""

from __future__ import annotations

import json
import re

import pytest

from heldout.cli import main
from heldout.data.collection import Collection


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
    assert "the same nDCG@10 on all 20 queries" in out
    assert "on new documents" in out
    assert len(out.splitlines()) <= 15
    page = (tmp_path / "shown" / "report.html").read_text(encoding="utf-8")
    shown, *_ = page.partition("<script>")
    for number in re.findall(r"0\.\d{4}", out):
        assert number in shown
    assert "new queries on these documents" in shown
    assert "these queries on new documents" in shown
    for part in ("part-1", "part-2"):
        block = re.search(rf'id="{part}-rankings">(.*?)</script>', page).group(1)
        assert json.loads(block)["lines"]


def test_a_folder_that_cannot_be_made_is_refused(tmp_path, capsys):
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(SystemExit) as left:
        main(["demo", str(tmp_path / "taken")])
    assert left.value.code == 2
    assert "cannot be created" in capsys.readouterr().err
