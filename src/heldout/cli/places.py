"""Names of Python parameters and fields of experiments as options of the command line."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

__all__ = ["as_options", "option_of", "plan_option"]

_ENTRY: Final = re.compile(r"(systems|measures)\[(\d+)\]")
_TABLES: Final = ("plan", "collection", "analyzer")
_ARGUMENT: Final = re.compile(
    r"(?<![\w/.'\"=-])([a-z_]+)="
    r"(\"[^\"]*\"|'[^']*'|…|True\b|nan\b|[A-Z]+\b|-?\d+(?:\.\d+)?(?![\w.]))"
)
"""A Python argument in a message: ``threshold=0.5``, ``force=True``, ``baseline=NAME``."""

_SPELLINGS: Final = {"measure": "-m", "systems": "--system"}
_IN_WORDS: Final = {
    "count missing queries as 0 (missing='zero')": "do not use --intersection",
    'by="unit"': "--by-unit",
    "verify=False": "--unverified",
}
"""What an option says differently from the Python parameter."""


def as_options(message: str, options: argparse.Namespace | None) -> str:
    """Return the message of an error with Python arguments written as options of the command.

    Parameters
    ----------
    options
        Of the command; arguments that it does not have stay as they are, and so do those inside
        a call such as ``KFold(10, seed=1)``. None if they could not be parsed.

    Examples
    --------
    >>> from argparse import Namespace
    >>> as_options("out already exists: overwrite it (force=True)", Namespace(force=False))
    'out already exists: overwrite it (--force)'
    >>> as_options("use KFold(10, seed=1); seed=-1: expected", Namespace(seed=-1))
    'use KFold(10, seed=1); --seed -1: expected'
    >>> known = Namespace(alternative="less", baseline=None)
    >>> as_options("alternative='less' needs a baseline: pass baseline=NAME", known)
    '--alternative less needs a baseline: pass --baseline NAME'
    """
    if options is None:
        return message
    known = vars(options)
    for python, words in _IN_WORDS.items():
        message = message.replace(python, words)

    def option(found: re.Match[str]) -> str:
        name, value = found[1], found[2].strip("'\"")
        before = message[: found.start()]
        call = before[before.rfind(")") + 1 :].rpartition("(")
        if name.removesuffix("s") not in known and name not in known:
            return found[0]
        if call[1] and re.search(r"\w$", call[0]):
            return found[0]
        flag = _SPELLINGS.get(name, "--" + name.replace("_", "-"))
        return flag if value == "True" else f"{flag} {value}"

    return _ARGUMENT.sub(option, message)


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
    """Return the option of a field, such as ``--validation`` for ``plan.queries.validation``."""
    if name in _TABLES or name == "systems":
        return {"systems": "--system", "plan": ""}.get(name, name)
    last = name.rpartition(".")[2]
    if last in {"queries", "documents"} and name.startswith("plan."):
        return ""
    return "--" + last.replace("_", "-")
