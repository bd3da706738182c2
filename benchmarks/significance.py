"""Two-tailed randomization tests on scores that lie on no lattice, beside SciPy and ranx, warm.

The p-values of each must agree but for Monte Carlo error. At the end: the memory of a test of
100,000 units, and what a comparison of 500 systems takes (all pairs, Romano-Wolf).
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness import Ended, heldout, installed, race, run, show
from heldout.infer.randomization import randomization_test
from peers import TESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats

REPLICATES = 100_000
MANY_UNITS = f"""
import numpy as np
from heldout.infer.randomization import randomization_test
values = np.random.default_rng(0).normal(0.0005, 0.2, 100_000)
print(randomization_test(values, replicates={REPLICATES}).p)
"""


def scores(units: int) -> tuple[Floats, Floats]:
    """Scores like average precision, two systems correlated over queries, p near .05."""
    rng = np.random.default_rng(units)
    query = rng.beta(1.2, 2.5, units)
    first = np.clip(query + rng.normal(0.24 / np.sqrt(units), 0.1, units), 0, 1)
    return first, np.clip(query + rng.normal(0, 0.1, units), 0, 1)


def row(units: int, peers: list[str], options: argparse.Namespace) -> list[str]:
    first, second = scores(units)
    ours = partial(randomization_test, first - second, replicates=REPLICATES)
    works: dict[str, Callable[[], Any]] = {"heldout": ours}
    works |= {name: partial(TESTS[name], first, second, REPLICATES) for name in peers}
    found = ours()
    error = float(np.sqrt(2 * found.p * (1 - found.p) / REPLICATES))
    for name in peers:  # compiles, too
        if abs((p := works[name]()) - found.p) > 4 * error:
            sys.exit(f"{name}: p {p}, heldout: p {found.p}")
    least = race(works, options.rounds, options.clock)
    cells = [f"{units:,}", f"{1e3 * least['heldout']:.2f} ms ({found.method})"]
    return [*cells, *(f"{least[name] / least['heldout']:.0f}×" for name in peers)]


def write_scores(path: Path, topics: int, systems: int) -> None:
    """A table of topics x systems like those of AP: topics differ much, systems a little."""
    generator = np.random.default_rng(0)
    level = generator.beta(1.2, 2.5, (topics, 1)) + generator.normal(0, 0.03, systems)
    values = np.clip(level + generator.normal(0, 0.1, (topics, systems)), 0, 1)
    names = ",".join(f"s{number:03d}" for number in range(systems))
    rows = [f"q{at}," + ",".join(f"{one:.4f}" for one in row) for at, row in enumerate(values)]
    path.write_text("\n".join([f"query,{names}", *rows, ""]), encoding="utf-8")


def tell(name: str, used: Ended) -> None:
    cells = f"{used.processor:.1f} s of CPU, {used.memory:.0f} MB at the peak"
    print(f"{name}: {cells}, {len(used.output):,} bytes of output")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clock", choices=("seconds", "processor"), default="seconds")
    parser.add_argument("--units", type=int, nargs="*", default=[50, 250, 7_000])
    parser.add_argument("--systems", type=int, default=500)
    options = parser.parse_args()
    # First: the peak of a process counts what its parent holds when it is started.
    tell("100,000 units", run([sys.executable, "-c", MANY_UNITS]))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "scores.csv"
        write_scores(path, 50, options.systems)
        used = heldout("compare", "--scores", path)
        tell(f"{options.systems} systems on 50 topics", used)
    peers = installed(*TESTS)
    title = f"Randomization test, {REPLICATES:,} draws where Monte Carlo"
    rows = (row(units, peers, options) for units in options.units)
    show(title, ["units", "heldout", *peers], rows)


if __name__ == "__main__":
    main()
