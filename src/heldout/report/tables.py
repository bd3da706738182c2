"""An evaluation as a table: for the terminal, for other programs, for a paper."""

from __future__ import annotations

import html
import json
import math
import re
from typing import TYPE_CHECKING, Any

from heldout.data.notes import count_of
from heldout.measure.ranking.run_checks import lacks_most
from heldout.notes import distinct, note_texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.table import Table

    from heldout.measure.ranking.evaluate import RankingEvaluation as Evaluation
    from heldout.notes import Note

__all__ = [
    "LATEX_ESCAPES",
    "csv_text",
    "escape_markdown",
    "fit_columns",
    "html_table",
    "html_text",
    "json_text",
    "latex_row",
    "latex_text",
    "markdown_text",
    "note_lines",
    "plain_text",
    "policy_lines",
    "safe_cell",
    "table_text",
    "tsv_lines",
    "tsv_text",
]

ALL = "all"


def _cells(evaluation: Evaluation, *, per_query: bool, summary: bool) -> Iterator[list[Any]]:
    """Rows of (run, query, value, …): the queries of each run, then its means."""
    queries = evaluation.queries()
    for number, name in enumerate(evaluation.names):
        if per_query:
            columns = [
                evaluation.values(number, at).tolist() for at in range(len(evaluation.measures))
            ]
            for row, query in enumerate(queries):
                yield [name, query, *(column[row] for column in columns)]
        if summary:
            means = [evaluation.mean(number, at) for at in range(len(evaluation.measures))]
            yield [name, ALL, *means]


def _format(value: Any, digits: int | None, *, integral: bool) -> str:
    if isinstance(value, str):
        return value
    if math.isnan(value):
        return "undefined"
    if integral:
        return str(round(value))
    return repr(float(value)) if digits is None else f"{value:.{digits}f}"


def text_rows(
    evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int | None
) -> tuple[list[str], list[list[str]]]:
    """Head and rows as text; columns that would say the same in all rows are left out.

    Without a number of `digits`, all are shown.
    """
    integral = [measure.definition.integral for measure in evaluation.measures]
    head = ["run", *(["query"] if per_query else []), *map(str, evaluation.measures)]
    rows = []
    for run, query, *values in _cells(evaluation, per_query=per_query, summary=summary):
        shown = [
            _format(value, digits, integral=whole)
            for value, whole in zip(values, integral, strict=True)
        ]
        rows.append([run, *([query] if per_query else []), *shown])
    return head, rows


def plain_text(text: str) -> str:
    """Text without control characters, which could steer a terminal or turn a line around."""
    if text.isprintable():
        return text
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)


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


def tsv_lines(rows: Iterable[Sequence[str]]) -> str:
    """Rows as tab-separated values."""
    return "".join("\t".join(map(safe_cell, row)) + "\n" for row in rows)


_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")
_FORMULA = re.compile(r"[\s\x00]*(?:[=@]|[+-](?![\d.,]*(?:[eE][+-]?\d+)?[%*]*$))|[\t\r]")
"""What begins so is run by spreadsheets; a number with a sign before it is none."""

_MARKDOWN = re.compile(
    r"""[\\`*|~]             # code, emphasis, cells, strikes
    | \](?=[(\[:])           # links; other brackets are themselves
    | <(?=[A-Za-z/!?])       # tags and comments, not "less than"
    | (?<!\w)_ | _(?!\w)     # emphasis; within a word it is none
    | &(?=\#?\w+;)           # entities
    """,
    re.VERBOSE,
)


def escape_markdown(text: str, *, line: bool = False) -> str:
    r"""Text that Markdown shows as it is: in a cell, or as a `line` of its own.

    Examples
    --------
    >>> print(escape_markdown("<b>*my_run*|"), escape_markdown("# p < 0.05", line=True))
    \<b>\*my_run\*\| \# p < 0.05
    """
    escaped = _MARKDOWN.sub(lambda found: "\\" + found[0], text)
    if line:
        escaped = re.sub(r"^(\d*)(?=[>#+\-.)])", r"\1\\", escaped)
    return escaped


