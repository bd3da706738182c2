"""Ranking measures: families, cutoffs, parameters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from heldout.errors import MeasureError
from heldout.measure.base import Means, Measure
from heldout.measure.parameters import Gains, Value, fit_parameter, show_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from numpy.typing import NDArray

    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, How, Task, UnitScores
    from heldout.measure.ranking.judged import Judged

__all__ = ["Family", "Gains", "RankingMeasure", "Value", "family", "make_measure"]

FamilyAggregate = Literal["mean", "sum", "gmean", "text"]
Cutoff = Literal["none", "optional", "rank", "recall"]

JUDGED_ONLY = "judged_only"
"""The parameter of every family that ignores retrieved documents without a judgement."""


class Family(NamedTuple):
    """The definition shared by all measures of one name.

    Parameters
    ----------
    name
        The canonical name.
    compute
        ``compute(judged, cutoff, **parameters)`` returns one number per query.
    defaults
        The parameters and their default values.
    cutoff
        ``none``, ``optional`` (a rank), ``rank`` (required) or ``recall`` (a recall level).
    aggregate
        How the values of queries are combined.
    bounds
        The lowest and highest possible value.
    higher_is_better
        Whether higher values are better; None for counts.
    subtopics
        Whether it needs judgements by subtopic.
    """

    name: str
    compute: Callable[..., Floats]
    defaults: tuple[tuple[str, Value], ...]
    cutoff: Cutoff = "optional"
    aggregate: FamilyAggregate = "mean"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool | None = True
    integral: bool = False
    subtopics: bool = False

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
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
    subtopics: bool = False,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Register a function of `Judged` as a family of measures.

    Its keyword-only parameters, with their defaults, become the parameters of the measures.
    """

    def register(compute: Callable[..., Floats]) -> Callable[..., Floats]:
        own = getattr(compute, "__kwdefaults__", None) or {}
        defaults = (*own.items(), (JUDGED_ONLY, False))
        new = Family(
            name,
            compute,
            defaults,
            cutoff,
            aggregate,
            bounds,
            higher_is_better,
            integral,
            subtopics,
        )
        add_family(new, aliases)
        return compute

    return register


def add_family(new: Family, aliases: Iterable[str] = ()) -> None:
    """Register a family under its name and its aliases."""
    _families[new.name] = new
    _aliases[new.name.lower()] = new.name
    for alias in aliases:
        _aliases[alias.lower()] = new.name


def families() -> Mapping[str, Family]:
    """Return all families by canonical name."""
    import heldout.measure.ranking.binary  # noqa: F401 - they register themselves

    return _families


def find_family(spelling: str) -> Family | None:
    """Return the family for a name or an alias, ignoring case."""
    name = canonical(spelling)
    return None if name is None else _families[name]


def canonical(spelling: str) -> str | None:
    """Return the name of the family for a spelling, ignoring case."""
    families()
    return spelling if spelling in _families else _aliases.get(spelling.lower())


def known_spellings() -> dict[str, str]:
    """Return every spelling in lower case, and the name of its family."""
    families()
    return {**_aliases, **{name.lower(): name for name in _families}}


def spellings(name: str) -> list[str]:
    """Return the aliases of a family."""
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
        at = "" if self.cutoff is None else f"@{show_value(self.cutoff)}"
        return f"{self.family}{inner}{at}"

    def __matmul__(self, cutoff: Any) -> Any:
        """Return the measure at one or several cutoffs: ``AP @ 10``, ``AP @ [10, 100]``."""
        if isinstance(cutoff, int | float):
            return make_measure(self.family, cutoff, self.options)
        return [self @ one for one in cutoff]

    @property
    def task(self) -> Task:
        """Ranking."""
        return "ranking"

    @property
    def aggregate(self) -> Aggregate:
        """A mean, except for counts, which are summed, and geometric means."""
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
        """Whether higher values are better; None for counts."""
        return self.definition.higher_is_better

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters, and the cutoff."""
        return {**self.options, "cutoff": self.cutoff}

    def values(self, judged: Judged) -> NDArray[Any]:
        """Return the value of every query: numbers, or texts."""
        options = {key: value for key, value in self.params if key != JUDGED_ONLY}
        view = judged.only_judged() if self.options.get(JUDGED_ONLY) else judged
        return self.definition.compute(view, self.cutoff, **options)

    def units(self, given: Judged) -> UnitScores:
        """Return the values of the queries of one run."""
        return self.of_values(self.values(given))

    def of_values(self, values: NDArray[Any]) -> Means:
        """Return values of queries, with how they are combined."""
        hows: dict[str, How] = {"sum": "sum", "gmean": "geometric"}
        return Means(values, how=hows.get(self.definition.aggregate, "mean"))

    @property
    def definition(self) -> Family:
        """The family it belongs to."""
        return families()[self.family]

    @property
    def options(self) -> dict[str, Value]:
        """The parameters as a dictionary."""
        return dict(self.params)

    def with_defaults(self, **changes: Value) -> RankingMeasure:
        """Set parameters that the family has and that are at their default.

        A parameter whose default is None is not changed: RBP is graded unless its own name sets
        ``rel``, for any ``-l``.
        """
        defaults = dict(self.definition.defaults)
        fits = _settable(self.definition, changes)
        params = tuple(
            (k, fits[k] if k in fits and v == defaults[k] else v) for k, v in self.params
        )
        return RankingMeasure(self.family, self.cutoff, params)


def _settable(known: Family, wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Return the settings for which a family has a default."""
    own = dict(known.defaults)
    return {key: value for key, value in wanted.items() if own.get(key) is not None}


def make_measure(
    name: str,
    cutoff: float | None = None,
    given: Mapping[str, Value] | None = None,
    defaults: Mapping[str, Value] | None = None,
) -> RankingMeasure:
    """Create a measure of a known family, checking cutoff and parameters.

    Parameters
    ----------
    given
        Parameters to set.
    defaults
        Values for other parameters that the family has.
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
            raise MeasureError(f"{known.name}@{cutoff:g}: a recall level must be between 0 and 1")
        return float(cutoff)
    if not 1 <= cutoff <= GREATEST_CUTOFF or cutoff != int(cutoff):
        raise MeasureError(
            f"{known.name}@{cutoff:g}: a cutoff must be a positive integer, "
            f"at most {GREATEST_CUTOFF:,}"
        )
    return int(cutoff)


GREATEST_CUTOFF = 10**9
