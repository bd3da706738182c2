"""The option ``--groups``: units that stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_groups", "given_groups", "of_both"]


def add_groups(add: Callable[..., Any]) -> None:
    """Add the option."""
    add(
        "--groups",
        metavar="WHAT",
        help="keep units together: near-duplicates (documents with almost the same text), "
        "duplicates (the same text; default for documents), none, or a table of id and group",
    )


def given_groups(given: str | None) -> Any:
    """What a plan takes as groups: a word that it knows, or the group of each id in a file."""
    from heldout.resample.groups import KINDS

    if given is None or given in KINDS:
        return given
    from heldout.resample.fold_files import read_groups

    return read_groups(given)


def of_both(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plans of queries and of documents; only documents have near-duplicates."""
    from heldout.resample.groups import KINDS, NEAR

    groups = plan.get("groups")
    if groups is not None and groups not in KINDS:
        raise InputError("--groups FILE names one kind of unit: give --by query or document")
    queries = {name: one for name, one in plan.items() if name != "groups" or one != NEAR}
    folds = {} if any(name in plan for name in ("hold_out", "leave_one_out")) else {"folds": 5}
    return {"queries": folds | queries, "documents": folds | plan}