def policy_lines(evaluation: Evaluation) -> list[str]:
    """Warnings, then what was done about ties, missing queries and unjudged ones, in words."""
    judged = len(evaluation.runs[0].queries)
    counted = len(evaluation.queries())
    queries = f"{counted} of {judged} judged" if counted < judged else f"{judged}"
    lines = [
        *note_lines(evaluation.warnings),
        f"queries: {queries}",
        *(f"{what}: {how}" for what, how in evaluation.policies),
    ]
    for run in evaluation.runs:
        lacks = judged - int(run.present.sum())
        warned = evaluation.missing == "zero" and lacks_most(run)
        if lacks and not warned:
            queries = count_of(lacks, "judged query", "judged queries")
            lines.append(f"{plain_text(run.name)} lacks {queries}")
        if run.unjudged:
            queries = count_of(run.unjudged, "query", "queries")
            lines.append(f"{plain_text(run.name)} has {queries} without judgements: ignored")
    return lines


def table_text(
    evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int, terminal: bool = False
) -> str:
    """A table to look at; on a terminal the best mean of each measure is bold.

    Columns that do not fit the terminal's width go into further tables below the first.
    """
    from io import StringIO

    from rich.console import Console  # slow to import, needed for tables only

    buffer = StringIO()
    width = Console().width if terminal else 10_000
    console = Console(file=buffer, width=width, force_terminal=terminal, highlight=False)
    texts = 2 if per_query else 1
    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    best = _best(evaluation) if len(evaluation.names) > 1 else set()
    for columns in fit_columns(head, rows, texts, width):
        console.print(_rich_table(evaluation, head, rows, columns, texts, best))
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def fit_columns(
    head: list[str], rows: list[list[str]], texts: int, width: int
) -> Iterator[list[int]]:
    """Divide the columns over as many tables as the width asks for."""
    sizes = [max(len(row[at]) for row in [head, *rows]) + 3 for at in range(len(head))]
    fixed = sum(sizes[:texts])
    shown: list[int] = []
    for at in range(texts, len(head)):
        if shown and fixed + sum(sizes[one] for one in shown) + sizes[at] - 3 > width:
            yield [*range(texts), *shown]
            shown = []
        shown.append(at)
    yield [*range(texts), *shown]


def _rich_table(
    evaluation: Evaluation,
    head: list[str],
    rows: list[list[str]],
    columns: list[int],
    texts: int,
    best: set[tuple[int, int]],
) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(header_style="bold", show_edge=False, pad_edge=False)
    for at in columns:
        table.add_column(Text(plain_text(head[at])), justify="left" if at < texts else "right")
    names = list(evaluation.names)
    for row in rows:
        is_mean = texts == 1 or row[1] == ALL
        cells = [
            Text(
                plain_text(row[at]),
                "bold" if is_mean and (names.index(row[0]), at - texts) in best else "",
            )
            for at in columns
        ]
        table.add_row(*cells, end_section=is_mean and texts == 2)
    return table


def _best(evaluation: Evaluation) -> set[tuple[int, int]]:
    """(run, measure) of the best means."""
    best = set()
    for at, measure in enumerate(evaluation.measures):
        better = measure.higher_is_better
        if better is None:
            continue
        means = [evaluation.mean(run, at) for run in range(len(evaluation.names))]
        top = max(means) if better else min(means)
        best |= {(run, at) for run, mean in enumerate(means) if mean == top}
    return best


def tsv_text(evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int | None) -> str:
    """Tab-separated values with a header."""
    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    return tsv_lines([head, *rows])


def csv_text(evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int | None) -> str:
    """Comma-separated values with a header; what is undefined is an empty cell."""
    from heldout.report.markup import csv_lines  # it escapes cells as this module does

    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    return csv_lines([head, *([_known(cell) for cell in row] for row in rows)])


