"""Checks for experiments of every task: measures, names of systems, plans and splits."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from heldout.errors import MeasureError
from heldout.measure.base import Measure
from heldout.measure.names import is_one_measure
from heldout.resample.plan import Plan, ResamplingWarning
from heldout.resample.two_way import Crossed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from heldout.experiment.problems import Problems
    from heldout.experiment.schema import ExperimentFields
    from heldout.experiment.systems.base import System
    from heldout.resample.split import Splits

__all__ = ["check_names", "check_validation", "given_measures", "given_plan", "splitting"]

M = TypeVar("M", bound=Measure)


def given_measures(
    given: ExperimentFields,
    default: str,
    parse: Callable[[object], Sequence[M]],
    problems: Problems,
) -> tuple[tuple[M, ...], M | None]:
    """Return the measures, each once, and the one to tune for.

    Parameters
    ----------
    default
        The measure if none was given.
    parse
        Makes measures from one entry, or raises an error.
    """
    wanted = default if given.measures is None else given.measures
    listed = [wanted] if is_one_measure(wanted) else wanted
    if not isinstance(listed, list | tuple) or not listed:
        problems.add("measures", f"{wanted!r} is not a list of measures")
        return (), None
    found: dict[M, None] = {}
    for at, one in enumerate(listed):
        with problems.at(f"measures[{at}]"):
            found |= dict.fromkeys(parse(one))
    tune_for = next(iter(found), None)
    if given.tune_for is not None:
        with problems.at("tune_for"):
            wished = parse(given.tune_for)
            if len(wished) != 1:
                raise MeasureError(f"{given.tune_for!r} names {len(wished)} measures, expected one")
            tune_for = wished[0]
    return tuple(found), tune_for


def check_names(systems: Sequence[System[Any]], baseline: str | None, problems: Problems) -> None:
    """Add systems with the same name, and an unknown baseline, to the problems."""
    names = [system.name for system in systems]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            problems.add("systems", f"{names.count(name)} systems are called {name!r}: rename them")
    if baseline is not None and baseline not in names:
        there = ", ".join(names)
        problems.add("baseline", f"unknown system {baseline!r}: expected one of {there}")


def given_plan(plan: object, problems: Problems) -> Plan | Crossed | Mapping[str, object] | None:
    """Return a plan, or the table that describes one; empty if nothing was given."""
    if plan is None:
        return {}
    if isinstance(plan, Plan | Crossed | Mapping):
        return plan
    problems.add("plan", f"{plan!r} is not a plan: give a table such as {{folds = 10}}")
    return None


@contextmanager
def splitting(problems: Problems) -> Iterator[None]:
    """Add errors of the plan inside to the problems; warnings are in the notes of results."""
    with problems.at("plan"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ResamplingWarning)
        yield


def check_validation(splits: Splits, problems: Problems) -> None:
    """Add that a validation part would not be used, if there is one."""
    if any(part[0].validation is not None for part in splits.crossed or [splits]):
        problems.add(
            "plan.validation",
            "the validation part is not used yet; leave it out: parameters are tuned on the "
            "training data, by inner folds where a system learns",
        )
