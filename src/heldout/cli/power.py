"""heldout power: how many units a comparison needs."""

from __future__ import annotations

from heldout.as_json import json_text
from heldout.cli.inputs import kind_of, systems_of
from heldout.cli.options import Parser, complete
from heldout.cli.output import note, write
from heldout.errors import InputError


def parser() -> Parser:
    """The parser of this command."""
    return Parser(
        "power",
        "Plan the amount of data, or the smallest detectable difference.",
        {"files* FILE": "pilot study: judgements and runs, or predictions"},
        usage="QRELS RUN RUN\nPREDICTIONS PREDICTIONS\n--scores FILE\n--sd X",
        examples="""\
  heldout power qrels.txt old.run new.run --difference 0.02
  heldout power --scores scores.csv --queries 50 100 200
  heldout power --scores scores.csv --half-width 0.01
  heldout power --sd 0.15 --difference 0.01 0.02 0.05
  heldout power knn.csv logistic.csv -m "F1(macro)" --simulate
  heldout power --scores folds.csv --test-share 0.1111  more data with the same number of folds
  heldout power --scores results/ --difference 0.01     results of an experiment
""",
        notes="""\
The numbers are for the paired t test, of successes and failures (1 and 0) for McNemar's test; those
of the randomization test are close. Folds are planned for by the corrected resampled t test, whose
standard error falls with the root of the number of rows. --simulate draws samples of the pilot's
units and runs the actual test on them, for the pilot's own difference.
""",
    )


def run(arguments: list[str]) -> int:
    """Plan from a pilot study, or from a known standard deviation."""
    given = parser().read(arguments)
    kind = "sd" if hasattr(given, "sd") else kind_of(given)
    options = complete(given, "power", kind)
    if kind == "sd" and (options.files or options.scores):
        raise InputError("give either --sd or a pilot study, not both")
    if kind == "text":
        raise InputError("texts cannot be planned from: give runs, predictions or --scores")
    from heldout.experiment.pilots import power

    if kind == "sd":
        pilots = [(None, measure) for measure in options.measure or [None]]
    else:
        pilots = list(systems_of(kind, options))
    several = [
        power(
            pilot,
            measure,
            sd=options.sd,
            differences=options.difference or (),
            units=options.units or (),
            half_widths=options.half_width or (),
            power=options.power,
            level=options.level,
            alternative=options.alternative,
            test_share=options.test_share,
            positive=options.positive,
            by="unit" if options.by_unit else "auto",
            simulations=500 if options.simulate else 0,
            seed=options.seed,
        )
        for pilot, measure in (pilots if options.measure else pilots[:1])
    ]
    plans = [plan for pairs in several for plan in pairs]
    own = {"json": lambda: json_text([plan.to_dict() for plan in plans])}
    write(plans, options, options.format or "table", own=own)
    if len(plans) > len(several):
        said = "Each plan is for one pair tested alone. Comparing all systems at once, with the"
        note([f"{said} default correction, needs more."], options)
    return 0
