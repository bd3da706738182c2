"""Where a value of an experiment was given on the command line."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["in_options", "option_of", "plan_option"]

_ENTRY: Final = re.compile(r"(systems|measures)\[(\d+)\]")
_PYTHON: Final = (
    (re.compile(r"KFold\((\d+), "), r"--folds \1 "),
    (re.compile(r"KFold\((\d+)\)"), r"--folds \1"),
    (re.compile(r"HoldOut\(([\d.]+)\)"), r"--hold-out \1"),
    (re.compile(r"LeaveOneOut\(\)"), "--leave-one-out"),
    (re.compile(r"\b(stratify|groups)='([\w-]+)'\)?"), r"--\1 \2"),
    (re.compile(r"\bstratify=…\)"), "--stratify …"),
)
"""Plans and their parameters as Python has them, and the options that are the same."""
_TABLES: Final = ("plan", "collection", "analyzer")


def option_of(options: argparse.Namespace) -> Callable[[str], str]:
    """Return a function from names such as ``systems[0].model`` to options such as ``--system``.

    Parameters
    ----------
    options
        Of the command ``run``.
    """

    def place(name: str) -> str:
        entry = _ENTRY.match(name)
        if entry is not None:
            flag = {"systems": "--system", "measures": "-m"}[entry[1]]
            given = options.system if entry[1] == "systems" else options.measure
            at = int(entry[2])
            if given is None or at >= len(given) or not isinstance(given[at], str):
                return "--against" if entry[1] == "systems" and options.against else flag
            return f"{flag} {shlex.quote(given[at])}"
        if name in {"collection", "collection.source", "collection.qrels"}:
            return str(options.experiment if options.qrels is None else "--qrels")
        return plan_option(name)

    return place


def plan_option(name: str) -> str:
    """Return the option of a field, such as ``--hold-out`` for ``plan.queries.hold_out``."""
    if name in _TABLES or name == "systems":
        return {"systems": "--system", "plan": ""}.get(name, name)
    last = name.rpartition(".")[2]
    if last in {"queries", "documents"} and name.startswith("plan."):
        return ""
    return "--" + last.replace("_", "-")


def in_options(text: str) -> str:
    """Replace parameters of plans in a message of the library by options.

    Examples
    --------
    >>> in_options("use KFold(5, stratify='relevance')")
    'use --folds 5 --stratify relevance'
    """
    for pattern, option in _PYTHON:
        text = pattern.sub(option, text)
    return text
