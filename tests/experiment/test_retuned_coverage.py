"""An interval that includes the choice covers the expected difference where a t interval fails."""

import numpy as np

import heldout

QUERIES = [f"q{at}" for at in range(40)]
GOOD, BAD = [[f"{kind}{at}" for at in range(10)] for kind in "gb"]
COLLECTION = heldout.Collection(
    dict.fromkeys(GOOD + BAD, "x"),
    dict.fromkeys(QUERIES, "x"),
    {query: dict.fromkeys(GOOD, 1) for query in QUERIES},
)


def _run(hits):
    """A run with some relevant documents among the first ten of each query."""
    return heldout.Run.of(
        {
            query: {doc: 10.0 - at for at, doc in enumerate([*GOOD[:many], *BAD[many:]])}
            for query, many in zip(QUERIES, hits.tolist(), strict=True)
        }
    )


def _differences(seed):
    """Tuned minus fixed, with both intervals; a tenth of all queries prefers one setting.

    Which setting the folds choose depends on how many such queries were drawn, and all folds of a
    sample choose the same: the units of one sample do not show how much that varies.
    """
    rare = np.random.default_rng(seed).random(len(QUERIES)) < 0.1
    runs = {"k=1": _run(np.where(rare, 3, 4)), "k=2": _run(np.where(rare, 9, 3))}
    results = heldout.Experiment(
        collection=COLLECTION,
        systems={"fixed": _run(np.full(len(QUERIES), 3)), "tuned": runs},
        plan=heldout.KFold(4, seed=seed),
        measures=["P@10"],
    ).run()
    return [results.compare(interval=interval).claims[0].difference for interval in (None, "t")]


def test_coverage_with_and_without_re_tuning():
    found = [_differences(seed) for seed in range(40)]
    truth = np.mean([one.estimate for one, _ in found])
    retuned, plain = np.mean(
        [[one.low <= truth <= one.high for one in both] for both in found], axis=0
    )
    assert plain < 0.75
    assert retuned > 0.9
