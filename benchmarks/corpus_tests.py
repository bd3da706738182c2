"""Paired randomization of corpus BLEU, 3,000 segments, 10,000 draws, beside sacrebleu's own.

Timed from texts to p-values, warm, in turn; both sides cut texts by sacrebleu's tokenizer, and the
p-values must agree but for Monte Carlo error. The memory is that of a process of its own, less that
of one that has only the packages and the texts.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

from harness import race, run
from heldout import evaluate
from heldout.infer.resampling import swap_test
from heldout.measure.text.evaluate import segment_sums

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

REPLICATES = 10_000

Texts = tuple[list[str], dict[str, list[str]]]


def make_texts(segments: int, seed: int) -> Texts:
    """References, and two systems that get nearly the same share of the words wrong."""
    source = np.random.default_rng(seed)
    words = np.array([f"w{at}" for at in range(5000)])
    references = [" ".join(source.choice(words, source.integers(8, 40))) for _ in range(segments)]

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


def by_heldout(references: list[str], systems: dict[str, list[str]]) -> float:
    evaluation = evaluate(references, systems, ["BLEU"])
    one, other = segment_sums(evaluation, evaluation.measures[0])
    return swap_test(one, other, replicates=REPLICATES).p


def by_sacrebleu(references: list[str], systems: dict[str, list[str]]) -> float:
    named: list[tuple[str, Sequence[str]]] = list(systems.items())
    metrics = {"BLEU": sacrebleu.BLEU()}
    result: Any = PairedTest(named, metrics, [references], "ar", REPLICATES)()[1]["BLEU"][1]
    p: float = result.p_value
    return p


CONTESTANTS: dict[str, Callable[[list[str], dict[str, list[str]]], float]] = {
    "heldout": by_heldout,
    "sacrebleu": by_sacrebleu,
    "texts": lambda *_: 1.0,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--segments", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        CONTESTANTS[options.alone](*make_texts(options.segments, options.seed))
        return
    command = [sys.executable, __file__, "--segments", options.segments, "--seed", options.seed]
    memory = {name: run([*command, "--alone", name]).memory for name in CONTESTANTS}
    texts = make_texts(options.segments, options.seed)
    works = {name: partial(CONTESTANTS[name], *texts) for name in ("heldout", "sacrebleu")}
    p = {name: work() for name, work in works.items()}  # warms up, too
    seconds = race(works, options.rounds)
    error = float(np.sqrt(2 * p["heldout"] * (1 - p["heldout"]) / REPLICATES))
    if abs(p["heldout"] - p["sacrebleu"]) > 4 * error:
        sys.exit(f"p-values differ: {p}")
    more = {name: memory[name] - memory["texts"] for name in works}
    print(
        f"{options.segments:,} segments, {REPLICATES:,} draws: {seconds['heldout']:.2f} s and "
        f"{more['heldout']:.0f} MB; sacrebleu {seconds['sacrebleu'] / seconds['heldout']:.1f}×, "
        f"{more['sacrebleu'] / more['heldout']:.1f}×; p {p['heldout']:.4f}, {p['sacrebleu']:.4f}"
    )


if __name__ == "__main__":
    main()
