"""What commands refuse: one line that says why, exit code 2, nothing printed, nothing written."""

import gzip
import os
import shlex
import sys

import polars as pl
import pytest

from commands import COMMANDS, refused, refused_in_a_line
from heldout import Collection, export_collection
from heldout.cli.index import parser as index_parser

RUNS = "qrels.txt baseline.run improved.run"
EVAL = f"eval {RUNS}"
COMPARE = f"compare {RUNS}"
GATE = f"{COMPARE} --gate"
MACHINE = "human.qrels baseline.run improved.run --machine machine.qrels"
OWN = "eval small.qrels bm25.run -m my.py:"
POWER = "power qrels.txt baseline.run improved.run"
SMALL = "docs.jsonl --queries queries.tsv --qrels small.qrels"
RUN = f"run {SMALL} --system bm25"
JUDGED = "run qrels.txt --system 'tuned=*e*.run'"
SPLIT = "split small --by query"
SEARCH = "search docs.jsonl --queries queries.tsv"
STUDY = "study bias small --draws 2 --replicates 2"
FUSE = "fuse bm25.run ql-jm.run"
CHART = "chart results"
PICTURE = "chart results -o f.png"

# What stands before the first bar is tried with each of the following endings.
REFUSED = {
    "eval": {
        "eval": "--help",
        "eval qrels.txt": "at least one run",
        "eval qrels.txt small": "small is a directory",
        "eval small.qrels strange.run": "no query in common: the run has MS-17, MS-18, the qrels "
        "have q00",
        "eval small.qrels other.run another.run --intersection": "no judged query is in all runs",
        "eval qrels.txt baseline.run baseline.run": "are the same file: leave one out",
        f"{EVAL} --ties random": "--ties random: expected one of",
        f"{EVAL} --depht 3": "unknown option --depht: did you mean --depth?",
        f"{EVAL} --hold-out 1": "--hold-out is an option of heldout run, split, not of",
        f"{EVAL} --gate better": "--gate is an option of heldout compare",
        f"{EVAL} --docs 9": "--docs is for --format trec",
        f"{EVAL} -n": "--no-summary goes with --per-unit",
        f"{EVAL} -c --intersection": "exclude each other",
        f"{EVAL} -o nowhere/out": "nowhere/out: cannot be written",
        f"{EVAL} -m relstring -f parquet -o out": "RelString",
        f"{EVAL} -m nDGC@10": "unknown measure 'nDGC@10' of ranking: did you mean nDCG@10",
        f"{EVAL} -m recall@10,P@5": "separate measures with spaces",
        f"{EVAL} -m nDCG@10 -f trec": "'nDCG@10' is not a measure of trec_eval: expected its",
        f"{EVAL} --assume-random": "--assume-random goes with --machine",
        f"eval {MACHINE} --per-unit": "--per-unit does not go with --machine",
        f"{OWN}gone": "my.py has no 'gone'",
        "eval old.csv --positive maybe": "--positive maybe: no such class",
    },
    "compare": {
        "compare qrels.txt": "at least one run",
        "compare missing too -o no/page.html": "create it first",
        "compare nowhere.csv --ledger qrels.txt": "qrels.txt:1: not an evaluation in a ledger",
        "compare --scores scores.csv --gate better": "name it with --baseline",
        "compare --scores tiny.csv": "differ by less than 1e-100 everywhere: scale the scores\n",
        f"{COMPARE} --test magic": "unknown test 'magic'",
        f"{COMPARE} --baseline magic": "no system 'magic'",
        f"{COMPARE} --level 0.05": "did you mean 0.95?",
        f"{COMPARE} --ledger l.jsonl --baseline magic": "magic",
        f"{COMPARE} --lower-is-better": "--lower-is-better is for tables of scores",
        f"{COMPARE} --margin 0.1": "--margin goes with --gate",
        f"{GATE} non-inferior": "--gate non-inferior needs --margin X",
        f"{GATE} better --alternative less": "the gate better reads",
        f"compare {MACHINE} --test-share 1": "--test-share 1.0: does not go with machine",
        f"compare {MACHINE} --test t": "uses human judgements alone",
        "compare old.csv": "one system cannot be compared",
        "compare old.csv other.csv": "the truth of unit u0 is x in other, but ",
        "compare old.csv new.csv --test-share 0.1": "--test-share",
    },
    "power": {
        "power": "or --scores FILE",
        "power --sd 1 --simulate": "simulations need a pilot",
        "power --sd 1 qrels.txt baseline.run": "not both",
        "power --sd 1 --units 1": "--units 1: expected at least 2 units",
        "power --sd 1 --difference 0": "--difference 0.0: expected a difference other than zero",
        "power --sd 1 -m AP": "--measure AP: goes with a pilot study, not with --sd NUMBER",
        "power --task text a.txt b.txt": "texts cannot be planned from",
    },
    "run": {
        "run": "the following arguments are required: INPUT",
        "run experiment.toml --resume": "--resume needs the folder",
        "run experiment.toml --folds 3": "not for an experiment file, in which it is a field",
        "run wrong.toml": "wrong.toml: plan: folds='x': expected an integer",
        "run nowhere.toml": "nowhere.toml: cannot be read",
        f"{RUN} --system bm26": "is not a model, a file or a function",
        f"{RUN} --machine machine.qrels --by both": "held-out queries, not for --by both: further",
        f"{RUN} --target-size 9": "is only for held-out documents: set --by document",
        f"{RUN} --by document --method magic": "--method: should be 'pooled', 'per-fold'",
        f"{RUN} --system 'my.py:rank(power)'": "--system: my.py:rank: 'power' is not a parameter",
        f"{RUN} --system 'my.py:rank(power=1,2)' --by document --folds 2": "rank(comparable=true)",
        f"{RUN} --machine machine.qrels --by document": "leave it out",
        "run qrels.txt --system bm25": "bm25 searches documents, but only judgements",
        f"{JUDGED} --against 'none*.run'": "no run matches none*.run",
        "run qrels.txt --system 't=baseline.run(comparable=true)' --by document": "--by: with "
        "judgements alone only queries can be held out",
    },
    "report": {
        "report small": "no manifest.json",
        "report results --collection c": "not the collection of the experiment",
        "report results -o no/x.html": "does not exist: create it",
        "report results -o report.pdf": "use one of .html",
    },
    "chart": {
        CHART: "add one of forest,",
        f"{CHART} forest": "add -o chart.png",
        f"{CHART} forest -o f.jpg": "use one of .json, .html, .png, .svg, .pdf",
        f"{PICTURE} forrest": "no chart forrest; available: forest, pairs,",
        f"{PICTURE} forest --positive x": "--positive is for predicted classes, not for results",
        f"{PICTURE} forest --lower-is-better": "is for tables of scores, not for results",
        "chart old.csv roc -o f.png -m accuracy": "--measure is for results of heldout run and "
        "tables of scores and the output of heldout study or agree, not for predicted classes",
    },
    "split": {
        f"{SPLIT} --folds 13": "13 folds but only 12 queries",
        f"{SPLIT} --folds 3 --hold-out 0.2": "--folds and --hold-out exclude each other",
        f"{SPLIT} --leave-one-out --stratify relevance": "--stratify: goes with plans of kind",
        f"{SPLIT} --bootstrap 3 --assignments -": "does not assign every unit to one fold",
        f"{SPLIT} --folds 3 --assignments - --json": "--json prints a description",
        "split small --sample 3 --json": "--json prints a description",
        f"{SPLIT} -o folds.csv": "for a table of folds use --assignments",
        "split small --sample 12": "expected fewer than the 12 queries",
        "split small --by both --test-ids queries.tsv": "--by both needs",
    },
    "collection": {
        "collection": "COLLECTION",
        "collection docs.jsonl": "has no queries: give a file of queries (--queries …)",
        f"collection {SMALL} --json -o x": "a description is printed",
        f"collection {SMALL} -o small": "overwrite it (--force)",
    },
    "index": {
        "index docs.jsonl": "-o FOLDER",
        "index docs.jsonl -o docs.jsonl --force": "is not an index",
        "index docs.jsonl -o x --max-memory much": "expected a size such as 500MB",
        "index damaged.index --verify": "damaged.index: the index is damaged",
        "index cut.index": "cut.index/lengths.npy: the file of the index",
    },
    "search": {
        f"{SEARCH} --json -o x.run": "give one of them",
        f"{SEARCH} --model bm26": "unknown model 'bm26': expected one of bm25",
        f"{SEARCH} --model 'bm25(mu=3)'": "bm25 has no parameter mu; it has k1, b and k3",
        # The ids, the number of documents and their lengths are the same: only the text tells.
        "search reworded.jsonl --queries queries.tsv --index small.index": "is not an index of the "
        "documents that reworded.jsonl has now",
        "search docs.jsonl --queries none.tsv -o a.run": "no document has a word",
        "search wide.parquet --query a": "column9, …",
    },
    "fuse": {
        "fuse bm25.run": "fusion needs two or more runs, got 1",
        f"{FUSE} --how wsum --weights 1,2,3": "3 weights for 2 runs",
        f"{FUSE} -o x.xlsx": "unknown suffix '.xlsx'",
    },
    "study": {
        "study bias bare --draws 2": "has no judgements: give --qrels",
        f"{STUDY} --system bm25.run": "a study needs a built-in model",
        f"{STUDY} --pre-split": "--pre-split needs ranges to tune",
        f"{STUDY} --figures docs.jsonl": "docs.jsonl: the folder cannot be created",
    },
    "agree": {
        "agree qrels.txt": "judgements and those of at least one machine",
        "agree qrels.txt machine.qrels -m AP": "-m goes with --runs",
        "agree qrels.txt small.qrels": "small: 0 pairs of query and document judged by both",
    },
    "list": {
        "list": "KIND",
        "list colours": "colours: expected one of measures, models, methods, charts",
    },
    "ledger": {
        "ledger qrels.txt": "qrels.txt:1: not an evaluation",
    },
    "demo": {
        "demo --files qrels.txt": "qrels.txt: the folder cannot be created",
    },
    "": {
        "": "no command",
        "evla": "unknown command 'evla': did you mean eval?",
        "--magic": "--help",
    },
}


