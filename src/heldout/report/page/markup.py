"""Text to markup: every text from outside goes through here, and comes out as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heldout.report.tables import escape_html as esc
from heldout.report.tables import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.report.page.parts import PageTable

__all__ = ["copied", "definitions", "esc", "folded", "json_block", "paragraphs", "table_markup"]

# Within a script element only "<" could end it; the others keep old readers of markup out of it.
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def json_block(name: str, content: Any) -> str:
    r"""Data for the page's own script, which nothing in them can end or start.

    Examples
    --------
    >>> json_block("x", {"a": "</script>"})
    '<script type="application/json" id="x">{"a":"\\u003c/script\\u003e"}</script>'
    """
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return f'<script type="application/json" id="{esc(name)}">{text.translate(_IN_SCRIPT)}</script>'


def paragraphs(lines: Iterable[str], kind: str = "") -> str:
    """A paragraph for each sentence."""
    named = f' class="{kind}"' if kind else ""
    return "".join(f"<p{named}>{esc(line)}</p>\n" for line in lines)


def folded(summary: str, body: str, *, printed: bool = False, kind: str = "") -> str:
    """Something to unfold; `printed`: it is unfolded on paper."""
    mark = " data-print" if printed else ""
    named = f' class="{kind}"' if kind else ""
    return f"<details{named}{mark}><summary>{esc(summary)}</summary>\n{body}</details>\n"


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """Names and what they stand for."""
    inner = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{esc(value)}</dd></div>\n" for name, value in pairs
    )
    return f"<dl>\n{inner}</dl>\n"


def copied(name: str, text: str) -> str:
    """A text to copy, with a button that does so where there is a script."""
    button = f'<button type="button" class="copy" hidden data-copies="{esc(name)}">Copy</button>'
    shown = f'<pre id="{esc(name)}" tabindex="0">{_lines(text)}</pre>'
    return f'<div class="copied">{button}{shown}</div>\n'


def _lines(text: str) -> str:
    return "\n".join(esc(line) for line in text.splitlines())


def table_markup(shown: PageTable, name: str) -> str:
    """A table with what stands around it; `name` is different for each table of a page."""
    table = shown.table
    parts = [
        f'<div class="wide" tabindex="0" role="region" aria-label="{esc(table.title)}">',
        f"{html_table(table, dict(shown.sources))}</div>\n",
        paragraphs(table.notes),
    ]
    if shown.words:
        parts.append(folded("In words", paragraphs(shown.words), printed=True))
    if shown.sources:
        parts.append(folded("Where these numbers come from", definitions(shown.sources)))
    if shown.latex:
        parts.append(folded("For a paper (LaTeX)", copied(f"{name}-latex", shown.latex)))
    return "".join(parts)
