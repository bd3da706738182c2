"""heldout report: one page of the results of experiments."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.cli.options import Parser, complete
from heldout.cli.output import check_page, note, this_command
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.results.results import Results


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "report",
        "Write a self-contained HTML report in which every number can be traced to its source.",
        {"files+ RESULTS": "results folders of heldout run -o"},
        examples="""\
  heldout report results -o report.html
  heldout report queries documents -o report.html --title "BM25 or not?"
  heldout report results -o report.html --collection cranfield/ --ledger looks.jsonl
""",
        notes="""\
The report (-o FILE, else report.html) is one file that works offline: the answer, tables, charts,
every query with both rankings, tuning, splits, warnings, and the source of each number. Texts and
judgements are shown if the collection is where it was, or named with --collection. heldout compare
... -o report.html writes such a page of runs, predictions or scores.
""",
    )


def run(arguments: Sequence[str]) -> int:
    """Write the page."""
    options = complete(parser().read(arguments), "report")
    output = options.output or "report.html"
    check_page(output)
    from heldout.experiment.experiment import stored_collection
    from heldout.report.page import page
    from heldout.report.page.render import write_page

    several = [_read(folder, verify=not options.unverified) for folder in options.files]
    collections = [
        stored_collection(folder, results, options.collection)
        for folder, results in zip(options.files, several, strict=True)
    ]
    kinds = {results.manifest["settings"]["by"] for results in several}
    # What is held out says which is which; else the folders do.
    names = [Path(folder).name or folder for folder in options.files]
    with _whole(", ".join(options.files)):
        text = page(
            several,
            title=options.title,
            headings=() if len(kinds) == len(several) else names,
            collection=collections,
            ledger=options.ledger,
            made=[("this page", this_command()), ("results", ", ".join(options.files))],
        )
    write_page(output, text)
    pairs = zip(several, collections, strict=True)
    if any(each.task == "ranking" and collection is None for each, collection in pairs):
        missing = "name the collection with --collection"
        note([f"Texts and judgements are not shown: {missing}."], options)
    note([f"Open {output} ({Path(output).stat().st_size / 1e6:.1f} MB) in a browser."], options)
    return 0


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
