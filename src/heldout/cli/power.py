"""The command ``power``: arguments to library calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import emit, show
from heldout.cli.old_help import group
from heldout.cli.old_inputs import add_prediction_options, given_task, read_predictions
from heldout.cli.measures import given_measures
from heldout.cli.old_options import add_alternative, add_json, add_level, add_quiet, add_seed
from heldout.cli.scores import add_score_arguments, given_results, read_inputs
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterator

_EXAMPLES: Final = """\
  heldout power qrels.txt old.run new.run --difference 0.02
  heldout power --scores scores.csv --queries 50 100 200
  heldout power --scores scores.csv --half-width 0.01
  heldout power --sd 0.15 --difference 0.01 0.02 0.05
  heldout power knn.csv logistic.csv -m "F1(macro)" --simulate
  heldout power --scores folds.csv --test-share 0.1111  more data with the same number of folds
  heldout power --scores results/ --difference 0.01     results of an experiment
"""

_NOTES: Final = """\
The numbers are for the paired t test, of successes and failures (1 and 0) for McNemar's test; those
of the randomization test are close. Folds are planned for by the corrected resampled t test, whose
standard error falls with the root of the number of rows. --simulate draws samples of the pilot's
units and runs the actual test on them, for the pilot's own difference.
"""

SIMULATIONS: Final = 500
SEVERAL_HINT: Final = (
    "Each plan is for one pair tested alone. Comparing all systems at once, with the default "
    "correction, needs more."
)


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
        "--units",
        type=int,
        nargs="+",
        metavar="N",
        help="amounts of data: queries or units",
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
    from heldout.experiment.pilots import power
    from heldout.infer.results import check_level
    from heldout.report.power import plan_dict, plan_lines, simulated_lines

    check_level(options.level)
    settings: dict[str, Any] = {
        "differences": options.difference or (),
        "units": options.queries or (),
        "half_widths": options.half_width or (),
        "power": options.power,
        "level": options.level,
        "alternative": options.alternative,
        "test_share": options.test_share,
        "positive": options.positive,
        "by": "unit" if options.by_unit else "auto",
        "simulations": SIMULATIONS if options.simulate else 0,
        "seed": options.seed,
    }
    if options.sd is None:
        several = [power(pilot, measure, **settings) for pilot, measure in _pilots(options)]
    elif options.files or options.scores is not None:
        raise InputError("give either --sd or a pilot study (QRELS RUN RUN, or --scores), not both")
    elif options.test_share is not None:
        raise InputError("--test-share is for a pilot of folds (--scores): leave it out with --sd")
    else:
        several = [power(sd=options.sd, **settings)]
    plans = [plan for pairs in several for plan in pairs]
    if options.json:
        from heldout.as_json import json_text

        emit(json_text([plan_dict(plan) for plan in plans]))
        return 0
    lines = [line for plan in plans for line in plan_lines(plan, quiet=options.quiet)]
    lines += [line for plan in plans for line in simulated_lines(plan)]
    if not options.quiet and any(len(pairs) > 1 for pairs in several):
        lines += [SEVERAL_HINT, ""]
    show("".join(line + "\n" for line in lines))
    return 0


def _pilots(options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """Yield each pilot study with its measure."""
    folder = options.files[0] if len(options.files) == 1 and options.scores is None else None
    if folder is not None and Path(folder).is_dir():
        options.files, options.scores = [], folder
    if not options.files and options.scores is None:
        raise InputError(
            "no input: give a pilot study (QRELS RUN RUN, predictions, or --scores), or --sd"
        )
    results = None if options.files else given_results(options)
    task = "ranking" if options.scores is not None else given_task(options)
    if task == "text":
        raise InputError("texts cannot be planned from: give runs, predictions or --scores")
    if results is not None:
        for measure in options.measure or results.measures[:1]:
            yield results, measure
    elif task != "ranking":
        from heldout.measure.names import parse_measures

        predictions = read_predictions(task, options)
        names = given_measures(options.measure, task)
        for measure in parse_measures(names, task) if names else [None]:
            yield predictions, measure
    else:
        for scores in read_inputs(options):
            yield scores, None
