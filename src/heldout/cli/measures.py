"""The command ``measures``, and measures that ``-m`` names by their file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from heldout.cli.options import add_json

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

__all__ = ["add_measures", "by_subtopic", "given_measures"]


def add_measures(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``measures``."""
    parser = command(
        commands,
        "measures",
        "List measures; describe those that are named.",
        "  heldout measures\n  heldout measures nDCG\n",
    )
    parser.add_argument("names", metavar="NAME", nargs="*", help="list these only")
    add_json(parser, "print a list of objects, for programs")
    parser.set_defaults(run=_measures)


def _measures(options: argparse.Namespace) -> None:
    from heldout.report.measures import describe_measures, json_measures

    sys.stdout.write((json_measures if options.json else describe_measures)(options.names))


def given_measures(names: Sequence[str] | None, task: str) -> list[Any]:
    """Return the measures of ``-m``, those of ``file.py:name`` loaded.

    Parameters
    ----------
    names
        As they were given; None if they were not.
    task
        What they measure.
    """
    found: list[Any] = []
    for name in names or ():
        if ".py:" in name:
            from heldout.experiment.measure_files import load_measure  # seldom needed

            found.append(load_measure(name, task))
        else:
            found.append(name)
    return found


def by_subtopic(names: Sequence[str] | None) -> bool:
    """Return whether a measure of ``-m`` needs judgements by subtopic."""
    from heldout.measure.parse import parse_measures
    from heldout.measure.ranking.evaluate import needs_subtopics

    known = [name for name in names or () if ".py:" not in name]
    return needs_subtopics(parse_measures(known, "ranking"))
