"""From files to the values of every query: whole programs, and what of it is start-up.

Start-up is the time for two queries with one document each; the rest is work. trec_eval takes part
when it is on the path or named by TREC_EVAL; the Python packages when they are installed. Every
contestant's values are compared with heldout's. On a shared machine, compare processor time
(--clock processor). All of it is done twice, and each time ends with the rows of the table in
README.md, which can be trusted where they agree.
"""

from __future__ import annotations

import argparse
import importlib.util
import math
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import collection
from harness import Ended, Values, differences, run_measured, save

HERE = Path(__file__).parent
Row = dict[str, dict[str, Any]]
"""What each contestant used."""

MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000")
TREC_ARGUMENTS = ("ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000")
TREC_ORDER = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_1000")


def heldout_command(qrels: Path, run: Path) -> list[str]:
    program = Path(sys.executable).with_name("heldout")
    measures = [part for name in MEASURES for part in ("-m", name)]
    options = ["-q", "-n", "--format", "tsv", "--quiet"]
    return [str(program), "eval", *options, *measures, str(qrels), str(run)]


def trec_eval_command(program: str, qrels: Path, run: Path) -> list[str]:
    measures = [part for name in TREC_ARGUMENTS for part in ("-m", name)]
    return [program, "-q", "-n", *measures, str(qrels), str(run)]


def commands(qrels: Path, run: Path, leave_out: list[str]) -> dict[str, list[str]]:
    found = {"heldout": heldout_command(qrels, run)}
    trec_eval = os.environ.get("TREC_EVAL") or shutil.which("trec_eval")
    if trec_eval:
        found["trec_eval"] = trec_eval_command(trec_eval, qrels, run)
    for peer in ("pytrec_eval", "ir_measures", "ranx"):
        if importlib.util.find_spec(peer):
            script = [sys.executable, str(HERE / "peers.py"), peer]
            found[peer] = [*script, str(qrels), str(run)]
    return {name: command for name, command in found.items() if name not in leave_out}


def parse(name: str, output: str) -> Values:
    lines = output.splitlines()
    if name == "heldout":
        return {line[1]: [float(v) for v in line[2:]] for line in map(_tabs, lines[1:])}
    if name == "trec_eval":
        found: dict[str, dict[str, float]] = {}
        for measure, query, value in map(str.split, lines):
            found.setdefault(query, {})[measure] = float(value)
        return {query: [row[one] for one in TREC_ORDER] for query, row in found.items()}
    return {line[0]: [float(v) for v in line[1:]] for line in map(str.split, lines)}


def _tabs(line: str) -> list[str]:
    return line.split("\t")


class Clocks:
    """The least times of a contestant, in seconds and in processor seconds."""

    def __init__(self) -> None:
        self.seconds = self.processor = math.inf
        self.memory: float | None = None
        self.output = ""

    def add(self, ended: Ended) -> None:
        """Add a round."""
        self.seconds = min(self.seconds, ended.seconds)
        self.processor = min(self.processor, ended.processor)
        self.memory, self.output = ended.memory, ended.output


def race_commands(contestants: dict[str, list[str]], rounds: int) -> dict[str, Clocks]:
    """Run all programs in turn, `rounds` times."""
    clocks = {name: Clocks() for name in contestants}
    for _ in range(rounds):
        for name, command in contestants.items():
            clocks[name].add(run_measured(command))
    return clocks


def measure_start(options: argparse.Namespace) -> object:
    """What is behind start-up: the interpreter, NumPy, and when the inputs are opened."""
    qrels, run = collection.make(collection.SMALLEST, options.data)
    contestants = {
        "python": [sys.executable, "-c", "pass"],
        "import numpy": [sys.executable, "-c", "import numpy"],
        "heldout": heldout_command(qrels, run),
    }
    clocks = race_commands(contestants, 4 * options.rounds)
    print("\nstart-up (two queries, one document each)")
    for name, clock in clocks.items():
        print(f"  {name:14}{clock.seconds:8.3f} s{clock.processor:8.3f} processor s")
    opened = [_opened(qrels, run) for _ in range(4 * options.rounds)]
    first = {"judgements": min(one[0] for one in opened), "run": min(one[1] for one in opened)}
    print("  opened after: " + ", ".join(f"{name} {at:.3f} s" for name, at in first.items()))
    seconds = {name: [clock.seconds, clock.processor] for name, clock in clocks.items()}
    return {"programs": seconds, "opened": first}


def _opened(qrels: Path, run: Path) -> tuple[float, float]:
    """Return the seconds from the start of the program until it opens each of its inputs."""
    watch = (
        "import sys, time\n"
        "begin, *sys.argv = sys.argv[1:]\n"
        "def seen(event, values):\n"
        "    if event == 'open' and values[0] in sys.argv[-2:]:\n"
        "        sys.stderr.write(f'{values[0]}\\t{time.time() - float(begin)}\\n')\n"
        "sys.addaudithook(seen)\n"
        "from heldout.cli import main\n"
        "main()\n"
    )
    program = [sys.executable, "-c", watch, str(time.time()), *heldout_command(qrels, run)]
    said = subprocess.run(program, capture_output=True, text=True, check=True).stderr
    first: dict[str, float] = {}
    for line in said.splitlines():
        path, seconds = line.split("\t")
        first.setdefault(path, float(seconds))
    return first[str(qrels)], first[str(run)]


