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
_TABLES: Final = ("plan", "collection", "analyzer")
_IN_WORDS: Final = {
    "compare_unpaired": "--unpaired",
    "count missing queries as 0 (missing='zero')": "do not use --intersection",
}
_PARAMETER: Final = re.compile(
    r"(?<!\S)(?<!, )(alternative|baseline|by|correction|interval|level|margin|positive|replicates"
    r"|seed|test|test_share)=(\"[^\"]*\"|'[^']*'|[^\s,;:)]+)"
)


def in_options(message: str) -> str:
    """Return a message of the library with options in the place of parameters of Python.

    Examples
    --------
    >>> in_options("correction='dunnett' needs a baseline: pass baseline=NAME")
    '--correction dunnett needs a baseline: pass --baseline NAME'
    >>> in_options('compare over units with by="unit"')
    'compare over units with --by-unit'
    """

    def option(found: re.Match[str]) -> str:
        name, value = found[1].replace("_", "-"), found[2].strip("'\"")
        return f"--by-{value}" if name == "by" else f"--{name} {value}"

    for python, words in _IN_WORDS.items():
        message = message.replace(python, words)
    return _PARAMETER.sub(option, message)


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