def _known(cell: str) -> str:
    return "" if cell == "undefined" else cell


def markdown_text(evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int) -> str:
    """A Markdown table, the policies below it."""
    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    texts = 2 if per_query else 1
    rule = ["---" if at < texts else "---:" for at in range(len(head))]
    head, *rows = ([escape_markdown(plain_text(cell)) for cell in row] for row in [head, *rows])
    table = "".join(f"| {' | '.join(row)} |\n" for row in [head, rule, *rows])
    return table + "\n" + escape_markdown("; ".join(policy_lines(evaluation)), line=True) + "\n"


LATEX_ESCAPES = str.maketrans(
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
    }
)


def latex_row(cells: Sequence[str]) -> str:
    r"""A row of a table.

    What stands first must not be taken for an option of the line break before it.

    Examples
    --------
    >>> print(latex_row(["[1] mine", "0.5"]))
    {}[1] mine & 0.5 \\
    """
    text = " & ".join(cells) + r" \\"
    return "{}" + text if text.startswith(("[", "*")) else text


def latex_text(evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int) -> str:
    """A LaTeX table (package booktabs), the best mean of each measure in bold."""
    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    texts = 2 if per_query else 1
    best = _best(evaluation) if len(evaluation.names) > 1 else set()
    names = list(evaluation.names)
    lines = [f"% {line}" for line in policy_lines(evaluation)]
    lines += [f"\\begin{{tabular}}{{{'l' * texts}{'r' * (len(head) - texts)}}}", "\\toprule"]
    titles = [plain_text(cell).translate(LATEX_ESCAPES) for cell in head]
    lines += [latex_row(titles), "\\midrule"]
    for row in rows:
        is_mean = not per_query or row[1] == ALL
        cells = []
        for at, cell in enumerate(row):
            shown = plain_text(cell).translate(LATEX_ESCAPES)
            bold = is_mean and (names.index(row[0]), at - texts) in best
            cells.append(f"\\textbf{{{shown}}}" if bold else shown)
        lines.append(latex_row(cells))
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def json_text(evaluation: Evaluation, *, per_query: bool, summary: bool) -> str:
    """All numbers at full precision; an undefined value is null."""
    runs = []
    queries = evaluation.queries()
    names = [str(measure) for measure in evaluation.measures]
    for number, run in enumerate(evaluation.runs):
        entry: dict[str, Any] = {"name": run.name}
        if summary:
            means = (evaluation.mean(number, at) for at in range(len(names)))
            entry["means"] = {name: _json(value) for name, value in zip(names, means, strict=True)}
        entry["judged_queries_missing"] = len(run.queries) - int(run.present.sum())
        entry["queries_without_judgements"] = run.unjudged
        if per_query:
            columns = [evaluation.values(number, at).tolist() for at in range(len(names))]
            entry["queries"] = {
                query: {
                    name: _json(column[row]) for name, column in zip(names, columns, strict=True)
                }
                for row, query in enumerate(queries)
            }
        runs.append(entry)
    content = {
        "measures": names,
        "queries": len(queries),
        "policies": dict(evaluation.policies),
        **note_texts(evaluation.warnings),
        "runs": runs,
    }
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _json(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


def html_table(
    evaluation: Evaluation, *, per_query: bool = False, summary: bool = True, digits: int = 4
) -> str:
    """Make a table for a notebook or a page; by default of the means."""
    from heldout.report.markup import html_rows  # it escapes cells as this module does

    head, rows = text_rows(evaluation, per_query=per_query, summary=summary, digits=digits)
    notes = html.escape("; ".join(policy_lines(evaluation)))
    return f"{html_rows(head, rows)}<p>{notes}</p>"


def html_text(evaluation: Evaluation, *, per_query: bool, summary: bool, digits: int) -> str:
    """Make a page of its own."""
    from heldout.report.markup import html_page

    table = html_table(evaluation, per_query=per_query, summary=summary, digits=digits)
    return html_page("Evaluation", table)
