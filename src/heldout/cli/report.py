"""The command ``report``: arguments to library calls."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.cli.old_help import group
from heldout.cli.old_options import UNVERIFIED, add_quiet
from heldout.cli.old_output import output_format
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from heldout.data.collection import Collection
    from heldout.experiment.results.results import Results
    from heldout.report.page.parts import Part

__all__ = ["add_report", "check_page", "this_command"]

_EXAMPLES = """\
  heldout report results -o report.html
  heldout report queries documents -o report.html --title "BM25 or not?"
  heldout report results -o report.html --collection cranfield/ --ledger looks.jsonl
"""

_NOTES = """\
The report is one file that works offline: the answer, tables, charts, every query with both
rankings, tuning, splits, warnings, and the source of each number. Texts and judgements are shown
if the collection is where it was, or named with --collection. heldout compare ... -o report.html
writes such a page of runs, predictions or scores.
"""


def add_report(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``report``."""
    parser = command(
        commands,
        "report",
        "Write a self-contained HTML report in which every number can be traced to its source.",
        _EXAMPLES,
        notes=_NOTES,
    )
    add = parser.add_argument
    add("files", metavar="RESULTS", nargs="+", help="results folders of heldout run -o")
    add("--title", metavar="TEXT", help="title (default: the question)")
    add("--ledger", metavar="FILE", help="show the evaluations of these data in a ledger")
    add("--unverified", action="store_true", help=UNVERIFIED)
    add = group(parser, "input").add_argument
    add("--collection", metavar="NAME", help="collection, for texts and judgements")
    add = group(parser, "output").add_argument
    words = "file to write (default: report.html)"
    add("-o", "--output", metavar="FILE", default="report.html", help=words)
    add_quiet(parser, "write the report and print nothing")
    parser.set_defaults(run=_report)


def check_page(path: str) -> None:
    """Refuse a place that a page cannot be written to, before any work is done."""
    output_format("auto", path, ("html",), "html")
    place = Path(path)
    if place.is_dir():
        raise InputError(f"{path} is a folder: name a file, such as {place}/report.html")
    if not place.parent.is_dir():
        raise InputError(f"{path}: the folder {place.parent} does not exist: create it first")


def this_command() -> str:
    """The command as it was given."""
    import shlex

    return shlex.join(["heldout", *sys.argv[1:]])


def _report(options: argparse.Namespace) -> None:
    from heldout.report.page.render import render_page, write_page

    check_page(options.output)
    several = [_read(folder, verify=not options.unverified) for folder in options.files]
    headings = _headings(options, several)
    parts, notes = [], []
    for folder, results, heading in zip(options.files, several, headings, strict=True):
        with _whole(folder):
            part, note = _part(results, folder, heading, options)
        parts.append(part)
        notes.append(note)
    made = [("this page", this_command()), ("results", ", ".join(options.files))]
    page = render_page(options.title or _title(several), parts, made=made)
    write_page(options.output, page)
    if not options.quiet:
        size = Path(options.output).stat().st_size / 1e6
        notes.append(f"Open {options.output} ({size:.1f} MB) in a browser.")
        sys.stderr.write("".join(f"{note}\n" for note in dict.fromkeys(notes) if note))


def _part(
    results: Results, folder: str, heading: str, options: argparse.Namespace
) -> tuple[Part, str]:
    from heldout.report.page.of_results import part_of_results

    at_hand, note = _collection(results, folder, options)
    part = part_of_results(results, heading=heading, collection=at_hand, ledger=options.ledger)
    return part, note


@contextmanager
def _whole(folder: str) -> Iterator[None]:
    """Refuse results in which something is missing: they were changed."""
    try:
        yield
    except KeyError as error:
        raise InputError(f"{folder}: lacks {error}: were the results changed?") from None


def _read(folder: str, *, verify: bool) -> Results:
    from heldout.experiment.results.results import Results

    place = Path(folder)
    if not place.is_dir():
        what = "is a file" if place.exists() else "does not exist"
        raise InputError(
            f"{folder} {what}: name a results folder of heldout run -o (for runs and tables of "
            "scores: heldout compare ... -o report.html)"
        )
    with _whole(folder):
        return Results.read(place, verify=verify)


def _title(several: list[Results]) -> str:
    """What was asked, if it was the same everywhere."""
    from heldout.report.page.answer import question

    asked = {(_own_systems(one), _name(one)) for one in several}
    if len(asked) == 1:
        return question(*asked.pop())
    names = {name for _, name in asked}
    where = f" on {names.pop()}" if len(names) == 1 and "" not in names else ""
    return f"{len(several)} experiments{where}"


def _own_systems(results: Results) -> tuple[str, ...]:
    """The systems but for baselines that nobody asked for."""
    return tuple(one["name"] for one in results.summary if not one.get("baseline"))


def _name(results: Results) -> str:
    """The data, as a title calls them."""
    settings = results.manifest["settings"]
    name = str(settings["collection" if settings["task"] == "ranking" else "data"]["name"])
    if name in {"data", "collection"}:  # nobody has named them
        return ""
    return "pydocs" if name.startswith("pydocs-") else name


def _headings(options: argparse.Namespace, several: list[Results]) -> list[str]:
    """Nothing where what is held out says it all; else the names of the folders."""
    kinds = [one.manifest["settings"]["by"] for one in several]
    if len(set(kinds)) == len(kinds):
        return [""] * len(several)
    return [Path(folder).name or folder for folder in options.files]


def _collection(
    results: Results, folder: str, options: argparse.Namespace
) -> tuple[Collection | None, str]:
    """The collection that was evaluated, if it is at hand; else why there are no texts."""
    if results.manifest["settings"]["task"] != "ranking":
        return None, ""
    if options.collection is None:
        from heldout.experiment.experiment import stored_collection

        found = stored_collection(folder, results)
        missing = "" if found else "Texts and judgements are not shown: name the collection with "
        return found, missing and f"{missing}--collection."
    from heldout.data.collection_files import read_collection

    found = read_collection(options.collection)
    if found.fingerprint() == results.manifest["fingerprints"]["collection"]:
        return found, ""
    raise InputError(
        f"--collection {options.collection}: not the collection of the experiment (fingerprint "
        f"{found.fingerprint()[:16]}, expected "
        f"{results.manifest['fingerprints']['collection'][:16]}): name that one"
    )
