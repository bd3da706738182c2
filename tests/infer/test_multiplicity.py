"""Adjusted p-values, against R's published example and statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.infer.multiplicity import adjust

NAMES = {
    "holm": "holm",
    "hochberg": "simes-hochberg",
    "bonferroni": "bonferroni",
    "bh": "fdr_bh",
    "by": "fdr_by",
}


def test_r():
    # p.adjust(c(.01, .02, .03, .04, .05), "holm"), method.md section 8
    found = adjust([0.01, 0.02, 0.03, 0.04, 0.05], "holm")
    np.testing.assert_allclose(found, [0.05, 0.08, 0.09, 0.09, 0.09])


@pytest.fixture(scope="module")
def multitest():
    return pytest.importorskip("statsmodels.stats.multitest")


@pytest.mark.parametrize("method", NAMES)
@given(p=st.lists(st.floats(0, 1) | st.sampled_from([0.01, 0.02, 1.0]), min_size=1, max_size=30))
def test_statsmodels(multitest, method, p):
    theirs = multitest.multipletests(p, method=NAMES[method])[1]
    np.testing.assert_allclose(adjust(p, method), theirs, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("method", [*NAMES, "none"])
def test_order_is_kept_and_input_untouched(method):
    p = np.array([0.04, 0.001, 0.3, 0.02])
    before = p.copy()
    found = adjust(p, method)
    assert (p == before).all()
    assert (np.argsort(found, kind="stable") == np.argsort(p, kind="stable")).all()
    assert (found >= p).all()
    found[0] = 5
    assert p[0] == before[0]


def test_empty_and_single():
    assert adjust([], "holm").tolist() == []
    assert adjust([0.03], "by").tolist() == [0.03]


def test_refused():
    with pytest.raises(InputError, match="number 2 is nan"):
        adjust([0.1, float("nan")])
    with pytest.raises(InputError, match=r"number 1 is 1\.5"):
        adjust([1.5])
    with pytest.raises(InputError, match="method='tukey': expected one of holm"):
        adjust([0.1], "tukey")
    with pytest.raises(InputError, match="shape"):
        adjust([[0.1]])
