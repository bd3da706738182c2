"""Names that are formulas, or that steer a terminal, are made harmless before they are shown."""

import json
import re

import polars as pl
import pytest

from heldout import Run, read_run
from heldout.cli import main
from heldout.report.table import escape_formula, printable

# Plans warn of few units, which is right, and not what is looked at here.
pytestmark = pytest.mark.filterwarnings("ignore")

FORMULAS = (
    "=cmd|' /C calc'!A0",
    "+1+cmd|x",
    "-2+3+cmd|x",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    " =1",
    "=HYPERLINK(1)",
)


@pytest.mark.parametrize("name", FORMULAS)
def test_a_cell_is_never_a_formula(name):
    cell = escape_formula(printable(name))
    assert not re.match(r"[\s]*[=+\-@]", cell)
    assert "\t" not in cell


@pytest.mark.parametrize(
    "number", ["-0.5", "+0.0918*", "-1e-05", "0.5", "+3", "-", "-.5", "+12%", "-1,234"]
)
def test_numbers_stay_numbers(number):
    assert escape_formula(number) == number


def write_runs(folder, names):
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0}, "q3": {"c": 1.0, "a": 0.5}}
    for number, name in enumerate(names):
        Run.of({q: {d: s + number for d, s in docs.items()} for q, docs in run.items()}).write(
            folder / f"{name}.json"
        )
    (folder / "qrels.json").write_text('{"q1": {"a": 1, "b": 0}, "q2": {"b": 1}, "q3": {"a": 1}}')


def cells(text):
    return [cell for line in text.splitlines() for cell in line.split("\t")]


