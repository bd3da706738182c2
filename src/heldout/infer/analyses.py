"""The names of all tests and corrections, and what they have in common.

Which of them is the default is decided in `heldout.infer.default_analysis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BY_RANK",
    "CORRECTIONS",
    "OWN_TEST",
    "STEPWISE",
    "TESTS",
    "comparison_count",
    "tests_named",
]

TESTS: Final = (
    *("randomization", "t", "bootstrap-shift", "wilcoxon", "sign", "mcnemar"),
    *("corrected-t", "retuned-t", "prediction-powered"),
)
OTHER_NAMES: Final = {
    "fisher": "randomization",
    "permutation": "randomization",
    "student": "t",
    "ttest": "t",
    "t-test": "t",
    "paired-t": "t",
    "bootstrap": "bootstrap-shift",
}
"""Names of tests that are used elsewhere."""

BY_RANK: Final = ("sign", "wilcoxon")
"""Tests whose null hypothesis is not about means. (McNemar's is: about means of zeros and ones.)"""

CORRECTIONS: Final = ("romano-wolf", "tukey", "holm", "bonferroni", "bh")
OWN_TEST: Final = ("romano-wolf", "tukey")
"""Corrections that are tests themselves instead of adjusting the p-values of a test."""

STEPWISE: Final = ("romano-wolf", "holm")
"""Corrections that may reject although their simultaneous (single-step) interval includes 0."""


def tests_named(names: Sequence[str]) -> tuple[str, ...]:
    """Return the tests with these names, each by the name that it has in heldout.

    Examples
    --------
    >>> tests_named(["fisher", "wilcoxon"])
    ('randomization', 'wilcoxon')
    """
    listed = [names] if isinstance(names, str) else names
    return tuple(dict.fromkeys(OTHER_NAMES.get(name, name) for name in listed))


def comparison_count(systems: int, baseline: str | None) -> int:
    """Return the number of comparisons: all pairs, or all other systems with the baseline."""
    return systems - 1 if baseline is not None else systems * (systems - 1) // 2
