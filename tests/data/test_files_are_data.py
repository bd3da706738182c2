"""Three promises: damaged files are errors in one line, ids are no paths, data are not run."""

import ast
import bz2
import gzip
import json
import lzma
import pickle
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np
import pytest
import zstandard

import heldout
from heldout import (
    Analyzer,
    Collection,
    Experiment,
    HeldoutError,
    Index,
    InputError,
    KFold,
    Run,
    export_collection,
    read_collection,
    read_hypotheses,
    read_qrels,
    read_run,
    read_scores,
)
from heldout.data.vectors import read_vectors
from heldout.resample.export import export_splits


@contextmanager
def quietly():
    """Plans warn of few units, which is right, and not what is looked at here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


BAD_BYTES = {
    "invalid UTF-8": b"\xff\xfe\xfa",
    "half a character": b"\xc3",
    "a surrogate": b"\xed\xa0\x80",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "a zero byte": b"a\x00b",
}
FILES = {
    "run": (read_run, b"q1 Q0 %s 1 2 t\n"),
    "run as CSV": (read_run, b"query_id,doc_id,score\nq1,%s,1\n"),
    "run as JSON": (read_run, b'{"q1": {"%s": 1.0}}'),
    "qrels": (read_qrels, b"q1 0 %s 1\n"),
    "scores": (read_scores, b"unit,A\n%s,1\n"),
    "text": (read_hypotheses, b"a cat\n%s\n"),
    "documents": (read_collection, b'{"_id": "%s", "text": "a"}\n'),
    "a table of documents": (read_collection, b"id\ttext\n%s\ta\n"),
    "TREC documents": (read_collection, b"<DOC><DOCNO>%s</DOCNO>a</DOC>\n"),
}


@pytest.mark.parametrize("bad", BAD_BYTES)
@pytest.mark.parametrize("kind", FILES)
def test_what_is_no_text_is_refused(tmp_path, kind, bad):
    read, form = FILES[kind]
    options = {}
    if read is read_collection:
        (tmp_path / "queries").write_text("q1\tred\n")
        options["queries"] = tmp_path / "queries"
    (tmp_path / "x").write_bytes(form.replace(b"%s", b"fine"))
    read(tmp_path / "x", **options)
    (tmp_path / "x").write_bytes(form.replace(b"%s", BAD_BYTES[bad]))
    with pytest.raises(HeldoutError, match="x") as caught:
        read(tmp_path / "x", **options)
    assert "\n" not in str(caught.value)


PACKERS = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor().compress,
}


def parquet(folder):
    Run.from_dict({"q": {f"d{n}": float(n) for n in range(200)}}).write(folder / "x.parquet")
    return (folder / "x.parquet").read_bytes()


@pytest.mark.parametrize("damage", ["truncated", "changed"])
@pytest.mark.parametrize("kind", [*PACKERS, "parquet"])
def test_a_damaged_file_is_an_error_in_one_line(tmp_path, kind, damage):
    lines = "".join(f"q Q0 d{n} 1 {n} t\n" for n in range(200)).encode()
    content = parquet(tmp_path) if kind == "parquet" else PACKERS[kind](lines)
    half = len(content) // 2
    broken = content[:half] + (b"" if damage == "truncated" else b"\xff" * 9 + content[half + 9 :])
    (tmp_path / "y").write_bytes(broken)
    with pytest.raises(InputError, match=r"y: .*(damaged|truncated|cannot be read)") as caught:
        read_run(tmp_path / "y")
    assert "\n" not in str(caught.value)


# Ids that would lead out of a folder if they were ever taken for paths.
PATHS = ("../../x", "/heldout-was-here", r"C:\x", r"..\..\x", "a\nb", "~root", "CON", ".", "..")


def harmful():
    texts = {one: f"text of {number}" for number, one in enumerate(PATHS)}
    queries = {f"../q{number}": "text" for number in range(4)}
    judged = {query: dict.fromkeys(PATHS, 1) for query in queries}
    return Collection(texts, queries, judged, name="../../name\n/x")


def everything_below(home):
    return {one for one in home.rglob("*") if one.is_file()}


@pytest.mark.parametrize("to", ["beir", "lines"])
def test_no_id_becomes_a_path_when_a_collection_is_written(tmp_path, to):
    home = tmp_path / "a" / "b" / "c"
    home.mkdir(parents=True)
    export_collection(harmful(), home / "out", to)
    assert everything_below(tmp_path) == everything_below(home / "out")
    again = read_collection(home / "out")
    assert len(again.documents) == len(PATHS)
    if to == "beir":
        assert list(again.documents.ids) == list(PATHS)
        assert set(again.qrels.to_dict()["../q0"]) == set(PATHS)


def test_ids_that_trec_cannot_hold_are_not_written(tmp_path):
    with pytest.raises(InputError, match="white space, which TREC files do not allow"):
        export_collection(harmful(), tmp_path / "out", "trec")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("to", ["beir", "lines"])
def test_no_id_becomes_a_path_when_splits_are_written(tmp_path, to):
    home = tmp_path / "a" / "b"
    home.mkdir(parents=True)
    whole = harmful()
    with quietly():
        splits = KFold(2).splits(whole, "document")
        export_splits(splits, whole, home / "out", to)
    assert everything_below(tmp_path) == everything_below(home / "out")


ELSEWHERE = "what stands in another folder"


def all_that_is_read(source):
    try:
        found = read_collection(source)
    except HeldoutError as error:
        return str(error)
    texts = [found.documents.text(number) for number in range(len(found.documents))]
    return "".join([*texts, *found.queries.texts])


@pytest.mark.parametrize("way", ["../secret", "..//./secret", "x/../../secret", "{home}/secret"])
@pytest.mark.parametrize("key", ["dataset", "prefix", "query-path", "query-judgements", "corpus"])
def test_a_config_leads_to_no_file_outside_its_folder(tmp_path, key, way):
    home = tmp_path / "collection"
    (home / "x").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    for place in (tmp_path / "secret", tmp_path):
        for ending in (".dat", "-queries.txt", "-qrels.txt", ".toml", ""):
            if not (place / f"secret{ending}").exists():
                (place / f"secret{ending}").write_text(ELSEWHERE + "\n")
    (home / "x" / "x.dat").write_text("red\ngreen\n")
    (home / "x" / "x-queries.txt").write_text("red\n")
    settings = {
        "prefix": ".",
        "dataset": "x",
        "query-path": "x/x-queries.txt",
        "corpus": "line.toml",
    }
    settings |= {key: way.replace("{home}", str(tmp_path))}
    lines = [f"{name} = {json.dumps(value)}" for name, value in settings.items()]
    at = [line.startswith("query-path") for line in lines].index(True)
    runner = lines.pop(at)
    (home / "config.toml").write_text("\n".join([*lines, "[query-runner]", runner]) + "\n")
    assert ELSEWHERE not in all_that_is_read(home / "config.toml")


@pytest.mark.parametrize("split", ["../../secret", "/etc/hostname", "..", ""])
def test_a_split_is_no_path(tmp_path, split):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text('{"_id": "d", "text": "a"}\n')
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "a"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    with pytest.raises(InputError, match="has no split"):
        read_collection(tmp_path, split=split)


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
    assert found <= KNOWN.keys()
    assert taken & RUNNERS == {"importlib.import_module"}


class Mark:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


@pytest.fixture
def mark(tmp_path):
    return tmp_path / "was-run"


READERS = {
    "run": read_run,
    "qrels": read_qrels,
    "scores": read_scores,
    "predictions": heldout.read_class_predictions,
    "documents": lambda path: read_collection(path, queries=path),
    "hypotheses": read_hypotheses,
    "references": heldout.read_references,
    "vectors": read_vectors,
    "index": Index.open,
    "experiment": lambda path: Experiment.read(path).check(),
}


@pytest.mark.parametrize("protocol", [0, 5])
@pytest.mark.parametrize("reader", READERS)
def test_a_pickle_is_not_unpickled_whatever_it_is_given_as(tmp_path, mark, reader, protocol):
    (tmp_path / "x").write_bytes(pickle.dumps(Mark(mark), protocol))
    with suppress(HeldoutError):  # one line of text can be read as a text
        READERS[reader](tmp_path / "x")
    assert not mark.exists()


def test_objects_in_an_npz_are_refused(tmp_path, mark):
    np.savez(
        tmp_path / "x.npz", words=np.array([Mark(mark)], object), vectors=np.ones((1, 2)),
    )  # fmt: skip
    with pytest.raises(HeldoutError, match="Python objects are refused"):
        read_vectors(tmp_path / "x.npz")
    assert not mark.exists()


def test_an_index_names_its_function_and_does_not_load_it(tmp_path):
    """The name of a function stands in an index; only who opens it can bring the function."""
    Index.build({"d1": "red apples"}, Analyzer(function=str.split), path=tmp_path / "x.index")
    with pytest.raises(HeldoutError, match="open the index with it"):
        Index.open(tmp_path / "x.index").encode(["red"])
