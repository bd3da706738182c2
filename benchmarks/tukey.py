"""Block Tukey for 129 systems on 50 topics, all 8,256 pairs, against SciPy's studentized range.

SciPy needs minutes for all pairs; it is timed on a sample of them and the time is extrapolated.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING

import numpy as np

from harness import Timing, race, report, save
from heldout.infer.simultaneous import studentized
from heldout.infer.simultaneous.blocks import anova
from heldout.infer.simultaneous.tukey import tukey_hsd

if TYPE_CHECKING:
    from heldout.data.words import Floats

TOPICS, SYSTEMS = 50, 129
TOLERANCE = 1e-8


def make_scores(seed: int) -> Floats:
    """Scores from 0 to 1 of systems that differ, on topics that differ more."""
    generator = np.random.default_rng(seed)
    topics = generator.normal(0, 0.8, (TOPICS, 1))
    systems = generator.normal(0, 0.3, SYSTEMS)
    noise = generator.normal(0, 0.6, (TOPICS, SYSTEMS))
    return np.asarray(1 / (1 + np.exp(1 - topics - systems - noise)), np.float64)


def time_scipy(scores: Floats, sample: int) -> tuple[float, float, int]:
    """Seconds for all pairs by those for a sample, the largest deviation, and the sample's size."""
    from scipy import stats

    pairs, table = tukey_hsd(scores), anova(scores)
    deviation = float(np.sqrt(table.mse / TOPICS))
    chosen = sorted(pairs, key=lambda pair: abs(pair.difference))
    chosen = chosen[:: max(1, len(pairs) // sample)]  # from the least to the largest difference
    begin = time.perf_counter()
    theirs = [
        float(stats.studentized_range.sf(abs(p.difference) / deviation, SYSTEMS, table.residual.df))
        for p in chosen
    ]
    seconds = (time.perf_counter() - begin) * len(pairs) / len(chosen)
    worst = max(abs(p.p - other) for p, other in zip(chosen, theirs, strict=True))
    return seconds, worst, len(chosen)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sample", type=int, default=200, help="pairs that SciPy is given")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    scores = make_scores(options.seed)
    tukey_hsd(scores[:, :3])  # imports what is needed

    def ours() -> None:
        studentized.forget_tables()
        tukey_hsd(scores)

    timings = race({"heldout": ours}, options.rounds)
    seconds, worst, sampled = time_scipy(scores, options.sample)
    timings["scipy"] = Timing(seconds)
    equal = "equal" if worst <= TOLERANCE else "DIFFER"
    agreement = {"scipy": f"{equal}, largest deviation {worst:.1e}; from {sampled} pairs"}
    report(f"block Tukey, {SYSTEMS} systems x {TOPICS} topics, all pairs", timings, agreement)
    save(
        "tukey",
        {
            "seconds": {name: timing.seconds for name, timing in timings.items()},
            "scipy": f"extrapolated from {sampled} of {SYSTEMS * (SYSTEMS - 1) // 2} pairs",
            "largest deviation": worst,
        },
    )


if __name__ == "__main__":
    main()
