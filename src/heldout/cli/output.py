"""Where results go: the only place that knows formats and files."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from heldout.data.run import Run
    from heldout.report.table import Table

FORMAT_OF: Final = {".tex": "latex", ".htm": "html", ".xml": "junit"} | {
    f".{kind}": kind
    for kind in ("csv", "tsv", "json", "parquet", "md", "html", "png", "svg", "pdf")
}
FOREIGN: Final = (".gz", ".xz", ".bz2", ".zst", ".zip", ".xlsx", ".xls", ".docx")  # no result's
TABLES: Final = ("table", "tsv", "csv", "md", "latex", "html", "json")
RUNS: Final = ("trec", "csv", "tsv", "json", "parquet")


def format_of(
    options: argparse.Namespace, formats: Sequence[str] = TABLES, default: str = "table"
) -> str:
    """The format that was asked for, else that of the suffix of ``-o``, else the default."""
    output = getattr(options, "output", None)
    kind = getattr(options, "format", None) or by_suffix(output, formats, default)
    if kind == "parquet" and output is None:
        raise InputError("Parquet is a binary format: name a file with -o FILE")
    return kind


def by_suffix(output: str | None, formats: Sequence[str], default: str = "") -> str:
    """The format of a file; a suffix that says nothing is that of the default, if there is one."""
    suffix = os.path.splitext(output or "")[1].lower()  # noqa: PTH122 - pathlib is slow to import
    kind = FORMAT_OF.get(suffix)
    if kind in formats:
        return str(kind)
    if kind or suffix in FOREIGN or not default:
        said = f"unknown suffix {suffix!r}" if suffix else "no suffix"
        known = [name for name, kind in FORMAT_OF.items() if kind in formats and name != ".htm"]
        raise InputError(f"-o {output}: {said}; use one of {', '.join(known)}")
    return default


def write(
    results: Sequence[Any],
    options: argparse.Namespace,
    kind: str,
    *,
    tables: Callable[[], Sequence[Table]] | None = None,
    frames: Sequence[str] = ("parquet",),
    own: Mapping[str, Callable[[], str]] | None = None,
    first: Callable[[], object] | None = None,
) -> None:
    """Write results in a format; a file is complete or is not there.

    `tables` are shown instead of those of `heldout.report`; `frames` are formats that are written
    from the frames of the results, `own` those that this command has in its own way. `first` is
    called when all is rendered and nothing shown: if it fails, nothing is.
    """
    from heldout import report

    content: Any
    width = terminal_width(options)
    if own and kind in own:
        content = own[kind]()
    elif kind == "json":
        from heldout.as_json import json_text

        content = "".join(json_text(result.to_dict()) for result in results)
    elif kind in frames:
        import polars as pl

        from heldout.report.table import safe_frame

        content = pl.concat([result.to_frame() for result in results])
        if kind != "parquet":
            content = safe_frame(content).write_csv(separator="," if kind == "csv" else "\t")
    elif kind == "table" and tables is None:
        how: Any = {"full": getattr(options, "full", False), "quiet": options.quiet}
        content = "\n".join(report.text(result, width=width, **how) for result in results)
    else:
        from heldout.report.table import write_tables

        several = [report.tables(result) for result in results] if tables is None else [tables()]
        shown = [table for of_result in several for table in of_result]
        if kind == "html":
            from heldout.report.page.render import tables_page  # slow to import

            content = tables_page(this_command(), shown)
        else:
            content = write_tables(shown, "text" if kind == "table" else kind, width)
    emit(content, getattr(options, "output", None), first)


def emit(
    content: Any, output: str | None = None, first: Callable[[], object] | None = None
) -> None:
    """Print a text, or write it (or a frame) to a file when complete; `first` is called before."""
    if output is None:
        if first:
            first()
        sys.stdout.write(content)
        sys.stdout.flush()  # before the notes, and before anybody is told that all is well
        return
    from heldout.data.atomic import write_atomically

    with write_atomically(output) as aside:
        if isinstance(content, str):
            aside.write_text(content, encoding="utf-8", newline="\n")
        else:
            content.write_parquet(aside)
        if first:
            first()


def note(lines: Iterable[str], options: argparse.Namespace) -> None:
    """Print what is not part of the result to standard error."""
    if not options.quiet:
        sys.stderr.write("".join(f"{line}\n" for line in lines))


def terminal_width(options: argparse.Namespace | None = None) -> int | None:
    """Columns of the terminal; None if the output goes elsewhere."""
    if getattr(options, "output", None) is not None or not sys.stdout.isatty():
        return None
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def write_run(run: Run, options: argparse.Namespace) -> None:
    """Write a run in the format of its file, or print it as TREC lines or JSON."""
    if options.output is not None:
        run.write(options.output, run_format(options))
    elif options.format:
        from heldout.as_json import json_text

        emit(json_text(run.to_dict(), indent=None))
    else:
        from heldout.data.trec import run_lines

        sys.stdout.writelines(run_lines(run))


def run_format(options: argparse.Namespace) -> Any:
    """The format of the file that a run is written to, which may be compressed."""
    from heldout.data.files import EXTENSIONS

    output = options.output
    if options.format and output is not None:
        raise InputError("--json prints the run and -o writes it: give one of them")
    name, dot, compression = (output or "").rpartition(".")
    return by_suffix(name if dot + compression.lower() in EXTENSIONS else output, RUNS, "trec")


def check_page(path: str) -> None:
    """Refuse a place that a page cannot be written to, before any work is done."""
    by_suffix(path, ("html",), "html")
    folder = os.path.dirname(path) or "."  # noqa: PTH120 - pathlib is slow to import
    if os.path.isdir(path):
        raise InputError(f"{path} is a folder: name a file, such as {path}/report.html")
    if not os.path.isdir(folder):
        raise InputError(f"{path}: the folder {folder} does not exist: create it first")


def this_command() -> str:
    """The command as it was given."""
    import shlex

    return shlex.join(["heldout", *sys.argv[1:]])
