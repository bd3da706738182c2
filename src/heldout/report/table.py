"""One table for everything that is printed, and one writer per format.

Text from files reaches a terminal, a browser, LaTeX or a spreadsheet only through this module, so
control characters and escapes are handled here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import InitVar, dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from heldout.notes import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from heldout.notes import Note

Kind = Literal["text", "md", "latex", "paper", "html", "tsv", "csv"]

SHORTEST: Final = 12  # columns that a name keeps when a table must fit a terminal
GAP: Final = 2  # blanks between two columns of text
MARKS: Final = {"†": r"\dagger"}  # marks that LaTeX has another name for


class Cell(NamedTuple):
    """A text with its mark (a superscript, or the star of a significant difference)."""

    text: str
    mark: str = ""
    bold: bool = False


@dataclass(frozen=True)
class Table:
    """A head and rows; the first `left` columns are words, the others are numbers."""

    head: Sequence[str]
    rows: InitVar[Sequence[Sequence[str | Cell]]]
    title: str = ""
    left: int = 1
    notes: Sequence[str] = ()
    cells: list[list[Cell]] = field(init=False)

    def __post_init__(self, rows: Sequence[Sequence[str | Cell]]) -> None:
        # The only place where texts are cleaned: whoever has a Table has printable text.
        set_field = object.__setattr__  # how a frozen dataclass changes itself
        set_field(self, "head", [printable(name) for name in self.head])
        set_field(self, "cells", [[_cell(cell) for cell in row] for row in rows])
        set_field(self, "title", printable(self.title))
        set_field(self, "notes", [printable(note) for note in self.notes])

    def columns(self, keep: Sequence[int]) -> Table:
        """The same table with these columns only."""
        rows = [[row[column] for column in keep] for row in self.cells]
        left = sum(column < self.left for column in keep)
        return replace(self, head=[self.head[column] for column in keep], rows=rows, left=left)

    def without_empty(self) -> Table:
        """Leave out the columns in which no row has anything to say."""
        keep = [
            column
            for column in range(len(self.head))
            if any(row[column].text not in {"", "—"} for row in self.cells)
        ]
        return self.columns(keep)


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Notes as they are printed, each once, with the codes to look them up by."""
    return [printable(line) for line in dict.fromkeys(note.line() for note in distinct(notes))]


