"""The example notebook runs from start to end, and every object in it has a display."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parent.parent / "examples" / "comparing.ipynb"


@pytest.fixture(scope="module")
def outputs():
    """The HTML and text of the last value of each code cell, by IPython itself."""
    shells = pytest.importorskip("IPython.core.interactiveshell")
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    code = ["".join(one["source"]) for one in cells if one["cell_type"] == "code"]
    shell = shells.InteractiveShell.instance(history_length=0)
    shell.history_manager.enabled = False
    found = []
    try:
        for source in code:
            done = shell.run_cell(source, store_history=False)
            done.raise_error()
            found.append(shell.display_formatter.format(done.result)[0])
    finally:
        shells.InteractiveShell.clear_instance()
    return dict(zip(code, found, strict=True))


def last(outputs, line):
    return next(found for code, found in outputs.items() if code.splitlines()[-1] == line)


def test_every_object_has_a_display(outputs):
    for line in ("results", "comparison", "evaluation"):
        shown = last(outputs, line)["text/html"]
        assert shown.startswith("<style>.heldout")
        assert "<table>" in shown


def test_results_and_comparison_lead_with_the_answer_and_draw_the_difference(outputs):
    for line in ("results", "comparison"):
        shown = last(outputs, line)["text/html"]
        claim = shown.partition('<p class="claim"><b>')[2].partition("</b>")[0]
        assert "BM25" in claim
        assert "query likelihood" in claim
        assert "nDCG@10 0." in claim
        assert shown.count("<svg") == 1
        assert "Difference in nDCG@10." in shown


def test_frames_of_pandas_come_back(outputs):
    shown = last(outputs, 'evaluation.to_frame("pandas")')["text/html"]
    assert "<th>unit</th>" in shown
