"""heldout demo: tune and compare two rankers, or write example files."""

from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, terminal_width


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "demo",
        "Tune and compare two rankers on the built-in collection and write a report.",
        {"folder? FOLDER": "output folder (default: demo-report; with --files: example)"},
        examples="""\
  heldout demo
  heldout demo --files              judgements and two runs to try commands on
""",
    )


def run(arguments: list[str]) -> int:
    """Write the page, or the files, and show the answer."""
    options = complete(parser().read(arguments), "demo")
    from heldout.demo import run_demo, write_example

    width = terminal_width()
    if options.files:
        parts = write_example(options.folder or "example", width=width)
    else:
        bar = width is not None and not options.quiet
        parts = run_demo(options.folder or "demo-report", width=width, progress=bar)
    for number, part in enumerate(parts):
        if not options.quiet:
            emit(f"\n{part}" if number else part)
    return 0
