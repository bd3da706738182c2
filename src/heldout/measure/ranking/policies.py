"""Describe how ties, missing queries and variants of measures were treated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.measure.base import Measure

__all__ = ["policies_in_words", "variants_in_words"]

_TIES = {
    "docid-desc": "by score, then document id descending (as trec_eval)",
    "docid-asc": "by score, then document id ascending",
    "input": "by score, then in input order",
}


def policies_in_words(
    used: list[str], missing: str, depth: int | None, options: Mapping[str, Any]
) -> tuple[tuple[str, str], ...]:
    """Describe how ties, missing queries and depth were treated."""
    ties = " / ".join(_TIES[policy] for policy in dict.fromkeys(used))
    if options.get("single_precision"):
        ties += ", scores as 32-bit floats"
    absent = (
        "count 0 (an empty list)"
        if missing == "zero"
        else "are left out (queries that all runs have)"
    )
    policies = [("ties", ties), ("judged queries that a run lacks", absent)]
    if depth is not None:
        policies.append(("depth", f"first {depth} documents"))
    return tuple(policies)


_GAINS = {
    "log2": "gain = grade, discount log2(rank + 1) (as trec_eval)",
    "exp-log2": "gain = 2^grade - 1, discount log2(rank + 1) (Burges et al.)",
    "classic": "gain = grade, discount log(rank) from the base on (Järvelin & Kekäläinen)",
}


def variants_in_words(measures: Sequence[Measure]) -> list[tuple[str, str]]:
    """Describe measures of which there are several variants under one name."""
    found = []
    for dcg in dict.fromkeys(measure.parameters.get("dcg") for measure in measures):
        if dcg is not None:
            names = [str(m) for m in measures if m.parameters.get("dcg") == dcg]
            found.append((", ".join(names), _GAINS[str(dcg)]))
    return found
