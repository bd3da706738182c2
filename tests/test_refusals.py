"""What commands refuse: one line that says why, exit code 2, nothing printed, nothing written."""

import gzip
import os
import shlex
import sys
from pathlib import Path

import polars as pl
import pytest

from commands import COMMANDS, process, refused, refused_in_a_line
from heldout import Collection, export_collection
from heldout.cli.index import parser as index_parser
from heldout.errors import InputError

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
        "eval baseline.run qrels.txt": "6 fields, expected 4: query iteration document grade. No "
        "line is as expected: are the arguments swapped? Judgements come first, then runs.",
        "eval qrels.txt baseline.run baseline.run": "are the same file: leave one out",
        "eval qrels.txt baseline.run link.run": "baseline.run and link.run are the same file",
        "eval old.csv old.csv": "old.csv and old.csv are the same file",
        f"{EVAL} --ties random": "--ties random: expected one of",
        f"{EVAL} --ties doc": "--ties doc: did you mean docid-desc?",
        f"{EVAL} -l high": "--rel high: expected 0 or a positive integer",
        f"{EVAL} --depht 3": "unknown option --depht: did you mean --depth?",
        f"{EVAL} --hold-out 1": "--hold-out is an option of heldout run, split, not of",
        f"{EVAL} --gate better": "--gate is an option of heldout compare",
        f"{EVAL} --docs 9": "--docs is for --format trec",
        f"{EVAL} -n": "--no-summary goes with --per-unit",
        f"{EVAL} -c --intersection": "exclude each other",
        f"{EVAL} -f trec --intersection": "--format trec averages",
        f"{EVAL} -f parquet": "name a file with -o FILE",
        f"{EVAL} -o nowhere/out": "nowhere/out: cannot be written",
        f"{EVAL} -m relstring -f parquet -o out": "RelString",
        f"{EVAL} -m nDGC@10": "unknown measure 'nDGC@10' of ranking: did you mean nDCG@10",
        f"{EVAL} -m recall@10,P@5": "separate measures with spaces",
        f"{EVAL} -m nDCG@10 -f trec": "'nDCG@10' is not a measure of trec_eval: expected its",
        f"{EVAL} --positive x": "--positive is for predicted",
        f"{EVAL} --assume-random": "--assume-random goes with --machine",
        f"eval {MACHINE} --per-unit": "--per-unit does not go with --machine",
        f"{OWN}gone": "my.py has no 'gone'",
        f"{OWN}number": "number: expected a function, or a Measure",
        "eval old.csv --positive maybe": "--positive maybe: no such class",
        "eval old.csv --threshold 0.3": "--threshold 0.3 needs scores",
        "eval numbers.csv --ties input": "--ties is for runs, not for predicted num",
        "eval weak.csv more/weak.csv": "duplicate system name weak",
        "eval wide.csv baseline.run": "needs a header: query_id",
    },
    "compare": {
        "compare qrels.txt": "at least one run",
        "compare missing too -o no/page.html": "create it first",
        "compare missing too --collection pydocs": "--collection goes with an HTML report",
        "compare nowhere.csv --ledger qrels.txt": "qrels.txt:1: not an evaluation in a ledger",
        "compare --scores scores.csv old.csv new.csv": "not both",
        "compare --scores scores.csv -m AP -m RR": "-m names 2 measures: give one -m and one table",
        "compare --scores long.csv": "long.csv:2: the unit is missing",
        "compare --scores scores.csv --gate better": "name it with --baseline",
        "compare --scores tiny.csv": "differ by less than 1e-100 everywhere: scale the scores\n",
        f"{COMPARE} --test magic": "unknown test 'magic'",
        f"{COMPARE} --baseline magic": "no system 'magic'",
        f"{COMPARE} --level 0.05": "did you mean 0.95?",
        f"{COMPARE} --data=": "--data: expected a name",
        f"{COMPARE} --ledger nowhere/l.jsonl": "create it first",
        f"{COMPARE} --ledger my.py -o out.txt": "not an evaluation in a ledger",
        f"{COMPARE} --ledger l.jsonl --baseline magic": "magic",
        f"{COMPARE} --unit qid": "--unit is for tables of scores",
        f"{COMPARE} --lower-is-better": "--lower-is-better is for tables of scores",
        f"{COMPARE} -m NumRet -m AP": "NumRet has no better or worse",
        f"{COMPARE} -f junit": "add --gate",
        f"{COMPARE} -f html": "name it with -o FILE",
        f"{COMPARE} --margin 0.1": "--margin goes with --gate",
        f"{GATE} non-inferior": "--gate non-inferior needs --margin X",
        f"{GATE} better --margin -1": "expected 0 or more",
        f"{GATE} better --alternative less": "the gate better reads",
        f"compare {MACHINE} --test-share 1": "--test-share 1.0: does not go with machine",
        f"compare {MACHINE} --test t": "uses human judgements alone",
        "compare old.csv": "one system cannot be compared",
        "compare old.csv other.csv": "the truth of unit u0 is x in other, but ",
        "compare old.csv new.csv --test-share 0.1": "--test-share",
    },
    "power": {
        "power": "or --scores FILE",
        "power --sd -1": "sd",
        "power --sd 1 --test-share 0.1": "--test-share is for runs",
        "power --sd 1 --simulate": "simulations need a pilot",
        "power --sd 1 qrels.txt baseline.run": "not both",
        "power --sd 1 --units 1": "--units 1: expected at least 2 units",
        "power --sd 1 --difference 0": "--difference 0.0: expected a difference other than zero",
        "power --sd 1 -m AP": "--measure AP: goes with a pilot study, not with --sd NUMBER",
        "power --task text a.txt b.txt": "texts cannot be planned from",
        "power qrels.txt baseline.run": "one system (baseline)",
    },
    "run": {
        "run": "the following arguments are required: INPUT",
        "run experiment.toml --resume": "--resume needs the folder",
        "run experiment.toml -o x --resume --force": "give one of them",
        "run experiment.toml --by query": "--by is for systems (--system)",
        "run experiment.toml --folds 3": "not for an experiment file, in which it is a field",
        "run docs.jsonl": "name systems to run with --system",
        "run wrong.toml": "wrong.toml: plan: folds='x': expected an integer",
        "run nowhere.toml": "nowhere.toml: cannot be read",
        f"{RUN} --system bm26": "is not a model, a file or a function",
        f"{RUN} --machine machine.qrels --by both": "held-out queries, not for --by both: further",
        f"{RUN} --target-size 9": "is only for held-out documents: set --by document",
        f"{RUN} --by document --method magic": "--method: should be 'pooled', 'per-fold'",
        f"{RUN} --system 'my.py:rank(power)'": "--system: my.py:rank: 'power' is not a parameter",
        f"{RUN} --system 'my.py:rank(power=1,2)' --by document --folds 2": "rank(comparable=true)",
        f"{RUN} -m my.py:gone": "--measure: my.py has no 'gone'",
        f"{RUN} --machine machine.qrels --by document": "leave it out",
        "run small --machine machine.qrels": "--machine is for systems (--system)",
        "run qrels.txt --system 'runs/nu=*.run'": "'runs/nu=*.run' is not a model, a file",
        "run qrels.txt --system bm25": "bm25 searches documents, but only judgements",
        f"{JUDGED} --folds 51": "51 folds but only 50 queries",
        f"{JUDGED} --bootstrap 3 --repeats 2": "--repeats: goes with plans of kind",
        f"{JUDGED} --folds-file gone": "gone: no such file",
        f"{JUDGED} -b plain": "--baseline: unknown system 'plain'",
        f"{JUDGED} --against 'none*.run'": "no run matches none*.run",
        "run qrels.txt --system 't=baseline.run(comparable=true)' --by document": "--by: with "
        "judgements alone only queries can be held out",
    },
    "report": {
        "report small": "no manifest.json",
        "report results --collection c": "not the collection of the experiment",
        "report results -o no/x.html": "does not exist: create it",
        "report results -o report.pdf": "use one of .html",
        "report results --ledger no": "no such file",
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
        f"{PICTURE} forest -m P@5": "P@5 was not computed: expected one of AP",
        "chart nowhere forest -o f.png": "no such file",
        "chart x.json bias -o f.png": "not the output of heldout study bias or heldout agree",
    },
    "split": {
        f"{SPLIT} --folds 13": "13 folds but only 12 queries",
        f"{SPLIT} --folds 3 --hold-out 0.2": "--folds and --hold-out exclude each other",
        f"{SPLIT} --force": "--to and --force go with -o FOLDER",
        f"{SPLIT} --leave-one-out --stratify relevance": "--stratify: goes with plans of kind",
        f"{SPLIT} --leave-one-out --seed 1": "nothing is random here",
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
        "collection bad.tsv --queries queries.tsv": "bad.tsv:1: byte 0xff",
        f"collection {SMALL} --to beir": "--to and --force go with -o FOLDER",
        f"collection {SMALL} -o small": "overwrite it (--force)",
    },
    "index": {
        "index docs.jsonl": "-o FOLDER",
        "index docs.jsonl --verify": "--verify is for an index",
        "index docs.jsonl -o docs.jsonl --force": "is not an index",
        "index docs.jsonl -o small.index": "--force",
        "index docs.jsonl -o x --max-memory much": "expected a size such as 500MB",
        "index small.index -o x": "not for an index",
        "index damaged.index --verify": "damaged.index: the index is damaged",
        "index cut.index": "cut.index/lengths.npy: the file of the index",
    },
    "search": {
        f"{SEARCH} --json -o x.run": "give one of them",
        f"{SEARCH} --model bm26": "unknown model 'bm26': expected one of bm25",
        f"{SEARCH} --model 'bm25(mu=3)'": "bm25 has no parameter mu; it has k1, b and k3",
        f"{SEARCH} --index absent.index": "absent.index: not an index of heldout",
        f"{SEARCH} --index small.index --stop english": "has its analyzer",
        # The ids, the number of documents and their lengths are the same: only the text tells.
        "search reworded.jsonl --queries queries.tsv --index small.index": "is not an index of the "
        "documents that reworded.jsonl has now",
        "search docs.jsonl --query zeppelin": "no document has a word",
        "search small.index": "give --queries FILE",
        "search wide.parquet --query a": "column9, …",
    },
    "fuse": {
        "fuse bm25.run": "fusion needs two or more runs, got 1",
        "fuse bm25.run bm25.run": "bm25.run and bm25.run are the same file",
        f"{FUSE} --how average": "--how average: expected one of rrf",
        f"{FUSE} --how wsum --weights 1,2,3": "3 weights for 2 runs",
        f"{FUSE} --weights 1,x": "--weights 1,x: expected numbers such as",
        f"{FUSE} --json -o x.run": "give one of them",
        f"{FUSE} -o x.xlsx": "unknown suffix '.xlsx'",
    },
    "study": {
        "study variance small": "did you mean bias?",
        "study bias bare --draws 2": "has no judgements: give --qrels",
        f"{STUDY} --fraction 0": "--fraction 0.0: expected greater than 0",
        f"{STUDY} --system bm25.run": "a study needs a built-in model",
        f"{STUDY} --pre-split": "--pre-split needs ranges to tune",
        f"{STUDY} --figures docs.jsonl": "docs.jsonl: the folder cannot be created",
        f"{STUDY} -o nowhere/table.txt": "nowhere/table.txt: cannot be written",
    },
    "agree": {
        "agree qrels.txt": "judgements and those of at least one machine",
        "agree qrels.txt qrels.txt": "are the same file",
        "agree qrels.txt machine.qrels -m AP": "-m goes with --runs",
        "agree qrels.txt small.qrels": "small: 0 pairs of query and document judged by both",
    },
    "list": {
        "list": "KIND",
        "list colours": "colours: expected one of measures, models, methods, charts",
        "list models bm25": "takes no names",
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
        "other.run": "q00 Q0 a 1 1 t\n",
        "another.run": "q01 Q0 a 1 1 u\n",
        "long.csv": "system,unit,value\nA,,1\nA,,2\nB,b,1\n",
        "tiny.csv": "unit,old,new\n" + "".join(f"q{n},0,{n + 1}e-110\n" for n in range(4)),
        "other.csv": "unit,truth,prediction\nu0,x,no\nu1,yes,no\n",
        "x.json": '{"a": 1}',
        "wrong.toml": 'collection = "small"\nsystems = "bm25"\nplan = {folds = "x"}\n',
        "wide.csv": ",".join(f"c{n}" for n in range(60000)) + "\n" + ",".join("1" * 60000) + "\n",
        "more/weak.csv": (here / "strong.csv").read_text(),
        "reworded.jsonl": (here / "docs.jsonl").read_text().replace("stone", "paper"),
    }
    (here / "more").mkdir()
    for name, text in texts.items():
        (here / name).write_text(text)
    (here / "bad.tsv").write_bytes(b"a\t\xff\n")
    (here / "link.run").symlink_to("baseline.run")
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


