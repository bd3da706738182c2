"""Plans in words: ``10 stratified folds of the queries``."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Final

from heldout.infer.results import count_of
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["plan_words"]


def plan_words(plan: str, what: str, splits: int, seed: int | None = None) -> str:
    """Say how data were split.

    Parameters
    ----------
    plan
        The plan as it is written in Python, ``KFold(k=10)``.
    what
        What is held out, in the plural: ``queries``.
    splits
        How many splits there are.
    seed
        Random seed of the plan; None if nothing is random.

    Examples
    --------
    >>> plan_words("KFold(k=10, stratify='relevance')", "queries", 10, 0)
    '10 folds of the queries (stratified by relevance, seed 0)'
    >>> plan_words("LeaveOneOut()", "queries", 225)
    '225 splits of the queries (leave-one-out)'
    >>> plan_words("SklearnPlan(splitter=TimeSeriesSplit(n_splits=5))", "rows", 5)
    "5 splits of the rows (scikit-learn's TimeSeriesSplit(n_splits=5))"
    """
    name, given = _read(plan)
    words = _WORDS.get(name)
    parts = words(given) if words else [plain_text(plan)] if plan else []
    head = count_of(splits, "split")
    if name == "KFold" and given.get("k") == splits:
        head = count_of(splits, "fold")
        parts = parts[1:]
    if seed is not None and name not in _FIXED:
        parts.append(f"seed {seed}")
    more = f" ({', '.join(parts)})" if parts else ""
    return f"{head} of the {what}{more}"


_FIXED: Final = {"LeaveOneOut", "GivenFolds", "TestSet", "Chronological"}
"""Plans in which nothing is random."""
_VALUES: Final = re.compile(r"(<\d+ values?>)")
"""What a plan shows instead of a table of values."""


def _read(plan: str) -> tuple[str, dict[str, Any]]:
    """The class of a plan and those of its parameters that are plain values."""
    try:
        call = ast.parse(_VALUES.sub(r"'\1'", plan), mode="eval").body
    except (SyntaxError, ValueError):
        return "", {}
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or call.args:
        return "", {}
    given = {}
    for keyword in call.keywords:
        value = keyword.value
        # A plan inside a plan stays text, to be read in turn.
        given[str(keyword.arg)] = (
            value.value if isinstance(value, ast.Constant) else ast.unparse(value)
        )
    return call.func.id, given


def _inside(plan: Any) -> str:
    """The words of a plan that is part of another."""
    name, given = _read(str(plan))
    words = _WORDS.get(name)
    return ", ".join(words(given)) if words else plain_text(str(plan))


def _shared(given: dict[str, Any]) -> list[str]:
    parts = []
    if given.get("repeats", 1) != 1:
        parts.append(f"repeated {given['repeats']} times")
    strata = str(given.get("stratify") or "none")
    if strata != "none":
        parts.append("stratified" + ("" if strata[0] in "<[(" else f" by {plain_text(strata)}"))
    groups = str(given.get("groups") or "none")
    if groups != "none":
        named = "groups" if groups.startswith("<") else plain_text(groups)
        parts.append(f"{named} kept together")
    return parts


def _share(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, int) else f"{value:.0%}"


def _hold_out(given: dict[str, Any]) -> list[str]:
    parts = [f"{_share(given.get('test', 0.2))} held out at random"]
    if given.get("validation"):
        parts.append(f"{_share(given['validation'])} for validation")
    return [*parts, *_shared(given)]


def _given_folds(given: dict[str, Any]) -> str:
    file = str(given.get("folds", ""))
    if file.startswith("<"):
        return "given folds"
    for kind in ("PosixPath", "WindowsPath", "Path"):
        file = file.removeprefix(f"{kind}(").removesuffix(")").strip("'")
    return f"folds of {plain_text(file)}"


_WORDS: Final[dict[str, Callable[[dict[str, Any]], list[str]]]] = {
    "KFold": lambda given: [count_of(given.get("k", 10), "fold"), *_shared(given)],
    "LeaveOneOut": lambda given: ["leave-one-out", *_shared(given)],
    "HoldOut": _hold_out,
    "Bootstrap": lambda given: ["bootstrap", *_shared(given)],
    "GivenFolds": lambda given: [_given_folds(given)],
    "TestSet": lambda _: ["given test set"],
    "Chronological": lambda given: [f"the latest {_share(given.get('test', 0.2))} held out"],
    "TwoWay": lambda given: [
        f"queries: {_inside(given.get('queries'))}; documents: {_inside(given.get('documents'))}"
    ],
    "SklearnPlan": lambda given: [f"scikit-learn's {plain_text(str(given.get('splitter')))}"],
    "RepeatedRuns": lambda given: [_inside(given.get("plan")), f"{given.get('runs')} runs of each"],
}
