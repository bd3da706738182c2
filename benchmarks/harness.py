"""Run things side by side: interleaved, the least time of several rounds, memory peaks, tables."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

DATA = Path(__file__).parent / "data"
HELDOUT = [sys.executable, "-c", "from heldout.cli import main; main()"]

Values = dict[str, list[float]]
"""For each query the values of the measures, in a fixed order."""


@dataclass(frozen=True)
class Ended:
    """What a program printed and used: seconds, processor seconds, and its memory peaks in MB."""

    output: str
    seconds: float
    processor: float
    memory: float
    allocated: float = 0.0
    """The largest anonymous part that was seen: without pages of mapped files (Linux)."""


def run(command: Sequence[object], **environment: str) -> Ended:
    """Run a program to its end, with additions to the environment."""
    begin = time.perf_counter()
    words, around = list(map(str, command)), os.environ | environment
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=around)
    assert process.stdout is not None
    seen: list[int] = []
    ended = threading.Event()
    watcher = threading.Thread(target=_look_on, args=(process.pid, seen, ended))
    watcher.start()
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    ended.set()
    watcher.join()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(words)}")
    memory = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    processor = usage.ru_utime + usage.ru_stime
    return Ended(output, seconds, processor, memory, max(seen, default=0) / 1024)


def _look_on(number: int, seen: list[int], ended: threading.Event) -> None:
    status = Path(f"/proc/{number}/status")
    while not ended.wait(0.03):
        try:
            found = re.search(r"RssAnon:\s+(\d+)", status.read_text())
        except OSError:
            return
        seen += [int(found[1])] if found else []


def heldout(*words: object) -> Ended:
    """Run heldout as a user would."""
    return run([*HELDOUT, *words])


def run_in_turn(commands: Mapping[str, Sequence[object]], rounds: int) -> dict[str, Ended]:
    """Run all programs in turn, `rounds` times; give the least times and greatest peaks."""
    found: dict[str, Ended] = {}
    for _ in range(rounds):
        for name, command in commands.items():
            now = run(command)
            best = found.get(name, now)
            found[name] = replace(
                now,
                seconds=min(now.seconds, best.seconds),
                processor=min(now.processor, best.processor),
                memory=max(now.memory, best.memory),
                allocated=max(now.allocated, best.allocated),
            )
    return found


def race(
    works: Mapping[str, Callable[[], Any]], rounds: int, clock: str = "seconds"
) -> dict[str, float]:
    """Do all works in turn, `rounds` times; give the least seconds, or processor seconds."""
    now = time.process_time if clock == "processor" else time.perf_counter
    least = dict.fromkeys(works, float("inf"))
    for _ in range(rounds):
        for name, work in works.items():
            begin = now()
            work()
            least[name] = min(least[name], now() - begin)
    return least


def installed(*modules: str) -> list[str]:
    """Give the peers that are installed, and name the others."""
    found = [name for name in modules if importlib.util.find_spec(name)]
    missing = [name for name in modules if name not in found]
    if missing:
        print(f"Not installed, so they do not take part: {', '.join(missing)}", file=sys.stderr)
    return found


def check_equal(name: str, ours: Values, theirs: Values, tolerance: float) -> None:
    """End the benchmark if a peer has other queries, or values that differ by more than that."""
    if ours.keys() != theirs.keys():
        raise SystemExit(f"{name}: {len(theirs)} queries, heldout: {len(ours)}")
    wrong = sum(
        abs(a - b) > tolerance
        for query, values in ours.items()
        for a, b in zip(values, theirs[query], strict=True)
    )
    if wrong:
        raise SystemExit(f"{name}: {wrong} values differ from those of heldout")


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, row by row as it is known."""
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}", flush=True)
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)
