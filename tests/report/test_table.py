"""One table in all formats."""

from __future__ import annotations

import pytest

from heldout.report.page.render import tables_page
from heldout.report.table import Cell, Table, escape_markdown, write_tables

TABLE = Table(
    ["system", "kind", "Δ"],
    [["a_b", "<x>", Cell("+0.1", "*", bold=True)], ["*c", "=d", "—"]],
    left=2,
    notes=["n > 1"],
)
SHOWN = {
    "text": "system  kind     Δ\na_b     <x>   +0.1*\n*c      =d       —\nn > 1\n",
    "tsv": "system\tkind\tΔ\na_b\t<x>\t+0.1\n*c\t'=d\t—\n",
    "csv": "system,kind,Δ\na_b,<x>,+0.1\n*c,'=d,—\n",
    "md": "| system | kind | Δ |\n| --- | --- | ---: |\n"
    r"| a_b | \<x> | **+0.1**<sup>\*</sup> |"
    "\n"
    r"| \*c | =d | — |"
    "\n\nn > 1\n",
    "latex": r"""\begin{tabular}{llr}
\toprule
system & kind & $\Delta$ \\
\midrule
a\_b & \textless{}x\textgreater{} & \textbf{+0.1}$^{*}$ \\
{}*c & =d & --- \\
\bottomrule
\end{tabular}
% n > 1
""",
}


@pytest.mark.parametrize("kind", SHOWN)
def test_a_table_is_the_same_cells_in_every_format(kind):
    assert write_tables([TABLE], kind) == SHOWN[kind]


def test_html_escapes_its_cells():
    shown = tables_page("tables", [TABLE])
    row = '<th scope="row">a_b</th><td class="text">&lt;x&gt;</td><td><b>+0.1</b><sup>*</sup></td>'
    assert row in shown
    assert '<p class="hint">n &gt; 1</p>' in shown


def test_a_narrow_terminal_shortens_names_then_divides():
    names = ["x" * 50 + "1", "x" * 50 + "2"]
    rows = [[name, *"123456789"] for name in names]
    table = Table(["name", *(f"number {n}" for n in range(9))], rows)
    lines = write_tables([table], "text", 60).splitlines()
    assert max(map(len, lines)) <= 60
    assert all(name[-1] in "12" for name in (line.split()[0] for line in lines if "…" in line))
    assert sum("name" in line for line in lines) == 3


def test_markdown_escapes_what_would_be_markup():
    assert escape_markdown("[x](http://y)") == r"[x\](http://y)"
    assert escape_markdown("_a_ my_run &lt; a & b") == r"\_a\_ my_run \&lt; a & b"
    assert escape_markdown("[0.1, 0.2] p < 0.05") == "[0.1, 0.2] p < 0.05"
