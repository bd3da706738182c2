"""Differences of systems tuned in folds: the interval, the test and the verdict are one method."""

import numpy as np
import pytest
from heldout.infer.retuned import retuned_interval, retuned_t_test, retuned_variance

from heldout.data.scores import ChoiceSpread, Scores
from heldout.errors import InputError
from heldout.infer.compare import compare
from heldout.infer.intervals import t_interval
from heldout.infer.paired import t_test

GAPS = np.random.default_rng(5).normal(0.1, 0.3, 30)
SPREAD = ChoiceSpread(0.001, 0.004)


def scores(systems=2, choices=None):
    values = np.random.default_rng(1).random((30, systems))
    names = tuple("ABCD"[:systems])
    return Scores("AP", names, tuple(map(str, range(30))), values, choices=choices or {})


def test_without_a_choice_it_is_the_t_test():
    assert retuned_interval(GAPS, None)[:3] == pytest.approx(t_interval(GAPS)[:3])
    assert retuned_t_test(GAPS, None).p == pytest.approx(t_test(GAPS).p)


def test_the_variance_is_never_below_that_of_the_units():
    own = GAPS.var(ddof=1) / 30
    assert retuned_variance(GAPS, ChoiceSpread(own / 2, 0.0)) == pytest.approx(own)
    assert retuned_variance(GAPS, ChoiceSpread(2 * own, own)) == pytest.approx(3 * own)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_interval_inverts_the_test(level):
    interval = retuned_interval(GAPS, SPREAD, level)
    for bound in interval[1:3]:
        assert retuned_t_test(GAPS - bound, SPREAD).p == pytest.approx(1 - level)


def test_equal_scores_show_nothing():
    zeros = np.zeros(10)
    assert retuned_t_test(zeros, ChoiceSpread(0.0, 0.0)).p == 1
    assert retuned_t_test(zeros, SPREAD).p == 1


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
    assert found.advice.correction == "holm"
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
