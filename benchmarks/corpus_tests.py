"""Paired randomization of corpus BLEU, 3,000 segments, B = 10,000, beside sacrebleu's own.

Timed from texts to p-values, and the test alone; both sides count n-grams with sacrebleu.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest

from harness import race, report, save
from heldout.infer.corpus_level import corpus_randomization_test
from heldout.measure.text_evaluate import evaluate_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.measure.text_evaluate import TextEvaluation

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


def randomize(evaluation: TextEvaluation) -> float:
    one, other = evaluation.of("BLEU")
    score = evaluation.measures[0].score
    return corpus_randomization_test(one, other, score, replicates=REPLICATES).p


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    references, systems = make_texts(options.seed)
    named: list[tuple[str, Sequence[str]]] = list(systems.items())
    found: dict[str, float] = {}
    tables = evaluate_text(references, systems, ["BLEU"])

    def ours() -> None:
        found["heldout"] = randomize(evaluate_text(references, systems, ["BLEU"]))

    def ours_alone() -> None:
        randomize(tables)

    def theirs() -> None:
        metrics = {"BLEU": sacrebleu.BLEU()}
        result: Any = PairedTest(named, metrics, [references], "ar", REPLICATES)()[1]["BLEU"][1]
        found["sacrebleu"] = result.p_value

    def counting() -> None:
        evaluate_text(references, systems, ["BLEU"])

    contestants = {
        "heldout": ours,
        "sacrebleu": theirs,
        "test alone": ours_alone,
        "counting": counting,
    }
    timings = race(contestants, options.rounds)
    gap = abs(found["heldout"] - found["sacrebleu"])
    error = float(np.sqrt(2 * found["heldout"] * (1 - found["heldout"]) / REPLICATES))
    equal = "equal" if gap <= 4 * error else "DIFFER"
    agreement = {
        "heldout": f"p {found['heldout']:.4f}",
        "sacrebleu": f"p {found['sacrebleu']:.4f}, {equal} within Monte Carlo error {error:.4f}",
    }
    title = f"paired randomization of BLEU, {SEGMENTS:,} segments, B = {REPLICATES:,}"
    report(title, timings, agreement)
    test = timings["sacrebleu"].seconds - timings["counting"].seconds
    alone = test / timings["test alone"].seconds
    print(f"  without counting n-grams: sacrebleu {test:.3f} s, {alone:.1f}x")
    save(
        "corpus_tests",
        {
            "seconds": {name: timing.seconds for name, timing in timings.items()},
            "ratio without counting": alone,
            "p": found,
        },
    )


if __name__ == "__main__":
    main()
