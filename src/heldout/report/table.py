"""One table for everything that is printed, and one writer per format.

Text from files reaches a terminal, a browser, LaTeX or a spreadsheet only through this module, so
control characters and escapes are handled here and nowhere else.
"""

from __future__ import annotations

import re
from dataclasses import InitVar, dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.notes import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    import polars as pl

    from heldout.notes import Note

SHORTEST: Final = 12  # columns that a name keeps when a table must fit a terminal
GAP: Final = 2  # blanks between two columns of text


class Cell(NamedTuple):
    """A text with its mark (a superscript, or the star of a significant difference)."""

    text: str
    mark: str = ""
    bold: bool = False


@dataclass
class Table:
    """A head and rows; the first `left` columns are words, the others are numbers.

    Texts are cleaned here and nowhere else: whoever has a Table has printable text.
    """

    head: Sequence[str]
    rows: InitVar[Sequence[Sequence[str | Cell]]]
    title: str = ""
    left: int = 1
    notes: Sequence[str] = ()
    cells: list[list[Cell]] = field(init=False)

    def __post_init__(self, rows: Sequence[Sequence[str | Cell]]) -> None:
        self.head, self.title = list(map(printable, self.head)), printable(self.title)
        self.notes = list(map(printable, self.notes))
        given = [[Cell(cell) if isinstance(cell, str) else cell for cell in row] for row in rows]
        self.cells = [
            [Cell(printable(text), printable(mark), bold) for text, mark, bold in row]
            for row in given
        ]

    @property
    def lines(self) -> list[list[Cell]]:
        """The head and the rows."""
        return [list(map(Cell, self.head)), *self.cells]

    def with_words(self, title: str = "", notes: Iterable[str] = ()) -> Table:
        """The same table with a title, if it is not empty, and further notes."""
        title, notes = title or self.title, [*self.notes, *notes]
        return replace(self, rows=self.cells, title=title, notes=notes)

    def columns(self, keep: Iterable[int]) -> Table:
        """The same table with these columns only."""
        keep = list(keep)
        rows = [[row[column] for column in keep] for row in self.cells]
        left = sum(column < self.left for column in keep)
        return replace(self, head=[self.head[column] for column in keep], rows=rows, left=left)

    def without_empty(self) -> Table:
        """Leave out the columns in which no row has anything to say."""
        columns = enumerate(zip(*self.cells, strict=True))
        return self.columns(n for n, cells in columns if {cell.text for cell in cells} - {"", "—"})


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Notes as they are printed, each once, with the codes to look them up by."""
    return [printable(line) for line in dict.fromkeys(note.line() for note in distinct(notes))]


def paragraphs(lines: Iterable[str], width: int | None = None) -> str:
    """One sentence or note per paragraph, filled to the width."""
    if width is not None:
        from textwrap import TextWrapper

        wrapper = TextWrapper(width, break_long_words=False, break_on_hyphens=False)
        wrapper.subsequent_indent = "  "
        lines = map(wrapper.fill, lines)
    return "".join(f"{line}\n" for line in lines)


def write_tables(tables: Sequence[Table], kind: str, width: int | None = None) -> str:
    """Tables below each other as text for a terminal of a width, md, latex, paper, tsv or csv."""
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
    | {"Δ": r"$\Delta$", "α": r"$\alpha$", "†": r"\dag{}"}
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


def escape_formula(text: str) -> str:
    """Text that a spreadsheet does not run."""
    return f"'{text}" if _FORMULA.match(text) else text


def safe_frame(frame: pl.DataFrame) -> pl.DataFrame:
    """The same frame, with no text that a spreadsheet takes for a formula."""
    import polars as pl  # slow to import

    def safe(text: str) -> str:
        return escape_formula(printable(text))

    return frame.with_columns(pl.col(pl.String).map_elements(safe, return_dtype=pl.String))


# ---- writers -------------------------------------------------------------------------------------


def display_width(text: str) -> int:
    """Columns that a terminal needs: wide characters take two, accents none."""
    if text.isascii():
        return len(text)
    from unicodedata import category, east_asian_width

    shown = (character for character in text if category(character) not in {"Mn", "Me", "Cf"})
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in shown)


def shorten(text: str, width: int) -> str:
    """Text of at most `width` columns; a longer one loses its middle."""
    if display_width(text) <= width:
        return text
    head, tail = text[: len(text) // 2], text[len(text) // 2 :]
    while display_width(head + tail) >= width:
        if display_width(head) < display_width(tail):
            tail = tail[1:]
        else:
            head = head[:-1]
    return f"{head}…{tail}"


def text_table(table: Table, width: int | None = None) -> str:
    """Aligned columns; what does not fit `width` is shortened, then moved into further tables."""
    title = f"{table.title}\n" if table.title else ""
    parts = [table] if width is None else _parts_that_fit(table, width)
    body = "\n".join("".join(f"{line}\n" for line in _aligned(part)) for part in parts)
    return title + body + paragraphs(table.notes, width)


def _widths(table: Table) -> list[tuple[int, int]]:
    """Of each column the width of its widest text and of its widest mark."""
    return [
        (max(display_width(cell.text) for cell in cells), max(len(cell.mark) for cell in cells))
        for cells in zip(*table.lines, strict=True)
    ]


def _aligned(table: Table) -> Iterator[str]:
    widths = _widths(table)
    for row in table.lines:
        padded = []
        for column, (cell, (text, mark)) in enumerate(zip(row, widths, strict=True)):
            blanks = " " * (text - display_width(cell.text))
            # Marks have a place of their own, so that the digits of a column stay aligned.
            marked = cell.text + cell.mark.ljust(mark)
            padded.append(marked + blanks if column < table.left else blanks + marked)
        yield (" " * GAP).join(padded).rstrip()


def _parts_that_fit(table: Table, width: int) -> list[Table]:
    """Shorten names; if that is too little, divide the numbers over tables with the same names."""
    names = range(table.left)
    widths = [text + mark + GAP for text, mark in _widths(table)]
    room = width + GAP - sum(widths[table.left :])
    lengths = (
        length
        for length in range(max(widths[: table.left], default=0), SHORTEST - 1, -1)
        if sum(min(widths[name], length + GAP) for name in names) <= room
    )
    longest = next(lengths, max(SHORTEST, width // (table.left + 1)))
    rows = [
        [cell._replace(text=shorten(cell.text, longest)) for cell in row[: table.left]]
        + row[table.left :]
        for row in table.cells
    ]
    table = replace(table, rows=rows)
    widths = [text + mark + GAP for text, mark in _widths(table)]
    parts: list[list[int]] = [[]]
    for column in range(table.left, len(widths)):
        used = sum(widths[other] for other in [*names, *parts[-1], column])
        if used - GAP > width and parts[-1]:
            parts.append([])
        parts[-1].append(column)
    return [table.columns([*names, *part]) for part in parts]


def _marked(cell: Cell, escape: Callable[[str], str], bold: str, mark: str) -> str:
    """A cell in a markup; `bold` and `mark` have a place for a text."""
    text = escape(cell.text)
    return (bold % text if cell.bold else text) + (mark % escape(cell.mark) if cell.mark else "")


def _markdown(table: Table) -> str:
    head, *rows = [
        [_marked(cell, escape_markdown, "**%s**", "<sup>%s</sup>") for cell in row]
        for row in table.lines
    ]
    rule = ["---" if column < table.left else "---:" for column in range(len(head))]
    title = f"{escape_markdown(table.title)}\n\n" if table.title else ""
    notes = "".join(f"\n{escape_markdown(note)}\n" for note in table.notes)
    return title + "".join(f"| {' | '.join(line)} |\n" for line in [head, rule, *rows]) + notes


def _latex(table: Table) -> str:
    """A tabular for the package booktabs; title and notes are comments."""

    def line(cells: Iterable[Cell]) -> str:
        shown = (_marked(cell, escape_latex, r"\textbf{%s}", "$^{%s}$") for cell in cells)
        text = " & ".join(shown)
        # After \\ LaTeX takes a bracket or a star for an option of the line break.
        return ("{}" if text.startswith(("[", "*")) else "") + text + r" \\"

    form = "l" * table.left + "r" * (len(table.head) - table.left)
    head, *rows = map(line, table.lines)
    comments = [f"% {note}" for note in table.notes]
    lines = [rf"\begin{{tabular}}{{{form}}}", r"\toprule", head, r"\midrule", *rows]
    lines += [r"\bottomrule", r"\end{tabular}", *comments, ""]
    return "\n".join([f"% {table.title}", *lines] if table.title else lines)


def _paper(table: Table) -> str:
    """A float; its caption are title and notes, which say what the marks mean."""
    caption = escape_latex(" ".join(filter(None, [table.title, *table.notes])))
    tabular = _latex(replace(table, rows=table.cells, title="", notes=()))
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{caption}}}\n{tabular}\\end{{table}}\n"
    )


def _separated(table: Table, delimiter: str) -> str:
    """Without marks, which are for people: a number that other programs read is a number."""
    import csv
    from io import StringIO

    text = StringIO()
    rows = ([escape_formula(cell.text) for cell in row] for row in table.lines)
    csv.writer(text, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return text.getvalue()


_WRITERS: Final[dict[str, Callable[[Table], str]]] = {
    "md": _markdown,
    "latex": _latex,
    "paper": _paper,
    "tsv": partial(_separated, delimiter="\t"),
    "csv": partial(_separated, delimiter=","),
}
