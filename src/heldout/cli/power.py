"""heldout power: how many units a comparison needs."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.inputs import given_measures, kind_of, read_predictions, read_scores_of
from heldout.cli.options import Parser, complete
from heldout.cli.output import emit, terminal_width
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

SIMULATIONS: Final = 500
EXAMPLES: Final = """\
  heldout power qrels.txt old.run new.run --difference 0.02
  heldout power --scores scores.csv --queries 50 100 200
  heldout power --scores scores.csv --half-width 0.01
  heldout power --sd 0.15 --difference 0.01 0.02 0.05
  heldout power knn.csv logistic.csv -m "F1(macro)" --simulate
  heldout power --scores folds.csv --test-share 0.1111  more data with the same number of folds
  heldout power --scores results/ --difference 0.01     results of an experiment
"""
NOTES: Final = """\
The numbers are for the paired t test, of successes and failures (1 and 0) for McNemar's test; those
of the randomization test are close. Folds are planned for by the corrected resampled t test, whose
standard error falls with the root of the number of rows. --simulate draws samples of the pilot's
units and runs the actual test on them, for the pilot's own difference.
"""


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "power",
        "Plan the amount of data, or the smallest detectable difference.",
        {"files* FILE": "pilot study: judgements and runs, or predictions"},
        usage="QRELS RUN RUN\nPREDICTIONS PREDICTIONS\n--scores FILE\n--sd X",
        examples=EXAMPLES,
        notes=NOTES,
    )


def run(arguments: Sequence[str]) -> int:
    """Plan from a pilot study, or from a known standard deviation."""
    given = parser().read(arguments)
    if len(given.files) == 1 and os.path.isdir(given.files[0]):
        given.scores = given.files.pop()
    kind = "sd" if hasattr(given, "sd") else kind_of(given)
    options = complete(given, "power", kind)
    from heldout.experiment.pilots import power

    settings: dict[str, Any] = {
        "differences": options.difference or (),
        "units": options.units or (),
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
    if kind == "sd":
        if options.files or options.scores is not None:
            raise InputError("give either --sd or a pilot study, not both")
        several = [power(sd=options.sd, **settings)]
    else:
        several = [power(*pilot, **settings) for pilot in _pilots(kind, options)]
    plans = [plan for pairs in several for plan in pairs]
    if options.format:
        from heldout.as_json import json_text

        emit(json_text([plan.to_dict() for plan in plans]))
        return 0
    from heldout.report import text
    from heldout.report.table import paragraphs

    width = terminal_width()
    shown = [text(plan, width=width, quiet=options.quiet) for plan in plans]
    if not options.quiet and any(len(pairs) > 1 for pairs in several):
        hint = (
            "Each plan is for one pair tested alone. Comparing all systems at once, with the "
            "default correction, needs more."
        )
        shown.append(paragraphs([hint], width))
    emit("\n".join(shown))
    return 0


def _pilots(kind: str, options: argparse.Namespace) -> Iterator[tuple[Any, Any]]:
    """Each pilot study with its measure."""
    if not options.files and options.scores is None:
        raise InputError(
            "no input: give a pilot study (QRELS RUN RUN, predictions, or --scores), or --sd"
        )
    if kind == "text":
        raise InputError("texts cannot be planned from: give runs, predictions or --scores")
    if kind == "results":
        from heldout.experiment.results.results import Results

        results = Results.read(options.scores)
        for measure in options.measure or results.measures[:1]:
            yield results, measure
    elif kind in {"classification", "regression"}:
        from heldout.measure.names import parse_measures

        predictions = read_predictions(kind, options)
        names = given_measures(options.measure, kind)
        for measure in parse_measures(names, kind) if names else [None]:
            yield predictions, measure
    else:
        for scores in read_scores_of(kind, options):
            yield scores, None
