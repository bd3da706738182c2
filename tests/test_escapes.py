"""Names and texts are data: no formula in a table, no markup, nothing that steers a terminal."""

import json
import re
import xml.etree.ElementTree as ET

import polars as pl
import pytest

from commands import ended
from heldout.report.page.render import tables_page
from heldout.report.table import (
    Cell,
    Table,
    escape_formula,
    printable,
    safe_frame,
    write_tables,
)

# Plans warn of few units, which is right, and not what is looked at here.
pytestmark = pytest.mark.filterwarnings("ignore")

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
ESCAPED = {
    "tsv": {"tab\there\nline\x1b[31m\x9b": "tab\ufffdhere\ufffdline\ufffd[31m\ufffd\t0.5\n"},
    "latex": {
        r"a_b&c%d#e$f{g}h~i^j\k": r"a\_b\&c\%d\#e\$f\{g\}h\textasciitilde{}i\textasciicircum{}j"
        r"\textbackslash{}k & 0.5 \\"
    },
    "md": {
        "[x](http://y)": r"| [x\](http://y) | 0.5 |",
        "_a_ my_run &lt; a & b": r"| \_a\_ my_run \&lt; a & b | 0.5 |",
        "[0.1, 0.2] p < 0.05": "| [0.1, 0.2] p < 0.05 | 0.5 |",
        "a|b": r"| a\|b | 0.5 |",
    },
}


def test_a_table_is_the_same_cells_in_every_format():
    for kind, expected in SHOWN.items():
        assert write_tables([TABLE], kind) == expected, kind
    shown = tables_page("tables", [TABLE])
    row = '<th scope="row">a_b</th><td class="text">&lt;x&gt;</td><td><b>+0.1</b><sup>*</sup></td>'
    assert row in shown
    assert '<p class="hint">n &gt; 1</p>' in shown
    for kind, names in ESCAPED.items():
        for name, line in names.items():
            assert line in write_tables([Table(["name", "AP"], [[name, "0.5"]])], kind), name
    for name in ("=cmd|' /C calc'!A0", "+1+cmd|x", "-2+3+cmd|x", "@SUM(1)", "\t=1", "\r=1", " =1"):
        cell = escape_formula(printable(name))
        assert not re.match(r"[\s]*[=+\-@]", cell), name
        assert "\t" not in cell
        frame = safe_frame(pl.DataFrame({"name": [name], "value": [-1.0]}))
        assert frame.row(0) == (cell, -1.0)
    for number in ("-0.5", "+0.0918*", "-1e-05", "0.5", "+3", "-", "-.5", "+12%", "-1,234"):
        assert escape_formula(number) == number


# What steers a terminal, or ends a script


SCRIPT = "</script><script>alert(1)</script>"
EVIL = f"=cmd\x1b[31mred\x1b]0;title\x07\x9b2J\r\u202eback{SCRIPT}"
FILE = EVIL.replace("/", "")  # no name of a file has one
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL_JSON = json.dumps(EVIL)


