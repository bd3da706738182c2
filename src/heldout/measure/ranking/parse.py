"""Names of ranking measures: heldout's own, and those of ir_measures, ranx and trec_eval."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from heldout.errors import MeasureError
from heldout.measure.parameters import NUMERAL
from heldout.measure.ranking.names import canonical, known_spellings, make_measure
from heldout.measure.syntax import read_arguments, read_value

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.measure.parameters import Value
    from heldout.measure.ranking.names import RankingMeasure

__all__ = ["parse_ranking"]

_LIST: Final = re.compile(r",\s*[A-Za-z][\w-]*(\(|@|,|\s*$)")
"""Measures behind a comma; parameters in brackets have a ``=``."""
_NAME: Final = re.compile(rf"\s*([\w-]+)\s*(?:\((.*)\))?\s*(?:@\s*({NUMERAL})\s*)?", re.DOTALL)


def parse_ranking(name: str, defaults: Mapping[str, Value]) -> list[RankingMeasure]:
    """Return the measures of one name; several for a group of trec_eval.

    Parameters
    ----------
    name
        For example ``nDCG(dcg='exp-log2')@10``, ``ndcg_cut_10``, ``P.5,10``, ``official``.
    defaults
        Parameters to set unless the name sets them.
    """
    from heldout.measure.ranking.trec_names import parse_trec_name, refuse_unsupported

    other = _ranx(name, defaults) or parse_trec_name(name, defaults)
    if other:
        return other
    match = _NAME.fullmatch(name)
    family = canonical(match[1]) if match else None
    if match and family is not None:
        cutoff = float(match[3]) if match[3] else None
        given = {
            key: read_value(name, text) for key, text in read_arguments(name, match[2]).items()
        }
        return [make_measure(family, cutoff, given, defaults)]
    known = re.match(r"\s*([\w-]+)", name)
    if known and canonical(known[1]) is not None:
        if _LIST.search(name):
            raise MeasureError(f"cannot read {name!r}: separate measures with spaces, not commas")
        raise MeasureError(
            f"cannot read {name!r}: a measure is written {known[1]}(parameter=value)@cutoff"
        )
    refuse_unsupported(name)
    raise MeasureError(_unknown(name))


def _ranx(name: str, defaults: Mapping[str, Value]) -> list[RankingMeasure]:
    """Parse ranx names: ``rbp.95`` is RBP with p = 0.95, ``ndcg_burges`` has exponential gains."""
    match = re.fullmatch(r"rbp(\.\d+)", name)
    if match:
        return [make_measure("RBP", None, {"p": float(match[1]), "rel": 1}, defaults)]
    match = re.fullmatch(r"n?dcg_burges(?:@(\d+))?", name)
    if match:
        family_name = "nDCG" if name.startswith("n") else "DCG"
        cutoff = float(match[1]) if match[1] else None
        return [make_measure(family_name, cutoff, {"dcg": "exp-log2"}, defaults)]
    return []


def _unknown(name: str) -> str:
    import difflib  # only for errors

    from heldout.measure.ranking.trec_names import TREC_NAMES

    stem = re.split(r"[@(.]", name)[0]
    glued = re.fullmatch(r"([A-Za-z][A-Za-z-]*?)[_-]?(\d+)", stem)
    if glued and stem == name and canonical(glued[1]) is not None:
        return f"unknown measure {name!r}: did you mean {canonical(glued[1])}@{glued[2]}?"
    spellings = {**{known.lower(): known for known in TREC_NAMES}, **known_spellings()}
    near = difflib.get_close_matches(stem.lower(), spellings, 4, 0.5)
    cutoff = name[len(stem) :] if re.fullmatch(r"@\d+", name[len(stem) :]) else ""
    shown = list(dict.fromkeys(spellings[one] + cutoff for one in near))[:2]
    hint = f"did you mean {' or '.join(shown)}?" if shown else "see heldout list measures"
    return f"unknown measure {name!r}: {hint}"
