"""The format of a result: by ``--format``, or by the suffix of ``-o FILE``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from heldout.cli.old_help import group
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
    ".xml": "junit",
}
"""The format of a file by its suffix."""

FOREIGN: Final = (".gz", ".xz", ".bz2", ".zst", ".zip", ".xlsx", ".xls", ".docx")
"""Suffixes of formats that no result is written in."""

TABLE_FORMATS: Final = ("auto", "table", "tsv", "csv", "md", "latex", "html", "json")
"""The formats of most commands that print tables."""


def add_output(
    parser: argparse.ArgumentParser,
    formats: Sequence[str] = TABLE_FORMATS,
    *,
    auto: str = "table",
    named: bool = True,
) -> None:
    """Add ``--output``, ``--format`` and ``--json``.

    Parameters
    ----------
    formats
        The formats that the command can write; the first is ``auto``.
    auto
        The default, when no suffix decides.
    named
        Whether to add ``--format``; if not, the suffix of the file decides alone.
    """
    add = group(parser, "output").add_argument
    suffixes = " ".join(suffixes_of(formats))
    add("-o", "--output", metavar="FILE", help=f"write to FILE; format by suffix: {suffixes}")
    parser.set_defaults(format="auto")
    if named:
        add_format(parser, formats, f"(default: {auto}, or the suffix of -o)")
    words = "same as -f json" if named else "print JSON at full precision"
    add("--json", action="store_const", dest="format", const="json", help=words)


def add_format(parser: argparse.ArgumentParser, formats: Sequence[str], words: str) -> None:
    """Add ``--format``."""
    group(parser, "output").add_argument(
        "-f",
        "--format",
        choices=formats,
        default="auto",
        metavar="NAME",
        help=f"{', '.join(one for one in formats if one != 'auto')} {words}",
    )


def suffixes_of(formats: Sequence[str]) -> list[str]:
    """The suffixes of files in these formats."""
    found = {kind: suffix for suffix, kind in reversed(FORMAT_OF.items())}
    return [suffix for kind, suffix in reversed(found.items()) if kind in formats]


def output_format(
    asked: str, output: str | None, formats: Sequence[str], default: str | None
) -> str:
    """Return the format to write: as asked, else by the suffix, else the default.

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
        raise InputError("Parquet is a binary format: name a file with -o FILE")
    return kind


def _by_suffix(output: str | None, formats: Sequence[str], default: str | None) -> str:
    suffix = os.path.splitext(output or "")[1].lower()  # noqa: PTH122 - pathlib is slow to import
    kind = FORMAT_OF.get(suffix)
    if kind in formats:
        return str(kind)
    if default is None or kind is not None or suffix in FOREIGN:
        said = f"unknown suffix {suffix!r}" if suffix else "no suffix"
        known = ", ".join(suffixes_of(formats))
        raise InputError(f"-o {output}: {said}; use one of {known}")
    return default
