"""The options ``--level`` and ``--alternative``, and what they were called in 0.1."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from heldout.infer.levels import level_of

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["add_alternative", "add_level"]


def add_level(parser: argparse.ArgumentParser, default: float | None = 0.95) -> None:
    """Add ``--level``.

    Parameters
    ----------
    default
        Its value if it is not given; None for what an experiment has by default.
    """
    parser.add_argument(
        "--level",
        type=float,
        default=default,
        metavar="X",
        help="confidence level of intervals and tests (default: 0.95)",
    )
    parser.add_argument(
        "--alpha",
        type=float,
        action=_OldAlpha,
        dest="level",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )


def add_alternative(parser: argparse.ArgumentParser, meaning: str) -> None:
    """Add ``--alternative``; ``meaning`` says what its values ask for."""
    parser.add_argument(
        "--alternative",
        choices=("two-sided", "greater", "less"),
        default="two-sided",
        help=f"the alternative of the tests: {meaning} (default: two-sided)",
    )
    parser.add_argument(
        "--tail",
        choices=("two", "greater", "less"),
        action=_OldTail,
        dest="alternative",
        default=argparse.SUPPRESS,
        help=argparse.SUPPRESS,
    )


class _OldAlpha(argparse.Action):
    """``--alpha 0.05`` is ``--level 0.95``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser
        given = float(values)  # type: ignore[arg-type]
        _hint(f"{option_string} {given:g}", f"--level {level_of(given):g}")
        setattr(namespace, self.dest, level_of(given))


class _OldTail(argparse.Action):
    """``--tail two`` is ``--alternative two-sided``."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        del parser
        found = "two-sided" if values == "two" else str(values)
        _hint(f"{option_string} {values}", f"--alternative {found}")
        setattr(namespace, self.dest, found)


def _hint(old: str, new: str) -> None:
    sys.stderr.write(f"{old} is an old name of {new}\n")
