"""Input that once went wrong without a word, or with a traceback."""

import numpy as np
import pytest
import zstandard

from heldout import InputError, Qrels, Run, read_qrels, read_run
from heldout.data.words import hash_fields, query_keys

# Two ids whose hashes agree in the 40 bits that go into a key (found by search).
TWINS = (":wmYyfdm", "eKwxn;z?")


def key_of(doc):
    data = np.frombuffer(doc.encode() + bytes(32), np.uint8)
    hashes = hash_fields(data, np.array([0]), np.array([len(doc)]))
    return int(query_keys(hashes, np.array([0]))[0])


def test_the_twins_share_a_key():
    assert key_of(TWINS[0]) == key_of(TWINS[1])


def test_a_duplicate_is_found_though_another_document_has_its_key():
    a, b = TWINS
    with pytest.raises(InputError, match="appears twice"):
        Run.of({"query": ["q"] * 3, "doc": [a, b, a], "score": [3, 2, 1]})
    with pytest.raises(InputError, match="with grades 1 and 2"):
        Qrels.of({"query": ["q"] * 3, "doc": [a, b, a], "grade": [1, 0, 2]})
    assert Qrels.of({"query": ["q"] * 3, "doc": [a, b, a], "grade": [1, 0, 1]}).to_dict() == {
        "q": {a: 1, b: 0}
    }


def test_documents_with_one_key_are_told_apart():
    a, b = TWINS
    assert Run.of({"query": ["q"] * 2, "doc": [a, b], "score": [2, 1]}).to_dict() == {
        "q": {a: 2.0, b: 1.0}
    }


def test_all_frames_of_a_zstd_file_are_read(tmp_path):
    pack = zstandard.ZstdCompressor().compress
    path = tmp_path / "two.zst"
    path.write_bytes(pack(b"q 0 a 1\n") + pack(b"q 0 b 2\n"))
    assert read_qrels(path).to_dict() == {"q": {"a": 1, "b": 2}}


@pytest.mark.parametrize(("name", "tag"), [("my run", "my_run"), ("", "run")])
def test_a_name_with_blanks_becomes_one_tag(tmp_path, name, tag):
    Run.of({"q": {"a": 1.0}}, name).write(tmp_path / "x.run")
    assert read_run(tmp_path / "x.run").name == tag


@pytest.mark.parametrize("query", ["#q", "{q"])
def test_strange_query_ids_survive_a_csv_file(tmp_path, query):
    ranked = {query: {"a": 1.0}, "r": {"b": 1.0}}
    Run.of(ranked).write(tmp_path / "x.csv")
    assert read_run(tmp_path / "x.csv").to_dict() == ranked


def test_a_trec_run_whose_first_query_looks_like_json_is_read(tmp_path):
    Run.of({"{q": {"a": 1.0}}).write(tmp_path / "x.run")
    assert read_run(tmp_path / "x.run").queries == ("{q",)


@pytest.mark.parametrize("ending", [".gz", ".xz", ".bz2", ".zst"])
@pytest.mark.parametrize("kind", [".run", ".csv", ".json"])
def test_an_ending_of_a_packed_file_packs(tmp_path, kind, ending):
    path = tmp_path / f"x{kind}{ending}"
    run = Run.of({"q": {"a": 2.0, "b": 1.0}})
    run.write(path)
    assert not path.read_bytes().startswith((b"q", b"{"))
    assert read_run(path).to_dict() == run.to_dict()


def test_an_indented_comment_is_not_the_tag(tmp_path):
    (tmp_path / "x.run").write_text("q Q0 a 1 1 mine\n  # a b c d e f\n")
    assert read_run(tmp_path / "x.run").name == "mine"


def test_joined_files_keep_count_of_repeated_judgements(tmp_path):
    (tmp_path / "one").write_text("q 0 a 1\nq 0 a 1\n")
    (tmp_path / "two").write_text("q 0 a 1\nr 0 b 1\n")
    assert read_qrels(tmp_path / "one", tmp_path / "two").repeated == 2
