"""Files are data: nothing in them is unpickled, evaluated or imported, unless the user names it.

The source is searched for the ways in which Python runs what it reads, and each reader is given a
file that would leave a mark if it were run.
"""

import ast
import io
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import heldout
from heldout import Experiment, HeldoutError, Index, read_qrels, read_run, read_scores
from heldout.data.vectors import read_vectors
from heldout.experiment.execution.journal import Journal
from heldout.infer.ledger import read_ledger

SOURCE = Path(heldout.__file__).parent

# Calls that run what they are given, or read what can run; by their last name, or module and name.
RUNNERS = {
    *("eval", "exec", "compile", "__import__", "execfile", "input", "breakpoint"),
    *("pickle.load", "pickle.loads", "pickle.Unpickler", "marshal.load", "marshal.loads"),
    *("shelve.open", "joblib.load", "cloudpickle.load", "cloudpickle.loads", "dill.load"),
    *("yaml.load", "yaml.unsafe_load", "torch.load", "pd.read_pickle", "pandas.read_pickle"),
    *("os.system", "os.popen", "subprocess.run", "subprocess.Popen", "subprocess.call"),
    *("subprocess.check_output", "import_module", "importlib.import_module"),
    *("spec_from_file_location", "importlib.util.spec_from_file_location", "runpy.run_path"),
    *("pl.DataFrame.deserialize", "pl.LazyFrame.deserialize", "pl.Expr.deserialize"),
    *("np.load", "numpy.load", "np.fromregex", "np.loadtxt", "np.genfromtxt"),
}
# Where they stand nevertheless, and why that is no way from a user's file into the program.
KNOWN = {
    ("__init__.py", "import_module"): "our own public names",
    ("cli/main.py", "import_module"): "our own commands",
    ("compiled.py", "subprocess.Popen"): "this Python, our own module",
    ("compiled_cache.py", "pickle.loads"): "from our own cache of compiled code, as Numba does",
    ("lazy.py", "import_module"): "the same",
    ("data/docstrings.py", "importlib.import_module"): "NumPy, SciPy and scikit-learn",
    ("data/io/irds.py", "import_module"): "ir_datasets",
    ("data/io/compression.py", "import_module"): "gzip, lzma, bz2",
    ("data/pydocs.py", "subprocess.run"): "this Python, our own script",
    ("data/embeddings.py", "np.load"): "allow_pickle=False",
    ("data/vectors.py", "np.load"): "allow_pickle=False",
    ("measure/text/base.py", "import_module"): "sacrebleu, rouge-score",
    ("measure/text/wordnet.py", "import_module"): "NLTK",
    ("experiment/execution/payload.py", "pickle.loads"): (
        "from memory: what this run has packed itself"
    ),
    ("experiment/systems/__init__.py", "import_module"): "our own public names",
    ("experiment/systems/references.py", "importlib.import_module"): "what the user names",
    ("experiment/systems/references.py", "importlib.util.spec_from_file_location"): (
        "what the user names"
    ),
}


def dotted(node):
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else node.attr
    return node.id if isinstance(node, ast.Name) else ""


def calls_that_run(nodes):
    for node in nodes:
        if isinstance(node, ast.Call):
            names = [dotted(node.func)]
        else:  # a class may be made of one that unpickles
            names = map(dotted, node.bases) if isinstance(node, ast.ClassDef) else []
        for name in names:
            if name in RUNNERS:
                yield name, node


def names_taken_out(nodes):
    """``from pickle import loads`` would hide a call from the search."""
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{one.name}" for one in node.names)


def nodes_of(path):
    return list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))


def test_the_search_finds_what_it_looks_for():
    text = "import pickle\npickle.loads(b'')\neval('1')\nre.compile('a')\nmodel.eval()\n"
    text += "class Mine(pickle.Unpickler): pass\nfrom pickle import load\n"
    nodes = list(ast.walk(ast.parse(text)))
    assert {name for name, _ in calls_that_run(nodes)} == {
        "pickle.loads",
        "eval",
        "pickle.Unpickler",
    }
    assert list(names_taken_out(nodes)) == ["pickle.load"]