@pytest.mark.parametrize("name", ["=cmd", "@sum", "+x", "-x"])
def test_tables_of_results_hold_no_formula(tmp_path, capsys, name, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_runs(tmp_path, [name, "other"])
    runs = [f"./{name}.json", "other.json"]
    main(["eval", "qrels.json", *runs, "-q", "--format", "tsv"])
    main(["compare", "qrels.json", *runs, "--format", "tsv"])
    (tmp_path / "p.csv").write_text(
        "system,unit,truth,prediction\n"
        + "".join(
            f"{who},{n},{'ab'[n % 2]},{'ab'[n % 3 == 0]}\n"
            for who in (name, "B")
            for n in range(12)
        )
    )
    main(["eval", "--task", "classification", "p.csv", "--format", "tsv"])
    out = capsys.readouterr().out
    assert f"'{name}" in cells(out)
    formulas = [one for one in cells(out) if re.match(r"[=@]|[+-][^\d.]", one) and one != "-"]
    assert formulas == []


def test_charts_data_hold_no_formula(tmp_path, capsys):
    (tmp_path / "s.csv").write_text(
        "unit,=cmd,B\n" + "".join(f"u{n},{n / 9},{n / 8}\n" for n in range(8))
    )
    main(["chart", str(tmp_path / "s.csv"), "pairs", "-m", "AP", "--data", "-"])
    out = capsys.readouterr().out
    assert "'=cmd" in out
    assert not re.search(r'(^|,)"?=cmd', out, re.MULTILINE)


def test_files_of_data_keep_their_ids(tmp_path):
    """What is read back is what was written: an id is no text for people."""
    ranked = {name.strip(): {name.strip(): 1.0} for name in FORMULAS}
    Run.of(ranked).write(tmp_path / "x.csv")
    assert read_run(tmp_path / "x.csv").to_dict() == ranked
    frame = pl.read_csv(tmp_path / "x.csv", infer_schema=False)
    assert set(frame["doc_id"]) == set(ranked)


EVIL = "\x1b[31mred\x1b]0;title\x07\x9b2J\r\u202eback"
STEERING = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
EVIL_JSON = json.dumps(EVIL)


@pytest.fixture
def evil_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    docs = {f"{EVIL}{n}": f"word{n} common text" for n in range(8)}
    queries = {f"q{n}{EVIL}": f"word{n} common" for n in range(8)}
    (tmp_path / "docs.jsonl").write_text(
        "".join(
            json.dumps({"_id": one, "text": f"{text} {EVIL}"}) + "\n" for one, text in docs.items()
        )
    )
    (tmp_path / "queries.jsonl").write_text(
        "".join(json.dumps({"_id": one, "text": text}) + "\n" for one, text in queries.items())
    )
    judged = {query: {doc: 1} for query, doc in zip(queries, docs, strict=True)}
    (tmp_path / "qrels.json").write_text(json.dumps(judged))
    run = {
        q: {doc: 1.0 + at for at, doc in enumerate(list(docs)[n : n + 3])}
        for n, q in enumerate(queries)
    }
    for name in (f"a{EVIL}", "b"):
        (tmp_path / f"{name}.json").write_text(json.dumps(run))
    rows = "".join(
        f'"{who}",u{n},{"xy"[n % 2]},{"xy"[n % 3 == 0]}\n'
        for who in (EVIL.replace("\r", ""), "B")
        for n in range(12)
    )
    (tmp_path / "p.csv").write_text("system,unit,truth,prediction\n" + rows)
    (tmp_path / "n.csv").write_text(
        "system,unit,truth,prediction\n"
        + "".join(
            f'"{who}",u{n},{n},{n + n % 3}\n'
            for who in (EVIL.replace("\r", ""), "B")
            for n in range(12)
        )
    )
    (tmp_path / "s.csv").write_text(
        f'unit,"{EVIL}",B\n' + "".join(f"u{n},{n / 9},{n / 8}\n" for n in range(8))
    )
    (tmp_path / f"h{EVIL}.txt").write_text("a cat\ntwo cats\nthree\n")
    (tmp_path / "ref.txt").write_text("a cat\ntwo dogs\nthree\n")
    (tmp_path / "experiment.toml").write_text(
        'collection = {source = "docs.jsonl", queries = "queries.jsonl", qrels = "qrels.json"}\n'
        "measures = ['RR']\n[plan]\nfolds = 2\n"
        f"[[systems]]\nname = {EVIL_JSON}\nsystem = 'bm25(k1=0.5,1.0)'\n"
        "[[systems]]\nname = 'B'\nsystem = 'tf-idf'\n"
    )
    return tmp_path


SOURCE = ["docs.jsonl", "--queries", "queries.jsonl", "--qrels", "qrels.json"]
COMMANDS = {
    "eval": ["eval", "qrels.json", "b.json", f"a{EVIL}.json"],
    "eval -q": ["eval", "qrels.json", "b.json", f"a{EVIL}.json", "-q"],
    "eval table": ["eval", "qrels.json", f"a{EVIL}.json", "--format", "table", "-q"],
    "eval md": ["eval", "qrels.json", f"a{EVIL}.json", "--format", "md"],
    "eval latex": ["eval", "qrels.json", f"a{EVIL}.json", "--format", "latex"],
    "eval json": ["eval", "qrels.json", f"a{EVIL}.json", "--format", "json", "-q"],
    "compare": ["compare", "qrels.json", "b.json", f"a{EVIL}.json"],
    "compare md": ["compare", "qrels.json", "b.json", f"a{EVIL}.json", "--format", "md"],
    "compare json": ["compare", "qrels.json", "b.json", f"a{EVIL}.json", "--json"],
    "compare ledger": ["compare", "qrels.json", "b.json", f"a{EVIL}.json", "--ledger", "l.jsonl"],
    "ledger": ["ledger", "l.jsonl"],
    "compare table": ["compare", "--scores", "s.csv", "-m", "AP"],
    "classification": ["compare", "--task", "classification", "p.csv"],
    "classification json": ["eval", "--task", "classification", "p.csv", "--json"],
    "regression": ["compare", "--task", "regression", "n.csv"],
    "text": ["eval", "--task", "text", "-r", "ref.txt", f"h{EVIL}.txt"],
    "collection": ["collection", *SOURCE],
    "collection json": ["collection", *SOURCE, "--json"],
    "export": ["collection", *SOURCE, "--to", "beir", "-o", f"out{EVIL}"],
    "split": ["split", *SOURCE, "--by", "query", "--folds", "2"],
    "run of judgements": ["run", "qrels.json", "--system", "x=[ab]*.json", "--folds", "2"],
    "run": ["run", "experiment.toml", "-o", "results", "--quiet"],
    "run dry": ["run", "experiment.toml", "--dry-run"],
    "report": ["report", "results", "-o", "page.html"],
    "list charts": ["list", "charts", "results"],
    "chart": ["chart", "s.csv", "pairs", "-m", "AP", "--data", "-"],
    "index": ["index", "docs.jsonl", "-o", "x.index"],
    "index show": ["index", "x.index"],
    "search": ["search", *SOURCE[:1], "--query", "word1 common"],
    "no file": ["eval", f"{EVIL}.txt", "b.json"],
    "bad measure": ["eval", "qrels.json", "b.json", "-m", EVIL],
    "bad system": ["run", *SOURCE, "--system", EVIL],
    "twice": ["eval", "qrels.json", "twice.json"],
    "bad table": ["compare", "--scores", "bad.csv", "-m", "AP"],
}


def test_nothing_steers_the_terminal(evil_files, capsys):
    """Control characters in ids, names and paths, in output and in errors."""
    (evil_files / "twice.json").write_text(f'{{"q": {{{EVIL_JSON}: 1, {EVIL_JSON}: 2}}}}')
    (evil_files / "bad.csv").write_text(f'unit,A\n"{EVIL}",1\n"{EVIL}",{EVIL}\n')
    leaks, refused = {}, set()
    for name, command in COMMANDS.items():
        try:
            main(command)
        except SystemExit as end:
            if end.code:
                refused.add(name)
        out, err = capsys.readouterr()
        found = STEERING.search(out + err)
        if found:
            at = found.start()
            leaks[name] = (out + err)[max(0, at - 60) : at + 20]
        assert "Traceback" not in err
    assert leaks == {}, leaks
    assert refused == {"no file", "bad measure", "bad system", "twice", "bad table"}


def test_a_page_has_no_control_characters(evil_files):
    main(["run", "experiment.toml", "-o", "results", "--quiet"])
    main(["report", "results", "-o", "page.html", "--quiet"])
    assert not re.search(
        r"[\x00-\x08\x0b\x0c\x0e-\x1f]", (evil_files / "page.html").read_text("utf-8")
    )