@pytest.fixture
def evil_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def lines(name, rows):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / name).write_text(text)

    documents = {f"{EVIL}{n}": f"word{n} common text {EVIL}" for n in range(8)}
    queries = {f"q{n}{EVIL}": f"word{n} common" for n in range(8)}
    lines("docs.jsonl", ({"_id": one, "text": text} for one, text in documents.items()))
    lines("queries.jsonl", ({"_id": one, "text": text} for one, text in queries.items()))
    judged = {query: {doc: 1} for query, doc in zip(queries, documents, strict=True)}
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    run = {
        query: {doc: 1.0 + at for at, doc in enumerate(list(documents)[n : n + 3])}
        for n, query in enumerate(queries)
    }
    for name in (FILE, "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    name = EVIL.replace("\r", "")
    for file, row in (
        ("p", lambda n: f"{'xy'[n % 2]},{'xy'[n % 3 == 0]}"),
        ("n", lambda n: f"{n},{n + n % 3}"),
    ):
        rows = [f'"{who}",u{n},{row(n)}\n' for who in (name, "B") for n in range(12)]
        (tmp_path / f"{file}.csv").write_text("system,unit,truth,prediction\n" + "".join(rows))
    rows = "".join(f"u{n},{n / 9},{n / 8}\n" for n in range(8))
    (tmp_path / "s.csv").write_text(f'unit,"{EVIL}",B\n{rows}')
    (tmp_path / f"h{FILE}.txt").write_text("a cat\ntwo cats\nthree\n")
    (tmp_path / "ref.txt").write_text("a cat\ntwo dogs\nthree\n")
    (tmp_path / "experiment.toml").write_text(
        'collection = {source = "docs.jsonl", queries = "queries.jsonl", qrels = "qrels.json"}\n'
        "measures = ['RR']\n[plan]\nfolds = 2\n"
        f"[[systems]]\nname = {EVIL_JSON}\nsystem = 'bm25(k1=0.5,1.0)'\n"
        "[[systems]]\nname = 'B'\nsystem = 'tf-idf'\n"
    )
    (tmp_path / "twice.json").write_text(f'{{"q": {{{EVIL_JSON}: 1, {EVIL_JSON}: 2}}}}')
    (tmp_path / "bad.csv").write_text(f'unit,A\n"{EVIL}",1\n"{EVIL}",{EVIL}\n')
    return tmp_path


SOURCE = ("docs.jsonl", "--queries", "queries.jsonl", "--qrels", "qrels.json")
PAIR = ("qrels.json", "b.json", f"{FILE}.json")
SAID = (
    *(("eval", *PAIR), ("eval", *PAIR, "-q"), ("eval", *PAIR, "-q", "-f", "json")),
    *(("eval", *PAIR, "-f", kind) for kind in ("table", "md", "latex")),
    *(("compare", *PAIR), ("compare", *PAIR, "--ledger", "l.jsonl"), ("ledger", "l.jsonl")),
    *(("compare", *PAIR, "-f", kind) for kind in ("md", "latex", "json")),
    ("compare", *PAIR, "-o", "compared.html"),
    *(("compare", "--scores", "s.csv", "-m", "AP"), ("power", "--scores", "s.csv")),
    ("compare", "--task", "classification", "p.csv"),
    ("eval", "--task", "classification", "p.csv", "--json"),
    ("compare", "--task", "regression", "n.csv"),
    ("eval", "--task", "text", "-r", "ref.txt", f"h{FILE}.txt"),
    *(("collection", *SOURCE), ("collection", *SOURCE, "--json")),
    ("collection", *SOURCE, "--to", "beir", "-o", f"out{FILE}"),
    ("split", *SOURCE, "--by", "query", "--folds", "2"),
    ("run", "qrels.json", "--system", "x=[b=]*.json", "--folds", "2"),
    *(("run", "experiment.toml", "-o", "results"), ("run", "experiment.toml", "--dry-run")),
    *(("report", "results", "-o", "page.html"), ("list", "charts", "results")),
    ("chart", "s.csv", "pairs", "-m", "AP", "--data", "-"),
    ("chart", "s.csv", "forest", "-m", "AP", "-o", "chart.html"),
    *(("chart", "s.csv", "forest", "-o", f"chart.{kind}") for kind in ("svg", "png")),
    *(("eval", *PAIR, "-q", "-o", "out.csv"), ("compare", *PAIR, "-o", "pair.csv")),
    ("eval", "--task", "classification", "p.csv", "-f", "tsv"),
    *(("index", "docs.jsonl", "-o", "x.index"), ("index", "x.index")),
    ("search", "docs.jsonl", "--query", "word1 common"),
    ("fuse", *PAIR[1:], "--json"),
)
REFUSED = (
    ("eval", f"{FILE}.txt", "b.json"),
    ("eval", "qrels.json", "b.json", "-m", EVIL),
    ("run", *SOURCE, "--system", EVIL),
    ("eval", "qrels.json", "twice.json"),
    ("compare", "--scores", "bad.csv", "-m", "AP"),
)


def test_nothing_steers_the_terminal_or_ends_a_script(evil_files, capsys):
    """Ids, names and paths, in output, in errors, in pages and in pictures."""
    for command in (*SAID, *REFUSED):
        out, err, code = ended(capsys, *command)
        assert code == (2 if command in REFUSED else 0), (command, err)
        leak = STEERING.search(out + err)
        assert leak is None, (command, (out + err)[max(0, leak.start() - 60) : leak.start() + 20])
        cells = re.split(r"[\t,\n]", out) if "tsv" in command or "--data" in command else []
        assert not [cell for cell in cells if re.match(r"\"?[=@]", cell)], command
    for name in ("out.csv", "pair.csv"):
        cells = (evil_files / name).read_text("utf-8").replace("\n", ",").split(",")
        assert not [cell for cell in cells if re.match(r"\"?[=@]", cell)], name
        assert any("'=cmd" in cell for cell in cells), name
    for name in ("page.html", "compared.html", "chart.html"):
        text = (evil_files / name).read_text("utf-8")
        assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f]", text), name
        assert "alert(1)" in text
        assert "<script>alert" not in text, name
    root = ET.parse(evil_files / "chart.svg").getroot()  # noqa: S314 - our own
    tags = {one.tag.rpartition("}")[2] for one in root.iter()}
    assert "script" not in tags
    assert any("red" in (one.text or "") for one in root.iter())  # long names are cut
