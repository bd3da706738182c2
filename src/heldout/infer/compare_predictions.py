"""Compare predictions of several systems: the analysis that fits the measure and the data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.data.predictions import (
    BASELINES,
    ClassPredictions,
    one_set_of_classes,
    positive_number,
)
from heldout.data.scores import Scores
from heldout.errors import InputError, MeasureError
from heldout.infer.compare import Comparison, compare, note_measures
from heldout.infer.made_claims import made_comparison
from heldout.infer.many_units import made_of_many
from heldout.infer.resampled_claims import AreaMaker, OrderMaker, SumMaker
from heldout.infer.unit_kinds import MANY_UNITS, affordable, sums_by_number
from heldout.measure.parse import parse_measures
from heldout.measure.prediction.paired import (
    check_same_truth,
    check_same_weights,
    data_fingerprint,
    fold_scores,
    has_splits,
    same_units,
    unit_scores,
)
from heldout.measure.prediction.sums import unit_sums
from heldout.measure.prediction.undefined_hint import undefined_hint
from heldout.measure.prediction.weights import weighing
from heldout.measure.undefined import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.predictions import NumberPredictions
    from heldout.data.words import Ints
    from heldout.infer.linearised import LinearMaker
    from heldout.measure.base import Measure

    Predictions = ClassPredictions | NumberPredictions

__all__ = ["By", "ComparedPredictions", "compare_predictions", "group_numbers"]

By = Literal["auto", "unit", "fold"]
"""What is taken for the unit of a test: ``auto`` is the fold, where there are folds."""


WEIGHED: Final = (
    "is taken over units that have weights, or that belong together: sums over them are resampled, "
    "outputs being swapped between the systems"
)


class ComparedPredictions(NamedTuple):
    """A comparison, and what a gate must know about it.

    Parameters
    ----------
    comparison
        The claims.
    test_share
        n_test / n_train, if the units are folds.
    linear
        Whether the values of the units are not theirs, but the score linearised.
    """

    comparison: Comparison
    test_share: float | None = None
    linear: bool = False


def compare_predictions(
    predictions: Sequence[ClassPredictions] | Sequence[NumberPredictions],
    measures: Sequence[str] = (),
    *,
    positive: str | None = None,
    by: By = "auto",
    undefined: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> list[ComparedPredictions]:
    """Compare predictions of two or more systems, paired by unit.

    Folds (of a cross-validation, perhaps repeated) are compared by the corrected resampled t test,
    whatever the measure. On a hold-out, means over units are compared as `heldout.compare` does
    (McNemar's test for accuracy); F1, MCC, kappa, RMSE, R² and the like, and all measures of
    grouped or weighted units, by swapping outputs and resampling sums; the AUC of two classes by
    DeLong's test; other measures of order by the bootstrap. More than 100,000 units are not drawn
    one by one: numbers of units of each kind are, where kinds are few; else the score is linearised
    and compared by a t test.

    Parameters
    ----------
    predictions
        One object a system.
    measures
        Their names; by default accuracy or RMSE.
    positive
        The positive one of two classes.
    by
        ``fold``, ``unit``, or ``auto``: folds where there are some.
    undefined
        As for `score_predictions`.
    progress
        Called with the measures that are compared and the number of all.
    settings
        As for `heldout.compare`.

    Examples
    --------
    >>> truth = np.array([0, 1] * 6)
    >>> wrong = np.where(np.arange(12) < 5, 1 - truth, truth)
    >>> units = tuple(map(str, range(12)))
    >>> guesses = {"A": wrong, "B": truth}
    >>> two = [ClassPredictions(n, units, ("no", "yes"), truth, guesses[n]) for n in guesses]
    >>> [found] = compare_predictions(two, ["MCC"])
    >>> found.comparison.claims[0].outcomes[0].p
    0.0625
    """
    several = _alike(_own_systems(predictions, settings.get("baseline")))
    if len(several) < 2:
        raise InputError("one system cannot be compared: give at least two")
    check_same_truth(several)
    task = "classification" if isinstance(several[0], ClassPredictions) else "regression"
    usual = "accuracy" if task == "classification" else "RMSE"
    wanted = parse_measures(list(measures) or [usual], task, undefined=undefined)
    folded = by == "fold" or (by == "auto" and _all_have_splits(several))
    given = _Given(several)
    found = []
    for one in wanted:
        found.append(_compared(given, one, positive, folded, settings))
        if progress:
            progress(len(found), len(wanted))
    noted = note_measures([one.comparison for one in found])
    return [one._replace(comparison=two) for one, two in zip(found, noted, strict=True)]


def _own_systems(predictions: Sequence[Any], baseline: str | None) -> Sequence[Any]:
    """Without the baselines that an experiment has written, unless they are needed."""
    own = [one for one in predictions if one.name not in BASELINES]
    known = {one.name for one in own}
    return own if len(own) > 1 and (baseline is None or baseline in known) else predictions


def _all_have_splits(several: Sequence[Predictions]) -> bool:
    """Whether there are folds; refused if only some systems have them."""
    having = [has_splits([one]) for one in several]
    if any(having) and not all(having):
        with_folds, without = several[having.index(True)], several[having.index(False)]
        raise InputError(
            f"{with_folds.name} has folds, {without.name} has none: give them for all systems, or "
            "compare over units (--by-unit)"
        )
    return all(having)


def _alike(predictions: Sequence[Any]) -> list[Any]:
    if len({type(one) for one in predictions}) > 1:
        raise InputError("predictions of classes and of numbers: compare them apart")
    if predictions and isinstance(predictions[0], ClassPredictions):
        return list(one_set_of_classes(predictions))
    return list(predictions)


def _compared(
    given: _Given,
    measure: Measure,
    positive: str | None,
    folded: bool,
    settings: dict[str, Any],
) -> ComparedPredictions:
    several = given.systems
    if folded:
        found = fold_scores(several, measure, positive)
        return ComparedPredictions(
            compare(found.scores, test_share=found.test_share, **settings), found.test_share
        )
    notes = _fold_notes(several)
    plain = all(one.weights is None and not one.groups for one in several)
    if plain and measure.aggregate == "mean":
        scores = unit_scores(several, measure, given.data)
        return ComparedPredictions(
            compare(replace(scores, notes=(*scores.notes, *notes)), **settings)
        )
    return _made(given.paired, measure, positive, notes, settings)


def _fold_notes(several: Sequence[Predictions]) -> list[Note]:
    if not any(has_splits([one]) for one in several):
        return []
    text = (
        "the units come from folds that share training data, which a test over units does not "
        "know: a test over folds does"
    )
    return [Note("shared-training", text)]


class _Paired(NamedTuple):
    """Systems on the units that all have, in the same order."""

    systems: list[Any]
    dropped: tuple[str, ...]
    data: str


@dataclass(frozen=True)
class _Given:
    """Systems, and what all measures need to know about them: it is found once."""

    systems: list[Any]

    @cached_property
    def data(self) -> str:
        return data_fingerprint(self.systems)

    @cached_property
    def paired(self) -> _Paired:
        return _pair(self.systems, self.data)


def _pair(several: list[Any], data: str) -> _Paired:
    if same_units(several):
        return _Paired(several, (), data)
    keys = [list(zip(one.units, one.repeats or one.units, strict=True)) for one in several]
    common = set.intersection(*map(set, keys))
    order = [key for key in keys[0] if key in common]
    if not order:
        raise InputError("the systems have no unit in common: are the ids written alike?")
    found = []
    for one, own in zip(several, keys, strict=True):
        place = {key: at for at, key in enumerate(own)}
        found.append(one.select([place[key] for key in order]))
    kept = {unit for unit, _ in order}
    lost = dict.fromkeys(unit for own in keys for unit, _ in own if unit not in kept)
    return _Paired(found, tuple(lost), data)


def _made(
    paired: _Paired,
    measure: Measure,
    positive: str | None,
    notes: list[Note],
    settings: dict[str, Any],
) -> ComparedPredictions:
    systems = paired.systems
    check_same_weights(systems)
    for one in systems:
        value = measure.compute(one, positive)
        if isinstance(value, Undefined):
            raise MeasureError(
                f"{measure} of {one.name} is undefined ({value.reason}): there is nothing to "
                f"compare{undefined_hint(measure, value.reason)}"
            )
    numbers, names = group_numbers(systems)
    grouped = len(names) < len(systems[0].units)
    if grouped:
        kind = "groups" if systems[0].groups else "units"
        rows = len(systems[0].units)
        whole = f"{rows:,} rows are of {len(names):,} {kind}, which are swapped and drawn whole"
        notes = [*notes, Note("grouped", f"the {whole}", "info")]
    draws: dict[str, Any] = {
        "seed": settings.get("seed", 0),
        "replicates": settings.get("replicates", 100_000),
    }
    maker = _maker(systems, measure, positive, numbers, grouped, draws)
    scores = Scores(
        str(measure),
        tuple(one.name for one in systems),
        names,
        maker.values,
        higher_is_better=measure.higher_is_better is not False,
        dropped=paired.dropped,
        data=paired.data,
        notes=tuple(notes),
    )
    allowed = {"baseline", "tests", "tail", "alpha", "correction", "tuned", "seed"}
    if settings.get("interval"):
        raise InputError(
            f"{measure} is no mean over units: its interval is {maker.system(0, 0.95).method}, "
            "leave --interval out"
        )
    chosen = {key: value for key, value in settings.items() if key in allowed}
    return ComparedPredictions(made_comparison(scores, maker, **chosen), linear=True)


def group_numbers(systems: Sequence[Predictions]) -> tuple[Ints, tuple[str, ...]]:
    """The group of each row, from 0 on, and the names; without groups the units themselves."""
    for one in systems:
        if bool(one.groups) != bool(systems[0].groups):
            raise InputError(
                f"{one.name} has {'groups' if one.groups else 'no groups'}, unlike "
                f"{systems[0].name}: give groups for all systems, or for none"
            )
        if one.groups != systems[0].groups:
            at = next(
                n
                for n, pair in enumerate(zip(one.groups, systems[0].groups, strict=True))
                if pair[0] != pair[1]
            )
            raise InputError(
                f"unit {one.units[at]} is of group {systems[0].groups[at]}, but of "
                f"{one.groups[at]} in {one.name}"
            )
    if not systems[0].groups and not systems[0].repeats:
        return np.arange(len(systems[0].units)), systems[0].units  # all different
    labels = systems[0].groups or systems[0].units
    place = {name: at for at, name in enumerate(dict.fromkeys(labels))}
    return np.array([place[name] for name in labels], np.int64), tuple(place)


def _maker(
    systems: list[Any],
    measure: Measure,
    positive: str | None,
    numbers: Ints,
    grouped: bool,
    draws: dict[str, Any],
) -> SumMaker | OrderMaker | AreaMaker | LinearMaker:
    plain = not grouped and all(one.weights is None for one in systems)
    two = plain and measure.family == "AUC" and len(systems[0].classes) == 2
    if len(numbers) > MANY_UNITS and not two:
        many = made_of_many(systems, measure, positive, numbers, **draws)
        if many is not None:
            return many
    sums = [unit_sums(one, measure, positive) for one in systems]
    tables = [one.table for one in sums if one is not None]
    if sums[0] is not None and len(tables) == len(systems):
        score = sums[0].score
        if not all(np.isfinite(table).all() for table in tables):
            raise MeasureError(f"{measure} is infinite for some units: there is nothing to compare")
        grouped_tables = [sums_by_number(one, numbers) for one in tables]
        made = SumMaker(
            grouped_tables, score, bootstraps=affordable(len(grouped_tables[0])), **draws
        )
        return replace(made, why=WEIGHED) if measure.aggregate == "mean" else made
    if two:
        at = positive_number(systems[0].classes, positive)
        flags = systems[0].truth == at
        return AreaMaker(flags, np.column_stack([one.scores[:, at] for one in systems]))
    functions = [weighing(one, measure, positive) for one in systems]
    known = [one for one in functions if one is not None]
    if len(known) < len(systems):
        raise MeasureError(f"{measure} has no test over units: compare it over folds")
    return OrderMaker(known, numbers, seed=draws["seed"])
