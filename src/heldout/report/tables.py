"""One table, for everything that is printed: terminal, TSV, CSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import StringIO
from typing import TYPE_CHECKING, Final

from heldout.notes import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    import polars as pl

    from heldout.notes import Note

__all__ = [
    "Table",
    "escape_html",
    "escape_latex",
    "escape_markdown",
    "html_page",
    "html_table",
    "note_lines",
    "notes_text",
    "plain_text",
    "safe_cell",
    "safe_frame",
    "tables_page",
    "tables_text",
]


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of cells, as text.

    Parameters
    ----------
    head, rows
        The cells.
    title
        What stands above; may be empty.
    texts
        How many of the first columns are words, which go to the left; the others are numbers.
    notes
        Sentences below the table, where the format has a place for them.
    bold
        Cells that stand out, as row and column.
    starred
        The column in which a star at the end is a mark of significance, and not part of a name.
    """

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    title: str = ""
    texts: int = 1
    notes: Sequence[str] = ()
    bold: Collection[tuple[int, int]] = frozenset()
    starred: int | None = None

    @property
    def lines(self) -> list[Sequence[str]]:
        """The head, then the rows."""
        return [self.head, *self.rows]


def tables_text(tables: Sequence[Table], kind: str, *, terminal: bool = False) -> str:
    """Tables below each other.

    Parameters
    ----------
    tables
        What is shown.
    kind
        ``table`` (plain columns), ``tsv``, ``csv``, ``md``, ``latex`` or ``html``.
    terminal
        Whether a terminal shows it: columns that do not fit its width go into further tables.
    """
    if kind == "table":
        from heldout.report.terminal import stacked  # imports this module

        return stacked(tables, terminal=terminal)
    return "\n".join(_WRITERS[kind](table) for table in tables)


def tables_page(text: str, kind: str, title: str) -> str:
    """Tables as a file of their own: HTML needs a page around them."""
    return html_page(title, text) if kind == "html" else text


def notes_text(notes: Sequence[str], kind: str) -> str:
    """Sentences below tables, a paragraph each; other programs get none with CSV and TSV."""
    plain = [plain_text(note) for note in notes]
    if kind in {"tsv", "csv"}:
        return ""
    if kind == "html":
        return "".join(f"<p>{escape_html(note)}</p>\n" for note in plain)
    if kind == "latex":
        return "".join(f"% {note}\n" for note in plain)
    if kind == "md":
        return "\n".join(f"{escape_markdown(note, line=True)}\n" for note in plain)
    return "".join(f"{note}\n" for note in plain)


