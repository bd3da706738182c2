"""One table in all formats; many rows are drawn as Rich draws them, without waiting for it."""

from __future__ import annotations

import pytest

from heldout.report import terminal as drawing
from heldout.report.tables import Table, html_table, tables_text

ROWS = [
    [
        f"s{at} - t{at * at}",
        f"{at / 7:+.4f}",
        "wide 漢字" if at == 3 else "é",
        "" if at % 5 else "x",
    ]
    for at in range(60)
]
HEAD = ["pair", "Δ", "interval of Δ", "p"]


def drawn_by_rich(tables, *, terminal):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(drawing, "MANY_ROWS", 10**9)
        return tables_text(tables, "table", terminal=terminal)


@pytest.mark.parametrize(
    ("width", "terminal"),
    [*((width, False) for width in ("200", "60", "40", "24", "12")), ("60", True)],
)
@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [[*row[:3], "  blank before and behind  "] for row in ROWS],
        [[*row[:3], "a long cell of several words"] for row in ROWS],
        [[row[0], "control \x07 and \u2028", *row[2:]] for row in ROWS],
    ],
)
def test_many_rows_are_drawn_as_rich_draws_them(monkeypatch, width, terminal, rows):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm-256color")
    tables = [
        Table(HEAD, rows, "a title"),
        Table(HEAD, rows[:3], texts=2),
        Table(HEAD, rows, texts=2, sections={9, 59}),
    ]
    assert tables_text(tables, "table", terminal=terminal) == drawn_by_rich(
        tables, terminal=terminal
    )


def test_a_table_is_the_same_cells_in_every_format():
    table = Table(
        ["system", "kind", "Δ"],
        [["a_b", "<x>", "+0.1*"], ["*c", "=d", "—"]],
        texts=2,
        notes=["n > 1"],
        bold={(0, 2)},
        starred=2,
    )
    shown = {kind: tables_text([table], kind) for kind in ("tsv", "csv", "md", "latex", "html")}
    assert shown["tsv"] == "system\tkind\tΔ\na_b\t<x>\t+0.1*\n*c\t'=d\t—\n"
    assert shown["csv"] == "system,kind,Δ\na_b,<x>,+0.1*\n*c,'=d,—\n"
    assert shown["md"].splitlines() == [
        "| system | kind | Δ |",
        "| --- | --- | ---: |",
        r"| a_b | \<x> | +0.1* |",
        r"| \*c | =d | — |",
        "",
        "n > 1",
    ]
    assert shown["latex"].splitlines() == [
        r"\begin{tabular}{llr}",
        r"\toprule",
        r"system & kind & $\Delta$ \\",
        r"\midrule",
        r"a\_b & \textless{}x\textgreater{} & \textbf{+0.1$^{*}$} \\",
        r"{}*c & =d & --- \\",
        r"\bottomrule",
        r"\end{tabular}",
        "% n > 1",
    ]
    assert '<th scope="row">a_b</th><td class="text">&lt;x&gt;</td><td>+0.1*</td>' in shown["html"]
    assert shown["html"].endswith("<p>n &gt; 1</p>\n")


def test_columns_of_html_say_where_their_numbers_come_from():
    shown = html_table(Table(["system", "AP"], [["a", "0.5"]], "Means"), {"AP": 'mean "of" all'})
    assert "<caption>Means</caption>" in shown
    assert shown.count('title="mean &quot;of&quot; all"') == 2