@pytest.fixture
def odd_files(here):
    """Beside the example files, those that are good for nothing."""
    texts = {
        "strange.run": "MS-17 Q0 a 1 1 t\nMS-18 Q0 a 1 1 t\n",
        "none.tsv": "q1\tzeppelin\n",
        "other.run": "q00 Q0 a 1 1 t\n",
        "another.run": "q01 Q0 a 1 1 u\n",
        "tiny.csv": "unit,old,new\n" + "".join(f"q{n},0,{n + 1}e-110\n" for n in range(4)),
        "other.csv": "unit,truth,prediction\nu0,x,no\nu1,yes,no\n",
        "wrong.toml": 'collection = "small"\nsystems = "bm25"\nplan = {folds = "x"}\n',
        "reworded.jsonl": (here / "docs.jsonl").read_text().replace("stone", "paper"),
    }
    for name, text in texts.items():
        (here / name).write_text(text)
    pl.DataFrame({f"column{n}": [1] for n in range(3000)}).write_parquet("wide.parquet")
    export_collection(Collection({"d1": "red"}, {"q1": "red"}, {"q1": {"d1": 1}}), "c")
    export_collection(Collection({"d1": "red"}, {"q1": "red"}), "bare")
    for name, change in (("damaged", b"\1\1\1\1"), ("cut", b"")):
        (here / f"{name}.index").mkdir()
        for file in (here / "small.index").iterdir():
            content = file.read_bytes()
            content = content[:-4] + change if file.name == "lengths.npy" else content
            (here / f"{name}.index" / file.name).write_bytes(content)
    return here