def plain_text(text: str) -> str:
    """Text without control characters, which could steer a terminal or turn a line around."""
    if text.isprintable():
        return text
    return re.sub(_CONTROL, "\N{REPLACEMENT CHARACTER}", text)


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Notes as they are printed, each once, with the codes to look them up by."""
    return [plain_text(note.line()) for note in distinct(notes)]


def safe_cell(text: str) -> str:
    r"""Text of a cell that no spreadsheet takes for a formula, and that stays in its cell.

    Numbers stay as they are, signs, stars and all.

    Examples
    --------
    >>> print(safe_cell("=1+2"), safe_cell("-0.5"), safe_cell("+0.0918*"), safe_cell("-x"))
    '=1+2 -0.5 +0.0918* '-x
    """
    plain = plain_text(text)
    return f"'{plain}" if _FORMULA.match(text) else plain


_CONTROL: Final = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_FORMULA = re.compile(r"[\s\x00]*(?:[=@]|[+-](?![\d.,]*(?:[eE][+-]?\d+)?[%*]*$))|[\t\r]")
"""What begins so is run by spreadsheets; a number with a sign before it is none."""

_MARKDOWN = r"""(?x)
      [\\`*|~]               # code, emphasis, cells, strikes
    | \](?=[(\[:])           # links; other brackets are themselves
    | <(?=[A-Za-z/!?])       # tags and comments, not "less than"
    | (?<!\w)_ | _(?!\w)     # emphasis; within a word it is none
    | &(?=\#?\w+;)           # entities
    """


def escape_markdown(text: str, *, line: bool = False) -> str:
    r"""Text that Markdown shows as it is: in a cell, or as a `line` of its own.

    Examples
    --------
    >>> print(escape_markdown("<b>*my_run*|"), escape_markdown("# p < 0.05", line=True))
    \<b>\*my_run\*\| \# p < 0.05
    """
    escaped = re.sub(_MARKDOWN, lambda found: "\\" + found[0], text)
    if line:
        escaped = re.sub(r"^(\d*)(?=[>#+\-.)])", r"\1\\", escaped)
    return escaped


def _tsv(table: Table) -> str:
    return "".join("\t".join(map(safe_cell, line)) + "\n" for line in table.lines)


def _csv(table: Table) -> str:
    import csv

    text = StringIO()
    cells = ([safe_cell(cell) for cell in line] for line in table.lines)
    csv.writer(text, lineterminator="\n").writerows(cells)
    return text.getvalue()


def _markdown(table: Table) -> str:
    def cell(text: str, column: int) -> str:
        plain = plain_text(text)
        return plain if column == table.starred else escape_markdown(plain)

    rule = ["---" if at < table.texts else "---:" for at in range(len(table.head))]
    head, *rows = ([cell(text, at) for at, text in enumerate(line)] for line in table.lines)
    title = f"{escape_markdown(plain_text(table.title), line=True)}\n\n" if table.title else ""
    notes = "\n" + notes_text(table.notes, "md") if table.notes else ""
    return title + "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows]) + notes


_LATEX: Final = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "_": r"\_",
        "&": r"\&",
        "%": r"\%",
        "#": r"\#",
        "$": r"\$",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        # In LaTeX's oldest font encoding, which is its default, these would be other letters.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "—": "---",
        "Δ": r"$\Delta$",
        "κ": r"$\kappa$",
        "α": r"$\alpha$",
        "≥": r"$\geq$",
        "∞": r"$\infty$",
    }
)


def _latex(table: Table) -> str:
    """A table for the package booktabs."""
    form = "l" * table.texts + "r" * (len(table.head) - table.texts)
    lines = [f"% {plain_text(table.title)}"] if table.title else []
    lines += [f"\\begin{{tabular}}{{{form}}}", "\\toprule"]
    lines += [_latex_row(map(_latex_cell, table.head)), "\\midrule"]
    for number, row in enumerate(table.rows):
        cells = [_latex_cell(cell, starred=at == table.starred) for at, cell in enumerate(row)]
        lines.append(
            _latex_row(
                f"\\textbf{{{cell}}}" if (number, at) in table.bold else cell
                for at, cell in enumerate(cells)
            )
        )
    lines += ["\\bottomrule", "\\end{tabular}", ""]
    return "\n".join(lines) + notes_text(table.notes, "latex")


def _latex_cell(text: str, *, starred: bool = False) -> str:
    shown = escape_latex(text)
    shown = f"{shown[:-1]}$^{{*}}$" if starred and shown.endswith("*") else shown
    return shown.replace(r"\textless{} 0.0001", "$<$ 0.0001")


def escape_latex(text: str) -> str:
    r"""Text that LaTeX shows as it is.

    Examples
    --------
    >>> print(escape_latex("my_run & 5 %"))
    my\_run \& 5 \%
    """
    return plain_text(text).translate(_LATEX)


def _latex_row(cells: Iterable[str]) -> str:
    r"""A row; what stands first must not be taken for an option of the line break before it.

    Examples
    --------
    >>> print(_latex_row(["[1] mine", "0.5"]))
    {}[1] mine & 0.5 \\
    """
    text = " & ".join(cells) + r" \\"
    return "{}" + text if text.startswith(("[", "*")) else text


def escape_html(text: str) -> str:
    """Text that is shown as it is, in elements and in attributes.

    Examples
    --------
    >>> escape_html('<b title="x">')
    '&lt;b title=&quot;x&quot;&gt;'
    """
    import html  # all entities of HTML are slow to import

    return html.escape(plain_text(text))


def html_table(table: Table, hints: Mapping[str, str] | None = None) -> str:
    """A table as HTML.

    Parameters
    ----------
    table
        What is shown.
    hints
        Tooltips of columns, by their heading.
    """
    known = hints or {}
    marks = [
        (' class="text"' if at < table.texts else "") + _hint(known.get(name, ""))
        for at, name in enumerate(table.head)
    ]
    head = "".join(
        f'<th scope="col"{mark}>{escape_html(cell)}</th>'
        for cell, mark in zip(table.head, marks, strict=True)
    )
    rows = "\n".join(f"<tr>{_html_row(row, marks)}</tr>" for row in table.rows)
    title = f"<caption>{escape_html(table.title)}</caption>" if table.title else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _html_row(row: Sequence[str], marks: Sequence[str]) -> str:
    """The cells of a row; the first names it."""
    first = f'<th scope="row">{escape_html(row[0])}</th>'
    return first + "".join(
        f"<td{mark}>{escape_html(cell)}</td>" for cell, mark in zip(row[1:], marks[1:], strict=True)
    )


def _hint(words: str) -> str:
    return f' title="{escape_html(words)}"' if words else ""


def _html(table: Table) -> str:
    return html_table(table) + "\n" + notes_text(table.notes, "html")


_WRITERS: Final[dict[str, Callable[[Table], str]]] = {
    "tsv": _tsv,
    "csv": _csv,
    "md": _markdown,
    "latex": _latex,
    "html": _html,
}

_STYLE: Final = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem;color-scheme:light dark}"
    "table{border-collapse:collapse;margin:1rem 0;font-variant-numeric:tabular-nums}"
    "th,td{padding:.25rem .75rem;border-bottom:1px solid #8886;text-align:right}"
    "tbody th{font-weight:normal}.text,th:first-child{text-align:left}"
)


def html_page(title: str, body: str) -> str:
    """A page that holds some HTML, and needs no other file."""
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f"<title>{escape_html(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same, with no text that a spreadsheet takes for a formula."""
    import polars as pl  # slow to import

    texts = [name for name, kind in frame.schema.items() if kind == pl.String]
    return frame.with_columns(
        pl.Series(name, [None if one is None else safe_cell(one) for one in frame[name]], pl.String)
        for name in texts
    )
