"""`compare`: whether one system is better than another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from heldout.errors import InputError
from heldout.infer.analysis import REPLICATES, Analysis
from heldout.infer.comparison import Comparable, Comparison
from heldout.infer.engine import make_comparison

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.infer.results import Alternative
    from heldout.infer.scored_inputs import By
    from heldout.measure.base import Measure


def compare(  # noqa: PLR0913 (the front door names what it takes)
    given: Any,
    systems: Mapping[str, Any] | Sequence[Any] | str | Measure | None = None,
    measure: str | Measure | None = None,
    *,
    baseline: str | None = None,
    tests: Sequence[str] = (),
    alternative: Alternative = "two-sided",
    level: float | None = None,
    correction: str = "",
    interval: str = "",
    test_share: float | None = None,
    tuned: Sequence[str] | None = None,
    replicates: int = REPLICATES,
    seed: int | None = None,
    positive: str | None = None,
    by: By = "auto",
    undefined: float | None = None,
    machine: Any = None,
    assume_random: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Comparison:
    """Compare two or more systems on the same units.

    Parameters
    ----------
    given
        What holds the systems: an evaluation, results of an experiment, `Scores`, predictions (one
        object per system), or a table of scores as `Scores.of` takes it (a pandas or Polars frame,
        ``{system: {unit: value}}``, ``{system: [values]}``); units are paired by id. Or the truth
        that `systems` are measured by: judgements (an object, a dictionary, a frame, a file, also
        those of ranx and ir_measures), references (a list of texts, or a file), or the true class
        or number of each unit.
    systems
        The systems by name, if `given` is the truth: runs, texts, predicted classes, numbers or
        scores of classes. Else the measure can be given in this place.
    measure
        Such as ``nDCG@10``, ``BLEU`` or ``F1(macro)``. It can be left out if `given` has only one;
        of results it is the first by default, of predictions accuracy or RMSE. A name that is known
        to several tasks is that of predictions, if the truth is a list.
    baseline
        Compare all others with this system. Of two systems the first is the baseline; of results
        that of the experiment.
    tests
        ``randomization``, ``t``, ``bootstrap-shift``, ``wilcoxon``, ``sign``, ``mcnemar``,
        ``corrected-t`` (folds), ``retuned-t`` (systems tuned in folds), ``prediction-powered``
        (with `machine`); by default those that fit the design. The first gives the verdict. Scores
        that are not means have ``randomization`` and ``bootstrap-shift``, an AUC ``delong``.
    alternative
        ``two-sided``, or ``greater`` / ``less``: the first system of a pair is better / worse.
        Intervals of differences then have one bound.
    level
        The confidence level of intervals; tests are at the significance level 1 - level (default
        0.95; of results that of the experiment).
    correction
        ``romano-wolf`` (the default for three or more systems), ``tukey`` (all pairs), ``holm``
        (the default for folds, and where `tests` are named), ``bonferroni``, ``bh``.
    interval
        Of differences: ``t``, ``percentile``, ``bca``, or ``z``, the plain interval over folds of
        textbooks, which is too short; by default the one that belongs to the correction, else
        ``t``, corrected for folds. Several intervals are simultaneous, except with ``bh``.
    test_share
        n_test / n_train, when the units are folds of a cross-validation.
    tuned
        The systems that were tuned; there is a warning if only some were.
    replicates, seed
        Of tests that resample (``romano-wolf`` uses fewer, but at least 10,000, for very many pairs
        or units); the seed is 0 by default, of results that of the experiment.
    positive, undefined
        Of predictions: the positive one of two classes (default the last); 0 counts undefined
        precision, recall and F of a class as 0.
    by
        Of predictions: compare over each ``fold`` or ``unit``; ``auto``: folds, if there are any.
    machine, assume_random
        Of runs: judgements of a machine (a language model) for these and further queries; `given`
        are then human judgements of a random sample of the queries, which `assume_random` confirms.
        Scores and differences are combined estimates: unbiased whatever the machine's errors are,
        and more precise than the human ones alone. The ``machine`` of the result has all three.
    progress
        Called with the number of pairs tested so far and the number of all pairs.

    Returns
    -------
    Comparison
        A claim for each pair of systems, the analysis with its reason, and warnings.

    Examples
    --------
    >>> qrels = {f"q{n}": {f"d{n}": 1} for n in range(8)}
    >>> new = {f"q{n}": {f"d{n}": 2.0, "x": 1.0} for n in range(8)}
    >>> old = {f"q{n}": {f"d{n}": 1.0, "x": 2.0} for n in range(8)}
    >>> comparison = compare(qrels, {"old": old, "new": new}, "RR")
    >>> comparison.claims[0].first, comparison.claims[0].difference.estimate
    ('new', 0.5)
    """
    if measure is None and not isinstance(systems, Mapping | list | tuple):
        systems, measure = None, systems
    positive = None if positive is None else str(positive)
    if systems is None and (machine is not None or assume_random):
        raise InputError("machine goes with human judgements and runs: compare(qrels, runs, …)")
    if systems is None and isinstance(given, Comparable):
        if positive is not None or undefined is not None:
            raise InputError("positive and undefined are set by the experiment: leave them out")
        # What is left out is as in the experiment.
        named = {"level": level, "seed": seed, "tuned": tuned, "test_share": test_share}
        return given.compare(
            None if measure is None else str(measure),
            baseline=baseline,
            by_unit=None if by == "auto" else by == "unit",
            tests=tests,
            alternative=alternative,
            correction=correction,
            interval=interval,
            replicates=replicates,
            progress=progress,
            **{name: value for name, value in named.items() if value is not None},
        )
    asked = Analysis(
        baseline=baseline,
        tests=tests,
        alternative=alternative,
        level=0.95 if level is None else level,
        correction=correction,
        interval=interval,
        test_share=test_share,
        tuned=tuned or (),
        replicates=replicates,
        seed=seed or 0,
    ).checked()
    if systems is not None:
        from heldout.measure.evaluate import evaluate, task_of

        if measure is None:
            raise InputError("no measure: name one, such as nDCG@10, BLEU or F1(macro)")
        task = task_of(given, systems, [measure])
        options: dict[str, Any] = {}
        if task in ("classification", "regression"):
            options |= {"positive": positive, "undefined": undefined}
        if machine is not None or assume_random:
            options |= {"machine": machine, "assume_random": assume_random}
        given = evaluate(given, systems, [measure], task=task, **options)
        measure = given.measures[0]
    from heldout.infer.scored_inputs import scored

    scoring = scored(given, measure, asked, positive=positive, by=by, undefined=undefined)
    return make_comparison(scoring, asked, progress)
