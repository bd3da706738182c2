"""Three promises: damaged files are errors in one line, ids are no paths, data are not run."""

import bz2
import gzip
import lzma
import pickle
import warnings
from contextlib import contextmanager, suppress
from pathlib import Path

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
from heldout.measure.text.embeddings import read_vectors
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
    Run.of({"q": {f"d{n}": float(n) for n in range(200)}}).write(folder / "x.parquet")
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


@pytest.mark.parametrize("reader", READERS)
def test_a_pickle_is_not_unpickled_whatever_it_is_given_as(tmp_path, mark, reader):
    (tmp_path / "x").write_bytes(pickle.dumps(Mark(mark)))
    with suppress(HeldoutError):  # one line of text can be read as a text
        READERS[reader](tmp_path / "x")
    assert not mark.exists()


def test_an_index_names_its_function_and_does_not_load_it(tmp_path):
    """The name of a function stands in an index; only who opens it can bring the function."""
    Index.build({"d1": "red apples"}, Analyzer(function=str.split), path=tmp_path / "x.index")
    with pytest.raises(HeldoutError, match="open the index with it"):
        Index.open(tmp_path / "x.index").encode(["red"])
