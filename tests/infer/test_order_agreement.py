"""Agreement of two sets of scores on the order of systems, and on verdicts."""

import json

import numpy as np
import pytest
from scipy import stats

from heldout import Scores, compare
from heldout.cli import main
from heldout.errors import InputError
from heldout.infer.order_agreement import order_agreement, verdict_changes
from heldout.measure.rank_correlation import batch_correlations
from heldout.report.order_agreement import agreement_lines

SYSTEMS = ("A", "B", "C", "D")


def scores(measure, gains, seed, *, higher_is_better=True, units=40):
    generator = np.random.default_rng(seed)
    values = generator.normal(0, 0.1, (units, len(gains))) + gains
    values = values if higher_is_better else -values
    names = [f"q{number}" for number in range(units)]
    return Scores(measure, SYSTEMS, names, values, higher_is_better=higher_is_better)


def test_correlations_are_those_of_the_means():
    first, second = scores("AP", [0.1, 0.2, 0.3, 0.4], 1), scores("RR", [0.1, 0.4, 0.3, 0.2], 2)
    found = order_agreement(first, second)
    means = first.values.mean(axis=0), second.values.mean(axis=0)
    for name, value in batch_correlations(*(one[None] for one in means)).items():
        assert getattr(found, name).estimate == pytest.approx(value.item())
    assert found.spearman.estimate == pytest.approx(stats.spearmanr(*means).statistic)
    assert found.pearson.estimate == pytest.approx(stats.pearsonr(*means).statistic)
    for interval in found[2:]:
        assert -1 <= interval.low <= interval.estimate <= interval.high <= 1
    assert (found.systems, found.units) == (4, 40)


def test_errors_are_turned_around_and_columns_matched_by_name():
    first = scores("AP", [0.1, 0.2, 0.3, 0.4], 1)
    same = Scores("error", SYSTEMS[::-1], first.units, -first.values[:, ::-1], False)
    assert order_agreement(first, same).kendall.estimate == 1
    assert order_agreement(first, same).pearson.estimate == pytest.approx(1)


def test_units_are_paired_by_id():
    first = scores("AP", [0.1, 0.2, 0.3, 0.4], 1)
    order = np.random.default_rng(0).permutation(len(first.units))[:30]
    second = Scores("AP", SYSTEMS, [first.units[n] for n in order], first.values[order])
    found = order_agreement(first, second)
    assert found.units == 30
    # The same scores on the same units agree in every resample.
    assert (found.kendall.low, found.rbo.low) == pytest.approx((1, 1))


def test_the_seed_decides_and_noise_widens():
    clear, noisy = [0.1, 0.4, 0.7, 1.0], [0.1, 0.12, 0.14, 0.16]
    pairs = {
        name: (scores("AP", gains, 1), scores("RR", gains, 2))
        for name, gains in (("clear", clear), ("noisy", noisy))
    }
    assert order_agreement(*pairs["noisy"]) == order_agreement(*pairs["noisy"])
    assert order_agreement(*pairs["clear"]).kendall.low == 1
    assert order_agreement(*pairs["noisy"]).kendall.low < 0.7


@pytest.mark.parametrize(
    ("second", "words"),
    [
        (Scores("AP", ["A", "X"], ["1", "2"], [[1, 2], [2, 1]]), "systems differ"),
        (Scores("AP", SYSTEMS, ["x1", "x2"], np.ones((2, 4))), "0 units in common"),
    ],
)
def test_scores_that_do_not_fit_are_refused(second, words):
    with pytest.raises(InputError, match=words):
        order_agreement(scores("AP", [0.1, 0.2, 0.3, 0.4], 1), second)


def test_verdicts_that_differ():
    first = compare(scores("AP", [0.1, 0.5, 0.5, 0.9], 1))
    second = compare(scores("RR", [0.1, 0.5, 0.9, 0.5], 2))
    found = {(one.first, one.second): one for one in verdict_changes(first, second)}
    pairs = {frozenset(pair): one for pair, one in found.items()}
    assert set(pairs) == {frozenset("BC"), frozenset("BD"), frozenset("CD")}
    assert pairs[frozenset("CD")].reversed
    assert not pairs[frozenset("BC")].reversed
    assert not verdict_changes(first, first)


def test_verdicts_of_errors_have_their_direction():
    up = scores("AP", [0.1, 0.5, 0.5, 0.9], 1)
    down = Scores("error", up.systems, up.units, -up.values, False)
    assert not verdict_changes(compare(up), compare(down))
    turned = Scores("AP", up.systems[::-1], up.units, up.values[:, ::-1])
    assert not verdict_changes(compare(up), compare(turned))


def test_lines_name_order_and_verdicts():
    comparisons = [
        compare(scores("AP", [0.1, 0.5, 0.5, 0.9], 1)),
        compare(scores("RR", [0.1, 0.5, 0.9, 0.5], 2)),
    ]
    order, verdicts = agreement_lines(comparisons)
    assert order.startswith("Order of the systems in AP and RR: Kendall's tau ")
    assert verdicts.startswith("3 of 6 verdicts differ in AP and RR: significant in AP only: ")
    assert verdicts.endswith("; opposite in RR: D > C.")
    assert agreement_lines(comparisons[:1]) == []
    assert agreement_lines([comparisons[0]] * 2)[1] == (
        "The verdicts on all 6 pairs are the same in AP and AP."
    )


def test_compare_says_how_far_measures_agree(tmp_path, capsys):
    generator = np.random.default_rng(4)
    rows = ["system,unit,measure,value"]
    for measure in ("AP", "RR"):
        for system, gain in zip(SYSTEMS, (0.1, 0.3, 0.5, 0.7), strict=True):
            values = gain + generator.normal(0, 0.1, 20)
            rows += [f"{system},q{at},{measure},{value}" for at, value in enumerate(values)]
    (tmp_path / "long.csv").write_text("\n".join(rows) + "\n")
    arguments = ["compare", "--scores", str(tmp_path / "long.csv"), "-m", "AP", "-m", "RR"]
    main(arguments)
    printed = capsys.readouterr().out
    assert "Order of the systems in AP and RR: Kendall's tau 1.00 [1.00, 1.00]" in printed
    assert "The verdicts on all 6 pairs are the same in AP and RR." in printed
    main([*arguments, "--json"])
    first, second = json.loads(capsys.readouterr().out)
    assert "agreement" not in first
    assert second["agreement"]["measure"] == "AP"
    assert second["agreement"]["correlations"]["spearman"]["estimate"] == 1
    assert second["agreement"]["verdict_changes"] == []
    pair = [row for row in rows if row.split(",")[0] in {"system", *SYSTEMS[:2]}]
    (tmp_path / "long.csv").write_text("\n".join(pair) + "\n")
    main(arguments)
    printed = capsys.readouterr().out
    assert "The verdict is the same in AP and RR." in printed
    assert "Order of the systems" not in printed
