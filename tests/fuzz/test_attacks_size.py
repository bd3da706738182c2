"""Files that are small and mean to become large, or are large and mean nothing.

Each is read in a process of its own, and the memory that it took is measured.
"""

import bz2
import gzip
import io
import lzma
import struct
import sys
import zipfile
import zlib

import numpy as np
import polars as pl
import pytest
import zstandard
from attack_limits import done_with

from heldout import InputError, Run, read_qrels, read_run
from heldout.data.io import compression

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is measured as Linux tells it"
)

ALLOWED = 400
"""MB: the longest line of 64 MB, held a few times over, and what libraries take at first use."""

READERS = {
    "run": "from heldout import read_run as read",
    "qrels": "from heldout import read_qrels as read",
    "collection": (
        "from heldout.data.collection_files import read_documents\n"
        "read = lambda path: len(read_documents(path).ids)"
    ),
    "queries": (
        "from heldout.data.io.blocks import Reading\n"
        "from heldout.data.io.query_files import read_queries\n"
        "read = lambda path: read_queries(path, Reading(), first_line=1)"
    ),
    "scores": "from heldout import read_scores as read",
    "classes": "from heldout import read_class_predictions as read",
    "hypotheses": "from heldout import read_hypotheses as read",
    "references": "from heldout import read_references as read",
    "vectors": "from heldout.data.vectors import read_vectors as read",
    "folds": (
        "from heldout.resample.fold_files import read_values\n"
        "read = lambda path: read_values(path, 'fold')"
    ),
}
PACKERS = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    "bz2": bz2.compress,
    "zst": zstandard.ZstdCompressor(19).compress,
}


@pytest.fixture(scope="module")
def bombs(tmp_path_factory):
    """Half a gigabyte of empty lines each: packed files may be joined, so one part is enough."""
    home = tmp_path_factory.mktemp("bombs")
    for ending, pack in PACKERS.items():
        (home / f"x.dat.{ending}").write_bytes(pack(b"\n" * (32 << 20)) * 16)
    return home


@pytest.mark.parametrize(
    ("reader", "ending"),
    [*(("run", ending) for ending in PACKERS), *((one, "zst") for one in READERS if one != "run")],
)
def test_a_bomb_is_refused_before_it_goes_off(bombs, reader, ending):
    path = bombs / f"x.dat.{ending}"
    said, grown = done_with("read(sys.argv[1])", READERS[reader], path)
    assert ("implausible compressed file" in said and "decompress it first" in said) or (
        reader == "queries" and "more than 100,000 lines are empty" in said
    )
    assert grown < ALLOWED


def test_a_kilobyte_that_holds_a_gigabyte(tmp_path):
    content = bz2.compress(bytes(128 << 20)) * 8
    assert len(content) < 1100
    (tmp_path / "x.bz2").write_bytes(content)
    for reader in ("qrels", "hypotheses"):
        said, grown = done_with("read(sys.argv[1])", READERS[reader], tmp_path / "x.bz2")
        assert "implausible compressed file" in said
    assert grown < ALLOWED


