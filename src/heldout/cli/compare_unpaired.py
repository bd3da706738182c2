"""The option ``--unpaired`` of ``compare``: systems on different units, from a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from heldout.cli.files import emit, show
from heldout.cli.output import output_format
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse

__all__ = ["compare_unpaired_table"]

_NOT_HERE: Final = {
    "gate": "--gate",
    "test": "--test",
    "interval": "--interval",
    "test_share": "--test-share",
    "tuned": "--tuned",
    "ledger": "--ledger",
    "output": "-o",
}


def compare_unpaired_table(options: argparse.Namespace) -> int:
    """Compare the systems of a table that have different units, and print the result."""
    from heldout.data.io.score_table import read_score_table
    from heldout.infer.unpaired import compare_unpaired
    from heldout.report.unpaired import unpaired_json, unpaired_text

    if options.scores is None:
        raise InputError(
            "--unpaired goes with --scores: runs on the same judgements have the same queries, and "
            "are paired"
        )
    for name, option in _NOT_HERE.items():
        if getattr(options, name):
            raise InputError(f"{option} is for paired units: leave it out with --unpaired")
    chosen = output_format(options.format, None, ("table", "json"), "table")
    if options.measure and len(options.measure) > 1:
        raise InputError("--unpaired compares in one measure: name one with -m")
    table = read_score_table(options.scores, systems=options.system, units=options.unit)
    named, (pairs, _) = table.pairs(options.measure[0] if options.measure else None)
    found = compare_unpaired(
        pairs,
        named or "score",
        baseline=options.baseline,
        alternative=options.alternative,
        level=options.level,
        correction=options.correction or "holm",
        higher_is_better=not options.lower_is_better,
        replicates=options.replicates,
        seed=options.seed,
    )
    if chosen == "json":
        emit(unpaired_json(found))
    else:
        show(unpaired_text(found))
    return 0
