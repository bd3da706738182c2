"""Options that several commands share: one name, one meaning, one help text."""

from __future__ import annotations

import argparse
import re
from math import inf
from typing import Any, Final

from heldout.cli.groups import add_groups, file_or_word
from heldout.cli.old_help import group
from heldout.errors import InputError

__all__ = [
    "UNVERIFIED",
    "add_alternative",
    "add_detail",
    "add_json",
    "add_level",
    "add_machine",
    "add_measures",
    "add_plan_options",
    "add_queries",
    "add_query_field",
    "add_quiet",
    "add_reading",
    "add_seed",
    "add_source",
    "add_stemming",
    "check_plan_options",
    "given_plan_options",
    "machine_given",
    "plan_table",
    "positive",
    "size",
]

UNVERIFIED: Final = "use results even if their files were changed after the experiment"

INPUT: Final = "input"
PLAN: Final = "plan (what is held out)"
ANALYSIS: Final = "analysis"
TEXT: Final = "text analysis"
OUTPUT: Final = "output"
EXECUTION: Final = "execution"


def positive(text: str) -> int:
    """Return a positive integer."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive integer")
    return int(text)


def size(text: str) -> int:
    """Return a number of bytes, from a text such as ``2GB``."""
    parts = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([KMGT])I?B?|B)?\s*", text.upper())
    found = float(parts[1]) * 1024 ** " KMGT".index(parts[2] or " ") if parts else inf
    if not found < 1 << 60:
        message = f"{text[:50]!r} is not a size: write 500MB or 1.5GB, for example"
        raise argparse.ArgumentTypeError(message)
    return int(found)


def _share(text: str) -> float:
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        message = f"{text!r} is neither a fraction nor a number of units"
        raise argparse.ArgumentTypeError(message) from None


# Output


def add_json(parser: argparse.ArgumentParser, words: str = "print JSON at full precision") -> None:
    """Add ``--json``."""
    group(parser, OUTPUT).add_argument("--json", action="store_true", help=words)


def add_quiet(
    parser: argparse.ArgumentParser, words: str = "print the result only, no notes"
) -> None:
    """Add ``--quiet``."""
    group(parser, OUTPUT).add_argument("--quiet", action="store_true", help=words)


def add_detail(parser: argparse.ArgumentParser) -> None:
    """Add ``--full``."""
    group(parser, OUTPUT).add_argument(
        "--full",
        action="store_true",
        help="print all columns and pairs, what they mean and how they were made",
    )


# Analysis


def add_machine(parser: argparse.ArgumentParser) -> None:
    """Add the options for judgements of a machine."""
    add = group(parser, "machine judgements").add_argument
    add(
        "--machine",
        metavar="FILE",
        help="judgements of a machine for these and further queries, to make the human ones count "
        "for more",
    )
    add(
        "--assume-random",
        action="store_true",
        help="the queries with human judgements are a random sample of all (heldout split "
        "--sample)",
    )


def machine_given(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options of `add_machine` as the library takes them; empty without a machine."""
    if getattr(options, "machine", None) is None:
        if getattr(options, "assume_random", False):
            raise InputError("--assume-random goes with --machine FILE")
        return {}
    return {"machine": options.machine, "assume_random": options.assume_random}


def add_measures(
    parser: argparse.ArgumentParser, words: str = "measure (repeat for more)", **settings: Any
) -> None:
    """Add ``--measure`` to the command's own options."""
    settings = {"action": "append", **settings}
    parser.add_argument("-m", "--measure", metavar="NAME", help=words, **settings)


def add_level(parser: argparse.ArgumentParser, default: float | None = 0.95) -> None:
    """Add ``--level``.

    Parameters
    ----------
    default
        Its value if it is not given; None for what an experiment has by default.
    """
    add = group(parser, ANALYSIS).add_argument
    add(
        "--level",
        type=float,
        default=default,
        metavar="X",
        help="confidence level of intervals and tests (default: 0.95)",
    )