@pytest.mark.usefixtures("odd_files")
@pytest.mark.parametrize("command", REFUSED)
def test_what_a_command_refuses(capsys, command):
    wrong = {}
    for line, fragment in REFUSED[command].items():
        try:
            said = refused_in_a_line(capsys, *shlex.split(line))
            assert fragment in said
            assert len(said) < 500
        except AssertionError as error:
            wrong[line] = str(error)[:400]
    assert not wrong, "\n\n".join(f"{line}\n{error}" for line, error in wrong.items())


def test_every_command_refuses_something():
    assert set(REFUSED) == {*COMMANDS, ""}


BAD_FILES = {  # readers have their own tables; here with the place of the file
    gzip.compress(b"q1 Q0 a 1 2.0 t\n" * 50)[:-12]: ("small.qrels bad", "damaged or truncated"),
    b"q1 Q0 a 1 1 t\nq1 Q0 b 1 -inf t\n": ("small.qrels bad", "bad:2: score '-inf' is not a fin"),
    b"q1 0 a 0.5\n": ("bad bm25.run", "bad:1:"),
    b"unit,truth,prediction\n1,a,a\n1,a,b\n": ("bad", ":3: bad has unit 1 twice"),
    b"unit,truth,prediction\n1,3,4\n2,5,5\n3,1,2\n": ("bad", "choose --task classification or"),
}


