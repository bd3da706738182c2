"""What the documentation says of the code: warnings, errors, figures in messages, files."""

import ast
import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEANINGS = runpy.run_path(str(ROOT / "docs" / "_extension" / "warning_codes.py"))["MEANINGS"]


def codes_of_notes():
    """The codes that notes in the sources are made with."""
    places = {"Note": 0, "_left_out": 2}
    for path in (ROOT / "src" / "heldout").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = places.get(node.func.id, len(node.args))
                if at < len(node.args) and isinstance(node.args[at], ast.Constant):
                    yield node.args[at].value


def test_every_code_has_a_meaning_and_every_meaning_a_code():
    assert set(MEANINGS) == set(codes_of_notes()) - {""}


def test_pages_name_known_codes():
    pages = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").rglob("*.md")]
    named = {code for page in pages for code in re.findall(r"\(#warning-([a-z-]+)\)", page)}
    assert named
    assert named <= set(MEANINGS)


def test_every_file_exists():
    """Sources, tests and benchmarks; CONTRIBUTING.md names modules by the end of their paths."""
    known = [path.relative_to(ROOT).as_posix() for path in ROOT.glob("[!.]*/**/*.py")]
    for page in [ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        whole = page.name != "CONTRIBUTING.md"
        pattern = r"\b((?:benchmarks|tests|examples)/[\w/]+\.py)" if whole else r"`([\w/]+\.py)`"
        missing = [
            name
            for name in re.findall(pattern, text)
            if not any(f"/{path}".endswith(f"/{name}") for path in known)
        ]
        assert missing == [], page.name
