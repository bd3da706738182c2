"""The page of ``heldout compare -o report.html``."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison

__all__ = ["write_comparison"]


def write_comparison(comparisons: Sequence[Comparison], options: argparse.Namespace) -> None:
    """Write a page of what was compared.

    Parameters
    ----------
    comparisons
        One per measure.
    options
        Of the command ``compare``.
    """
    from heldout.cli.report import this_command
    from heldout.report.page.answer import question
    from heldout.report.page.of_comparison import part_of_comparisons
    from heldout.report.page.render import render_page, write_page

    named = [_named(one, options.data) for one in comparisons]
    behind = _behind(named[0], options)
    part = part_of_comparisons(
        named,
        ledger=options.ledger or None,
        provenance=[*_inputs(options), *(_policies(options) if behind else [])],
        **behind,
    )
    title = question(named[0].scores.systems, "")
    write_page(options.output, render_page(title, [part], made=[("command", this_command())]))
    if not options.quiet:
        sys.stderr.write(f"Open {options.output} in a browser.\n")


def _named(comparison: Comparison, data: str | None) -> Comparison:
    """With the name that the ledger knows the data by."""
    if data is None:
        return comparison
    return replace(comparison, scores=replace(comparison.scores, data=data.strip()))


def _inputs(options: argparse.Namespace) -> list[tuple[str, str]]:
    if options.scores is not None:
        return [("scores", options.scores)]
    return [("files", ", ".join(options.files))]


def _policies(options: argparse.Namespace) -> list[tuple[str, str]]:
    """How ties and missing queries of runs were treated."""
    from heldout.data.run import Run
    from heldout.measure.ranking.evaluate import policies_in_words

    ties = str(Run.__dataclass_fields__["ties"].default)
    missing = "skip" if options.intersection else "zero"
    return [(f"policy: {name}", words) for name, words in policies_in_words([ties], missing)]


def _behind(comparison: Comparison, options: argparse.Namespace) -> dict[str, Any]:
    """Runs, judgements and texts behind the scores; nothing where there are only scores."""
    if options.scores is not None or options.task != "ranking" or "-" in options.files:
        return {}
    qrels, *runs = options.files
    from heldout.cli.files import split_paths
    from heldout.data.collection_files import read_collection
    from heldout.data.qrels import read_qrels
    from heldout.data.run import read_run

    found: dict[str, Any] = {
        "runs": dict(zip(comparison.scores.systems, map(read_run, runs), strict=True)),
        "qrels": read_qrels(*split_paths(qrels)),
    }
    if options.collection is not None:
        found["collection"] = read_collection(options.collection)
    return found
