"""How the result of a command is written: what ``--format`` says, or the suffix of ``-o FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

__all__ = ["TABLE_FORMATS", "add_format", "add_output", "output_format", "suffixes_of"]

FORMAT_OF: Final = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".json": "json",
    ".parquet": "parquet",
    ".md": "md",
    ".tex": "latex",
    ".html": "html",
    ".htm": "html",
    ".png": "png",
    ".svg": "svg",
    ".pdf": "pdf",
}
"""The format of a file by its suffix."""

FOREIGN: Final = (".gz", ".xz", ".bz2", ".zst", ".zip", ".xlsx", ".xls", ".docx")
"""Suffixes that promise something else than text, and that no result is written as."""

TABLE_FORMATS: Final = ("auto", "table", "tsv", "csv", "md", "latex", "html", "json")
"""The formats of most commands that print tables."""


def add_output(
    parser: argparse.ArgumentParser,
    formats: Sequence[str] = TABLE_FORMATS,
    *,
    auto: str = "auto is a table",
    json: bool = True,
) -> None:
    """Add ``--format``, ``--json`` and ``--output``.

    Parameters
    ----------
    formats
        The formats that the command can write; the first is ``auto``.
    auto
        What ``auto`` is, when no suffix decides.
    json
        Whether to add ``--json``.
    """
    add = parser.add_argument
    add_format(parser, formats, f"{auto}; with -o its suffix decides")
    if json:
        add("--json", action="store_const", dest="format", const="json", help="same as -f json")
    add(
        "-o",
        "--output",
        metavar="FILE",
        help=f"write to a file; its suffix tells the format ({' '.join(suffixes_of(formats))}; "
        "others: text)",
    )


def add_format(parser: argparse.ArgumentParser, formats: Sequence[str], words: str) -> None:
    """Add ``--format``."""
    parser.add_argument(
        "-f",
        "--format",
        choices=formats,
        default="auto",
        metavar="NAME",
        help=f"{', '.join(formats)}: {words}",
    )


def suffixes_of(formats: Sequence[str]) -> list[str]:
    """The suffixes of files in these formats."""
    found = {kind: suffix for suffix, kind in reversed(FORMAT_OF.items())}
    return [suffix for kind, suffix in reversed(found.items()) if kind in formats]


def output_format(
    asked: str, output: str | None, formats: Sequence[str], default: str | None
) -> str:
    """The format to write: as it was asked for, else as the suffix has it, else the default.

    Parameters
    ----------
    asked
        What ``--format`` says.
    output
        The file, if there is one.
    formats
        The formats that the command can write.
    default
        For standard output, and for a suffix that says nothing; None if there must be one.

    Examples
    --------
    >>> output_format("auto", "a.csv", TABLE_FORMATS, "table")
    'csv'
    >>> output_format("md", "a.csv", TABLE_FORMATS, "table")
    'md'
    >>> output_format("auto", "a.txt", TABLE_FORMATS, "table")
    'table'
    """
    kind = asked if asked != "auto" else _by_suffix(output, formats, default)
    if output is None and kind == "parquet":
        raise InputError("Parquet is not text: say where to write it with -o FILE")
    return kind


def _by_suffix(output: str | None, formats: Sequence[str], default: str | None) -> str:
    from pathlib import PurePath

    suffix = "" if output is None else PurePath(output).suffix.lower()
    kind = FORMAT_OF.get(suffix)
    if kind in formats:
        return str(kind)
    if default is None or kind is not None or suffix in FOREIGN:
        said = f"ends in {suffix!r}" if suffix else "has no suffix"
        known = ", ".join(suffixes_of(formats))
        raise InputError(f"-o {output}: {said}, but this is written as {known}; or say --format")
    return default
