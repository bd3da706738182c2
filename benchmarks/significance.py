"""Two-tailed randomization tests on scores that lie on no lattice, against SciPy and ranx, warm."""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from typing import TYPE_CHECKING

import numpy as np

from harness import race, report, run_process, save
from heldout.infer.bootstrap import bootstrap_interval, shift_test
from heldout.infer.randomization import randomization_test

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.words import Floats

REPLICATES = 100_000
UNITS = (50, 250, 7_000)
SLOW_UNITS = 1_000  # from here on the others are run once: they take half a minute

MEMORY_CASE = """
import numpy as np
from heldout.infer.randomization import randomization_test
values = np.random.default_rng(0).normal(0.0005, 0.2, 100_000)
print(randomization_test(values).p)
"""


def scores(units: int) -> tuple[Floats, Floats]:
    """Scores like average precision, two systems correlated over queries, p near .05."""
    rng = np.random.default_rng(units)
    query = rng.beta(1.2, 2.5, units)
    first = np.clip(query + rng.normal(0.24 / np.sqrt(units), 0.1, units), 0, 1)
    return first, np.clip(query + rng.normal(0, 0.1, units), 0, 1)


def scipy_test(first: Floats, second: Floats) -> float:
    from scipy.stats import permutation_test

    def statistic(x: Floats, y: Floats, axis: int) -> Floats:
        return np.asarray(np.mean(x - y, axis=axis))

    found = permutation_test(
        (first, second),
        statistic,
        permutation_type="samples",
        vectorized=True,
        n_resamples=REPLICATES,
        batch=max(1, 50_000_000 // len(first)),  # its memory would not be bounded otherwise
        rng=np.random.default_rng(0),
    )
    return float(found.pvalue)


def ranx_test(first: Floats, second: Floats) -> float:
    from ranx.statistical_tests import fisher_randomization_test

    return float(fisher_randomization_test(first, second, REPLICATES)[0])


def contestants(first: Floats, second: Floats) -> dict[str, Callable[[], float]]:
    found: dict[str, Callable[[], float]] = {
        "heldout": lambda: randomization_test(first - second, replicates=REPLICATES).p,
        "scipy": lambda: scipy_test(first, second),
    }
    if importlib.util.find_spec("ranx"):
        found["ranx"] = lambda: ranx_test(first, second)
    return found


def compare(units: int, rounds: int) -> dict[str, object]:
    works = contestants(*scores(units))
    p: dict[str, float] = {}

    def contestant(name: str) -> Callable[[], None]:
        def run_once() -> None:
            p[name] = works[name]()

        return run_once

    slow = units >= SLOW_UNITS
    works["heldout"]()
    if "ranx" in works:  # compiles
        ranx_test(*scores(10))
    timings = race({name: contestant(name) for name in works}, 1 if slow else rounds)
    again = race({"heldout": contestant("heldout")}, 5 * rounds)["heldout"]
    timings["heldout"].seconds = min(timings["heldout"].seconds, again.seconds)
    first, second = scores(units)
    method = randomization_test(first - second).method
    report(
        f"randomization, {units:,} units ({method}), {1e3 * timings['heldout'].seconds:.2f} ms",
        timings,
        {name: f"p {value:.5f}" for name, value in p.items()},
    )
    seconds = {name: timing.seconds for name, timing in timings.items()}
    return {"method": method, "seconds": seconds, "p": p}


def least_ms(work: Callable[[], object], rounds: int) -> float:
    best = float("inf")
    for _ in range(rounds):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return 1e3 * best


def own_times(units: int, rounds: int) -> dict[str, float]:
    """Milliseconds of everything else that draws, and of scores on a lattice of tenths."""
    first, second = scores(units)
    smooth = first - second
    tenths = np.round(first, 1) - np.round(second, 1)
    works: dict[str, Callable[[], object]] = {
        "randomization": lambda: randomization_test(smooth),
        "randomization, tenths": lambda: randomization_test(tenths),
        "bootstrap-shift": lambda: shift_test(smooth),
        "bootstrap-shift, tenths": lambda: shift_test(tenths),
        "bootstrap BCa interval": lambda: bootstrap_interval(smooth, kind="bca"),
    }
    rounds = 2 if units >= SLOW_UNITS else rounds
    times = {name: least_ms(work, rounds) for name, work in works.items()}
    print(f"\n{units:,} units, milliseconds")
    for name, taken in times.items():
        print(f"  {name:30}{taken:10.2f}")
    return times


def memory() -> float | None:
    """MB of a process that tests 100,000 units at 100,000 replicates."""
    _, seconds, peak = run_process([sys.executable, "-c", MEMORY_CASE])
    print(f"\n100,000 units, {REPLICATES:,} draws: {seconds:.1f} s, {peak or 0:.0f} MB at its peak")
    return peak


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--units", type=int, nargs="*", default=UNITS)
    options = parser.parse_args()
    megabytes = memory()  # first: a child's peak counts what its parent holds when it forks
    content = {
        "against": {str(units): compare(units, options.rounds) for units in options.units},
        "milliseconds": {str(units): own_times(units, options.rounds) for units in options.units},
        "megabytes": megabytes,
    }
    save("significance", content)


if __name__ == "__main__":
    main()