def add_alternative(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add ``--alternative``; ``meaning`` says what its values ask for."""
    add = group(parser, ANALYSIS).add_argument
    add(
        "--alternative",
        choices=("two-sided", "greater", "less"),
        default="two-sided",
        help=f"alternative hypothesis: {meaning} (default: two-sided)",
    )


def add_seed(parser: argparse.ArgumentParser, default: int | None = 0) -> None:
    """Add ``--seed``; None as the default tells whether it was given."""
    group(parser, EXECUTION).add_argument(
        "--seed", type=int, default=default, metavar="N", help="random seed (default: 0)"
    )


# Collections and text


def add_source(parser: argparse.ArgumentParser, or_index: str = "") -> None:
    """Add the collection; ``or_index`` says what is done with an index in its place."""
    what = "pydocs, irds:NAME, a folder or a file"
    metavar = "COLLECTION_OR_INDEX" if or_index else "COLLECTION"
    what = f"{what}; or an index: {or_index}" if or_index else what
    parser.add_argument("collection", metavar=metavar, help=what)


def add_queries(parser: argparse.ArgumentParser) -> None:
    """Add ``--queries`` and ``--qrels`` of a collection."""
    add = group(parser, INPUT).add_argument
    add("--queries", metavar="FILE", help="queries, if the collection has none")
    add("--qrels", metavar="FILE", help="judgements (separate several files with commas)")


def add_query_field(parser: argparse.ArgumentParser) -> None:
    """Add ``--query-field``."""
    group(parser, INPUT).add_argument(
        "--query-field",
        default="title",
        metavar="NAME",
        help="title, description, narrative, or several joined by + (default: title)",
    )


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how documents are read."""
    add = group(parser, INPUT).add_argument
    add("--fields", metavar="NAMES", help="document fields to read, separated by commas")
    add("--encoding", default="utf-8", metavar="NAME", help="text encoding (default: utf-8)")


def add_stemming(parser: argparse.ArgumentParser) -> None:
    """Add ``--stemmer`` and ``--stop``."""
    add = group(parser, TEXT).add_argument
    add("--stemmer", metavar="NAME", help="Snowball stemmer, such as english or german")
    add("--stop", metavar="LIST", help="stop words: english, or a file of words")


# Plans

PLANS: Final = {
    "folds": ("kfold", "folds"),
    "hold_out": ("holdout", "test"),
    "leave_one_out": ("leave-one-out", None),
    "bootstrap": ("bootstrap", "replicates"),
    "folds_file": ("given", "folds"),
    "test_ids": ("test-set", "ids"),
    "later": ("chronological", "order"),
}
"""Options that name a plan: its kind, and the field that has their value."""


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how units are held out."""
    plan = group(parser, PLAN)
    add = plan.add_mutually_exclusive_group().add_argument
    add(
        "--folds",
        type=int,
        metavar="K",
        help="K folds, each held out once (default: 10 for queries, 5 for documents)",
    )
    add("--hold-out", type=_share, metavar="X", help="a random fraction, or number, of units")
    add("--leave-one-out", action="store_true", help="every unit alone")
    add(
        "--bootstrap",
        type=positive,
        metavar="N",
        help="N bootstrap samples; units that are not drawn are held out",
    )
    add("--folds-file", metavar="FILE", help="folds from a table of id and fold, or from JSON")
    add("--test-ids", metavar="FILE", help="the ids in a file, one per line")
    add("--later", metavar="FILE", help="the latest fifth, by a table of id and time")
    add = plan.add_argument
    add("--repeats", type=int, metavar="N", help="repeat folds or hold-out N times (default: 1)")
    add(
        "--validation",
        type=_share,
        metavar="X",
        help="with --hold-out: a validation part of this size, to tune on",
    )
    add(
        "--stratify",
        metavar="NAME",
        help="balance the parts: relevance (number of relevant documents), length, or a field of "
        "the queries",
    )
    add_groups(add)


def check_plan_options(options: argparse.Namespace) -> None:
    """Refuse options that would have no effect with the chosen plan."""
    if options.validation is not None and options.hold_out is None:
        raise InputError("--validation goes with --hold-out")
    named = [name for name in given_plan_options(options) if name in PLANS]
    random = options.folds is not None or options.hold_out is not None or not named
    for name in ("repeats", "stratify"):
        if getattr(options, name) is not None and not random:
            raise InputError(f"--{name} goes with --folds and --hold-out")
    drawn = options.leave_one_out or options.bootstrap is not None
    if options.groups is not None and not (random or drawn):
        raise InputError("--groups goes with --folds, --hold-out, --leave-one-out and --bootstrap")


def given_plan_options(options: argparse.Namespace) -> list[str]:
    """The options of plans that were given, first the one that names a plan."""
    names = (*PLANS, "repeats", "validation", "stratify", "groups")
    return [name for name in names if getattr(options, name) not in (None, False)]


def plan_table(options: argparse.Namespace) -> dict[str, Any]:
    """Return the plan options that were given, as the table ``[plan]`` of an experiment."""
    table: dict[str, Any] = {}
    for name in given_plan_options(options):
        kind, field = PLANS.get(name, (None, name))
        value = getattr(options, name)
        table |= {} if kind is None else {"kind": kind}
        if field is not None:
            table[field] = {"file": value} if name in {"folds_file", "test_ids"} else value
    for name in ("order", "groups"):
        if name in table:
            table[name] = file_or_word(table[name])
    return table
