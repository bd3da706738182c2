"""Levels of confidence: 0.95 means 0.95, and 0.05 is asked about."""

import pytest

from heldout import InputError, compare
from heldout.infer.results import alpha_of, check_level, level_of

TABLE = {"A": [0.1, 0.4, 0.3, 0.9], "B": [0.3, 0.5, 0.3, 0.8]}


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 1e-9, 1e-12])
def test_one_minus_the_level_is_what_was_meant(alpha):
    assert alpha_of(1 - alpha) == alpha
    assert alpha_of(level_of(alpha)) == alpha


@pytest.mark.parametrize("level", [0.05, 0.01, 0.1, 0.4999])
def test_a_significance_level_is_asked_about(level):
    with pytest.raises(InputError, match=f"did you mean {1 - level:g}"):
        compare(TABLE, level=level)


@pytest.mark.parametrize("level", [0, 1, 95, -0.05, float("nan"), True, "0.95"])
def test_no_level_is_refused(level):
    with pytest.raises(InputError, match=r"between 0\.5 and 1, such as 0\.95"):
        check_level(level)


def test_a_comparison_knows_both():
    found = compare(TABLE, level=0.9, alternative="greater")
    assert (found.level, found.alpha, found.alternative) == (0.9, 0.1, "greater")
