"""Run things side by side: interleaved, the least time of several rounds, memory peaks, JSON."""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

Values = dict[str, list[float]]
"""For each query the values of the measures, in a fixed order."""

RESULTS = Path(__file__).parent / "results"


@dataclass
class Timing:
    """The least time of a contestant in seconds, and its memory peak in MB (None: not known)."""

    seconds: float = math.inf
    memory: float | None = None


class Ended(NamedTuple):
    """What a program printed and used: seconds, processor seconds, and its memory peak in MB."""

    output: str
    seconds: float
    processor: float
    memory: float | None


def run_process(command: list[str]) -> tuple[str, float, float | None]:
    """Run a program; give its output, the time from start to end, and its memory peak in MB."""
    ended = run_measured(command)
    return ended.output, ended.seconds, ended.memory


def run_measured(command: list[str], environment: Mapping[str, str] | None = None) -> Ended:
    """Run a program with additions to the environment; give its output and what it used."""
    begin = time.perf_counter()
    whole = {**os.environ, **(environment or {})}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=whole)
    assert process.stdout is not None
    output = process.stdout.read()
    memory, processor = None, math.nan
    if hasattr(os, "wait4"):
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        processor = usage.ru_utime + usage.ru_stime
        memory = usage.ru_maxrss / (1024 if sys.platform == "linux" else 1024**2)
    else:
        process.wait()
    seconds = time.perf_counter() - begin
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    return Ended(output, seconds, processor, memory)


def race(contestants: Mapping[str, Callable[[], float | None]], rounds: int) -> dict[str, Timing]:
    """Run all contestants in turn, `rounds` times; each may report its memory peak in MB."""
    timings = {name: Timing() for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            begin = time.perf_counter()
            memory = contestant()
            timings[name].seconds = min(timings[name].seconds, time.perf_counter() - begin)
            timings[name].memory = memory
    return timings


def differences(ours: Values, theirs: Values, tolerance: float) -> int:
    """How many values differ by more than a tolerance; queries must be the same."""
    if ours.keys() != theirs.keys():
        raise SystemExit(f"{len(ours)} queries against {len(theirs)}")
    return sum(
        abs(a - b) > tolerance
        for query, values in ours.items()
        for a, b in zip(values, theirs[query], strict=True)
    )


def report(title: str, timings: Mapping[str, Timing], agreement: Mapping[str, str]) -> None:
    """Print a table of ratios against heldout."""
    base = timings["heldout"]
    print(f"\n{title}")
    print(f"  {'':14}{'seconds':>9}{'ratio':>8}{'MB':>8}{'ratio':>8}  values")
    for name, timing in timings.items():
        line = f"  {name:14}{timing.seconds:9.4f}{timing.seconds / base.seconds:7.2f}x"
        if timing.memory is not None and base.memory is not None:
            line += f"{timing.memory:8.0f}{timing.memory / base.memory:7.1f}x"
        else:
            line += " " * 16
        print(f"{line}  {agreement.get(name, '')}")


def save(name: str, content: object) -> None:
    """Write results beside the benchmarks, with what they were measured on."""
    RESULTS.mkdir(exist_ok=True)
    where = {
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "packages": {package: _version(package) for package in PACKAGES},
    }
    text = json.dumps({"where": where, "results": content}, indent=2)
    (RESULTS / f"{name}.json").write_text(text + "\n", encoding="utf-8")


PACKAGES: Iterable[str] = (
    "heldout",
    "numpy",
    "scipy",
    "pytrec-eval-terrier",
    "ir-measures",
    "ranx",
)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
