"""Text to markup: every text from outside is escaped here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from heldout.report.tables import escape_html as esc
from heldout.report.tables import html_table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.report.page.parts import PageTable

__all__ = ["copied", "definitions", "esc", "folded", "json_block", "paragraphs", "table_markup"]

# Only "<" could end a script element; the others are escaped for old parsers.
_IN_SCRIPT = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def json_block(name: str, content: Any) -> str:
    r"""Data for the script of the page; no text in them can end the element.

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
    """A body that unfolds under a summary; with `printed` it is unfolded on paper."""
    mark = " data-print" if printed else ""
    named = f' class="{kind}"' if kind else ""
    return f"<details{named}{mark}><summary>{esc(summary)}</summary>\n{body}</details>\n"


def definitions(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of names and values."""
    inner = "".join(
        f"<div><dt>{esc(name)}</dt><dd>{esc(value)}</dd></div>\n" for name, value in pairs
    )
    return f"<dl>\n{inner}</dl>\n"


def copied(name: str, text: str) -> str:
    """A text with a button that copies it; the script shows the button."""
    button = f'<button type="button" class="copy" hidden data-copies="{esc(name)}">Copy</button>'
    shown = f'<pre id="{esc(name)}" tabindex="0">{_lines(text)}</pre>'
    return f'<div class="copied">{button}{shown}</div>\n'


def _lines(text: str) -> str:
    return "\n".join(esc(line) for line in text.splitlines())


def table_markup(shown: PageTable, name: str) -> str:
    """A table with one line to unfold its details; `name` is different for each table of a page."""
    table = shown.table
    parts = [
        f'<div class="wide" tabindex="0" role="region" aria-label="{esc(table.title)}">',
        f"{html_table(table, dict(shown.sources))}</div>\n",
        paragraphs(table.notes, "hint"),
        _details(shown, name),
    ]
    markup = "".join(parts)
    return folded(shown.fold, markup) if shown.fold else markup


def _details(shown: PageTable, name: str) -> str:
    """The table in words, the sources of its columns and its LaTeX, in one place."""
    found = {
        "in words": paragraphs(shown.words) if shown.words else "",
        "sources": definitions(shown.sources) if shown.sources else "",
        "LaTeX": copied(f"{name}-latex", shown.latex) if shown.latex else "",
    }
    known = {title: body for title, body in found.items() if body}
    if not known:
        return ""
    return folded(f"Details: {', '.join(known)}", "".join(known.values()), kind="details")
