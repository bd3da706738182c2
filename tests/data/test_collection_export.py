"""Collections written and read back: the same content, or a map to the original."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import Collection, InputError, export_collection, read_collection
from heldout.data import export as export_module

WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]))
IDS = st.text(alphabet="aZ0.-_/<&é\\'", min_size=1, max_size=6)


def small(**changes):
    parts = {
        "documents": {"d1": "one <b> & two\nlines", "d2": "", "../up": "third"},
        "queries": {"q1": "a & b", "q2": "<c>"},
        "qrels": {"q1": {"d1": 2, "../up": 0}},
        "name": "small",
    }
    return Collection(**{**parts, **changes})


@given(
    st.dictionaries(IDS, st.lists(WORDS, max_size=3).map("\n".join), min_size=1, max_size=5),
    st.dictionaries(IDS, WORDS, min_size=1, max_size=3),
    st.integers(-1, 3),
)
@pytest.mark.parametrize("to", ["beir", "trec"])
def test_what_is_written_reads_back_the_same(tmp_path_factory, to, documents, queries, grade):
    documents = {one: text.strip("\n") for one, text in documents.items()}
    if to == "trec":  # where # begins a comment
        queries = {f"q{one}": text for one, text in queries.items()}
    qrels = {next(iter(queries)): {next(iter(documents)): grade}}
    original = Collection(documents, queries, qrels)
    folder = tmp_path_factory.mktemp("export") / "out"
    export_collection(original, folder, to)
    again = read_collection(folder)
    assert list(again.documents.pairs()) == list(documents.items())
    assert again.fingerprint() == original.fingerprint()


def test_a_line_corpus_reads_back_the_same(tmp_path):
    original = Collection(
        ["first é", "", "third"], {"7": "x", "8": "y z"}, {"7": {"0": 1, "2": 3}, "8": {"1": 0}}
    )
    export_collection(original, tmp_path / "out", "lines")
    assert read_collection(tmp_path / "out").fingerprint() == original.fingerprint()
    assert not (tmp_path / "out" / "query_map.tsv").exists()


def test_a_line_corpus_has_maps_to_the_original(tmp_path):
    export_collection(small(), tmp_path / "out", "lines")
    found = read_collection(tmp_path / "out" / "config.toml")
    assert [text for _, text in found.documents.pairs()] == ["one <b> & two lines", "", "third"]
    assert found.qrels.to_dict() == {"1": {"0": 2, "2": 0}}
    assert (
        tmp_path / "out" / "doc_map.tsv"
    ).read_text() == "new\toriginal\n0\td1\n1\td2\n2\t../up\n"
    assert (tmp_path / "out" / "query_map.tsv").read_text() == "new\toriginal\n1\tq1\n2\tq2\n"


@pytest.mark.parametrize("name", ["../../evil", "/etc", "..", "a b/c", ""])
def test_names_never_lead_out_of_the_folder(tmp_path, name):
    target = tmp_path / "deep" / "out"
    export_collection(small(name=name), target, "lines")
    assert len(read_collection(target).documents) == 3
    assert {one.name for one in tmp_path.iterdir()} == {"deep"}
    assert {one.name for one in (tmp_path / "deep").iterdir()} == {"out"}


def test_topics_keep_their_fields(tmp_path):
    (tmp_path / "topics").write_text(
        "<top><num>1<title>t</title><desc>Description: d\n<narr>Narrative: n</top>"
    )
    (tmp_path / "docs.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    original = read_collection(tmp_path / "docs.jsonl", queries=tmp_path / "topics")
    for to in ("beir", "trec"):
        export_collection(original, tmp_path / to, to)
        again = read_collection(tmp_path / to, query_field="description+narrative")
        assert again.queries.texts == ("d n",)
        assert read_collection(tmp_path / to).fingerprint() == original.fingerprint()


def test_ids_with_blanks_cannot_be_written_as_trec(tmp_path):
    with pytest.raises(InputError, match="document id 'a b' has white space"):
        export_collection(Collection({"a b": "x"}, {"q": "x"}), tmp_path / "out", "trec")
    assert not list(tmp_path.iterdir())


def test_a_folder_is_replaced_only_when_asked_and_only_if_it_is_an_export(tmp_path):
    out = tmp_path / "out"
    export_collection(small(), out, "beir")
    with pytest.raises(InputError, match="already exists: choose another folder, or overwrite it"):
        export_collection(small(), out, "trec")
    export_collection(small(), out, "trec", force=True)
    assert {one.name for one in out.iterdir()} == {"documents.trec", "topics.txt", "qrels.txt"}
    (out / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"were not written by an export \(thesis\.tex\)"):
        export_collection(small(), out, "trec", force=True)
    assert (out / "thesis.tex").exists()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_a_failure_leaves_nothing_and_harms_nothing(tmp_path, monkeypatch):
    out = tmp_path / "out"
    export_collection(small(), out, "beir")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export_module, "_write", full)
    with pytest.raises(InputError, match=r"cannot be written \(No space left"):
        export_collection(small(), out, "beir", force=True)
    monkeypatch.undo()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert read_collection(out).fingerprint() == small().fingerprint()


def test_a_folder_that_cannot_be_renamed_stays_as_it_was(tmp_path, monkeypatch):
    out = tmp_path / "out"
    export_collection(small(), out, "beir")
    rename = Path.rename

    def stubborn(path, target):
        if path.suffix == ".tmp":
            raise OSError(13, "Permission denied")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", stubborn)
    with pytest.raises(InputError, match="Permission denied"):
        export_collection(small(), out, "trec", force=True)
    monkeypatch.undo()
    assert [one.name for one in tmp_path.iterdir()] == ["out"]
    assert read_collection(out).fingerprint() == small().fingerprint()


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "out").write_text("x")
    with pytest.raises(InputError, match="is a file"):
        export_collection(small(), tmp_path / "out")
    with pytest.raises(InputError, match="expected one of beir, trec, lines"):
        export_collection(small(), tmp_path / "other", "xml")
