"""Tables for other programs: CSV, and HTML that needs nothing else."""

from __future__ import annotations

import csv
import html
from io import StringIO
from typing import TYPE_CHECKING, Final

from heldout.report.tables import plain_text, safe_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

__all__ = ["csv_lines", "finished", "html_page", "html_rows", "safe_frame"]

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color-scheme:light dark}"
    "table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid #8886;text-align:right}"
    "th:first-child,td:first-child{text-align:left}"
)


def csv_lines(rows: Iterable[Sequence[str]]) -> str:
    r"""Rows as comma-separated values.

    Examples
    --------
    >>> csv_lines([["system", "AP"], ["a, b", "0.5"]])
    'system,AP\n"a, b",0.5\n'
    """
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(
        [safe_cell(cell) for cell in row] for row in rows
    )
    return text.getvalue()


def html_rows(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as HTML."""
    top = "".join(f"<th>{_escaped(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{_escaped(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def html_page(title: str, body: str) -> str:
    """A page that holds some HTML, and needs no other file."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{_escaped(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def finished(text: str, kind: str, title: str) -> str:
    """Tables as a file of their own: HTML needs a page around them."""
    return html_page(title, text) if kind == "html" else text


def _escaped(text: str) -> str:
    return html.escape(plain_text(text))


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same, with no text that a spreadsheet takes for a formula."""
    import polars as pl  # slow to import

    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.Series(name, [None if one is None else safe_cell(one) for one in frame[name]], pl.String)
        for name in texts
    )
