"""Measures of ranked lists as values: families of them, cutoffs, parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.errors import MeasureError
from heldout.measure.base import Measure, UnitSums, UnitValues
from heldout.measure.parameters import Gains, Value, fit_parameter, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, Task, UnitScores
    from heldout.measure.ranking.judged import Judged

__all__ = ["Family", "Gains", "RankingMeasure", "Value", "family", "make_measure"]

FamilyAggregate = Literal["mean", "sum", "gmean", "text"]
Cutoff = Literal["none", "optional", "rank", "recall"]

EXTERNAL = "ir_measures"
"""The family of all measures that the package of that name computes."""

GEOMETRIC_FLOOR: Final = 1e-5
"""The least value that goes into a geometric mean (trec_eval)."""

JUDGED_ONLY = "judged_only"
"""The parameter that every family has: leave out retrieved documents without a judgement."""


class Family(NamedTuple):
    """What all measures of one name have in common.

    Parameters
    ----------
    name
        The canonical name.
    compute
        ``compute(judged, cutoff, **parameters)`` gives one number a query.
    defaults
        The parameters and their default values.
    cutoff
        ``none``, ``optional`` (a rank), ``rank`` (must be given) or ``recall`` (a share).
    aggregate
        How the numbers of the queries become one.
    bounds
        The least and the greatest value.
    higher_is_better
        The direction; None for mere counts.
    """

    name: str
    compute: Callable[..., Floats]
    defaults: tuple[tuple[str, Value], ...]
    cutoff: Cutoff = "optional"
    aggregate: FamilyAggregate = "mean"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool | None = True
    integral: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]


_families: dict[str, Family] = {}
_aliases: dict[str, str] = {}


def family(
    name: str,
    *,
    aliases: Iterable[str] = (),
    cutoff: Cutoff = "optional",
    aggregate: FamilyAggregate = "mean",
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool | None = True,
    integral: bool = False,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Make a function over `Judged` a family of measures.

    Its keyword-only parameters, with their defaults, are the parameters of the measures.
    """

    def register(compute: Callable[..., Floats]) -> Callable[..., Floats]:
        own = getattr(compute, "__kwdefaults__", None) or {}
        defaults = (*own.items(), (JUDGED_ONLY, False))
        add_family(
            Family(name, compute, defaults, cutoff, aggregate, bounds, higher_is_better, integral),
            aliases,
        )
        return compute

    return register


def add_family(new: Family, aliases: Iterable[str] = ()) -> None:
    """Make a family known under its name and its aliases."""
    _families[new.name] = new
    _aliases[new.name.lower()] = new.name
    for alias in aliases:
        _aliases[alias.lower()] = new.name


def families() -> Mapping[str, Family]:
    """All families by canonical name."""
    import heldout.measure.ranking.binary  # noqa: F401 - they register themselves

    return _families


def find_family(spelling: str) -> Family | None:
    """The family that goes by a name or an alias, in upper or lower case."""
    name = canonical(spelling)
    return None if name is None else _families[name]


def canonical(spelling: str) -> str | None:
    """The name of the family for a spelling; upper and lower case do not matter."""
    families()
    return spelling if spelling in _families else _aliases.get(spelling.lower())


def known_spellings() -> dict[str, str]:
    """Every spelling in small letters, and the name of its family."""
    families()
    return {**_aliases, **{name.lower(): name for name in _families}}


def spellings(name: str) -> list[str]:
    """The other names under which a family is known."""
    return [alias for alias, known in _aliases.items() if known == name and alias != name.lower()]


