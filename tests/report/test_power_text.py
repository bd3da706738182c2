"""Plans in words."""

from __future__ import annotations

import numpy as np
import pytest

from heldout import InputError, Scores
from heldout.experiment.pilots import Spread, document_spreads, pilot_spreads
from heldout.infer.power import pilot_sd, queries_needed
from heldout.infer.power_designs import Goal
from heldout.report.power import plan_lines

GOAL = Goal(0.8, 0.95, "two-sided")
RNG = np.random.default_rng(1)


def pilot(*gaps):
    base = RNG.uniform(size=len(gaps[0]))
    values = np.stack([base, *(base + np.asarray(gap) for gap in gaps)], axis=1)
    return Scores("AP", [f"s{at}" for at in range(len(gaps) + 1)], range(len(base)), values)


def defaults(sd, tail="two-sided"):
    """The differences a plan is made for when none are asked for."""
    lines = plan_lines(Spread("", sd), None, [50], GOAL._replace(alternative=tail))
    table = lines[2 : lines.index("Smallest detectable difference by number of queries:")]
    return [(float(line.split()[0]), int(line.split()[1].replace(",", ""))) for line in table]


def test_differences_that_are_all_the_same_are_named_and_the_rest_is_planned():
    gap = RNG.normal(0, 0.2, 20)
    spreads = pilot_spreads(pilot(np.full(20, 0.25), gap))
    assert [spread.what for spread in spreads] == ["s1 - s0, AP", "s2 - s0, AP", "s2 - s1, AP"]
    lines = [line for spread in spreads for line in plan_lines(spread, None, None, GOAL)]
    assert lines[0] == "s1 - s0, AP: all differences are equal: nothing to plan from."
    assert f"s2 - s0, AP: differences have standard deviation {pilot_sd(gap):.4f}" in lines[2]
    with pytest.raises(InputError, match="s1 - s0, AP: all differences are equal"):
        pilot_spreads(pilot(np.zeros(20)))


@pytest.mark.parametrize("sd", [1e-9, 0.15, 1.0, 150.0, 1e9])
def test_default_differences_have_the_scale_of_the_spread(sd):
    found = defaults(sd)
    assert found == [(delta, queries_needed(sd, delta)) for delta, _ in found]
    assert found[0][1] < 20_000
    assert found[-1][1] < 100


@pytest.mark.parametrize(("units", "warned"), [(2, True), (9, True), (10, False)])
def test_a_small_pilot_is_pointed_out(units, warned):
    gaps = RNG.normal(0, 0.2, units)
    (spread,) = pilot_spreads(pilot(gaps))
    careful = [line for line in plan_lines(spread, None, None, GOAL) if "Warning" in line]
    assert bool(careful) == warned
    if warned:
        assert f"it may be {pilot_sd(gaps, level=0.8):.4f}" in careful[0]


def test_documents_are_planned_from_the_interval_of_the_difference():
    class Results:
        systems = ("A", "B")
        level = 0.95
        summary = (
            {"name": "A", "differences": []},
            {
                "name": "B",
                "differences": [
                    {"measure": "AP", "system": "A", "difference": 0.1, "low": 0.0, "high": 0.2}
                ],
            },
        )

        def estimate(self, *_):
            return {"n_queries": 31, "target_size": 1000}

    (spread,) = document_spreads(Results(), "AP")
    assert spread.design.freedom == 30
    assert spread.design.for_width(0.1, 0.95) == 1000
    lines = plan_lines(spread, [0.1], None, GOAL, widths=[0.05])
    assert lines[0].startswith("B - A, AP: the difference has standard error 0.0490")
    assert "Documents needed to detect a difference" in lines[1]
    assert lines[-2] == "  ± 0.05     16,000"  # half the width, to the power 1 / .25
    with pytest.raises(InputError, match="no differences"):
        document_spreads(Results(), "RR")
