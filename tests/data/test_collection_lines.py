"""The line corpus of MeTA: every line a document, whatever its end, packing and encoding."""

import bz2
import gzip
import lzma

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from heldout import InputError, read_collection
from heldout.data.document_files import line_records
from heldout.data.documents import FileDocuments, documents_of
from heldout.data.files import Reading, blocks
from heldout.errors import FormatError

PACKERS = {
    "plain": bytes,
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": lambda content: zstandard.ZstdCompressor().compress(content),
}


@pytest.fixture
def corpus(tmp_path):
    def write(content, **reading):
        path = tmp_path / "c.dat"
        path.write_bytes(content)
        found = FileDocuments([str(path)], Reading(**reading), line_records)
        len(found)  # reads it
        return found

    return write


@given(
    st.lists(st.text(alphabet="aé \rx", max_size=6), min_size=1, max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.sampled_from(list(PACKERS)),
    st.integers(1, 12),
)
def test_lines_are_documents(tmp_path_factory, lines, end, last, packing, size):
    lines = [line.rstrip("\r") for line in lines]
    content = end.join(lines) + (end if last or not lines[-1] else "")
    path = tmp_path_factory.mktemp("lines") / "c.dat"
    path.write_bytes(PACKERS[packing](content.encode()))
    found = FileDocuments([str(path)], Reading(), line_records)
    expected = documents_of(lines)
    assert [text for batch in found.batches(size) for _, text in batch.pairs()] == lines
    assert list(found.ids) == [str(number) for number in range(len(lines))]
    assert [found.text(number) for number in range(len(lines))] == lines
    assert found.digest == expected.digest


@given(st.binary(max_size=60), st.integers(1, 9))
def test_blocks_are_whole_lines_and_lose_nothing(tmp_path_factory, content, size):
    path = tmp_path_factory.mktemp("blocks") / "file"
    path.write_bytes(b"x" + content)
    found = list(blocks(str(path), size=size))
    assert b"".join(block.raw for block in found) == b"x" + content
    assert all(block.raw.endswith(b"\n") for block in found[:-1])
    for block in found:
        assert block.line == 1 + (b"x" + content)[: block.offset].count(b"\n")


def test_a_byte_order_mark_is_no_text(corpus):
    found = corpus("\ufeffone\ntwo".encode())
    assert [text for _, text in found.pairs()] == ["one", "two"]
    assert found.text(0) == "one"


def test_latin_1_is_asked_for_by_the_error_and_read_when_it_is_named(corpus):
    content = "ein\nschöner\ntag".encode("latin-1")
    with pytest.raises(FormatError, match=r"c\.dat:2: byte 0xf6 .*encoding='latin-1'"):
        corpus(content)
    found = corpus(content, encoding="latin-1")
    assert [text for _, text in found.pairs()] == ["ein", "schöner", "tag"]
    assert found.text(1) == "schöner"


@pytest.mark.parametrize(
    ("encoding", "complaint"),
    [("utf-16", "iconv"), ("klingon", "unknown encoding"), ("", "unknown encoding")],
)
def test_encodings_that_cannot_be_read_are_refused(encoding, complaint):
    with pytest.raises(InputError, match=complaint):
        Reading(encoding)


def test_utf_16_is_recognised(corpus):
    with pytest.raises(FormatError, match="this is UTF-16"):
        corpus("one\ntwo\n".encode("utf-16"))


def test_empty_lines_are_empty_documents_and_are_named(corpus):
    found = corpus(b"a\n\n   \nb\n\n")
    assert len(found) == 5
    (note,) = found.notes
    assert (note.code, note.count) == ("empty-documents", 3)
    assert note.text == "empty documents: 3 (1, 2, 4)"


def test_an_empty_file_is_refused(corpus):
    with pytest.raises(InputError, match="no documents found"):
        corpus(b"")


@pytest.mark.parametrize("packing", ["gz", "xz", "bz2", "zst"])
def test_a_packed_file_that_is_cut_short_is_refused(corpus, packing):
    whole = PACKERS[packing](bytes(range(10, 128)) * 2000)
    with pytest.raises(InputError, match="the compressed file is damaged or truncated"):
        corpus(whole[: len(whole) // 2])


def test_joined_zstd_frames_are_one_file(corpus):
    pack = PACKERS["zst"]
    assert len(corpus(pack(b"a\nb\n") + pack(b"c\n"))) == 3


def test_batches_are_small_whatever_the_file(corpus):
    found = corpus(b"word " * 100 + b"\n" + b"x\n" * 500)
    sizes = [len(batch.text) for batch in found.batches(100)]
    assert sizes[0] == 500  # one long document, a batch of its own
    assert max(sizes[1:]) <= 100


META = """
prefix = "."
dataset = "tiny"
corpus = "line.toml"
query-judgements = "tiny/tiny-qrels.txt"

[query-runner]
query-path = "{queries}"
query-id-start = {start}
"""


@pytest.fixture
def meta(tmp_path):
    def write(queries="tiny/tiny-queries.txt", start=7):
        home = tmp_path / "data" / "tiny"
        home.mkdir(parents=True, exist_ok=True)
        (home / "tiny.dat").write_text("first doc\n\nthird doc")
        (home / "tiny-queries.txt").write_text("first query\nsecond query\n")
        (home / "tiny-qrels.txt").write_text("7 0 1\n8 2 3\n8 9 1\n")
        (home / "line.toml").write_text('type = "line-corpus"\n')
        config = tmp_path / "data" / "config.toml"
        config.write_text(META.format(queries=queries, start=start))
        return config

    return write


def test_a_config_names_the_files(meta):
    for source in (meta(), meta().parent):
        found = read_collection(source)
        assert found.name == "tiny"
        assert found.queries.to_dict() == {"7": "first query", "8": "second query"}
        assert found.qrels.to_dict() == {"7": {"0": 1}, "8": {"2": 3}}
        told = {note.code: note for note in found.notes}
        assert told["absent-documents"].count == 1
        assert "query 8 document 9" in told["absent-documents"].text


def test_without_a_config_the_names_of_the_files_tell(meta):
    folder = meta(start=1).parent / "tiny"
    (folder / "tiny-qrels.txt").write_text("1 0 1\n")
    found = read_collection(folder)
    assert found.queries.ids == ("1", "2")
    assert read_collection(folder / "tiny.dat").fingerprint() == found.fingerprint()


def test_a_config_that_names_absent_files_says_what_was_tried(meta):
    with pytest.raises(InputError, match=r"the queries 'gone\.txt' do not exist; tried .*gone"):
        read_collection(meta(queries="gone.txt"))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("dataset = ", r": not valid TOML: Invalid value"),
        ("prefix = '.'", "the config has no dataset"),
        (
            "dataset = 'x'\n[query-runner]\nquery-id-start = 'a'",
            "the documents 'x.dat' do not exist",
        ),
    ],
)
def test_bad_configs_are_refused(tmp_path, text, complaint):
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=complaint):
        read_collection(path)
