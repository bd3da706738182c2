"""The option ``--groups``: units that stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.cli.files import is_file
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_groups", "file_or_word", "given_groups", "of_both"]


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
    from heldout.resample.fold_files import read_column

    return read_column(given, "group")


def file_or_word(given: str) -> Any:
    """A value of a plan: the file that is given, or a word that the plan knows."""
    from heldout.resample.groups import KINDS

    return given if given in KINDS or not is_file(given) else {"file": given}


def of_both(plan: dict[str, Any]) -> dict[str, Any]:
    """Return the plans of queries and of documents; only documents have near-duplicates."""
    from heldout.resample.groups import NEAR

    groups = plan.get("groups")
    if isinstance(groups, dict):
        raise InputError("--groups FILE names one kind of unit: give --by query or document")
    queries = {name: one for name, one in plan.items() if name != "groups" or one != NEAR}
    folds = {"folds": 5} if plan.get("kind", "kfold") == "kfold" else {}
    return {"queries": folds | queries, "documents": folds | plan}