@dataclass(frozen=True, slots=True, repr=False)
class RankingMeasure(Measure):
    """A measure of ranked lists.

    Parameters
    ----------
    family
        The canonical name of its family.
    cutoff
        A rank, a recall level, or None.
    params
        Every parameter of the family with its value, defaults included.

    Examples
    --------
    >>> make_measure("nDCG", 10, {"dcg": "exp"})
    Measure("nDCG(dcg='exp-log2')@10")
    >>> make_measure("P", 5, {"rel": 2}) == make_measure("P", 5)
    False
    """

    family: str
    cutoff: int | float | None = None
    params: tuple[tuple[str, Value], ...] = field(default=())

    def __str__(self) -> str:
        defaults = dict(self.definition.defaults)
        shown = [f"{k}={show_value(v)}" for k, v in self.params if v != defaults.get(k)]
        inner = f"({', '.join(shown)})" if shown else ""
        if self.family == EXTERNAL:
            return str(self.options["name"])
        at = "" if self.cutoff is None else f"@{show_value(self.cutoff)}"
        return f"{self.family}{inner}{at}"

    def __matmul__(self, cutoff: Any) -> Any:
        """The measure at a cutoff, or at each of several: ``AP @ 10``, ``AP @ [10, 100]``."""
        if isinstance(cutoff, int | float):
            return make_measure(self.family, cutoff, self.options)
        return [self @ one for one in cutoff]

    @property
    def task(self) -> Task:
        """Ranking."""
        return "ranking"

    @property
    def aggregate(self) -> Aggregate:
        """A mean, but for counts that are added up and geometric means."""
        aggregate = self.definition.aggregate
        if aggregate == "text":
            return "none"
        return "mean" if aggregate == "mean" else "sums"

    @property
    def range(self) -> tuple[float, float]:
        """The bounds of its family."""
        return self.definition.bounds

    @property
    def higher_is_better(self) -> bool | None:
        """The direction; None for mere counts."""
        return self.definition.higher_is_better

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, and the cutoff."""
        return {**self.options, "cutoff": self.cutoff}

    def values(self, judged: Judged) -> NDArray[Any]:
        """The value of every query; numbers, or texts."""
        options = {key: value for key, value in self.params if key != JUDGED_ONLY}
        view = judged.only_judged() if self.options.get(JUDGED_ONLY) else judged
        return self.definition.compute(view, self.cutoff, **options)

    def unit_scores(self, given: Judged, positive: str | None = None) -> UnitScores | None:
        """What is kept of the queries of one run."""
        del positive
        return None if self.aggregate == "none" else self.of_values(self.values(given))

    def of_values(self, values: NDArray[Any]) -> UnitScores:
        """What is kept of queries, by their values."""
        numbers = values.astype(np.float64)
        aggregate = self.definition.aggregate
        if aggregate == "mean":
            return UnitValues(numbers)
        if aggregate == "sum":
            return UnitSums(numbers[:, None], lambda sums: sums[:, 0])
        logs = np.log(np.maximum(numbers, GEOMETRIC_FLOOR))
        return UnitSums(np.column_stack([logs, np.ones(len(logs))]), _geometric)

    @property
    def definition(self) -> Family:
        """The family it belongs to."""
        return families()[self.family]

    @property
    def options(self) -> dict[str, Value]:
        """The parameters as a dictionary."""
        return dict(self.params)

    def with_defaults(self, **changes: Value) -> RankingMeasure:
        """Set the given parameters where the family has them and they are at their default.

        A parameter that is None by default is left alone: RBP is graded unless its own name says
        ``rel``, whatever ``-l`` is.
        """
        defaults = dict(self.definition.defaults)
        fits = _settable(self.definition, changes)
        params = tuple(
            (k, fits[k] if k in fits and v == defaults[k] else v) for k, v in self.params
        )
        return RankingMeasure(self.family, self.cutoff, params)


def _geometric(sums: Floats) -> Floats:
    counted = np.maximum(sums[:, 1], 1.0)
    return np.where(sums[:, 1] > 0, np.exp(sums[:, 0] / counted), np.nan)


def summarise(measure: RankingMeasure, values: NDArray[Any]) -> float:
    """One number for all queries: mean, sum or geometric mean, as the measure has it.

    Sums run in the order of the queries, as trec_eval's do, so that the last digit agrees.
    """
    how = measure.definition.aggregate
    if how == "text" or not len(values):
        return math.nan
    if how == "gmean":
        logs = np.log(np.maximum(values.astype(np.float64), GEOMETRIC_FLOOR))
        return math.exp(float(np.cumsum(logs)[-1]) / len(values))
    total = float(np.cumsum(values)[-1])
    return total if how == "sum" else total / len(values)


def _settable(known: Family, wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Of settings for all measures, those that a family has a default for."""
    own = dict(known.defaults)
    return {key: value for key, value in wanted.items() if own.get(key) is not None}


def make_measure(
    name: str,
    cutoff: float | None = None,
    given: Mapping[str, Value] | None = None,
    defaults: Mapping[str, Value] | None = None,
) -> RankingMeasure:
    """Make a measure of a known family, checking cutoff and parameters.

    Parameters
    ----------
    given
        Parameters that are set.
    defaults
        Values for parameters that the family has and that are not set.
    """
    known = families()[name]
    own = dict(known.defaults)
    given = {**_settable(known, defaults or {}), **(given or {})}
    for key, value in given.items():
        if key not in own:
            raise MeasureError(
                f"{name} has no parameter {key!r}; it has {', '.join(own) or 'none'}"
            )
        given[key] = fit_parameter(name, key, value, own[key])
    params = tuple((key, given.get(key, default)) for key, default in known.defaults)
    return RankingMeasure(name, _check_cutoff(known, cutoff), params)


def _check_cutoff(known: Family, cutoff: float | None) -> int | float | None:
    if cutoff is None:
        if known.cutoff in {"rank", "recall"}:
            example = "10" if known.cutoff == "rank" else "0.1"
            raise MeasureError(f"{known.name} needs a cutoff, for example {known.name}@{example}")
        return None
    if known.cutoff == "none":
        raise MeasureError(f"{known.name} takes no cutoff (got @{cutoff:g})")
    if known.cutoff == "recall":
        if not 0 <= cutoff <= 1:
            raise MeasureError(f"{known.name}@{cutoff:g}: a recall level is from 0 to 1")
        return float(cutoff)
    if not 1 <= cutoff <= GREATEST_CUTOFF or cutoff != int(cutoff):
        raise MeasureError(
            f"{known.name}@{cutoff:g}: a cutoff is a whole number from 1 on, "
            f"at most {GREATEST_CUTOFF:,}"
        )
    return int(cutoff)


GREATEST_CUTOFF = 10**9
