"""Measures that only ir_measures has (INST, Compat, …), computed by it when installed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.ranking.names import EXTERNAL, Family, RankingMeasure, add_family

if TYPE_CHECKING:
    from heldout.data.run import Qrels, Run
    from heldout.data.words import Floats
    from heldout.measure.ranking.judged import Judged

__all__ = ["external_measure", "external_values"]

# The measures of ir_measures 0.4, to say what to install.
KNOWN: Final = frozenset(
    (
        *("Accuracy", "BPM", "Compat", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11"),
        "SDCG",
    )
)
DIVERSITY: Final = frozenset(
    (
        *("ap_ia", "err_ia", "map_ia", "nrbp", "p_ia", "strecall", "alpha_dcg", "alpha_ndcg"),
        *("nerr_ia", "nnrbp", "α_dcg", "α_ndcg"),
    )
)
"""Measures of diversity: they need subtopics in the judgements, which `Qrels` do not store."""

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


def external_measure(name: str) -> RankingMeasure | None:
    """Return a measure of ir_measures by name; None if it does not exist."""
    stem = re.split(r"[@(]", name)[0].strip()
    if stem.lower() in DIVERSITY:
        raise MeasureError(
            f"{stem} is not supported: it needs judgements by subtopic, but heldout ignores the "
            "subtopic column of qrels; use ir_measures itself for measures of diversity"
        )
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
    _refuse_incomplete(stem, parsed)
    return RankingMeasure(EXTERNAL, None, (("name", str(parsed)),))


def _refuse_incomplete(stem: str, parsed: Any) -> None:
    """Raise an error that names missing required parameters (``INST`` needs ``max_rel``)."""
    lacks = [
        key
        for key, info in parsed.SUPPORTED_PARAMS.items()
        if info.required and key not in parsed.params
    ]
    if lacks:
        inner = ", ".join(f"{key}=3" for key in lacks if key != parsed.AT_PARAM)
        at = "@10" if parsed.AT_PARAM in {*lacks, *parsed.params} else ""
        example = f"{stem}{f'({inner})' if inner else ''}{at}"
        raise MeasureError(f"{parsed} needs {' and '.join(lacks)}, for example {example}")


def external_values(qrels: Qrels, run: Run, name: str) -> Floats:
    """Return the value of every judged query; 0 where the run lacks it, as in ir_measures."""
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
