"""Files that once ended in a traceback, or did not end: they are read, or refused in words."""

import os
import signal
import sys
from functools import cache
from pathlib import Path
from random import Random
from runpy import run_path

import pytest

HERE = Path(__file__).resolve().parent
SEEDS = HERE.parent / "fuzz_seeds"
sys.path.insert(0, str(HERE.parents[1] / "benchmarks"))

pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGPROF"), reason="the limit of time of a case needs SIGPROF"
)

ROWS = [line.split("\t") for line in (SEEDS / "seeds.tsv").read_text().splitlines()[1:]]
CASES = 25


def tools():
    """The fuzzer; its limits are of POSIX, so it is imported where a test runs."""
    import fuzz
    import fuzz_readers

    return fuzz, fuzz_readers.READERS


@cache
def reader_of(name):
    return tools()[1][name][1]()


@pytest.fixture(autouse=True)
def limit_of_time():
    fuzz, _ = tools()
    before = signal.signal(signal.SIGPROF, fuzz._too_slow)
    yield
    signal.signal(signal.SIGPROF, before)


def tried(name, folder, file, content):
    fuzz, _ = tools()
    reader = reader_of(name)
    fuzz.lay_out(reader, folder)
    reader.read(folder)  # what is right is read, or the rest proves nothing
    return fuzz.attempt(reader, folder, file, content)


@pytest.mark.parametrize(("seed", "name", "file", "once"), ROWS, ids=[row[0] for row in ROWS])
def test_a_file_that_went_wrong_once_is_read_or_refused(tmp_path, seed, name, file, once):
    outcome, finding = tried(name, tmp_path, file, (SEEDS / seed).read_bytes())
    assert finding is None, f"{once} again, or another: {outcome} at {finding.where}"


def test_every_seed_is_listed_and_there():
    assert {row[0] for row in ROWS} == {one.name for one in SEEDS.glob("*.bin")}


def names():
    return sorted(__import__("fuzz_readers").READERS)


@pytest.mark.parametrize("name", names() if hasattr(signal, "SIGPROF") else [])
def test_some_new_cases_of_every_reader_end_well(tmp_path, name):
    fuzz, _ = tools()
    reader = reader_of(name)
    fuzz.lay_out(reader, tmp_path)
    outcomes = set()
    for number in range(CASES):
        file, content = fuzz.case_of(name, reader, 3, number)
        outcome, finding = fuzz.attempt(reader, tmp_path, file, content)
        assert finding is None, (outcome, finding)
        outcomes.add(outcome)
    assert outcomes <= {"read", "refused"}


def test_the_same_seed_makes_the_same_cases():
    fuzz, _ = tools()
    reader = reader_of("runs, TREC")
    made = [fuzz.case_of("runs, TREC", reader, 5, number) for number in range(40)]
    assert made == [fuzz.case_of("runs, TREC", reader, 5, number) for number in range(40)]
    assert len(set(made)) > 30


def broken(folder):
    content = (folder / "x").read_bytes()
    if b"bad" in content:
        raise KeyError("bad")
    while b"slow" in content:
        pass


@pytest.mark.parametrize(
    ("content", "kind"), [(b"a bad one", "KeyError"), (b"slow", "TooSlowError")]
)
def test_the_fuzzer_finds_what_is_wrong(tmp_path, content, kind, monkeypatch):
    fuzz, _ = tools()
    from fuzz_readers import Reader

    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    reader = Reader({"x": b"good"}, broken, {"x": (b"good",)})
    fuzz.lay_out(reader, tmp_path)
    outcome, finding = fuzz.attempt(reader, tmp_path, "x", content)
    assert outcome == finding.what == kind
    assert (tmp_path / "x").read_bytes() == b"good"
    assert fuzz.attempt(reader, tmp_path, "x", b"well")[0] == "read"


def test_findings_are_made_small():
    fuzz, _ = tools()
    random = Random(1)  # noqa: S311 - to be repeated
    content = random.randbytes(300) + b"bad" + random.randbytes(300)
    assert fuzz.minimise(lambda one: b"bad" in one, content) == b"bad"


def test_a_reader_that_dies_is_found_and_the_rest_goes_on(tmp_path, monkeypatch):
    """In a process of its own, as for all cases; the memory of that process is bounded."""
    fuzz, _ = tools()
    script = tmp_path / "fuzz_readers.py"
    script.write_text(
        "import os\n"
        "class Reader:\n"
        "    files = {'x': b'a'}; variants = {'x': (b'a',)}; mend = None\n"
        "    make = staticmethod(lambda random: b'die' if random.random() < 0.2 else b'large')\n"
        "    def read(self, folder):\n"
        "        content = (folder / 'x').read_bytes()\n"
        "        if content == b'die': os.abort()\n"
        "        if content == b'large': bytearray(8 << 30)\n"
        "READERS = {'mine': (1, Reader)}\n"
    )
    monkeypatch.setenv("PYTHONPATH", f"{HERE.parents[1] / 'benchmarks'}", prepend=os.pathsep)
    copied = tmp_path / "fuzz.py"
    copied.write_bytes(Path(fuzz.__file__).read_bytes())
    monkeypatch.setattr(fuzz, "__file__", str(copied))
    tally = fuzz.run_batch("mine", 0, 0, 40)
    assert tally.cases == 40
    reader = run_path(str(script))["Reader"]
    made = [fuzz.case_of("mine", reader, 0, number)[1] for number in range(40)]
    found = [one["what"] for one in tally.findings]
    assert found.count("died or stuck") == made.count(b"die") > 1
    assert "MemoryError" in found
    # What was done before a death is not forgotten with it.
    assert tally.read == sum(one not in {b"die", b"large"} for one in made)
