"""Files of ranx (.lz4): CBOR, compressed with lz4 twice."""

from __future__ import annotations

import struct
import subprocess
import sys

import lz4.frame
import pytest

from heldout import InputError, evaluate, read_qrels, read_run
from heldout.cli import main
from heldout.data.io.run_cbor import parse_cbor

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"b": 1.5, "a": 0.25, "é": -3.0}, "q2": {"c": 1e300}}


def packed(content):
    return lz4.frame.compress(lz4.frame.compress(content))


def encoded(item):
    """CBOR of small maps, texts, small integers and floats."""
    if isinstance(item, dict):
        inner = b"".join(encoded(key) + encoded(value) for key, value in item.items())
        return bytes([0xA0 + len(item)]) + inner
    if isinstance(item, str):
        return bytes([0x60 + len(item.encode())]) + item.encode()
    return bytes([item]) if isinstance(item, int) else b"\xfb" + struct.pack(">d", item)


@pytest.fixture
def folder(tmp_path):
    """What `ranx.Run.save` writes, without the time that importing ranx takes."""
    for name, content in (("qrels", QRELS), ("run", RUN)):
        with lz4.frame.open(tmp_path / f"{name}.lz4", mode="wb") as file:
            file.write(lz4.frame.compress(encoded(content), compression_level=16))
    return tmp_path


def test_what_ranx_saves_is_read(folder):
    assert read_qrels(folder / "qrels.lz4").to_dict() == QRELS
    run = read_run(folder / "run.lz4")
    assert run.to_dict() == RUN
    assert run.name == "run"
    expected = evaluate(QRELS, RUN, ["AP", "nDCG@10"]).summary()
    found = evaluate(folder / "qrels.lz4", folder / "run.lz4", ["AP", "nDCG@10"])
    assert found.summary() == expected


def test_the_command(folder, capsys):
    main(["eval", str(folder / "qrels.lz4"), str(folder / "run.lz4"), "-m", "RR"])
    assert capsys.readouterr().out == "run\tRR\nrun\t0.7500\n"


def test_all_numbers_of_the_format():
    halves = {0x18: b"\xff", 0x19: b"\x01\x00", 0x1A: b"\0\1\0\0", 0x1B: b"\0\0\0\1\0\0\0\0"}
    items = [
        (b"\x05", 5),
        (b"\x29", -10),
        (b"\xf9" + struct.pack(">e", 0.5), 0.5),
        (b"\xfa" + struct.pack(">f", 0.25), 0.25),
        (b"\xfb" + struct.pack(">d", 0.1), 0.1),
        *((bytes([low]) + raw, int.from_bytes(raw)) for low, raw in halves.items()),
    ]
    inner = b"".join(b"\x61" + bytes([97 + n]) + raw for n, (raw, _) in enumerate(items))
    content = b"\xa1\x61q" + bytes([0xA0 + len(items)]) + inner
    queries, docs, numbers = parse_cbor(content, "x")
    assert (set(queries), "".join(docs)) == ({"q"}, "abcdefghi")
    assert numbers == [value for _, value in items]


GOOD = b"\xa1\x61q\xa1\x61d\x01"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (GOOD[:-1], "truncated"),
        (GOOD + b"\0", "expected the end of the file at byte 7"),
        (b"\xa1\x61q\x01", "expected a map"),
        (b"\xa1\x01\xa1\x61d\x01", "expected an id as text"),
        (b"\xa1\x61\xff\xa1\x61d\x01", "expected UTF-8"),
        (b"\xa1\x61q\xa1\x61d\x61x", "expected a number"),
        (b"\xbf\x61q\xa1\x61d\x01\xff", "expected an item of known length"),
        (b"\xbb" + b"\xff" * 8, "truncated"),
        (b"\xa1\x61q\xa1\x61d\xf9\x7e\x00", "not a finite number"),
        (b"\xa1\x61q\xa2\x61d\x01\x61d\x02", "d appears twice for query q"),
        (b"\xa0", "has no rows"),
    ],
)
def test_other_content_is_refused(tmp_path, content, says):
    (tmp_path / "x.lz4").write_bytes(packed(content))
    with pytest.raises(InputError, match=says):
        read_run(tmp_path / "x.lz4")


def test_damaged_files_and_bombs_are_refused(tmp_path):
    (tmp_path / "cut.lz4").write_bytes(packed(GOOD)[:-6])
    with pytest.raises(InputError, match="damaged or truncated"):
        read_run(tmp_path / "cut.lz4")
    broken = bytearray(lz4.frame.compress(bytes(range(256)) * 20, content_checksum=True))
    broken[-2] ^= 1
    (tmp_path / "broken.lz4").write_bytes(broken)
    with pytest.raises(InputError, match="damaged or truncated"):
        read_run(tmp_path / "broken.lz4")
    (tmp_path / "bomb.lz4").write_bytes(packed(bytes(30 << 20)))
    with pytest.raises(InputError, match="implausible compressed file"):
        read_run(tmp_path / "bomb.lz4")


WITHOUT = """
import sys
sys.modules["lz4"] = sys.modules["lz4.frame"] = None  # as if it were not installed
from heldout.cli import main
sys.exit(main(["eval", sys.argv[1], sys.argv[1]]))
"""


def test_without_the_package_it_is_named(tmp_path):
    (tmp_path / "x.lz4").write_bytes(packed(GOOD))
    command = [sys.executable, "-c", WITHOUT, str(tmp_path / "x.lz4")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert (done.returncode, done.stderr) == (
        2,
        "heldout: lz4 files need a package: pip install lz4\n",
    )
