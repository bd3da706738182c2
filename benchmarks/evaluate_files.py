"""From files to the values of every query: whole programs, start-up included.

trec_eval takes part when it is on the path or named by TREC_EVAL; the Python packages when they are
installed. Every contestant's values are compared with heldout's.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import collection
from harness import Timing, Values, differences, report, run_process, save

HERE = Path(__file__).parent
MEASURES = ("nDCG@10", "AP", "P@10", "RR", "R@1000")
TREC_ARGUMENTS = ("ndcg_cut.10", "map", "P.10", "recip_rank", "recall.1000")
TREC_ORDER = ("ndcg_cut_10", "map", "P_10", "recip_rank", "recall_1000")


def heldout_command(qrels: Path, run: Path) -> list[str]:
    program = Path(sys.executable).with_name("heldout")
    measures = [part for name in MEASURES for part in ("-m", name)]
    options = ["-q", "-n", "--format", "tsv", "--digits", "17", "--quiet"]
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


def measure(shape: collection.Shape, folder: Path, rounds: int, leave_out: list[str]) -> object:
    qrels, run = collection.make(shape, folder)
    contestants = commands(qrels, run, leave_out)
    timings = {name: Timing() for name in contestants}
    outputs: dict[str, str] = {}
    for _ in range(rounds):
        for name, command in contestants.items():
            outputs[name], seconds, memory = run_process(command)
            timings[name].seconds = min(timings[name].seconds, seconds)
            timings[name].memory = memory
    ours = parse("heldout", outputs["heldout"])
    agreement = {}
    for name in contestants:
        digits = 5.1e-5 if name == "trec_eval" else 1e-9  # trec_eval prints four digits
        wrong = differences(ours, parse(name, outputs[name]), digits)
        agreement[name] = "equal" if not wrong else f"{wrong} differ"
    report(f"{shape.name}: file to values", timings, agreement)
    return {
        name: {"seconds": t.seconds, "memory_mb": t.memory, "values": agreement[name]}
        for name, t in timings.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--data", type=Path, default=HERE / "data")
    parser.add_argument("--leave-out", nargs="*", default=[], help="peers that are not to run")
    options = parser.parse_args()
    shapes = (collection.GRADED, collection.MIDDLE, collection.LARGE)
    results = {
        shape.name: measure(shape, options.data, options.rounds, options.leave_out)
        for shape in shapes
    }
    save("evaluate_files", results)


if __name__ == "__main__":
    main()