def test_what_is_wrong_in_a_file_is_named_with_its_place(here, capsys):
    (here / "out").write_text("an old result")
    for content, (files, fragment) in BAD_FILES.items():
        (here / "bad").write_bytes(content)
        assert fragment in refused_in_a_line(capsys, "eval", *files.split(), "-o", "out"), content
    assert (here / "out").read_text() == "an old result"


def test_damaged_results(here, capsys):
    for file, content, fragment in (
        ("values.parquet", b"nothing", "the Parquet file cannot be read"),
        ("manifest.json", b'{"format": 99}', "another version"),
        ("manifest.json", b'{"format": 1}', "manifest.json: no settings; was it edited"),
    ):
        before = (here / "results" / file).read_bytes()
        (here / "results" / file).write_bytes(content)
        said = refused_in_a_line(capsys, "report", "results", "-o", "page.html", "--unverified")
        assert fragment in said, content
        (here / "results" / file).write_bytes(before)


def test_code_that_fails_is_named_with_its_line(here, capsys):
    said = refused(capsys, "eval", "small.qrels", "bm25.run", "-m", "my.py:failing")
    first, second = said.splitlines()
    assert first == "heldout: the measure failing failed: KeyError: 'q00'"
    assert second.startswith(f"  {here / 'my.py'}:")
    assert second.endswith(" in failing")
    (here / "my.py").write_text("def rank(train, test, power=1.0):\n    return 1 / 0\n")
    said = refused(capsys, "run", "experiment.toml", "-o", "out", "--quiet")
    assert "mine(power=0.0) failed: ZeroDivisionError: division by zero" in said
    assert "my.py:2 in rank" in said


@pytest.mark.usefixtures("here")
def test_a_transformer_needs_pyterrier(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyterrier", None)  # as if it were not installed
    said = refused_in_a_line(capsys, *RUN.split(), "--system", "my.py:make(p=1,2)", "--folds", "3")
    assert "PyTerrier is not installed: pip install python-terrier" in said


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_a_file_without_permission_is_refused(here, capsys):
    (here / "baseline.run").chmod(0)
    root = os.geteuid() == 0  # may read everything, so it becomes nobody
    if root:
        for place in (here, *here.parents[:3]):
            place.chmod(0o777)
        os.seteuid(65534)
    try:
        said = refused_in_a_line(capsys, "eval", "qrels.txt", "baseline.run", "-o", "out")
    finally:
        if root:
            os.seteuid(0)
    assert "baseline.run: permission denied" in said


def test_sizes():
    for text, expected in {"1": 1, "2 KB": 2048, "1.5MiB": 3 << 19, "2g": 2 << 30}.items():
        assert index_parser().read(["docs", f"--max-memory={text}"]).max_memory == expected


@pytest.mark.usefixtures("here")
def test_too_little_memory_is_said_in_one_line(capsys, monkeypatch):
    def starved(*_, **__):
        raise MemoryError

    monkeypatch.setattr("heldout.retrieve.index.Index.build", starved)
    said = refused_in_a_line(capsys, "index", "docs.jsonl", "-o", "new")
    assert said.startswith("heldout: not enough memory: use a smaller ")
