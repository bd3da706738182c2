"""Every name in the documentation exists: commands, options, Python names."""

import importlib
import re
from functools import cache
from pathlib import Path

import pytest

import heldout
from commands import COMMANDS, flags_of

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
OPTIONS = set().union(*map(flags_of, COMMANDS), {"--version", "--help"})
CLASSES = "|".join(name for name in heldout.__all__ if name[0].isupper())


def code_of(text):
    """The code spans and the lines of the code blocks of a page."""
    blocks = re.findall(r"^ *```\w*\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE)
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    spans = [" ".join(span.split()) for span in re.findall(r"(?<!`)`([^`]+)`(?!`)", prose)]
    return [*spans, *(line for block in blocks for line in block.splitlines())]


@cache
def words():
    """Every word in the sources, in small letters: names of measures may be written in any."""
    files = (ROOT / "src").rglob("*.py")
    texts = (path.read_text(encoding="utf-8").lower() for path in files)
    return {word for text in texts for word in re.findall(r"\w+", text)}


def is_there(dotted):
    """Whether ``heldout.a.b`` is a module, a name in one, or a member of a class."""
    found = heldout
    for part in dotted.split(".")[1:]:
        if part in getattr(found, "__dataclass_fields__", ()):
            return True
        try:
            module = hasattr(found, "__path__") and not hasattr(found, part)
            found = (
                importlib.import_module(f"{found.__name__}.{part}")
                if module
                else getattr(found, part)
            )
        except (AttributeError, ModuleNotFoundError):
            return False
    return True


def wrong_names(line):
    """Names in a line of code that do not exist."""
    dotted = re.findall(r"(?<![\w./-])heldout(?:\.[A-Za-z_]\w*)+", line)
    members = re.findall(rf"(?<![\w.])(?:{CLASSES})\.[a-z_]\w*", line)
    yield from (
        one for one in [*dotted, *(f"heldout.{one}" for one in members)] if not is_there(one)
    )
    for typed in re.findall(r"(?:^|(?<=\$ )|(?<=\| ))heldout [^|;#]*", line):
        yield from wrong_options(typed)
    if line.startswith("-"):
        yield from set(long_options(line)) - OPTIONS
    # A snake_case or CamelCase name by itself, or a call of it, occurs somewhere in the sources.
    alone = re.fullmatch(r"([A-Za-z]+(?:_\w+)+|(?:[A-Z][a-z]+){2,})(\(.*\))?", line)
    if alone and alone[1].lower() not in words():
        yield alone[1]


def wrong_options(typed):
    """What a command line says that the command does not know."""
    name = typed.split()[1]
    if name in COMMANDS:
        yield from set(long_options(typed)) - flags_of(name) - {"--help"}
    elif re.fullmatch(r"[a-z]+", name):
        yield name


def long_options(text):
    return re.findall(r"(?<!\S)--[a-z][\w-]*", text)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_name_exists(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "coming-from.md":  # the first column of its tables is about other packages
        text = re.sub(r"^\|[^|]*\|", "|", text, flags=re.MULTILINE)
    assert [name for line in code_of(text) for name in wrong_names(line)] == []


@pytest.mark.parametrize(
    "line",
    [
        "cross_validate_estimators",
        "heldout.cross_validate_estimators(X)",
        "heldout.infer.results.z_test",
        "heldout.nowhere.results",
        "Run.from_pandas",
        "$ heldout compar a b",
        "heldout run pydocs --leave-none-out",
        "--leave-none-out",
        "GivenFoldings",
    ],
)
def test_a_wrong_name_is_noticed(line):
    (block,) = code_of(f"```\n{line}\n```\n")
    (span,) = code_of(f"Take `{line}` for it.")
    assert len(list(wrong_names(block))) == len(list(wrong_names(span))) == 1
