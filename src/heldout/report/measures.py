"""The list of measures, in words."""

from __future__ import annotations

from heldout.errors import MeasureError
from heldout.measure.names import EXTERNAL, families, parse_measures, spellings

__all__ = ["describe_measures"]

_AT = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}


def describe_measures(names: list[str]) -> str:
    """Describe all families, or those that are named."""
    known = {name: one for name, one in families().items() if name != EXTERNAL}
    wanted = {_family(name) for name in names} if names else set(known)
    lines = []
    for name in sorted(wanted, key=str.lower):
        if name not in known:
            lines.append("(computed by the ir_measures package)")
            continue
        one = known[name]
        params = ", ".join(f"{key}={value!r}" for key, value in one.defaults)
        lines += [f"{name}({params}){_AT[one.cutoff]}", f"    {one.summary}"]
        if spellings(name):
            lines.append(f"    also: {', '.join(spellings(name))}")
    return "\n".join([*lines, ""])


def _family(name: str) -> str:
    if name in families():
        return name
    try:
        return parse_measures([name])[0].family
    except MeasureError:
        return parse_measures([f"{name}@10"])[0].family