def test_nothing_in_the_source_runs_what_it_reads():
    found, taken = set(), set()
    for path in SOURCE.rglob("*.py"):
        nodes = nodes_of(path)
        place = path.relative_to(SOURCE).as_posix()
        found |= {(place, name) for name, _ in calls_that_run(nodes)}
        taken |= set(names_taken_out(nodes))
    assert found == set(KNOWN)
    assert taken & RUNNERS == {"importlib.import_module"}


def test_numpy_is_told_not_to_unpickle():
    nodes = nodes_of(SOURCE / "data/vectors.py")
    loads = [node for name, node in calls_that_run(nodes) if name == "np.load"]
    given = [{one.arg: one.value.value for one in node.keywords} for node in loads]
    assert given == [{"allow_pickle": False}]


class Mark:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "was-run"


def test_the_mark_is_left_by_what_is_unpickled(mark):
    pickle.loads(pickle.dumps(Mark(mark)))  # noqa: S301 - that it works is the point
    assert mark.exists()


def test_objects_in_an_npz_are_refused(tmp_path, mark):
    np.savez(
        tmp_path / "x.npz", words=np.array([Mark(mark)], object), vectors=np.ones((1, 2)),
    )  # fmt: skip
    with pytest.raises(HeldoutError, match="Python objects are refused"):
        read_vectors(tmp_path / "x.npz")
    with zipfile.ZipFile(tmp_path / "y.npz", "w") as file:
        file.writestr("words.npy", pickle.dumps(Mark(mark)))
        file.writestr("vectors.npy", pickle.dumps(Mark(mark)))
    with pytest.raises(HeldoutError, match="cannot be read"):
        read_vectors(tmp_path / "y.npz")
    assert not mark.exists()


READERS = {
    "run": read_run,
    "qrels": read_qrels,
    "scores": read_scores,
    "predictions": heldout.read_class_predictions,
    "documents": lambda path: heldout.read_collection(path, queries=path),
    "hypotheses": heldout.read_hypotheses,
    "references": heldout.read_references,
    "vectors": read_vectors,
    "index": Index.open,
    "experiment": lambda path: Experiment.read(path).check(),
    "ledger": read_ledger,
    "results": lambda path: heldout.Results.read(path, verify=False),
}


@pytest.mark.parametrize("protocol", [0, 2, 5])
@pytest.mark.parametrize("reader", READERS)
def test_a_pickle_is_not_unpickled_whatever_it_is_given_as(tmp_path, mark, reader, protocol):
    content = pickle.dumps(Mark(mark), protocol)
    if reader == "results":
        for name in ("manifest.json", "summary.json", "values.parquet"):
            (tmp_path / name).write_bytes(content)
        path = tmp_path
    else:
        path = tmp_path / "x"
        path.write_bytes(content)
    with suppress(HeldoutError):  # one line of text can be read as a text
        READERS[reader](path)
    assert not mark.exists()


def test_a_journal_of_objects_is_no_journal(tmp_path, mark):
    import base64
    import hashlib

    pickled = base64.b64encode(pickle.dumps(Mark(mark))).decode()
    lines = []
    for kind in ("O", "|O", "object", "V8,O"):
        text = json.dumps({"key": "a", "values": {"array": [kind, [1], pickled]}}).encode()
        checksum = hashlib.blake2b(text, digest_size=16).hexdigest().encode()
        (tmp_path / "j").write_bytes(checksum + b" " + text + b"\n")
        with Journal(tmp_path / "j") as journal:
            lines += journal.records
    assert lines == []
    assert not mark.exists()