BAD_RUNS = {  # readers have their own tables; here with the place of the file
    gzip.compress(b"q1 Q0 a 1 2.0 t\n" * 50)[:-12]: "damaged or truncated",
    b"\x89PNG\r\n\x1a\n" + bytes(100): "bad:",
    b"q1 Q0 a 1 1 t\nq1 Q0 b 1 -inf t\n": ":2: score '-inf' is not a finite number",
    b"q1 Q0 a 1 2 t\nq1 Q0 a 3 0 t\n": ":2: document a appears twice",
    b"": "bad is empty",
    b"q1 0 a 1\nq2 0 b 1\n": "are the arguments swapped?",
    b"query_id,doc_id,rank\nq1,a,1\n": "no column of scores",
}
BAD_QRELS = {
    b"q1 0 a 1 x\n": ":1: 5 fields, expected 4: query iteration document grade",
    b"q1 0 a 0.5\n": "0.5",
    b'{"q1": {"a": 1, "b": 2, "c": 0.5}}': "grade 0.5 is not an integer",
    b'{"q1": {"a": 1.5, "b": 0.5}}': "are the arguments swapped?",
}
BAD_PREDICTIONS = {
    b"unit,truth,prob_a,prob_b\n1,a,.6,.6\n": "add up to 1.2, not 1",
    b"unit,truth,prediction\n1,a,a\n1,a,b\n": ":3: bad has unit 1 twice",
    b"unit,truth,prediction\n1,3,4\n2,5,5\n3,1,2\n": "choose --task classification or",
}


