"""heldout report: one page of the results of experiments."""

from pathlib import Path

from heldout.cli.options import Parser, complete
from heldout.cli.output import check_page, note, this_command


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
The report is one file that works offline: the answer, tables, charts, every query with both
rankings, tuning, splits, warnings, and the source of each number. Texts and judgements are shown
if the collection is where it was, or named with --collection. heldout compare ... -o report.html
writes such a page of runs, predictions or scores.
""",
    )


def run(arguments: list[str]) -> int:
    """Write the page."""
    options = complete(parser().read(arguments), "report")
    check_page(options.output)
    from heldout.experiment.experiment import stored_collection
    from heldout.experiment.results.results import Results
    from heldout.report.page import page
    from heldout.report.page.render import write_page

    folders = options.files
    several = [Results.read(folder, verify=not options.unverified) for folder in folders]
    collections = [
        stored_collection(folder, results, options.collection)
        for folder, results in zip(folders, several, strict=True)
    ]
    # What is held out says which is which; else the folders do.
    kinds = {results.manifest["settings"]["by"] for results in several}
    names = [Path(folder).name or folder for folder in folders]
    text = page(
        several,
        title=options.title,
        headings=() if len(kinds) == len(several) else names,
        collection=collections,
        ledger=options.ledger,
        made=[("this page", this_command()), ("results", ", ".join(folders))],
    )
    write_page(options.output, text)
    known = zip(several, collections, strict=True)
    if any(results.task == "ranking" and collection is None for results, collection in known):
        missing = "name the collection with --collection"
        note([f"Texts and judgements are not shown: {missing}."], options)
    note([f"Open {options.output} ({len(text) / 1e6:.1f} MB) in a browser."], options)
    return 0