def test_extension_types_of_a_parquet_file_are_not_run(tmp_path, mark):
    """Arrow's own extension for Python objects holds a pickle in the metadata of a column."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    field = pa.field(
        "query_id", pa.string(), metadata={
            "ARROW:extension:name": "arrow.py_extension_type",
            "ARROW:extension:metadata": pickle.dumps(Mark(mark), 0),
        },
    )  # fmt: skip
    schema = pa.schema([field, pa.field("doc_id", pa.string()), pa.field("score", pa.float64())])
    table = pa.table([["q"], ["d"], [1.0]], schema=schema)
    pq.write_table(table, tmp_path / "x.parquet")
    with suppress(HeldoutError):  # a type that Polars does not know
        read_run(tmp_path / "x.parquet")
    assert not mark.exists()


def test_a_parquet_column_of_bytes_stays_bytes(tmp_path, mark):
    frame = pl.DataFrame(
        {"query_id": [pickle.dumps(Mark(mark))], "doc_id": ["d"], "score": [1.0]}
    )  # fmt: skip
    frame.write_parquet(tmp_path / "x.parquet")
    with pytest.raises(HeldoutError):
        read_run(tmp_path / "x.parquet")
    assert not mark.exists()


EXPERIMENT = """
collection = {source = "docs.jsonl", queries = "queries.tsv", qrels = "qrels.txt"}
measures = ["RR"]
[plan]
folds = 2
[[systems]]
name = "a"
"""


@pytest.fixture
def experiment(tmp_path, mark):
    (tmp_path / "docs.jsonl").write_text(
        "".join(f'{{"_id": "d{n}", "text": "word{n} and"}}\n' for n in range(6))
    )
    (tmp_path / "queries.tsv").write_text("".join(f"q{n}\tword{n}\n" for n in range(6)))
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(6)))
    (tmp_path / "evil.py").write_text(
        f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
        "def rank(train, test): return {}\n"
    )

    def check(text):
        (tmp_path / "experiment.toml").write_text(EXPERIMENT + text)
        Experiment.read(tmp_path / "experiment.toml").run()

    return check


@pytest.mark.parametrize(
    "text",
    [
        'model = "evil.py:rank"',
        'model = "bm25"\nparameters = {k1 = "evil.py:rank"}',
        'model = "bm25"\nspace = {k1 = ["__import__(\'evil\')"]}',
        "model = \"bm25(k1=__import__('evil').rank)\"",
        'runs = "evil.py"',
        'runs = "evil.py:rank"',
        'model = "bm25"\n[analyzer]\nfunction = "evil.py:rank"',
        'model = "bm25"\n[analyzer]\nstop = "evil.py:rank"',
        'model = "bm25"\nreference = "evil.py:rank"',
    ],
)
def test_an_experiment_runs_nothing_that_is_not_named_as_python(experiment, mark, text):
    with pytest.raises(HeldoutError):
        experiment(text)
    assert not mark.exists()


@pytest.mark.parametrize("key", ["by", "rule", "estimator", "baseline", "index"])
def test_no_other_field_of_an_experiment_runs_anything(tmp_path, mark, experiment, key):
    experiment('model = "bm25"\n')
    text = (tmp_path / "experiment.toml").read_text()
    (tmp_path / "experiment.toml").write_text(
        f"{key} = 'evil.py:rank'\n" + text.replace('measures = ["RR"]\n', "")
    )
    with pytest.raises(HeldoutError):
        Experiment.read(tmp_path / "experiment.toml").check()
    assert not mark.exists()


@pytest.mark.parametrize("key", ["function", "object", "transformer"])
def test_naming_python_is_the_way_to_run_it(experiment, mark, key):
    with suppress(Exception):  # it is no system that could do anything
        experiment(f'{key} = "evil.py:rank"')
    assert mark.exists()


def test_an_index_names_its_function_and_does_not_load_it(tmp_path, mark):
    """The name of a function stands in an index; only who opens it can bring the function."""
    from heldout import Analyzer

    Index.build({"d1": "red apples"}, Analyzer(function=str.split), path=tmp_path / "x.index")
    opened = Index.open(tmp_path / "x.index")
    assert opened.n_documents == 1
    with pytest.raises(HeldoutError, match="open the index with it"):
        opened.encode(["red"])
    assert not mark.exists()


def test_bytes_of_a_pickle_begin_no_format(mark):
    """By its first bytes no pickle is taken for a packed file or a table."""
    from heldout.data.io.compression import compression_of

    for protocol in range(6):
        buffer = io.BytesIO()
        pickle.dump(Mark(mark), buffer, protocol)
        assert compression_of(buffer.getvalue()) == ""