def test_what_is_wrong_in_a_file_is_named_with_its_place(here, capsys):
    (here / "out").write_text("an old result")
    for files, contents in (
        (("small.qrels", "bad"), BAD_RUNS),
        (("bad", "bm25.run"), BAD_QRELS),
        (("bad",), BAD_PREDICTIONS),
    ):
        for content, fragment in contents.items():
            (here / "bad").write_bytes(content)
            said = refused_in_a_line(capsys, "eval", *files, "-o", "out")
            assert fragment in said, content
            if len(files) == 2:
                assert refused_in_a_line(capsys, "eval", *files, "-f", "trec") == said
    assert (here / "out").read_text() == "an old result"


def test_damaged_results(here, capsys):
    for file, content, fragment in (
        ("values.parquet", b"nothing", "the Parquet file cannot be read"),
        ("manifest.json", b"{", "cannot be read"),
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
    # What was done before is kept; a mended system is another experiment.
    (here / "my.py").write_text("def rank(train, test, power=1.0):\n    return {}\n")
    said = refused(capsys, "run", "experiment.toml", "-o", "out", "--resume")
    assert "belongs to another experiment" in said


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


@pytest.mark.usefixtures("here")
def test_sizes():
    giga = 1 << 30
    sizes = {"1": 1, "2 KB": 2048, "1.5MiB": 3 << 19, "2g": 2 * giga, "0.5T": giga << 9}
    for text, expected in sizes.items():
        assert index_parser().read(["docs", f"--max-memory={text}"]).max_memory == expected
    for text in ("", "much", "-1", "1e9", "5 X", "9999999TB", "9" * 400):
        with pytest.raises(InputError, match="expected a size such as 500MB"):
            index_parser().read(["docs", f"--max-memory={text}"])


STARVED = """
import re, resource, sys
from pathlib import Path
import heldout.retrieve.index
from heldout.cli import main
held = int(re.search(r"VmData:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1]) * 1024
resource.setrlimit(resource.RLIMIT_DATA, (held + (24 << 20), -1))
main(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of memory that is kept to")
def test_too_little_memory_is_said_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = (f"d{n}\tword{n} " + "x " * 60 + "\n" for n in range(99999))
    Path("docs.tsv").write_text("".join(rows))
    done = process("index", "docs.tsv", "-o", "index", code=STARVED)
    assert done.returncode == 2
    said = done.stderr.splitlines()[-1]  # loops may have been compiled, generators closed
    assert said.startswith("heldout: not enough memory")
    assert ": use a smaller " in said
    assert sorted(path.name for path in Path().iterdir()) == ["docs.tsv"]