def test_what_packs_well_and_means_something_is_read(tmp_path, monkeypatch):
    """Within a limit that is far above what runs need."""
    lines = "".join(
        f"q{n // 1000} Q0 document-{n} {n % 1000} {1000 - n % 1000} run\n" for n in range(50_000)
    )
    for ending, pack in (("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)):
        content = pack(lines.encode())
        assert len(lines) < compression.RATIO / 2 * len(content)
        (tmp_path / f"x.{ending}").write_bytes(content)
        assert len(read_run(tmp_path / f"x.{ending}").docs) == 50_000
    # The limit is on the ratio, and only beyond the least limit.
    monkeypatch.setattr(compression, "LEAST_LIMIT", 1000)
    (tmp_path / "y.gz").write_bytes(gzip.compress(b"q 0 d 1\n" * 10_000))
    with pytest.raises(InputError, match="over 200 times as much"):
        read_qrels(tmp_path / "y.gz")
    assert len(read_run(tmp_path / "x.gz").docs) == 50_000


def test_a_dictionary_of_gigabytes_that_a_header_asks_for(tmp_path):
    filters = [{"id": lzma.FILTER_LZMA2, "dict_size": 1536 << 20, "preset": 0}]
    packer = lzma.LZMACompressor(lzma.FORMAT_XZ, filters=[{**filters[0], "dict_size": 1 << 20}])
    content = bytearray(packer.compress(b"q 0 d 1\n") + packer.flush())
    (tmp_path / "x.xz").write_bytes(content)
    assert len(read_qrels(tmp_path / "x.xz")) == 1
    at = content.index(b"\x21\x01") + 2  # LZMA2, one byte of properties
    content[at] = 40  # 4 GB
    header = 4 * (content[12] + 1)
    content[12 + header - 4 : 12 + header] = struct.pack(
        "<I", zlib.crc32(content[12 : 12 + header - 4])
    )
    (tmp_path / "x.xz").write_bytes(content)
    said, grown = done_with("read(sys.argv[1])", READERS["qrels"], tmp_path / "x.xz", limit=3 << 30)
    assert said == "" or "memory" in said or "broken" in said
    assert grown < ALLOWED


LINES = {
    "run": b"q1 Q0 ",
    "qrels": b"q1 0 ",
    "collection": b'{"_id": "d1", "text": "',
    "queries": b"q1\t",
    "scores": b"unit,A\nq1,",
    "classes": b"unit,truth,prediction\n1,a,",
    "hypotheses": b"a text ",
    "references": b'{"references": ["',
    "vectors": b"cat ",
    "folds": b"q1\t",
}
OTHERS = {
    "run as JSON": ("run", b'{"q1": {"'),
    "run as CSV": ("run", b"query_id,doc_id,score\nq1,"),
    "TREC documents": ("collection", b"<DOC><DOCNO>d1</DOCNO>"),
    "a table of documents": ("collection", b"id\ttext\nd1\t"),
    "a quoted cell": ("collection", b'id,text\nd1,"'),
    "TREC topics": ("queries", b"<top><num> 1 <title> "),
}


@pytest.mark.parametrize(
    ("reader", "start"),
    [*LINES.items(), *OTHERS.values()],
    ids=[*LINES, *OTHERS],
)
def test_a_line_of_a_gigabyte_is_refused(tmp_path, reader, start):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.write(start)
        file.truncate(1 << 30)  # a hole: it takes no room on the disk, and is read as zeros
    said, grown = done_with("read(sys.argv[1])", READERS[reader], path)
    path.unlink()
    assert "more than" in said
    assert "bytes" in said
    assert grown < ALLOWED


def test_a_document_that_does_not_end_is_refused(tmp_path):
    path = tmp_path / "x"
    with path.open("wb") as file:
        file.write(b"<DOC><DOCNO>d1</DOCNO>\n")
        for _ in range(200):
            file.write(b"a line of a text\n" * 61_680)
    said, grown = done_with("read(sys.argv[1])", READERS["collection"], path)
    path.unlink()
    assert "a document of more than 67,108,864 bytes" in said
    assert grown < ALLOWED


def test_a_line_below_the_limit_is_read(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"_id": "d1", "text": "' + "word " * 4_000_000 + '"}\n')
    said, grown = done_with("read(sys.argv[1])", READERS["collection"], tmp_path / "x.jsonl")
    assert said == ""
    assert grown < ALLOWED


def test_a_billion_as_a_rank_is_a_rank(tmp_path):
    (tmp_path / "x.run").write_text("q Q0 a 1000000000 2 t\nq Q0 b 99999999999999999999 1 t\n")
    said, grown = done_with("read(sys.argv[1])", READERS["run"], tmp_path / "x.run")
    assert said == ""
    assert grown < 100
    assert read_run(tmp_path / "x.run").to_dict() == {"q": {"a": 2.0, "b": 1.0}}


@pytest.mark.parametrize("reader", ["run", "qrels"])
def test_ids_of_a_megabyte(tmp_path, reader):
    long = "d" * (1 << 20)
    text = f"q Q0 {long} 1 2 t\nq Q0 b 2 1 t\n" if reader == "run" else f"q 0 {long} 1\nq 0 b 0\n"
    (tmp_path / "x").write_text(text)
    said, grown = done_with("read(sys.argv[1])", READERS[reader], tmp_path / "x")
    assert said == ""
    assert grown < 150
    read = {"run": read_run, "qrels": read_qrels}[reader]
    assert set(read(tmp_path / "x").to_dict()["q"]) == {long, "b"}


@pytest.mark.parametrize("place", [0, 2])
def test_one_long_id_among_many_short_ones(tmp_path, place):
    """It takes the room and the time of its own length, and the others theirs."""
    lines = [[f"q{n // 10}", "Q0", f"d{n}", "1", "2", "t"] for n in range(40_000)]
    for number in range(3):
        lines[20_000 + number][place] = "x" * 100_000 + ("yyz" if place == 0 else "abc")[number]
    (tmp_path / "x").write_text("".join(" ".join(line) + "\n" for line in lines))
    said, grown = done_with("read(sys.argv[1])", READERS["run"], tmp_path / "x")
    assert said == ""
    assert grown < 100
    found = read_run(tmp_path / "x").to_dict()
    assert sum(map(len, found.values())) == 40_000
    if place == 0:
        long = {one: list(docs) for one, docs in found.items() if len(one) > 9}
        assert long == {"x" * 100_000 + "y": ["d20001", "d20000"], "x" * 100_000 + "z": ["d20002"]}


def test_a_few_bytes_of_parquet_that_are_a_billion_rows(tmp_path):
    """A column of nulls takes no room at all."""
    frame = pl.select(pl.repeat(None, 150_000_000, dtype=pl.Boolean).alias("query_id"))
    frame = frame.with_columns(pl.lit(None, dtype=pl.Boolean).alias("doc_id"))
    frame.with_columns(pl.lit(None, dtype=pl.Boolean).alias("score")).write_parquet(
        tmp_path / "x.parquet", row_group_size=150_000_000
    )
    assert (tmp_path / "x.parquet").stat().st_size < 300_000
    setup = READERS["run"] + "\nimport polars"
    said, grown = done_with("read(sys.argv[1])", setup, tmp_path / "x.parquet")
    assert "150,000,000 rows in" in said
    assert grown < ALLOWED


@pytest.fixture(scope="module")
def long_texts(tmp_path_factory):
    """One text of 100 KB in 3,000 rows and three columns: 900 MB of texts."""
    path = tmp_path_factory.mktemp("long") / "x.parquet"
    frame = pl.DataFrame({"query_id": ["q" * 100_000]}).select(
        pl.col("query_id").repeat_by(3_000).explode()
    )
    frame = frame.with_columns(pl.col("query_id").alias(name) for name in ("doc_id", "text"))
    frame.with_columns(pl.lit(1.0).alias("score")).write_parquet(path)
    return path


@pytest.mark.parametrize("reader", ["run", "collection"])
def test_one_long_text_in_many_rows_of_parquet(long_texts, reader):
    """A dictionary holds the text once; as texts of Python it would be there again and again."""
    setup = READERS[reader] + "\nimport polars"
    said, grown = done_with("read(sys.argv[1])", setup, long_texts)
    assert "over 200 times as much" in said
    assert grown < ALLOWED


def test_an_npz_that_unpacks_to_gigabytes(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (1 << 28,)}
    )
    with zipfile.ZipFile(tmp_path / "x.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for name in ("words.npy", "vectors.npy"):
            with file.open(name, "w", force_zip64=True) as one:
                one.write(header.getvalue())
                for _ in range(150):  # more than may be taken
                    one.write(bytes(1 << 20))
    said, grown = done_with("read(sys.argv[1])", READERS["vectors"], tmp_path / "x.npz")
    assert "decompresses to" in said
    assert grown < 100


BILLIONS = [
    *("depth = {}", "inner = {}", "replicates = {}", "target_size = {}"),
    *("[plan]\nfolds = {}", "[plan]\nrepeats = {}", "[plan]\nruns = {}"),
    *("[plan]\nfolds = 2\nrepeats = {}", "[plan]\nkind = 'bootstrap'\nreplicates = {}"),
    "analyzer = {{ngrams = [1, {}]}}",
]
CHECK_ALL = """
from pathlib import Path
from heldout import Experiment
def check_all(folder):
    for path in folder.glob("*.toml"):
        try:
            Experiment.read(path).check()
        except HeldoutError:
            pass
"""


def test_a_billion_in_an_experiment_is_refused_or_costs_nothing(tmp_path):
    """In one process: the most memory that it takes is that of the worst of them."""
    (tmp_path / "docs.jsonl").write_text(
        "".join(f'{{"_id": "d{n}", "text": "word{n} and"}}\n' for n in range(12))
    )
    (tmp_path / "queries.tsv").write_text("".join(f"q{n}\tword{n}\n" for n in range(12)))
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d{n} 1\n" for n in range(12)))
    source = 'collection = {source = "docs.jsonl", queries = "queries.tsv", qrels = "qrels.txt"}\n'
    for number, text in enumerate(BILLIONS):
        body = f"systems = ['bm25']\n{source}{text.format(10**9)}\n"
        (tmp_path / f"{number}.toml").write_text(body)
    said, grown = done_with("check_all(Path(sys.argv[1]))", CHECK_ALL, tmp_path)
    assert said == ""
    assert grown < ALLOWED


def test_a_run_of_ids_that_are_long_is_still_a_run():
    run = Run.from_dict({"q" * 5000: {"d" * 5000: 1.0}})
    assert run.to_dict() == {"q" * 5000: {"d" * 5000: 1.0}}
