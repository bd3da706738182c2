"""The command ``plan``: arguments to library calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.cli.files import emit, show
from heldout.cli.help import add_json, add_quiet
from heldout.cli.level import add_alternative, add_level
from heldout.cli.scores import add_score_arguments, read_inputs
from heldout.errors import InputError
from heldout.infer.levels import check_level

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    from heldout.report.plan import Spread

__all__ = ["add_plan"]

_EXAMPLES = """\
  heldout plan qrels.txt old.run new.run --difference 0.02
  heldout plan --table scores.csv --queries 50 100 200
  heldout plan --sd 0.15 --difference 0.01 0.02 0.05

Numbers are for the paired t test; those of the randomization test are close to them.
"""


def add_plan(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``plan``."""
    parser = command(
        commands, "plan", "How many queries are needed, and what can so many show?", _EXAMPLES
    )
    add = parser.add_argument
    add_score_arguments(parser)
    add("--sd", type=float, help="standard deviation of the differences, instead of a pilot")
    add("--difference", type=float, nargs="+", metavar="X", help="differences to be seen")
    add("--queries", type=int, nargs="+", metavar="N", help="numbers of queries to have")
    add("--power", type=float, default=0.8, help="power (default 0.8)")
    add_level(parser)
    add_alternative(parser, "any difference, a positive one, a negative one")
    add_json(parser)
    add_quiet(parser, "only the numbers, no words of caution")
    parser.set_defaults(run=_plan)


def _plan(options: argparse.Namespace) -> int:
    from heldout.report.plan import Aim, json_plan, plan_lines

    check_level(options.level, name="--level ")
    aim = Aim(options.power, options.level, options.alternative)
    wanted = (options.difference, options.queries, aim)
    if options.json:
        emit(json_plan(_spreads(options), *wanted))
        return 0
    lines = [
        line
        for spread in _spreads(options)
        for line in plan_lines(spread, *wanted, quiet=options.quiet)
    ]
    show("".join(line + "\n" for line in lines))
    return 0


def _spreads(options: argparse.Namespace) -> list[Spread]:
    from heldout.report.plan import Spread, pilot_spreads

    if options.sd is None:
        if options.qrels is None and options.table is None:
            raise InputError("plan from what? Give a pilot (QRELS RUN RUN, or --table), or --sd")
        return [spread for scores in read_inputs(options) for spread in pilot_spreads(scores)]
    if options.qrels is not None or options.table is not None:
        raise InputError("give either --sd or a pilot (QRELS RUN RUN, or --table), not both")
    return [Spread("", options.sd)]
