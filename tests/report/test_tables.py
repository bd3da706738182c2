"""One table in all formats."""

from __future__ import annotations

from heldout.report.tables import Table, escape_markdown, html_table, tables_text


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


def test_markdown_escapes_what_would_be_markup():
    assert escape_markdown("[x](http://y)") == r"[x\](http://y)"
    assert escape_markdown("_a_ my_run &lt; a & b") == r"\_a\_ my_run \&lt; a & b"
    assert escape_markdown("[0.1, 0.2] p < 0.05") == "[0.1, 0.2] p < 0.05"
    assert escape_markdown("1. A", line=True) == r"1\. A"
    assert escape_markdown("> A", line=True) == r"\> A"
