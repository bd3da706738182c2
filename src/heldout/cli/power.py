"""The command ``power``: arguments to library calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show
from heldout.cli.options import add_alternative, add_json, add_level, add_quiet
from heldout.cli.scores import add_score_arguments, read_inputs
from heldout.errors import InputError
from heldout.infer.levels import check_level

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.report.plan import Spread

__all__ = ["add_power"]

_EXAMPLES = """\
  heldout power qrels.txt old.run new.run --difference 0.02
  heldout power --scores scores.csv --queries 50 100 200
  heldout power --sd 0.15 --difference 0.01 0.02 0.05
"""

_NOTES = "The numbers are for the paired t test; those of the randomization test are close.\n"


def add_power(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``power``."""
    parser = command(
        commands,
        "power",
        "Plan the number of queries, or the smallest detectable difference.",
        _EXAMPLES,
        notes=_NOTES,
        usage="QRELS RUN RUN [RUN ...]\n--scores FILE\n--sd X",
    )
    add = parser.add_argument
    add_score_arguments(parser, "judgements and runs of a pilot study")
    add("--sd", type=float, metavar="X", help="standard deviation of the differences, if known")
    add("--difference", type=float, nargs="+", metavar="X", help="differences to detect")
    add("--queries", type=int, nargs="+", metavar="N", help="numbers of queries")
    add("--power", type=float, default=0.8, metavar="X", help="power (default: 0.8)")
    add_level(parser)
    add_alternative(parser, "any difference, a positive one, a negative one")
    add_json(parser)
    add_quiet(parser, "print the numbers only, no warnings")
    parser.set_defaults(run=_power)


def _power(options: argparse.Namespace) -> int:
    from heldout.report.plan import json_plan, plan_lines

    check_level(options.level, name="--level ")
    settings = {
        "power": options.power,
        "level": options.level,
        "alternative": options.alternative,
    }
    wanted = (options.difference, options.queries)
    if options.json:
        emit(json_plan(_spreads(options), *wanted, **settings))
        return 0
    lines = [
        line
        for spread in _spreads(options)
        for line in plan_lines(spread, *wanted, quiet=options.quiet, **settings)
    ]
    show("".join(line + "\n" for line in lines))
    return 0


def _spreads(options: argparse.Namespace) -> list[Spread]:
    from heldout.report.plan import Spread, pilot_spreads

    if options.sd is None:
        if not options.files and options.scores is None:
            raise InputError("no input: give a pilot study (QRELS RUN RUN, or --scores), or --sd")
        return [spread for scores in read_inputs(options) for spread in pilot_spreads(scores)]
    if options.files or options.scores is not None:
        raise InputError("give either --sd or a pilot study (QRELS RUN RUN, or --scores), not both")
    return [Spread("", options.sd)]
