"""Compare 500 systems on 50 topics, all 124,750 pairs: time, CPU time, memory, output, progress.

The scores are drawn (seed 0): topics differ much, systems a little. A process of its own calls
`heldout.compare`; another is the command ``heldout compare --scores``.

    python benchmarks/many_systems.py [--systems 500] [--topics 50]
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from harness import save

LIBRARY = """
import sys
from heldout import compare, read_scores
told = []
found = compare(read_scores(sys.argv[1]), progress=lambda *of: told.append(of))
claimed = sum(claim.adjusted <= 0.05 for claim in found.claims)
print(len(found.claims), "pairs,", claimed, "claims,", found.correction_detail)
print(len(told), "calls of progress, the last one", told[-1])
"""


class Used(NamedTuple):
    """What a process took."""

    seconds: float
    cpu_seconds: float
    megabytes: float
    output_bytes: int


def write_scores(path: Path, topics: int, systems: int) -> None:
    """A table of topics x systems like those of AP."""
    generator = np.random.default_rng(0)
    level = generator.beta(1.2, 2.5, (topics, 1)) + generator.normal(0, 0.03, systems)
    values = np.clip(level + generator.normal(0, 0.1, (topics, systems)), 0, 1)
    names = ",".join(f"s{number:03d}" for number in range(systems))
    rows = [f"q{at}," + ",".join(f"{one:.4f}" for one in row) for at, row in enumerate(values)]
    path.write_text("\n".join([f"query,{names}", *rows, ""]), encoding="utf-8")


def run(command: list[str]) -> tuple[Used, str]:
    """Run a program to its end."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"failed: {' '.join(command)}")
    seconds = time.perf_counter() - begin
    cpu = usage.ru_utime + usage.ru_stime
    return Used(seconds, cpu, usage.ru_maxrss / 1024, len(output.encode())), output


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--systems", type=int, default=500)
    parser.add_argument("--topics", type=int, default=50)
    options = parser.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        write_scores(path, options.topics, options.systems)
        commands = {
            "heldout.compare": [sys.executable, "-c", LIBRARY, str(path)],
            "heldout compare --scores": [
                *(sys.executable, "-m", "heldout", "compare", "--scores", str(path)),
            ],
        }
        for name, command in commands.items():
            used, output = run(command)
            results[name] = used._asdict()
            print(
                f"{name}: {used.seconds:.1f} s, CPU {used.cpu_seconds:.1f} s, "
                f"{used.megabytes:.0f} MB at the peak, {used.output_bytes:,} bytes of output"
            )
            print("  " + "\n  ".join(output.splitlines()[:2]), flush=True)
    save("many_systems", results)


if __name__ == "__main__":
    main()
