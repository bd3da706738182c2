"""Analysis of variance in blocks, against published tables and plain algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from heldout.errors import InputError
from heldout.infer.blocks import anova, sphericity

# Hit rate at 3 of Coco, knn, logic, sexy, sexy2, pop on ten folds.
HITRATE = np.array(
    [
        [58.69, 57.25, 50.36, 58.71, 59.47, 30.23],
        [58.47, 57.27, 50.09, 58.37, 59.23, 30.28],
        [58.40, 57.30, 50.14, 58.49, 59.33, 30.28],
        [58.77, 57.28, 50.46, 58.67, 59.76, 30.59],
        [58.67, 57.41, 50.44, 58.86, 59.74, 30.49],
        [58.87, 57.81, 50.56, 58.89, 59.69, 30.62],
        [58.64, 57.58, 50.49, 58.71, 59.60, 30.52],
        [58.67, 57.71, 50.44, 58.60, 59.37, 30.70],
        [58.60, 57.49, 50.12, 58.70, 59.40, 30.18],
        [58.84, 57.79, 50.36, 59.04, 59.41, 30.49],
    ]
)

# T. Sakai, Laboratory Experiments in Information Retrieval, table 5.1.
SAKAI = (
    np.array(
        [
            [7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1],
            [5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2],
            [0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3],
        ]
    ).T
    / 10
)


def test_hitrate():
    found = anova(HITRATE)
    assert found.systems.f == pytest.approx(86782.758, abs=5e-4)
    assert (found.systems.df, found.residual.df) == (5, 45)
    assert found.blocks.f == pytest.approx(8.843, abs=5e-4)
    assert found.blocks.p == pytest.approx(1.64e-07, abs=5e-10)


def test_sakai():
    found = anova(SAKAI)
    assert found.systems.sum_of_squares == pytest.approx(0.1083, abs=5e-5)
    assert found.blocks.sum_of_squares == pytest.approx(1.0293, abs=5e-5)
    assert found.residual.sum_of_squares == pytest.approx(0.8317, abs=5e-5)
    assert found.systems.f == pytest.approx(2.475, abs=5e-4)
    assert found.systems.p == pytest.approx(0.098, abs=5e-4)


def assert_row(row, df, sum_of_squares, f, p):
    assert row.df == df
    assert (row.sum_of_squares, row.f, row.p) == pytest.approx((sum_of_squares, f, p), rel=1e-9)


def test_a_fitted_linear_model():
    # statsmodels 0.15.0: anova_lm(ols("y ~ C(s) + C(u)", frame).fit())
    found = anova(np.random.default_rng(1).normal(size=(9, 4)) + np.arange(4) / 3)
    assert_row(found.systems, 3, 8.807299539653, 3.815996148433, 0.022850375893)
    assert_row(found.blocks, 8, 11.851476163607, 1.925612407780, 0.102563873268)
    assert found.mse == pytest.approx(0.769331623781)


def test_effect_sizes():
    row, found = anova(SAKAI).systems, anova(SAKAI)
    error = found.residual
    assert row.partial_eta_squared == pytest.approx(
        row.sum_of_squares / (row.sum_of_squares + error.sum_of_squares)
    )


def test_shift_and_scale():
    before, after = anova(SAKAI), anova(7 - 300 * SAKAI)
    assert after.systems.f == pytest.approx(before.systems.f)
    assert after.mse == pytest.approx(90_000 * before.mse)
    assert sphericity(7 - 300 * SAKAI) == pytest.approx(sphericity(SAKAI))


def test_systems_that_differ_by_constants():
    units = np.random.default_rng(0).random(7)
    found = anova(np.column_stack([units, units + 0.1, units + 0.7]))
    assert found.mse == 0
    assert math.isinf(found.systems.f)
    assert found.systems.p == 0
    copies = np.column_stack([units, units, units])
    assert anova(copies).systems.p == 1
    assert math.isnan(anova(copies).systems.f)
    assert sphericity(copies).corrected_p == 1
    assert sphericity(copies).greenhouse_geisser == 1


def test_sphericity_by_the_covariance_of_the_systems():
    values = np.random.default_rng(8).normal(size=(15, 4)) @ np.diag([1, 2, 1, 3])
    cover, k = np.cov(values, rowvar=False), 4
    # Greenhouse and Geisser's own formula
    mean, rows = cover.mean(), cover.mean(0)
    top = k**2 * (np.diag(cover).mean() - mean) ** 2
    below = (k - 1) * ((cover**2).sum() - 2 * k * (rows**2).sum() + k**2 * mean**2)
    found = sphericity(values)
    epsilon = top / below
    assert found.greenhouse_geisser == pytest.approx(epsilon)
    f = anova(values).systems.f
    assert found.corrected_p == pytest.approx(stats.f.sf(f, 3 * epsilon, 42 * epsilon))


def test_sphericity_of_two_and_of_few_units():
    two = sphericity([[1, 2], [2, 5], [3, 3]])
    assert two.greenhouse_geisser == pytest.approx(1)
    few = sphericity(np.random.default_rng(0).random((3, 5)))
    assert 0.25 <= few.greenhouse_geisser <= 1


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        ([[1.0], [2.0]], "at least 2 systems, found 1"),
        ([[1.0, 2.0]], "at least 2 units, found 1"),
        ([1.0, 2.0], "expected units x systems"),
        ([[1.0, 2.0], [1.0, math.nan]], "unit number 2 of system number 2"),
    ],
)
def test_refused(scores, says):
    for test in (anova, sphericity):
        with pytest.raises(InputError, match=says):
            test(scores)
