"""Measures that only ir_measures has (alpha_nDCG, INST, …), computed by it when installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.names import EXTERNAL, Family, Measure, add_family

if TYPE_CHECKING:
    from heldout.data.run import Qrels, Run
    from heldout.data.words import Floats
    from heldout.measure.judged import Judged

__all__ = ["external_measure", "external_values"]

# Names are facts of ir_measures 0.4; they serve to say what to install.
KNOWN: Final = frozenset(
    (
        *("Accuracy", "AP_IA", "BPM", "Compat", "ERR_IA", "INSQ", "INST", "MAP_IA", "NERR8"),
        *("NERR9", "NERR10", "NERR11", "NRBP", "P_IA", "SDCG", "StRecall", "alpha_DCG"),
        *("alpha_nDCG", "nERR_IA", "nNRBP"),
    )
)


_FAILURES = (
    ArithmeticError,
    AssertionError,
    ImportError,
    KeyError,
    RuntimeError,
    TypeError,
    ValueError,
)


def _not_here(judged: Judged, k: None, *, name: str = "") -> Floats:
    """Compute a measure with the ir_measures package."""
    del judged, k
    raise MeasureError(f"{name} is computed by ir_measures from whole runs")


add_family(Family(EXTERNAL, _not_here, (("name", ""),), "none", higher_is_better=True))


def external_measure(name: str) -> Measure | None:
    """The measure of that name in ir_measures; None if it has none."""
    stem = re.split(r"[@(]", name.strip())[0]
    try:
        import ir_measures  # optional
    except ImportError:
        if stem not in KNOWN:
            return None
        raise MissingExtraError(
            f"{name} is computed by ir_measures, which is not installed: "
            "pip install 'heldout[ir-measures]'"
        ) from None
    if stem not in ir_measures.measures.registry:
        return None
    try:
        parsed = ir_measures.parse_measure(name)
    except (*_FAILURES, AttributeError, NameError, SyntaxError) as error:
        raise MeasureError(f"ir_measures cannot read {name!r}: {error}") from None
    return Measure(EXTERNAL, None, (("name", str(parsed)),))


def external_values(qrels: Qrels, run: Run, name: str) -> Floats:
    """The value of every judged query; 0 where the run lacks it, as ir_measures has it."""
    import ir_measures  # optional

    measure: Any = ir_measures.parse_measure(name)
    numbers = {query: number for number, query in enumerate(qrels.queries)}
    values = np.zeros(len(qrels.queries))
    try:
        for metric in ir_measures.iter_calc([measure], qrels.to_dict(), run.to_dict()):
            values[numbers[metric.query_id]] = metric.value
    except _FAILURES as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise MeasureError(f"ir_measures cannot compute {name} here: {reason}") from None
    return values
