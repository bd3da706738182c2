"""The command ``power``: arguments to library calls."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.cli.files import emit, show
from heldout.cli.help import group
from heldout.cli.inputs import (
    add_prediction_options,
    given_task,
    read_predictions,
)
from heldout.cli.measures import given_measures
from heldout.cli.options import add_alternative, add_json, add_level, add_quiet, add_seed
from heldout.cli.scores import add_score_arguments, given_results, read_inputs
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

    from heldout.data.scores import Scores
    from heldout.experiment.pilots import Spread
    from heldout.experiment.results import Results
    from heldout.infer.engine import CompareSettings
    from heldout.infer.power_pilot import PilotPower
    from heldout.infer.scoring import Scoring

__all__ = ["add_power"]

_EXAMPLES = """\
  heldout power qrels.txt old.run new.run --difference 0.02
  heldout power --scores scores.csv --queries 50 100 200
  heldout power --scores scores.csv --half-width 0.01
  heldout power --sd 0.15 --difference 0.01 0.02 0.05
  heldout power knn.csv logistic.csv -m "F1(macro)" --simulate
  heldout power --scores folds.csv --test-share 0.1111  more data with the same number of folds
  heldout power --scores results/ --difference 0.01     an experiment, also by document
"""

_NOTES = """\
The numbers are for the paired t test; those of the randomization test are close, McNemar's exact
test needs about 5 % more. Folds are planned for by the corrected resampled t test, whose standard
error falls with the root of the number of rows; with documents it falls far more slowly.
--simulate draws samples of the pilot's units and runs the actual test on them, for the pilot's own
difference.
"""


def add_power(command: Callable[..., argparse.ArgumentParser], commands: Any) -> None:
    """Add the command ``power``."""
    parser = command(
        commands,
        "power",
        "Plan the amount of data, or the smallest detectable difference.",
        _EXAMPLES,
        notes=_NOTES,
        usage="QRELS RUN RUN\nPREDICTIONS PREDICTIONS\n--scores FILE\n--sd X",
    )
    add = parser.add_argument
    add("--difference", type=float, nargs="+", metavar="X", help="differences to detect")
    add(
        "--queries",
        "--documents",
        "--units",
        type=int,
        nargs="+",
        metavar="N",
        help="amounts of data: queries, documents or units",
    )
    add(
        "--half-width",
        type=float,
        nargs="+",
        metavar="X",
        help="half-widths of the interval of the difference",
    )
    add("--power", type=float, default=0.8, metavar="X", help="power (default: 0.8)")
    add("--sd", type=float, metavar="X", help="standard deviation of the differences, if known")
    add(
        "--test-share",
        type=float,
        metavar="X",
        help="units are folds: n_test / n_train, 0.1111 for 10 folds",
    )
    add("--simulate", action="store_true", help="also compute the power by simulation")
    add_score_arguments(parser, "pilot study: judgements and runs, or predictions")
    add_prediction_options(parser)
    group(parser, "predictions").add_argument(
        "--by-unit", action="store_true", help="plan over units even if there are folds"
    )
    add_seed(parser)
    add_level(parser)
    add_alternative(parser, "any difference, a positive one, a negative one")
    add_json(parser)
    add_quiet(parser, "print the numbers only, no warnings")
    parser.set_defaults(run=_power)


def _power(options: argparse.Namespace) -> int:
    from heldout.infer.power_designs import Goal
    from heldout.infer.results import check_level
    from heldout.report.power import json_plan, plan_lines, simulated_lines

    check_level(options.level, name="--level ")
    goal = Goal(options.power, options.level, options.alternative)
    wanted = (options.difference, options.queries, goal)
    pilots = list(_pilots(options))
    spreads = [spread for pilot in pilots for spread in pilot.spreads]
    simulated = [one for pilot in pilots for one in _simulated(pilot, options)]
    if options.json:
        emit(json_plan(spreads, *wanted, widths=options.half_width, simulated=simulated))
        return 0
    more = {"widths": options.half_width, "quiet": options.quiet}
    lines = [line for spread in spreads for line in plan_lines(spread, *wanted, **more)]
    for spread, found in zip(spreads, simulated, strict=False):
        lines += simulated_lines(spread.what, found)
    if not options.quiet and any(len(pilot.spreads) > 1 for pilot in pilots):
        lines += [SEVERAL_HINT, ""]
    show("".join(line + "\n" for line in lines))
    return 0


class _Pilot(NamedTuple):
    """What is planned from: spreads of all pairs, and the scores, if units can be drawn."""

    spreads: list[Spread]
    scored: Scoring | None = None


SEVERAL_HINT: Final = (
    "Each plan is for one pair tested alone. Comparing all systems at once, with the default "
    "correction, needs more."
)


def _simulated(pilot: _Pilot, options: argparse.Namespace) -> list[list[PilotPower]]:
    """For each pair of systems the power at each amount."""
    if not options.simulate:
        return []
    if pilot.scored is None:
        raise InputError(
            "--simulate needs a pilot with values of units: runs, a table, predictions"
        )
    from heldout.infer.power_pilot import scored_power

    amounts = options.queries or [len(pilot.scored.scores.units)]
    return [
        [
            scored_power(
                pilot.scored,
                n,
                pair=(second, first),
                level=options.level,
                alternative=options.alternative,
                seed=options.seed,
            )
            for n in amounts
        ]
        for first, second in combinations(range(len(pilot.scored.scores.systems)), 2)
    ]


def _pilots(options: argparse.Namespace) -> Iterator[_Pilot]:
    from heldout.experiment.pilots import fold_spreads, pilot_spreads

    folder = options.files[0] if len(options.files) == 1 and options.scores is None else None
    if folder is not None and Path(folder).is_dir():
        options.files, options.scores = [], folder
    if options.sd is not None:
        yield _known_spread(options)
        return
    if not options.files and options.scores is None:
        raise InputError(
            "no input: give a pilot study (QRELS RUN RUN, predictions, or --scores), or --sd"
        )
    results = None if options.files else given_results(options)
    task = "ranking" if options.scores is not None else given_task(options)
    if task == "text":
        raise InputError("texts cannot be planned from: give runs, predictions or --scores")
    if results is not None:
        yield from _of_results(results, options)
    elif task != "ranking":
        yield from _of_predictions(task, options)
    else:
        for scores in read_inputs(options):
            if options.test_share is not None:
                yield _Pilot(fold_spreads(scores, options.test_share))
            else:
                yield _Pilot(pilot_spreads(scores), _mean_scored(scores, options))


def _known_spread(options: argparse.Namespace) -> _Pilot:
    from heldout.experiment.pilots import Spread

    if options.files or options.scores is not None:
        raise InputError("give either --sd or a pilot study (QRELS RUN RUN, or --scores), not both")
    if options.test_share is not None:
        raise InputError("--test-share is for a pilot of folds (--scores): leave it out with --sd")
    return _Pilot([Spread("", options.sd)])


def _asked(options: argparse.Namespace) -> CompareSettings:
    from heldout.infer.engine import CompareSettings
    from heldout.infer.power_pilot import REPLICATES

    return CompareSettings(replicates=REPLICATES, level=options.level, seed=options.seed)


def _mean_scored(scores: Scores, options: argparse.Namespace) -> Scoring:
    from heldout.infer.scored_inputs import scored

    return scored(scores, None, _asked(options))


def _of_predictions(task: str, options: argparse.Namespace) -> Iterator[_Pilot]:
    from heldout.data.predictions import unit_count
    from heldout.experiment.pilots import fold_spreads, pilot_spreads
    from heldout.infer.scored_inputs import PredictionSystems, scored

    if options.test_share is not None:
        raise InputError("--test-share: predictions with a column fold or repeat know their own")
    systems = PredictionSystems.of(read_predictions(task, options), None)
    for measure in systems.measures(given_measures(options.measure, task)):
        scoring = scored(
            systems,
            measure,
            _asked(options),
            positive=options.positive,
            by="unit" if options.by_unit else "auto",
        )
        if scoring.test_share is not None:
            rows = unit_count(systems.systems[0])
            yield _Pilot(fold_spreads(scoring.scores, scoring.test_share, rows))
        else:
            yield _Pilot(pilot_spreads(scoring.scores, "units"), scoring)


def _of_results(results: Results, options: argparse.Namespace) -> Iterator[_Pilot]:
    from heldout.experiment.pilots import document_spreads, fold_spreads, pilot_spreads

    settings = results.manifest["settings"]
    for measure in options.measure or results.measures[:1]:
        if settings.get("by") == "document":
            yield _Pilot(document_spreads(results, measure))
        elif results.unit == "split":
            yield _Pilot(fold_spreads(results.scores(measure), float(settings["test_share"])))
        else:
            scores = results.scores(measure)
            unit = "queries" if results.unit == "query" else "units"
            yield _Pilot(pilot_spreads(scores, unit), _mean_scored(scores, options))
