"""The names of all tests and corrections, and what they have in common.

Which of them is the default is decided in `heldout.infer.default_analysis`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "ALL_PAIRS",
    "BY_RANK",
    "CORRECTIONS",
    "FALSE_DISCOVERIES",
    "OF_MEANS",
    "ONE_BASELINE",
    "OWN_TEST",
    "POOLED",
    "STEPWISE",
    "TESTS",
    "UNADJUSTED",
    "comparison_count",
    "tests_named",
]

TESTS: Final = (
    *("randomization", "t", "bootstrap-shift", "bootstrap-shift-studentized"),
    *("wilcoxon", "sign", "mcnemar", "corrected-t", "retuned-t", "prediction-powered"),
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

BY_RANK: Final = ("sign", "wilcoxon", "nemenyi")
"""Tests whose null hypothesis is not about means. (McNemar's is: about means of zeros and ones.)"""

CORRECTIONS: Final = (
    "romano-wolf",
    *("tukey", "randomized-tukey", "nemenyi", "maxt", "dunnett", "dunnett-t"),
    *("holm", "hochberg", "hommel", "bonferroni", "bh", "by"),
)
ONE_BASELINE: Final = ("dunnett", "dunnett-t")
"""Corrections that need a baseline."""

ALL_PAIRS: Final = ("tukey", "randomized-tukey", "nemenyi")
"""Corrections that compare all pairs and take no baseline."""

OF_MEANS: Final = (*ALL_PAIRS, "maxt", *ONE_BASELINE)
"""Corrections for which the score must be a mean over units."""

OWN_TEST: Final = ("romano-wolf", *OF_MEANS)
"""Corrections that are tests themselves instead of adjusting the p-values of a test."""

POOLED: Final = ("tukey", "randomized-tukey", "dunnett-t")
"""Corrections with one error term for all pairs, which assumes that all differences vary alike."""

STEPWISE: Final = ("romano-wolf", "holm", "hochberg", "hommel", "maxt")
"""Corrections that may reject although their simultaneous (single-step) interval includes 0."""

FALSE_DISCOVERIES: Final = ("bh", "by")
"""Corrections that control the false discovery rate, not the familywise error rate."""

UNADJUSTED: Final = (*FALSE_DISCOVERIES, "nemenyi")
"""Corrections without a simultaneous interval of the mean difference."""


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
