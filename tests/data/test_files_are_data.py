"""Three promises: damaged files are errors in one line, ids are no paths, data are not run."""

import pickle
import re
import warnings
from contextlib import suppress
from pathlib import Path

import pytest

import heldout
from heldout import (
    Collection,
    Experiment,
    HeldoutError,
    Index,
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
from refusals import refusal

BAD_BYTES = [b"\xff\xfe\xfa", b"\xc3", b"a\x00b"]  # the last is a text with a zero byte
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


def test_what_is_no_text_is_refused(write):
    queries = write("queries", "q1\tred\n")
    for kind, (read, form) in FILES.items():
        options = {"queries": queries} if read is read_collection else {}
        read(write("x", form.replace(b"%s", b"fine")), **options)
        for content in BAD_BYTES:
            path = write("x", form.replace(b"%s", content))
            assert str(path) in refusal(read, path, **options), (kind, content)


def test_a_damaged_file_is_an_error_in_one_line(write, tmp_path, packers):
    lines = "".join(f"q Q0 d{n} 1 {n} t\n" for n in range(200)).encode()
    queries = write("queries", "q1\tred\n")
    contents = {kind: pack(lines) for kind, pack in packers.items()}
    Run.of({"q": {f"d{n}": float(n) for n in range(200)}}).write(tmp_path / "x.parquet")
    contents["parquet"] = (tmp_path / "x.parquet").read_bytes()
    for kind, content in contents.items():
        half = len(content) // 2
        for damaged in (content[:half], content[:half] + b"\xff" * 9 + content[half + 9 :]):
            path = write("y.dat", damaged)
            for said in (refusal(read_run, path), refusal(read_collection, path, queries=queries)):
                assert re.search("y.dat: .*(damaged|truncated|cannot be read)", said), (kind, said)


# Ids that would lead out of a folder if they were ever taken for paths.
PATHS = ("../../x", "/heldout-was-here", r"C:\x", r"..\..\x", "a\nb", "~root", "CON", ".", "..")


@pytest.mark.parametrize("to", ["beir", "lines"])
def test_no_id_becomes_a_path(tmp_path, to):
    home = tmp_path / "a" / "b" / "c"
    home.mkdir(parents=True)
    texts = {one: f"text of {number}" for number, one in enumerate(PATHS)}
    queries = {f"../q{number}": "text" for number in range(4)}
    judged = {query: dict.fromkeys(PATHS, 1) for query in queries}
    whole = Collection(texts, queries, judged, name="../../name\n/x")
    export_collection(whole, home / "out", to)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of few units
        export_splits(KFold(2).splits(whole, "document"), whole, home / "splits", to)
    said = refusal(export_collection, whole, home / "trec", "trec")
    assert "white space, which TREC files do not allow" in said
    files = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert all({home / "out", home / "splits"} & set(one.parents) for one in files)
    again = read_collection(home / "out")
    assert len(again.documents) == len(PATHS)
    if to == "beir":
        assert list(again.documents.ids) == list(PATHS)
        assert set(again.qrels.to_dict()["../q0"]) == set(PATHS)


class Mark:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


READERS = [
    *(read_run, read_qrels, read_scores, heldout.read_class_predictions, read_hypotheses),
    *(heldout.read_references, read_vectors, Index.open),
    lambda path: read_collection(path, queries=path),
    lambda path: Experiment.read(path).check(),
]


def test_a_pickle_is_not_unpickled_whatever_it_is_given_as(write, tmp_path):
    mark = tmp_path / "was-run"
    path = write("x", pickle.dumps(Mark(mark)))
    for read in READERS:
        with suppress(HeldoutError):  # one line of text can be read as a text
            read(path)
        assert not mark.exists(), read
    pickle.loads(path.read_bytes())  # noqa: S301 - ours
    assert mark.exists()
