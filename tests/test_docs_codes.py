"""Every warning and every error has a paragraph in docs/warnings.md, and nothing else has."""

import ast
import re
from functools import cache
from pathlib import Path

import heldout

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "heldout").rglob("*.py"))
ODD = (("a", 3), ("b", 4))
PAGE = (ROOT / "docs" / "warnings.md").read_text(encoding="utf-8")


def paragraphs():
    """The text below each heading of the third order."""
    parts = re.split(r"^### (.+)$", PAGE, flags=re.MULTILINE)[1:]
    return dict(zip(parts[::2], parts[1::2], strict=True))


@cache
def classes_and_calls():
    """The nodes of all sources that say what errors and notes there are."""
    return [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef | ast.Call)
    ]


def error_classes():
    """Names of the classes in the sources that are errors or warnings, by their base."""
    return {
        node.name
        for node in classes_and_calls()
        if isinstance(node, ast.ClassDef)
        and any(
            isinstance(base, ast.Name) and base.id.endswith(("Error", "Warning", "Exception"))
            for base in node.bases
        )
    }


def codes_of_notes():
    """The codes that notes in the sources are made with."""
    calls = (
        node
        for node in classes_and_calls()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    )
    places = {"Note": 0, "_left_out": 2}
    for call in calls:
        if call.func.id in places and len(call.args) > places[call.func.id]:
            code = call.args[places[call.func.id]]
            if isinstance(code, ast.Constant):
                yield code.value


def test_every_code_and_error_has_a_paragraph_and_every_paragraph_a_code():
    public = {name for name in error_classes() if not name.startswith("_")}
    assert set(paragraphs()) == set(codes_of_notes()) - {""} | public


def test_paragraphs_say_something():
    for name, text in paragraphs().items():
        assert len(text.split("## ")[0].strip()) > 20, f"the paragraph of {name} is empty"


def test_error_classes_are_found():
    assert {"HeldoutError", "PlanError", "ResamplingWarning"} <= error_classes()


def test_the_warning_about_the_bootstrap_has_the_measured_figure():
    scores = heldout.Scores.of({name: {str(n): n % of for n in range(25)} for name, of in ODD})
    (said,) = (
        one.text
        for one in heldout.compare(scores, tests=["bootstrap-shift"]).warnings
        if one.code == "bootstrap-shift"
    )
    methods = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    (measured,) = re.findall(
        r"^\| equal means \| 25 \|.*?\|.*?\| \.(\d+) \|", methods, re.MULTILINE
    )
    figure = f"{int(measured) / 10:.1f} % instead of 5 % false alarms at 25 units"
    assert figure in said
    assert figure in paragraphs()["bootstrap-shift"]
