"""Fuzz every reader of files: any content is read, or refused with a message.

Small valid files are made wrong (`fuzz_mutate.py`) and read (`fuzz_readers.py`) in a process of
their own with a limit of memory and, for each case, of time. A case ends well if it is read, or
refused by a `HeldoutError`. All else is a finding: another exception, a warning of a library, a
process that dies, a case that takes too long or too much. A finding is made small and kept.

    python benchmarks/fuzz.py --cases 1000000 --jobs 1 --out findings
    python benchmarks/fuzz.py --only TREC --cases 20000 --seed 7
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import resource
import signal
import struct
import subprocess
import sys
import time
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from fuzz_readers import Reader

SECONDS = 5.0
"""Processor time of a case."""
STUCK = 120.0
"""Seconds without a next case after which a process is ended."""
MEMORY = 1 << 30
"""Bytes that a case may take beyond what the process has taken before."""
BATCH = 25_000
PROGRESS = struct.Struct("<QQQ")
"""The number of the case, and how many were read and refused before it: known after a death."""
RESULTS = Path(__file__).parent / "results"


class TooSlowError(BaseException):
    """A case took more than its time; no handler for exceptions may catch it."""


@dataclass
class Finding:
    """A case that did not end well."""

    file: str
    what: str
    where: str
    content: bytes = b""
    case: int = 0


@dataclass
class Tally:
    """What came of the cases of a reader."""

    reader: str
    cases: int = 0
    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    slowest_case: int = 0
    memory: int = 0
    findings: list[dict[str, Any]] = field(default_factory=list)


def case_of(name: str, reader: Reader, seed: int, number: int) -> tuple[str, bytes]:
    """The file and the content of a case."""
    from fuzz_mutate import mutate

    random = Random(f"{name}/{seed}/{number}")  # noqa: S311 - to be repeated, not to be secret
    file = random.choice(list(reader.variants))
    variants = reader.variants[file]
    if reader.make is not None and random.random() < 0.3:
        content = reader.make(random)
        if random.random() < 0.7:
            return file, content
        return file, mutate(random, content, variants)
    content = mutate(random, random.choice(variants), variants)
    if reader.mend is not None and random.random() < 0.9:
        content = reader.mend(content)
    return file, content


def lay_out(reader: Reader, folder: Path) -> None:
    """Write the valid files of a reader."""
    for name, content in reader.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def attempt(reader: Reader, folder: Path, name: str, content: bytes) -> tuple[str, Finding | None]:
    """Read a case: ``read``, ``refused``, or a finding."""
    from heldout.errors import HeldoutError

    (folder / name).write_bytes(content)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        reader.read(folder)
    except HeldoutError:
        return "refused", None
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if isinstance(error, KeyboardInterrupt):
            raise
        kind = type(error).__name__
        return kind, Finding(name, kind, _place(error), content)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        (folder / name).write_bytes(reader.files[name])
    return "read", None


def _place(error: BaseException) -> str:
    """The last line of our own that the error came through."""
    own = [one for one in traceback.extract_tb(error.__traceback__) if "/heldout/" in one.filename]
    if not own:
        return "?"
    return f"{own[-1].filename.rpartition('/heldout/')[2]}:{own[-1].lineno}"


def minimise(fails: Callable[[bytes], bool], content: bytes, rounds: int = 400) -> bytes:
    """Take stretches out as long as it still fails."""
    size = len(content) // 2
    while size and rounds > 0:
        at = 0
        while at < len(content) and rounds > 0:
            rounds -= 1
            shorter = content[:at] + content[at + size :]
            if fails(shorter):
                content = shorter
            else:
                at += size
        size //= 2
    return content


def work(options: argparse.Namespace) -> None:
    """Do some cases of one reader, in this process, and print what came of them."""
    from fuzz_readers import READERS

    reader = READERS[options.work][1]()
    folder = Path(options.folder)
    lay_out(reader, folder)
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=ResourceWarning)
    signal.signal(signal.SIGPROF, _too_slow)
    reader.read(folder)  # imports and compiles before memory is limited
    _limit_memory()
    tally = Tally(options.work)
    known: set[tuple[str, str]] = set()
    with (folder.parent / "progress").open("r+b") as file:
        progress = mmap.mmap(file.fileno(), PROGRESS.size)
    for number in range(options.first, options.first + options.cases):
        PROGRESS.pack_into(progress, 0, number, tally.read, tally.refused)
        name, content = case_of(options.work, reader, options.seed, number)
        begin = time.process_time()
        outcome, finding = attempt(reader, folder, name, content)
        seconds = time.process_time() - begin
        if seconds > tally.slowest:
            tally.slowest, tally.slowest_case = seconds, number
        tally.cases += 1
        tally.read += outcome == "read"
        tally.refused += outcome == "refused"
        if finding is not None and (finding.what, finding.where) not in known:
            known.add((finding.what, finding.where))
            finding.case = number
            _minimised(reader, folder, finding)
            tally.findings.append({**asdict(finding), "content": finding.content.hex()})
            (folder.parent / "findings").write_text(json.dumps(tally.findings))
    tally.memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(json.dumps(asdict(tally)))


def _minimised(reader: Reader, folder: Path, finding: Finding) -> None:
    if finding.what in {"TooSlowError", "MemoryError"}:
        return

    def fails(content: bytes) -> bool:
        again = attempt(reader, folder, finding.file, content)[1]
        return again is not None and (again.what, again.where) == (finding.what, finding.where)

    finding.content = minimise(fails, finding.content)


def _too_slow(*_: object) -> None:
    raise TooSlowError


def _limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(
        resource.RLIMIT_AS, (pages * resource.getpagesize() + MEMORY, resource.RLIM_INFINITY)
    )


def run_batch(name: str, seed: int, first: int, cases: int) -> Tally:
    """Cases of one reader in a process of its own; one that dies goes on behind the case."""
    total = Tally(name)
    end = first + cases
    place = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108 - memory, not a disk
    while first < end:
        with TemporaryDirectory(prefix="fuzz", dir=place) as home:
            (Path(home) / "files").mkdir()
            (Path(home) / "progress").write_bytes(bytes(PROGRESS.size))
            (Path(home) / "findings").write_text("[]")
            whole, done = _run_worker(name, seed, first, end - first, Path(home))
        _add(total, done)
        if whole:
            break
        first += done["cases"]
    return total


def _run_worker(
    name: str, seed: int, first: int, cases: int, home: Path
) -> tuple[bool, dict[str, Any]]:
    """Whether it came to its end, and what came of the cases, up to the one that ended it."""
    command = [
        *(sys.executable, __file__, "--work", name, "--seed", str(seed), "--first", str(first)),
        *("--cases", str(cases), "--folder", str(home / "files")),
    ]
    own = {"POLARS_MAX_THREADS": "1", "HELDOUT_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with (home / "output").open("wb") as output:
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, env=os.environ | own
        )
        seen, since = b"", time.monotonic()
        while process.poll() is None:
            time.sleep(0.2)
            now = (home / "progress").read_bytes()
            if now != seen:
                seen, since = now, time.monotonic()
            elif time.monotonic() - since > STUCK:
                process.kill()
                process.wait()
    printed = (home / "output").read_text()
    if process.returncode == 0 and printed:
        return True, json.loads(printed)
    number, read, refused = PROGRESS.unpack((home / "progress").read_bytes())
    number = max(first, number)
    findings = json.loads((home / "findings").read_text())
    findings.append(asdict(Finding("", "died or stuck", "", case=number)) | {"content": ""})
    done = Tally(name, number - first + 1, read, refused, findings=findings)
    return False, asdict(done)


def _add(total: Tally, done: dict[str, Any]) -> None:
    total.cases += done["cases"]
    total.read += done["read"]
    total.refused += done["refused"]
    if done["slowest"] > total.slowest:
        total.slowest, total.slowest_case = done["slowest"], done["slowest_case"]
    total.memory = max(total.memory, done["memory"])
    known = {(one["what"], one["where"]) for one in total.findings if one["where"]}
    total.findings += [one for one in done["findings"] if (one["what"], one["where"]) not in known]


def keep(reader: str, findings: list[dict[str, Any]], folder: Path) -> None:
    """Write the bytes of findings, named by what they are."""
    for one in findings:
        name = f"{reader}~{one['file']}~{one['what']}~{one['where']}~{one['case']}"
        safe = "".join(letter if letter.isalnum() or letter in "~.-" else "_" for letter in name)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / safe).write_bytes(bytes.fromhex(one["content"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="readers with this in their names")
    parser.add_argument("--out", type=Path, default=RESULTS / "fuzz")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return
    from fuzz_readers import READERS

    chosen = {name: share for name, (share, _) in READERS.items() if options.only in name}
    tallies = []
    print("| reader | cases | read | refused | findings | slowest case, s | memory, MB |")
    print("|---|---:|---:|---:|---:|---:|---:|", flush=True)
    for name, share in chosen.items():
        wanted = -(-options.cases * share // sum(chosen.values()))
        total = Tally(name)
        for first in range(0, wanted, BATCH):
            part = run_batch(name, options.seed, first, min(BATCH, wanted - first))
            _add(total, asdict(part))
        tallies.append(total)
        keep(name, total.findings, options.out)
        print(
            f"| {name} | {total.cases:,} | {total.read:,} | {total.refused:,} | "
            f"{len(total.findings)} | {total.slowest:.2f} | {total.memory} |",
            flush=True,
        )
        for one in total.findings:
            sys.stderr.write(f"{name}: {one['what']} at {one['where']} (case {one['case']})\n")
    print(f"| all | {sum(one.cases for one in tallies):,} | {sum(one.read for one in tallies):,} | "
          f"{sum(one.refused for one in tallies):,} | "
          f"{sum(len(one.findings) for one in tallies)} | | |")  # fmt: skip


if __name__ == "__main__":
    main()
