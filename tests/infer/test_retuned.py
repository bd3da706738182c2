"""Differences of systems tuned in folds: the interval, the test and the verdict are one method."""

import numpy as np
import pytest

from heldout.data.scores import ChoiceSpread, Scores
from heldout.errors import InputError
from heldout.infer.compare import compare
from heldout.infer.intervals import t_interval
from heldout.infer.results import mean_estimate
from heldout.infer.scoring import Means

GAPS = np.random.default_rng(5).normal(0.1, 0.3, 30)
SPREAD = ChoiceSpread(0.001, 0.004)


def scores(systems=2, choices=None):
    values = np.random.default_rng(1).random((30, systems))
    names = tuple("ABCD"[:systems])
    return Scores("AP", names, tuple(map(str, range(30))), values, choices=choices or {})


def tuned(gaps, spread):
    """The estimate of two systems that were tuned in folds."""
    values = np.column_stack([gaps, np.zeros(len(gaps))])
    other = ChoiceSpread(0.0, 0.0)  # of another pair
    choices = {("C", "D"): other} if spread is None else {("A", "B"): spread}
    units = tuple(map(str, range(len(gaps))))
    scoring = Means(Scores("AP", ("A", "B"), units, values, choices=choices))
    return scoring, scoring.estimate((0, 1))


def test_without_a_choice_it_is_the_t_test():
    scoring, estimate = tuned(GAPS, None)
    assert scoring.difference((0, 1), 0.95)[:3] == pytest.approx(t_interval(GAPS)[:3])
    assert estimate.p() == pytest.approx(mean_estimate(GAPS).p())


def test_the_variance_is_never_below_that_of_the_units():
    own = GAPS.var(ddof=1) / 30
    for spread, expected in ((ChoiceSpread(own / 2, 0.0), own), (ChoiceSpread(2 * own, own), 3)):
        error = tuned(GAPS, spread)[1].error[0]
        assert error**2 == pytest.approx(expected if expected == own else expected * own)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_inverts_the_test(level):
    interval = tuned(GAPS, SPREAD)[0].difference((0, 1), level)
    assert interval.method == "t with re-tuning"
    for bound in interval[1:3]:
        outcome = tuned(GAPS - bound, SPREAD)[0].outcome("retuned-t", (0, 1), "two-sided")
        assert outcome.p == pytest.approx(1 - level)
        assert outcome.detail == "29 degrees of freedom, including re-tuning"


def test_equal_scores_show_nothing():
    for spread in (ChoiceSpread(0.0, 0.0), SPREAD):
        assert tuned(np.zeros(10), spread)[1].p() == 1


def test_scores_with_choices_are_compared_by_it():
    found = compare(scores(choices={("B", "A"): SPREAD}))
    claim = found.claims[0]
    assert [one.test for one in claim.outcomes] == ["retuned-t", "randomization"]
    assert claim.difference.method == "t with re-tuning"
    assert claim.difference.high - claim.difference.low > 0.25
    assert not any(note.code == "shared-choices" for note in found.warnings)
    turned = compare(scores(choices={("A", "B"): SPREAD})).claims[0]
    assert turned.difference == claim.difference


def test_several_systems_are_corrected_by_holm():
    found = compare(scores(4, {("B", "A"): SPREAD}))
    assert found.analysis.correction == "holm"
    widths = {
        (one.first, one.second): one.difference.high - one.difference.low for one in found.claims
    }
    assert max(widths, key=widths.get) == ("B", "A")


@pytest.mark.parametrize("options", [{"tests": ["t"]}, {"correction": "tukey"}])
def test_what_takes_the_choices_as_given_says_so(options):
    found = compare(scores(3, {("B", "A"): SPREAD}), **options)
    assert [note.code for note in found.warnings].count("shared-choices") == 1


def test_it_is_refused_where_nothing_was_tuned():
    with pytest.raises(InputError, match="tuned in folds"):
        compare(scores(), tests=["retuned-t"])