def paragraphs(lines: Iterable[str], width: int | None = None) -> str:
    """One sentence or note per paragraph, filled to the width."""
    if width is None:
        return "".join(f"{line}\n" for line in lines)
    import textwrap

    filled = (
        textwrap.fill(
            line, width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        for line in lines
    )
    return "".join(f"{line}\n" for line in filled)


def write_tables(tables: Sequence[Table], kind: Kind, width: int | None = None) -> str:
    """Tables below each other in one format; `width` is that of a terminal."""
    if kind == "text":
        return "\n".join(text_table(table, width) for table in tables)
    return "\n".join(_WRITERS[kind](table) for table in tables)


# ---- escapes: how a text stays a text in each format ---------------------------------------------

_CONTROL: Final = "[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]"
_MARKDOWN: Final = re.compile(
    r"""(?x) [\\`*|~]         # code, emphasis, cells, strikes
    | \](?=[(\[:])            # links; other brackets are themselves
    | <(?=[A-Za-z/!?])        # tags and comments, not "less than"
    | (?<!\w)_ | _(?!\w)      # emphasis; within a word it is none
    | &(?=\#?\w+;)            # entities
    """
)
# What begins so is run by spreadsheets; a number with a sign before it is not a formula.
_FORMULA: Final = re.compile(r"[\s\x00]*(?:[=@]|[+-](?![\d.,]*(?:[eE][+-]?\d+)?[%*]*$))|[\t\r]")
_LATEX: Final = str.maketrans(
    {character: f"\\{character}" for character in "{}_&%#$"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    # In LaTeX's default font encoding these would print as other letters.
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
    | {"—": "---", "−": "$-$", "∞": r"$\infty$", "≥": r"$\geq$", "κ": r"$\kappa$"}
    | {"Δ": r"$\Delta$", "α": r"$\alpha$"}
)


def printable(text: str) -> str:
    """Text without control characters, which could steer a terminal or reverse a line."""
    return text if text.isprintable() else re.sub(_CONTROL, "\N{REPLACEMENT CHARACTER}", text)


def escape_markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    return _MARKDOWN.sub(r"\\\g<0>", text)


def escape_latex(text: str) -> str:
    """Text that LaTeX shows as it is."""
    return text.translate(_LATEX)


def escape_html(text: str) -> str:
    """Text that a browser shows as it is, also in attributes."""
    from html import escape  # imports all entities of HTML

    return escape(text)


def escape_formula(text: str) -> str:
    """Text that a spreadsheet does not run; a number with a sign is not a formula."""
    return f"'{text}" if _FORMULA.match(text) else text


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, with no text that a spreadsheet takes for a formula."""
    import polars as pl  # slow to import

    def safe(column: str) -> pl.Series:
        texts = (
            None if text is None else escape_formula(printable(text)) for text in frame[column]
        )
        return pl.Series(column, texts, pl.String)

    return frame.with_columns(
        safe(name) for name, kind in frame.schema.items() if kind == pl.String
    )


# ---- writers -------------------------------------------------------------------------------------


def display_width(text: str) -> int:
    """Columns that a terminal needs: wide characters take two, accents none."""
    if text.isascii():
        return len(text)
    import unicodedata

    return sum(
        0
        if unicodedata.category(character) in {"Mn", "Me", "Cf"}
        else 2
        if unicodedata.east_asian_width(character) in "WF"
        else 1
        for character in text
    )


def shorten(text: str, width: int) -> str:
    """Text of at most `width` columns; a longer one loses its middle."""
    if display_width(text) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while display_width(head + tail) > width - 1:
        head, tail = (
            (head[:-1], tail) if display_width(head) >= display_width(tail) else (head, tail[1:])
        )
    return f"{head}…{tail}"


def text_table(table: Table, width: int | None = None) -> str:
    """Aligned columns; what does not fit `width` is shortened, then moved into further tables."""
    parts = [table]
    if width is not None:
        parts = [_with_short_names(table, width, SHORTEST)]
        if _total(parts[0]) > width:  # names alone do not make it fit: divide, then shorten
            table = _with_short_names(table, width, max(SHORTEST, width // 3))
            divided = _parts_that_fit(table, width)
            parts = [_with_short_names(part, width, SHORTEST) for part in divided]
    title = f"{table.title}\n" if table.title else ""
    body = "\n".join("".join(f"{line}\n" for line in _aligned(part)) for part in parts)
    return title + body + paragraphs(table.notes, width)


def _cell(cell: str | Cell) -> Cell:
    text, mark, bold = cell if isinstance(cell, Cell) else Cell(cell)
    return Cell(printable(text), printable(mark), bold)


def _widths(table: Table) -> list[tuple[int, int]]:
    """Of each column the width of its widest text and of its widest mark."""
    return [
        (
            max(display_width(text) for text in [name, *(row[column].text for row in table.cells)]),
            max((display_width(row[column].mark) for row in table.cells), default=0),
        )
        for column, name in enumerate(table.head)
    ]


def _total(table: Table) -> int:
    """The width of a whole line."""
    return sum(text + mark + GAP for text, mark in _widths(table)) - GAP


def _aligned(table: Table) -> Iterator[str]:
    widths = _widths(table)
    for row in [[Cell(name) for name in table.head], *table.cells]:
        padded = []
        for column, (cell, (text, mark)) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (text - display_width(cell.text))
            # Marks have a place of their own, so that the digits of a column stay aligned.
            marked = cell.mark + " " * (mark - display_width(cell.mark))
            padded.append(
                cell.text + marked + blanks if column < table.left else blanks + cell.text + marked
            )
        yield (" " * GAP).join(padded).rstrip()


def _with_short_names(table: Table, width: int, least: int) -> Table:
    """Shorten the widest column of words as far as the table needs it, but not below `least`."""
    widths = [text + mark for text, mark in _widths(table)]
    excess = _total(table) - width
    if excess <= 0 or not table.left:
        return table
    column = max(range(table.left), key=widths.__getitem__)
    room = max(widths[column] - excess, least)
    rows = [
        [
            cell._replace(text=shorten(cell.text, room)) if at == column else cell
            for at, cell in enumerate(row)
        ]
        for row in table.cells
    ]
    return replace(table, rows=rows)


def _parts_that_fit(table: Table, width: int) -> Iterator[Table]:
    """Divide the columns of numbers over several tables; each repeats the columns of words."""
    widths = [text + mark + GAP for text, mark in _widths(table)]
    words = list(range(table.left))
    used = sum(widths[: table.left])
    numbers: list[int] = []
    for column in range(table.left, len(widths)):
        if numbers and used + sum(widths[n] for n in numbers) + widths[column] - GAP > width:
            yield table.columns([*words, *numbers])
            numbers = []
        numbers.append(column)
    yield table.columns([*words, *numbers])


def _markdown(table: Table) -> str:
    def show(cell: Cell) -> str:
        text = escape_markdown(cell.text)
        text = f"**{text}**" if cell.bold else text
        return text + (f"<sup>{escape_html(cell.mark)}</sup>" if cell.mark else "")

    rule = ["---" if column < table.left else "---:" for column in range(len(table.head))]
    lines = [list(map(escape_markdown, table.head)), rule, *(map(show, row) for row in table.cells)]
    title = f"{escape_markdown(table.title)}\n\n" if table.title else ""
    notes = "".join(f"\n{escape_markdown(note)}\n" for note in table.notes)
    return title + "".join(f"| {' | '.join(line)} |\n" for line in lines) + notes


def _latex(table: Table) -> str:
    """A tabular for the package booktabs."""

    def show(cell: Cell) -> str:
        text = escape_latex(cell.text)
        text = rf"\textbf{{{text}}}" if cell.bold else text
        mark = MARKS.get(cell.mark) or escape_latex(cell.mark)
        return text + (f"$^{{{mark}}}$" if mark else "")

    def line(cells: Sequence[str]) -> str:
        text = " & ".join(cells)
        # After \\ LaTeX takes a bracket or a star for an option of the line break.
        return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"

    form = "l" * table.left + "r" * (len(table.head) - table.left)
    rows = [line([show(cell) for cell in row]) for row in table.cells]
    head = line([escape_latex(name) for name in table.head])
    body = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule"]
    return "\n".join([*body, r"\end{tabular}", ""])


def _commented(table: Table) -> str:
    """A tabular; title and notes are comments."""
    title = f"% {table.title}\n" if table.title else ""
    return title + _latex(table) + "".join(f"% {note}\n" for note in table.notes)


def _paper(table: Table) -> str:
    """A float with its caption, which says what the marks mean."""
    caption = escape_latex(" ".join([*([table.title] if table.title else []), *table.notes]))
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{caption}}}\n{_latex(table)}\\end{{table}}\n"
    )


def _html(table: Table) -> str:
    def show(cell: Cell, column: int) -> str:
        text = escape_html(cell.text)
        text = f"<b>{text}</b>" if cell.bold else text
        text += f"<sup>{escape_html(cell.mark)}</sup>" if cell.mark else ""
        return f'<th scope="row">{text}</th>' if column == 0 else f"<td{side(column)}>{text}</td>"

    def side(column: int) -> str:
        return ' class="text"' if column < table.left else ""

    heads = (
        f'<th scope="col"{side(column)}>{escape_html(name)}</th>'
        for column, name in enumerate(table.head)
    )
    rows = ("".join(show(cell, column) for column, cell in enumerate(row)) for row in table.cells)
    title = f"<caption>{escape_html(table.title)}</caption>" if table.title else ""
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    notes = "".join(f"<p>{escape_html(note)}</p>\n" for note in table.notes)
    head = f"<thead><tr>{''.join(heads)}</tr></thead>"
    return f"<table>{title}{head}\n<tbody>{body}</tbody></table>\n{notes}"


def _cells_for_programs(table: Table) -> list[list[str]]:
    """Marks are for people: a number that other programs read is a number."""
    lines = [table.head, *([cell.text for cell in row] for row in table.cells)]
    return [[escape_formula(text) for text in line] for line in lines]


def _tsv(table: Table) -> str:
    return "".join("\t".join(line) + "\n" for line in _cells_for_programs(table))


def _csv(table: Table) -> str:
    import csv
    from io import StringIO

    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(_cells_for_programs(table))
    return text.getvalue()


_WRITERS: Final[dict[str, Callable[[Table], str]]] = {
    "md": _markdown,
    "latex": _commented,
    "paper": _paper,
    "html": _html,
    "tsv": _tsv,
    "csv": _csv,
}
