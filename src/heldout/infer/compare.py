"""Is one system better than another? All that can be said about it, in one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.infer.comparison import Claim, Comparison, SystemRow, claim_row, note_measures
from heldout.infer.engine import REPLICATES, Asked, make_comparison
from heldout.infer.levels import refuse_old_names
from heldout.infer.scoring import mean_scored

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.scores import Table
    from heldout.infer.scored_predictions import By
    from heldout.infer.scoring import Scored

__all__ = ["Claim", "Comparison", "SystemRow", "claim_row", "compare", "note_measures"]


@refuse_old_names
def compare(  # noqa: PLR0913 (the front door names what it takes)
    given: Scores | Table | Any,
    measure: str | None = None,
    *,
    baseline: str | None = None,
    tests: Sequence[str] = (),
    alternative: str = "two-sided",
    level: float = 0.95,
    correction: str = "",
    interval: str = "",
    test_share: float | None = None,
    tuned: Sequence[str] = (),
    replicates: int = REPLICATES,
    seed: int = 0,
    positive: str | None = None,
    by: By = "auto",
    undefined: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare two or more systems on the same units.

    Parameters
    ----------
    given
        The scores; units are paired by id. Or what `Scores.of` takes: a pandas or Polars frame,
        ``{system: {unit: value}}`` or ``{system: [values]}``.
    baseline
        Compare all others with this system. Of two systems the first is the baseline.
    tests
        ``randomization``, ``t``, ``bootstrap-shift``, ``bootstrap-shift-studentized``,
        ``wilcoxon``, ``sign``, ``mcnemar``, ``corrected-t``; by default those that fit the design.
        The first gives the verdict.
    alternative
        ``two-sided``, or ``greater`` / ``less``: is the first of a pair better / worse. Intervals
        of differences then have one bound.
    level
        The confidence level of intervals; tests are at the significance level 1 - level.
    correction
        ``tukey``, ``randomized-tukey``, ``nemenyi`` (all pairs), ``dunnett``, ``dunnett-t`` (with
        a baseline), ``maxt``, ``holm``, ``hochberg``, ``bonferroni``, ``bh``, ``by``; by default
        what fits the design.
    interval
        Of differences: ``t``, ``percentile``, ``bca``, ``randomization`` (inversion of the test);
        by default what belongs to the correction, else ``t``, or ``t`` corrected for folds. Of
        several, all hold at once, unless the correction knows no such intervals (``bh``, ``by``,
        ``nemenyi``).
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned; a comparison in which only some were says so.
    replicates, seed
        For tests that draw.
    progress
        Called with the pairs that are tested and the number of all.
    """
    asked = Asked(
        baseline,
        tests,
        alternative,
        level,
        correction,
        interval,
        test_share,
        tuned,
        replicates,
        seed,
    )
    asked.check()
    scored = _scored(given, measure, asked, positive, by, undefined)
    return make_comparison(
        scored.scores, scored.scoring, asked._replace(test_share=scored.test_share), progress
    )


def _scored(
    given: Any,
    measure: str | None,
    asked: Asked,
    positive: str | None,
    by: By,
    undefined: float | None,
) -> Scored:
    if isinstance(given, Scores):
        return mean_scored(given, asked)
    kind = type(given).__name__
    if kind == "TextEvaluation":
        from heldout.infer.scored_texts import scored_texts
        from heldout.measure.text_names import parse_text_measure

        return scored_texts(given, parse_text_measure(measure or ""), asked)
    if kind == "PredictionSystems" or _are_predictions(given):
        from heldout.infer.scored_predictions import PredictionSystems, scored_predictions

        several = given
        if not isinstance(several, PredictionSystems):
            several = PredictionSystems.of(given, asked.baseline)
        wanted = several.measures([] if measure is None else [measure], undefined)[0]
        return scored_predictions(several, wanted, asked, positive=positive, by=by)
    if callable(getattr(given, "scores", None)):  # an evaluation, results, tuned runs
        raise InputError(
            f"{kind} is not a table of scores in one measure: give what its "
            "method scores returns, such as evaluation.scores('nDCG@10')"
        )
    return mean_scored(Scores.of(given), asked)


def _are_predictions(given: Any) -> bool:
    return isinstance(given, list | tuple) and bool(given) and hasattr(given[0], "truth")
