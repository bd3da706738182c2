"""The option ``--groups``: units that stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["add_groups", "given_groups"]


def add_groups(add: Callable[..., Any]) -> None:
    """Add the option."""
    add(
        "--groups",
        metavar="WHAT",
        help="units that stay together: near-duplicates (documents with almost the same text), "
        "duplicates (the same text; default for documents), none, or a file: a table of id and "
        "group",
    )


def given_groups(given: str | None) -> Any:
    """What a plan takes as groups: a word that it knows, or the group of each id in a file."""
    from heldout.resample.groups import KINDS

    if given is None or given in KINDS:
        return given
    from heldout.resample.fold_files import read_groups

    return read_groups(given)
