"""Every warning and every error has a paragraph in docs/warnings.md, and nothing else has."""

import ast
import re
from pathlib import Path

import pytest

import heldout
from heldout.report.codes import CODES, careful_line, code_of

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "heldout").rglob("*.py"))
ODD = (("a", 3), ("b", 4))
PAGE = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")


def paragraphs():
    """The text below each heading of the third order."""
    parts = re.split(r"^### (.+)$", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


def error_classes():
    """Names of the classes in the sources that are errors or warnings, by their base."""
    return {
        node.name
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(base, ast.Name) and base.id.endswith(("Error", "Warning", "Exception"))
            for base in node.bases
        )
    }


def note_kinds():
    """The kinds of notes that are written out in the sources."""
    calls = (
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    places = {"Note": 0, "_left_out": 2}
    for call in calls:
        if call.func.id in places and len(call.args) > places[call.func.id]:
            kind = call.args[places[call.func.id]]
            if isinstance(kind, ast.Constant):
                yield kind.value


def test_every_code_and_error_has_a_paragraph_and_every_paragraph_a_code():
    assert set(paragraphs()) == set(CODES) | {
        name for name in error_classes() if not name.startswith("_")
    }


def test_paragraphs_say_something():
    for name, text in paragraphs().items():
        assert len(text.split("## ")[0].strip()) > 20, f"the paragraph of {name} is empty"


def test_kinds_of_notes_are_codes():
    kinds = set(note_kinds())
    assert {"empty-documents", "absent-documents", "twins"} <= kinds
    assert kinds <= set(CODES)


def test_error_classes_are_found():
    assert {"HeldoutError", "PlanError", "ResamplingWarning"} <= error_classes()


SENTENCES = {
    "few-units": "only 3 units: little can be shown, and nothing can be excluded",
    "missing-zero": "a lacks 2 judged queries, which count 0",
    "missing-left-out": "2 units that some system lacks were left out: q1, q2",
    "at-an-end": "k1=3, the highest value tried, was chosen; the best may lie beyond it: try more",
    "folds-independent": "t takes folds for independent: corrected-t is the sound one",
    "fit-warning": "svm: ConvergenceWarning: failed to converge (on 12 fits)",
    "tuned-one": "a was tuned and b was not: it may be tuning",
    "absent-documents": "judgements of documents that the corpus lacks, left out: 3 (…)",
}


@pytest.mark.parametrize(("code", "sentence"), SENTENCES.items())
def test_codes_are_told_by_words(code, sentence):
    assert code_of(sentence) == code
    assert careful_line(sentence) == f"Careful: {sentence}. [{code}]"


def test_a_sentence_of_its_own_making_has_no_code(monkeypatch):
    monkeypatch.undo()  # elsewhere in the tests such a sentence fails
    assert careful_line("the moon is full") == "Careful: the moon is full."


def test_the_warning_about_the_bootstrap_has_the_measured_figure():
    scores = heldout.Scores.of({name: {str(n): n % of for n in range(25)} for name, of in ODD})
    (said,) = (
        one
        for one in heldout.compare(scores, tests=["bootstrap-shift"]).advice.warnings
        if code_of(one) == "bootstrap-shift"
    )
    methods = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    (measured,) = re.findall(
        r"^\| equal means \| 25 \|.*?\|.*?\| \.(\d+) \|", methods, re.MULTILINE
    )
    figure = f"{int(measured) / 10:.1f} % instead of 5 % false alarms at 25 units"
    assert figure in said
    assert figure in paragraphs()["bootstrap-shift"]
