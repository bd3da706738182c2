"""Gates: whether each system of a comparison passes against the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import numpy as np

from heldout.errors import InputError
from heldout.infer.analyses import tests_named
from heldout.infer.results import drop_noise
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.words import Floats
    from heldout.infer.compare import Claim, Comparison
    from heldout.infer.gate_tests import Gate, GateTest

__all__ = ["GateKind", "GateResult", "gate_results", "gate_test"]

GateKind = Literal["better", "non-inferior", "equivalent"]
"""The claim that a gate tests."""

_USABLE: Final = ("t", "randomization", "corrected-t")

_FEW_DIFFER: Final = 10
"""Fewer differing units do not give a reliable standard deviation."""


class GateResult(NamedTuple):
    """Whether one system passes in one measure.

    Parameters
    ----------
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    first, second
        The new system and the baseline.
    gate
        The numbers; a positive difference is a gain, also where lower values are better.
    passed
        Whether the claim is shown.
    notes
        Warnings.
    measure
        The measure.
    """

    kind: GateKind
    first: str
    second: str
    gate: Gate
    passed: bool
    notes: tuple[Note, ...]
    measure: str = ""


def gate_test(tests: Sequence[str], test_share: float | None) -> GateTest:
    """Return the test that a gate uses: the first of the named tests that allows a margin.

    Parameters
    ----------
    tests
        Names of tests; without any, ``auto``.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    """
    tests = tests_named(tests)
    if not tests:
        return "auto"
    if test_share is not None and "corrected-t" not in tests:
        raise InputError(
            f"test={tests[0]!r} treats folds as independent and would pass too often: use "
            "corrected-t, or name no test"
        )
    usable = [test for test in tests if test in _USABLE]
    if not usable:
        raise InputError(
            f"test={tests[0]!r} cannot test a margin: add randomization, t or corrected-t, or name "
            "no test"
        )
    return "corrected-t" if test_share is not None else usable[0]  # type: ignore[return-value]


def gate_results(
    comparison: Comparison,
    kind: GateKind,
    margin: float,
    *,
    level: float = 0.95,
    test: GateTest = "auto",
    test_share: float | None = None,
    replicates: int = 100_000,
    seed: int = 0,
) -> list[GateResult]:
    """Return a verdict for each system that was compared with the baseline.

    Parameters
    ----------
    comparison
        With a baseline.
    kind
        ``better``, ``non-inferior`` or ``equivalent``.
    margin
        The difference that would be accepted.
    level, test, test_share, replicates, seed
        As in `heldout.infer.gate_tests.non_inferiority`.

    Examples
    --------
    >>> import heldout
    >>> from heldout.infer.gates import gate_results
    >>> old = [0.2, 0.4, 0.1, 0.6, 0.5, 0.3, 0.2, 0.4]
    >>> new = [0.3, 0.5, 0.3, 0.6, 0.6, 0.4, 0.4, 0.5]
    >>> comparison = heldout.compare({"old": old, "new": new}, measure="AP", baseline="old")
    >>> [(result.first, result.passed) for result in gate_results(comparison, "better", 0.0)]
    [('new', True)]
    """
    from heldout.infer.gate_tests import non_inferiority, superiority, tost  # SciPy

    if comparison.baseline is None:
        raise InputError("a gate needs a baseline: pass baseline=NAME")
    gates = {"better": superiority, "non-inferior": non_inferiority, "equivalent": tost}
    if kind not in gates:
        raise InputError(f"kind={kind!r}: expected one of {', '.join(gates)}")
    results = []
    for claim in comparison.claims:
        gain = _gain(comparison, claim)
        gate = gates[kind](
            gain,
            margin,
            level=level,
            test=test,
            test_share=test_share,
            replicates=replicates,
            seed=seed,
        )
        passed = gate.verdict == "shown"
        notes = _notes(gain, claim)
        measure = comparison.scores.measure
        results.append(GateResult(kind, claim.first, claim.second, gate, passed, notes, measure))
    return results


def _gain(comparison: Comparison, claim: Claim) -> Floats:
    """Return how much better the new system is on each unit."""
    scores = comparison.scores
    gap = drop_noise(scores.column(claim.first), scores.column(claim.second))
    return gap if scores.higher_is_better else -gap


def _notes(gain: Floats, claim: Claim) -> tuple[Note, ...]:
    differ = int(np.count_nonzero(gain))
    if differ >= min(_FEW_DIFFER, len(gain)):
        return ()
    text = (
        f"{claim.first} and {claim.second} differ on only {differ} of {len(gain)} units: their "
        "standard deviation is hardly known, and the gate passes too easily"
    )
    return (Note("few-differ", text),)
