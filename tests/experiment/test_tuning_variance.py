"""What tuning in the folds adds to the error of a difference, kept with the results."""

import numpy as np
from experiment_data import small_collection

import heldout
from heldout import Experiment, KFold, Results

TUNED = "bm25(k1=0.2:2.2:5, b=0:1:3)"
FIXED = "A=bm25(k1=0.9, b=0.4)"


def run(*systems, plan=None):
    given = {"collection": small_collection(), "measures": ["nDCG@10", "AP"]}
    return Experiment(systems=systems, plan=plan or KFold(4), **given).run()


def test_pairs_with_a_tuned_system_have_a_spread_in_each_measure(tmp_path):
    results = run(FIXED, TUNED, "ql-jm(lambda=0.1,0.5)")
    results.write(tmp_path / "results")
    again = Results.read(tmp_path / "results")
    spreads = []
    for measure in ("nDCG@10", "AP"):
        choices = results.scores(measure, systems=["A", "bm25", "ql-jm"]).choices
        assert set(choices) == {("bm25", "A"), ("ql-jm", "A"), ("ql-jm", "bm25")}
        assert all(spread.units > 0 and spread.choices >= 0 for spread in choices.values())
        assert again.scores(measure).choices == choices
        spreads.append(choices["bm25", "A"])
    assert spreads[0] != spreads[1]
    assert spreads[0].choices > 0
    mine = results.compare(systems=["A", "bm25"]).claims[0]
    plain = results.compare(systems=["A", "bm25"], interval="t").claims[0]
    assert mine.outcomes[0].test == "retuned-t"
    assert mine.difference.low < plain.difference.low
    assert mine.difference.high > plain.difference.high


# ---- coverage -----------------------------------------------------------------------------------


QUERIES = [f"q{at}" for at in range(40)]
GOOD, BAD = [[f"{kind}{at}" for at in range(10)] for kind in "gb"]
COLLECTION = heldout.Collection(
    dict.fromkeys(GOOD + BAD, "x"),
    dict.fromkeys(QUERIES, "x"),
    {query: dict.fromkeys(GOOD, 1) for query in QUERIES},
)


def of_hits(hits):
    """A run with some relevant documents among the first ten of each query."""
    return heldout.Run.of(
        {
            query: {doc: 10.0 - at for at, doc in enumerate([*GOOD[:many], *BAD[many:]])}
            for query, many in zip(QUERIES, hits.tolist(), strict=True)
        }
    )


def intervals(seed):
    """Tuned minus fixed, with both intervals; a tenth of all queries prefers one setting.

    Which setting the folds choose depends on how many such queries were drawn, and all folds of a
    sample choose the same: the units of one sample do not show how much that varies.
    """
    rare = np.random.default_rng(seed).random(len(QUERIES)) < 0.1
    runs = {"k=1": of_hits(np.where(rare, 3, 4)), "k=2": of_hits(np.where(rare, 9, 3))}
    results = heldout.Experiment(
        collection=COLLECTION,
        systems={"fixed": of_hits(np.full(len(QUERIES), 3)), "tuned": runs},
        plan=heldout.KFold(4, seed=seed),
        measures=["P@10"],
    ).run()
    return [results.compare(interval=interval).claims[0].difference for interval in (None, "t")]


def test_coverage_with_and_without_re_tuning():
    found = [intervals(seed) for seed in range(40)]
    truth = np.mean([one.estimate for one, _ in found])
    retuned, plain = np.mean(
        [[one.low <= truth <= one.high for one in both] for both in found], axis=0
    )
    assert plain < 0.75
    assert retuned > 0.9
