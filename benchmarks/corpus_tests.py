"""Paired randomization of corpus BLEU, 3,000 segments, B = 10,000, beside sacrebleu's own.

Timed from texts to p-values, warm, and the test alone; both sides cut texts by sacrebleu's
tokenizer. The memory peak is that of a process of its own that does nothing else.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

from harness import race, report, run_process, save
from heldout import evaluate
from heldout.infer.resampling import swap_test
from heldout.measure.text.evaluate import segment_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout import Evaluation

SEGMENTS, REPLICATES = 3000, 10_000


def make_texts(seed: int) -> tuple[list[str], dict[str, list[str]]]:
    """References, and two systems that get nearly the same share of the words wrong."""
    source = np.random.default_rng(seed)
    words = np.array([f"w{at}" for at in range(5000)])
    references = [" ".join(source.choice(words, source.integers(8, 40))) for _ in range(SEGMENTS)]

    def spoil(rate: float) -> list[str]:
        return [
            " ".join(
                word if source.random() > rate else source.choice(words)
                for word in text.split()
                if source.random() > 0.05
            )
            for text in references
        ]

    return references, {"one": spoil(0.3), "other": spoil(0.303)}


def randomize(evaluation: Evaluation) -> float:
    one, other = segment_sums(evaluation, evaluation.measures[0])
    return swap_test(one, other, replicates=REPLICATES).p


def ask_sacrebleu(references: list[str], systems: dict[str, list[str]]) -> float:
    named: list[tuple[str, Sequence[str]]] = list(systems.items())
    metrics = {"BLEU": sacrebleu.BLEU()}
    result: Any = PairedTest(named, metrics, [references], "ar", REPLICATES)()[1]["BLEU"][1]
    p: float = result.p_value
    return p


def memory_peak(name: str, seed: int) -> float | None:
    """The memory peak in MB of a process that runs one contestant once."""
    command = [sys.executable, __file__, "--only", name, "--seed", str(seed)]
    text = run_process(command)[0].strip()
    return float(text) if text else None


def own_peak() -> str:
    """The peak of this process in MB; that of its parent counts in what wait4 says."""
    status = Path("/proc/self/status")
    if not status.exists():
        return ""
    line = next(one for one in status.read_text().splitlines() if one.startswith("VmHWM"))
    return str(int(line.split()[1]) / 1024)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=("heldout", "sacrebleu", "texts"))
    options = parser.parse_args()
    if options.only:
        texts = make_texts(options.seed)
        if options.only == "heldout":
            randomize(evaluate(*texts, ["BLEU"]))
        elif options.only == "sacrebleu":
            ask_sacrebleu(*texts)
        print(own_peak())
        return
    references, systems = make_texts(options.seed)
    found: dict[str, float] = {}
    tables = evaluate(references, systems, ["BLEU"])

    def ours() -> None:
        found["heldout"] = randomize(evaluate(references, systems, ["BLEU"]))

    def ours_alone() -> None:
        randomize(tables)

    def theirs() -> None:
        found["sacrebleu"] = ask_sacrebleu(references, systems)

    def counting() -> None:
        evaluate(references, systems, ["BLEU"])

    contestants = {
        "heldout": ours,
        "sacrebleu": theirs,
        "test alone": ours_alone,
        "counting": counting,
    }
    timings = race(contestants, options.rounds)
    for name in ("heldout", "sacrebleu"):
        timings[name].memory = memory_peak(name, options.seed)
    bare = memory_peak("texts", options.seed)
    gap = abs(found["heldout"] - found["sacrebleu"])
    error = float(np.sqrt(2 * found["heldout"] * (1 - found["heldout"]) / REPLICATES))
    equal = "equal" if gap <= 4 * error else "DIFFER"
    agreement = {
        "heldout": f"p {found['heldout']:.4f}",
        "sacrebleu": f"p {found['sacrebleu']:.4f}, {equal} within Monte Carlo error {error:.4f}",
    }
    title = f"paired randomization of BLEU, {SEGMENTS:,} segments, B = {REPLICATES:,}"
    report(title, timings, agreement)
    whole = timings["sacrebleu"].seconds / timings["heldout"].seconds
    if bare is not None:
        print(f"  of the memory {bare:.0f} MB are Python, the packages and the texts")
    save(
        "corpus_tests",
        {
            "seconds": {name: timing.seconds for name, timing in timings.items()},
            "ratio": whole,
            "memory_mb": {name: timings[name].memory for name in ("heldout", "sacrebleu")},
            "memory_mb_before": bare,
            "p": found,
        },
    )


if __name__ == "__main__":
    main()
