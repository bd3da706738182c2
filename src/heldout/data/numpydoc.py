"""Take a docstring in NumPy's form apart: signature, summary, "See Also", and the rest."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Parts", "take_apart"]

_UNDERLINE = re.compile(r"^\s*(?:-{3,}|={3,})\s*$")
_SIGNATURE = re.compile(r"^[A-Za-z_][\w.]*\(.*", re.DOTALL)
_REFERENCE = re.compile(r"^(?::[\w:]+:)?`?~?([A-Za-z_][\w.]*)(?:\(\))?`?$")


class Parts(NamedTuple):
    """A docstring taken apart.

    Parameters
    ----------
    summary
        Its first paragraph, in one line; a signature does not count.
    rest
        The text without the summary and without "See Also".
    whole
        The text with the summary, but without "See Also".
    related
        The names in "See Also", as they are written.
    """

    summary: str
    rest: str
    whole: str
    related: tuple[str, ...]


def take_apart(text: str) -> Parts:
    r"""Take a docstring apart.

    Examples
    --------
    >>> see_also = "See Also\n--------\ng, h : others"
    >>> parts = take_apart(f"f(x)\n\nTwice x.\n\n{see_also}\n\nNotes\n-----\nx")
    >>> parts.summary, parts.related
    ('Twice x.', ('g', 'h'))
    >>> parts.rest
    'f(x)\n\nNotes\n-----\nx'
    """
    lines, related = _without_see_also(text.splitlines())
    whole = "\n".join(lines).strip()
    head, summary, tail = _around_summary(whole)
    rest = "\n\n".join(part for part in (head, tail) if part)
    return Parts(" ".join(summary.split()), rest, whole, related)


def _without_see_also(lines: list[str]) -> tuple[list[str], tuple[str, ...]]:
    kept: list[str] = []
    related: list[str] = []
    inside = False
    for place, line in enumerate(lines):
        heading = place + 1 < len(lines) and bool(_UNDERLINE.match(lines[place + 1]))
        if heading and line.strip():
            inside = line.strip().lower() == "see also"
        if inside:
            related += _names(line)
        else:
            kept.append(line)
    return kept, tuple(dict.fromkeys(related))


def _names(line: str) -> list[str]:
    """The names in a line of "See Also": those before the colon of a line that is not indented."""
    if line[:1].isspace() or line.strip().lower() == "see also":
        return []
    listed = re.split(r"\s:(?:\s|$)|:$|:\s", line, maxsplit=1)[0]
    found = (_REFERENCE.match(one.strip().rstrip(".")) for one in listed.split(","))
    return [one[1] for one in found if one]


def _around_summary(text: str) -> tuple[str, str, str]:
    """What stands before the summary (a signature), the summary, and what stands behind it."""
    paragraphs = re.split(r"\n\s*\n", text)
    at = 0
    while at < len(paragraphs) - 1 and _SIGNATURE.match(paragraphs[at].strip()):
        at += 1
    summary = paragraphs[at]
    if any(_UNDERLINE.match(line) for line in summary.splitlines()):
        return text, "", ""  # a section, no summary
    before = "\n\n".join(paragraphs[:at]).strip()
    behind = "\n\n".join(paragraphs[at + 1 :]).strip()
    return before, summary.strip(), behind
