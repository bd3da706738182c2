"""Scores to compare, from results: the held-out value of each query or row, or of each split."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.scores import ChoiceSpread, MachineScores, Scores
from heldout.errors import InputError, MeasureError
from heldout.experiment.results.tables import mean_by_unit
from heldout.infer.comparison_notes import TAKEN_AS_GIVEN
from heldout.measure.base import Undefined
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from heldout.experiment.results.results import Results
    from heldout.measure.base import Measure

    ByUnit = dict[str, float]


def scores_of(
    results: Results, measure: Measure, systems: Sequence[str], *, by_unit: bool
) -> Scores:
    """Return the value of each unit where it was held out, or of each split: means of repeats."""
    notes, ranks = [*results.tuning_notes()], results.task == "ranking"
    rest: dict[str, Any]
    if ranks:
        if not by_unit:
            raise InputError("rankings are compared query by query, not split by split")
        if measure.higher_is_better is None:
            raise InputError(f"{measure} has no direction (better or worse): it cannot be compared")
        table = _by_query(results.values, measure, systems)
        notes += _choice_notes(results, systems)
        rest = {"data": results.manifest["fingerprints"]["collection"], "unit": "query"}
    else:
        from heldout.measure.prediction.folds import data_fingerprint

        undefined: list[Note] = []
        table = {
            name: _by_row(results, measure, name)
            if by_unit
            else _by_split(results, measure, name, undefined)
            for name in systems
        }
        notes = [*undefined, *notes]
        sides = results.fold_predictions(results.systems[0])
        rest = {"data": data_fingerprint([side.predictions for side in sides])}
    for name, values in table.items():
        if not values:
            raise MeasureError(f"{measure} of {name} does not exist on any split")
    scores = Scores.of(
        table,
        str(measure),
        higher_is_better=bool(measure.higher_is_better),
        notes=tuple(notes),
        range=measure.range,
        **rest,
    )
    if not ranks:
        return scores
    return replace(
        scores,
        dropped=tuple(sorted(scores.dropped)),
        choices=_choices(results, measure, systems),
        machine=_of_machine(results, measure, scores),
    )


# Rankings


def _by_query(table: pl.DataFrame, measure: Measure, systems: Sequence[str]) -> dict[str, ByUnit]:
    """Return one value per query of each system: the mean, if it was held out several times."""
    values = {}
    for name in systems:
        rows = table.filter(system=name, measure=str(measure))
        values[name] = dict(sorted(mean_by_unit(rows["unit"], rows["value"]).items()))
    return values


def _of_machine(results: Results, measure: Measure, scores: Scores) -> MachineScores | None:
    """Return values under machine judgements: of the queries that people judged, and of others."""
    if not len(results.machine):
        return None
    values = list(_by_query(results.machine, measure, scores.systems).values())
    extra = sorted(set.intersection(*map(set, values)) - {*scores.units, *scores.dropped})
    known, others = (
        np.array([[own[query] for own in values] for query in queries])
        for queries in (scores.units, extra)
    )
    return MachineScores(known, others)


def _choices(
    results: Results, measure: Measure, systems: Sequence[str]
) -> dict[tuple[str, str], ChoiceSpread]:
    """Return what the selection of parameters adds to the variance, as the summary has it."""
    return {
        (entry["name"], spread["system"]): ChoiceSpread(spread["units"], spread["choices"])
        for entry in results.summary
        for spread in entry.get("choices") or ()
        if spread["measure"] == str(measure) and {entry["name"], spread["system"]} <= {*systems}
    }


def _choice_notes(results: Results, systems: Sequence[str]) -> Iterator[Note]:
    """Warn of differences without the variance of the selection, of systems that learn."""
    settings = results.manifest["settings"]
    chosen = [entry for entry in results.summary if entry["name"] in systems and entry["tuned"]]
    unknown = [entry["name"] for entry in chosen if entry.get("choices") is None]
    if settings["by"] == "query" and settings["splits"] > 1 and len(systems) > 1 and unknown:
        text = (
            f"{', '.join(unknown)}: tuned in folds of nearly the same queries, but the values "
            "of other parameter settings are unknown, so tests treat the selected ones as "
            f"fixed; for built-in models such intervals {TAKEN_AS_GIVEN}"
        )
        yield Note("shared-choices", text)


# Predictions


def _by_row(results: Results, measure: Measure, system: str) -> ByUnit:
    from heldout.measure.prediction.folds import unit_scores

    sides = results.fold_predictions(system)
    scored = [unit_scores([side.predictions], measure) for side in sides]
    units = [unit for scores in scored for unit in scores.units]
    return mean_by_unit(units, np.concatenate([scores.values[:, 0] for scores in scored]).tolist())


def _by_split(results: Results, measure: Measure, system: str, notes: list[Note]) -> ByUnit:
    values, lost = dict[str, list[float]](), set[str]()
    sides = results.fold_predictions(system)
    for side, value in zip(sides, results.split_values(system, str(measure)), strict=True):
        split = str(side.key._replace(run=None))
        if isinstance(value, Undefined):
            notes.append(Note("undefined-fold", why_undefined(measure, system, split, value)))
            lost.add(split)
        else:
            values.setdefault(split, []).append(value)
    return {name: float(np.mean(runs)) for name, runs in values.items() if name not in lost}


def why_undefined(measure: Measure, system: str, where: str, value: Undefined) -> str:
    """Say that a measure does not exist somewhere, and what to do about it."""
    from heldout.measure.prediction.classes import undefined_hint

    hint = undefined_hint(measure, value.reason)
    return f"{measure} of {system} does not exist on {where}: {value.reason}{hint}"