def measure(shape: collection.Shape, options: argparse.Namespace) -> Row:
    small = collection.make(collection.SMALLEST, options.data)
    starts = race_commands(commands(*small, options.leave_out), options.rounds)
    files = collection.make(shape, options.data)
    wholes = race_commands(commands(*files, options.leave_out), options.rounds)
    ours = parse("heldout", wholes["heldout"].output)
    found = {}
    print(f"\n{shape.name}: file to values ({options.clock})")
    print(f"  {'':14}{'whole':>8}{'ratio':>8}{'start':>8}{'work':>8}{'ratio':>8}{'MB':>7}  values")
    base = _times(starts["heldout"], wholes["heldout"], options.clock)
    for name, whole in wholes.items():
        digits = 5.1e-5 if name == "trec_eval" else 1e-9  # trec_eval prints four digits
        wrong = differences(ours, parse(name, whole.output), digits)
        values = "equal" if not wrong else f"{wrong} differ"
        total, start, work = _times(starts[name], whole, options.clock)
        print(
            f"  {name:14}{total:8.3f}{total / base[0]:7.1f}x{start:8.3f}{work:8.3f}"
            f"{work / base[2]:7.1f}x{whole.memory or math.nan:7.0f}  {values}"
        )
        found[name] = {
            "seconds": whole.seconds,
            "processor_seconds": whole.processor,
            "start_seconds": starts[name].seconds,
            "start_processor_seconds": starts[name].processor,
            "memory_mb": whole.memory,
            "values": values,
        }
    return found


def readme_row(shape: collection.Shape, row: Row) -> str:
    """Return a row of the table in README.md: peers as multiples of heldout's time and memory."""
    ours = row["heldout"]
    cells = [f"{ours['seconds']:.2f} s, {ours['memory_mb']:.0f} MB"]
    for name in ("trec_eval", "pytrec_eval", "ir_measures", "ranx"):
        peer = row.get(name)
        ratios = [peer[what] / ours[what] for what in ("seconds", "memory_mb")] if peer else []
        cells.append(", ".join(f"{ratio:.2g}×" for ratio in ratios) or "–")
    return f"| {shape.queries:,} × {shape.depth}, {shape.judged:g} | {' | '.join(cells)} |"


def _times(start: Clocks, whole: Clocks, clock: str) -> tuple[float, float, float]:
    total, first = getattr(whole, clock), getattr(start, clock)
    return total, first, total - first


def measure_threads(options: argparse.Namespace) -> object:
    """Many small runs in one call, with one thread and with two."""
    qrels, run = collection.make(collection.TRACK, options.data)
    folder = options.data / "runs"
    folder.mkdir(exist_ok=True)
    lines = run.read_text(encoding="utf-8")
    runs = [folder / f"{number}.run" for number in range(options.runs)]
    for number, path in enumerate(runs):
        if not path.exists():
            path.write_text(lines.replace(" bench\n", f" bench{number}\n"), encoding="utf-8")
    command = heldout_command(qrels, run)[:-1] + [str(path) for path in runs]
    clocks = {1: Clocks(), 2: Clocks()}
    for _ in range(options.rounds):
        for threads, clock in clocks.items():
            clock.add(run_measured(command, {"HELDOUT_THREADS": str(threads)}))
    if clocks[1].output != clocks[2].output:
        raise SystemExit("the values depend on the number of threads")
    print(f"\n{options.runs} runs of {collection.TRACK.name} in one call")
    for threads, clock in clocks.items():
        speed = clocks[1].seconds / clock.seconds
        print(
            f"  threads {threads}: {clock.seconds:.3f} s ({speed:.2f}x), {clock.processor:.3f} "
            f"processor s, at most {clock.memory or math.nan:.0f} MB in one process"
        )
    return {n: [clock.seconds, clock.processor, clock.memory] for n, clock in clocks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=2, help="of all rounds")
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--leave-out", nargs="*", default=[], help="peers that are not to run")
    parser.add_argument("--clock", choices=("seconds", "processor"), default="seconds")
    parser.add_argument("--runs", type=int, default=300, help="runs in one call")
    options = parser.parse_args()
    shapes = (collection.GRADED, collection.MIDDLE, collection.LARGE)
    results = []
    for _ in range(options.repetitions):
        found: dict[str, object] = {"start": measure_start(options)}
        rows = {shape: measure(shape, options) for shape in shapes}
        found |= {shape.name: row for shape, row in rows.items()}
        found["threads"] = measure_threads(options)
        results.append(found)
        print("\n" + "\n".join(readme_row(shape, row) for shape, row in rows.items()))
    save("evaluate_files", results)


if __name__ == "__main__":
    main()
