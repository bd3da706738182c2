"""What a measure is: one function with a decorator, which returns one of three kinds of scores.

`Means` has a value per unit, `Sums` a table that is added up before it is scored (F1, RMSE, BLEU),
`Order` must see all units at once (AUC, the median). Evaluation and inference need nothing else: a
bootstrap sample, a permutation and a fold are rows of weights, one column per unit.
"""

from __future__ import annotations

import inspect
import math
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Final,
    Literal,
    NamedTuple,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from heldout.errors import MeasureError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heldout.data.words import Floats, Ints

Task = Literal["ranking", "classification", "regression", "text"]
TASKS: Final[tuple[Task, ...]] = get_args(Task)
Gains = tuple[tuple[int, float], ...]  # of grades, sorted by grade
Value = bool | int | float | str | None | Gains
Cutoff = Literal["none", "optional", "rank", "recall"]  # what may follow @
How = Literal["mean", "sum", "geometric", "text"]  # values of queries are combined
Aggregate = Literal["mean", "sums", "order", "none"]  # none: a text per query has no score
GEOMETRIC_FLOOR: Final = 1e-5  # the lowest value in a geometric mean (trec_eval)
JUDGED_ONLY: Final = "judged_only"  # the parameter of all measures of rankings
DENSE: Final = 1_000_000  # numbers up to which a row per unit is faster than counting kinds


@dataclass(frozen=True, slots=True)
class Undefined:
    """A value that is undefined, with the reason; never 0 and never NaN."""

    reason: str

    def __str__(self) -> str:
        return "—"


Number = float | Undefined


class LackingError(MeasureError):
    """The data lack what a measure needs: its value is undefined."""


# Scores of units


def _no_reason(_: Floats) -> str:
    return "undefined for these units"


class Means(NamedTuple):
    """A value per unit, and their mean (or sum, or geometric mean); NaN: the unit is left out."""

    values: NDArray[Any]
    weights: Floats | None = None  # of the units
    how: How = "mean"
    reason: str = "no unit has a value"

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.values)

    def value(self) -> float:
        """Return the score of all units; NaN if it is undefined."""
        if self.values.dtype.kind == "O":  # texts
            return math.nan
        if self.weights is not None:
            return float(self.weighted(np.ones((1, len(self.values))))[0])
        known = self.values[~np.isnan(self.values)]
        if not len(known):
            return math.nan
        if self.how == "geometric":
            logs = np.log(np.maximum(known.astype(np.float64), GEOMETRIC_FLOOR))
            return math.exp(float(np.cumsum(logs)[-1]) / len(known))
        # cumsum adds in the order of the units, as trec_eval does; sum adds in pairs.
        total = float(np.cumsum(known)[-1])
        return total if self.how == "sum" else total / len(known)

    def per_unit(self) -> NDArray[Any]:
        """Return the value of each unit."""
        return self.values

    def weighted(self, rows: Floats) -> Floats:
        """Return the score under each row of weights, one column per unit."""
        known = ~np.isnan(self.values)
        weights = known if self.weights is None else known * self.weights
        values = np.where(known, self.values, 0.0)
        if self.how == "geometric":
            values = np.log(np.maximum(values, GEOMETRIC_FLOOR))
        sums, total = (rows @ np.column_stack([values * weights, weights])).T
        if self.how == "sum":
            return np.asarray(sums, np.float64)
        mean = quotient(sums, total)
        found: Floats = np.exp(mean) if self.how == "geometric" else mean
        return found

    def why(self) -> str:
        """Say why the score is undefined."""
        return self.reason


class Sums(NamedTuple):
    """A score of sums over units: what a unit adds is a row of the table.

    Where many units add the same (they are in the same cell of a confusion matrix), the table has
    one row per kind of unit: 200,000 units of 20 classes need 400 rows instead of 100 MB.
    """

    table: Floats
    score: Callable[[Floats], Floats]  # rows of sums -> scores, NaN where undefined
    reason: Callable[[Floats], str] = _no_reason  # the sums of all units -> why there is no score
    kinds: Ints | None = None  # the row of each unit; None: each has its own
    weights: Floats | None = None

    @property
    def size(self) -> int:
        """The number of units."""
        return len(self.table if self.kinds is None else self.kinds)

    def rows(self) -> Floats:
        """Return what each unit adds, multiplied by its weight."""
        table = self.table if self.kinds is None else self.table[self.kinds]
        return table if self.weights is None else table * self.weights[:, None]

    def total(self) -> Floats:
        """Return the sums of all units, in one row."""
        if self.kinds is None:
            return np.asarray(self.rows().sum(axis=0, keepdims=True), np.float64)
        return np.bincount(self.kinds, self.weights, len(self.table))[None] @ self.table

    def value(self) -> float:
        """Return the score of all units; NaN if it is undefined."""
        return float(self.score(self.total())[0])

    def per_unit(self) -> Floats:
        """Return the score of each unit alone."""
        scores = self.score(self.table)
        return scores if self.kinds is None else scores[self.kinds]

    def weighted(self, rows: Floats) -> Floats:
        """Return the score under each row of weights, one column per unit."""
        rows = rows if self.weights is None else rows * self.weights
        if self.kinds is None:
            return self.score(rows @ self.table)
        if len(self.kinds) * self.table.shape[1] < DENSE:
            return self.score(rows @ self.table[self.kinds])
        counts = np.stack([np.bincount(self.kinds, row, len(self.table)) for row in rows])
        return self.score(counts @ self.table)

    def why(self) -> str:
        """Say why the score is undefined."""
        return self.reason(self.total())


class Order(NamedTuple):
    """A score that is computed from all units again for each row of weights."""

    size: int
    score: Callable[[Floats], Floats]  # rows of weights -> scores, NaN where undefined
    reason: Callable[[Floats], str] = _no_reason  # the weights of all units -> why
    weights: Floats | None = None

    def value(self) -> float:
        """Return the score of all units; NaN if it is undefined."""
        return float(self.weighted(np.ones((1, self.size)))[0])

    def per_unit(self) -> Floats:
        """Refuse: one unit has no order."""
        raise MeasureError("it is computed from all units together: single ones have no value")

    def weighted(self, rows: Floats) -> Floats:
        """Return the score under each row of weights, one column per unit."""
        return self.score(rows if self.weights is None else rows * self.weights)

    def why(self) -> str:
        """Say why the score is undefined."""
        return self.reason(np.ones((1, self.size)) if self.weights is None else self.weights[None])


UnitScores = Means | Sums | Order


def as_sums(units: Means | Sums) -> Sums:
    """Return a mean as a score of sums: of the values, and of the units that have one."""
    if isinstance(units, Sums):
        return units
    known = ~np.isnan(units.values)
    table = np.column_stack([np.where(known, units.values, 0.0), known.astype(np.float64)])
    return Sums(table, lambda sums: quotient(sums[:, 0], sums[:, 1]), weights=units.weights)


def quotient(above: Floats, below: Floats) -> Floats:
    """Divide; NaN, which means undefined, where the divisor is 0."""
    found: Floats = np.full(np.shape(above), np.nan)
    return np.divide(above, below, out=found, where=np.asarray(below) != 0)


# Parameters


class Within(NamedTuple):
    """The allowed numbers of a parameter, for annotations; of a text, those between its commas."""

    low: float
    high: float
    words: str

    def allows(self, value: Any) -> bool:
        """Return whether all numbers are in the range."""
        try:
            numbers = map(float, value.split(",")) if isinstance(value, str) else [value]
            return all(self.low <= number <= self.high for number in numbers)
        except ValueError:
            return False


Share = Annotated[float, Within(0.0, 1.0, "a number from 0 to 1")]
Positive = Annotated[float, Within(5e-324, 1e9, "a number above 0")]
NotNegative = Annotated[float, Within(0.0, 1e9, "a non-negative number")]
Zero = Annotated[float, Within(0.0, 0.0, "0")]
AtLeastOne = Annotated[int, Within(1, 10**9, "an integer of at least 1")]


def show_value(value: object) -> str:
    """Return a value as printed in a name, so that it can be parsed again."""
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{grade}: {show_value(gain)}" for grade, gain in value) + "}"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return repr(value)


class Parameter(NamedTuple):
    """One keyword-only argument of a measure's function."""

    name: str  # as in names of measures: `class` for the argument `class_`
    default: Value
    kind: Any  # bool, int, float, str, tuple (gains), or object (anything)
    is_optional: bool = False  # None is allowed
    choices: Mapping[str, str] = types.MappingProxyType({})  # with other spellings of them
    within: Within | None = None

    @classmethod
    def of(cls, name: str, default: Value, annotation: Any) -> Parameter:
        """Read an annotation: a type, Literal or Annotated, each also with ``| None``."""
        kind, within, choices = annotation, None, {}
        is_optional = get_origin(kind) in {Union, types.UnionType} and type(None) in get_args(kind)
        if is_optional:
            kind = next(part for part in get_args(kind) if part is not type(None))
        if get_origin(kind) is Annotated:
            kind, more = get_args(kind)
            within, choices = (None, more) if isinstance(more, dict) else (more, {})
        if get_origin(kind) is Literal:
            kind, choices = str, {choice: choice for choice in get_args(kind)} | choices
        kind = get_origin(kind) or kind
        return cls(name.rstrip("_"), default, kind, is_optional, choices, within)

    def check(self, value: Any) -> Value:
        """Return a value as the parameter's type; raise an error for what does not fit."""
        if value is None and self.is_optional:
            return None
        checked = value
        if self.choices:
            is_right = value in self.choices
            checked = self.choices[value] if is_right else value
        elif self.kind in {int, float}:
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            is_right = is_number and math.isfinite(value) and value == self.kind(value)
            checked = self.kind(value) if is_right else value
        elif self.kind is tuple:
            checked = tuple(sorted(value.items())) if isinstance(value, dict) else value
            is_right = type(checked) is tuple and all(math.isfinite(gain) for _, gain in checked)
        else:
            is_right = isinstance(value, self.kind)
        if not is_right or (self.within and not self.within.allows(checked)):
            raise MeasureError(f"{self.name}={show_value(value)}: expected {self.expected()}")
        return checked  # type: ignore[no-any-return]

    def expected(self) -> str:
        """Say what is allowed."""
        if self.choices:
            return f"one of {', '.join(dict.fromkeys(self.choices.values()))}"
        words = {bool: "True or False", int: "an integer", float: "a number", str: "text"}
        gains = "finite gains, for example {0: 0, 1: 1, 2: 3}"
        return self.within.words if self.within else words.get(self.kind, gains)


# Definitions


@dataclass(frozen=True, eq=False)
class Definition:
    """All that is known about a measure: its function, and the arguments of the decorator."""

    name: str
    task: Task
    compute: Callable[..., Any]  # of the data, the cutoff unless there is none, and parameters
    aliases: tuple[str, ...] = ()
    cutoff: Cutoff = "none"
    how: How = "mean"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool | None = True
    integral: bool = False
    shown: tuple[str, ...] = ()  # parameters that are part of the name even at their default
    needs: str = ""  # what of the data it needs: scores, probabilities, subtopics, ...
    fixed: Mapping[str, Value] = field(default_factory=dict)  # parameters that the name implies
    labels: Callable[..., dict[str, Any]] = dict  # parameters as in the signature of a text measure
    own: Callable[..., Any] | None = None  # the function of a user

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The keyword-only arguments of its function; of rankings also ``judged_only``."""
        arguments = inspect.signature(self.compute).parameters.values()
        keywords = {
            argument.name: argument
            for argument in arguments
            if argument.kind is argument.KEYWORD_ONLY and argument.name not in self.fixed
        }
        holder = types.SimpleNamespace(
            __annotations__={name: argument.annotation for name, argument in keywords.items()}
        )
        hints = get_type_hints(holder, self.compute.__globals__, include_extras=True)
        known = [Parameter.of(name, each.default, hints[name]) for name, each in keywords.items()]
        more = [Parameter(JUDGED_ONLY, default=False, kind=bool)] if self.task == "ranking" else []
        return (*known, *more)

    @property
    def aggregate(self) -> Aggregate:
        """How the score of a set of units is computed: the kind that its function returns."""
        hows: dict[str, Aggregate] = {"mean": "mean", "text": "none"}
        kinds: dict[str, Aggregate] = {"Means": "mean", "Sums": "sums", "Order": "order"}
        if self.task == "ranking":
            return hows.get(self.how, "sums")
        return kinds[str(self.compute.__annotations__["return"])]

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]

    @property
    def formula(self) -> str:
        """What its docstring says after ``Formula:``."""
        _, _, text = (self.compute.__doc__ or "").partition("Formula:")
        return " ".join(text.partition("\n\n")[0].split())

    def make(
        self,
        given: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        cutoff: float | None = None,
    ) -> Measure:
        """Return a measure with these parameters; `defaults` are for others that it has."""
        known = {parameter.name: parameter for parameter in self.parameters}
        # A measure of grades (RBP, whose rel is None) stays one for any threshold.
        spared = {name for name, each in known.items() if name == "rel" and each.is_optional}
        usual = {name: value for name, value in (defaults or {}).items() if name in known}
        wanted = {name: value for name, value in usual.items() if name not in spared} | dict(
            given or {}
        )
        for name in wanted:
            if name not in known:
                there = ", ".join(known) or "none"
                raise MeasureError(f"{self.name} has no parameter {name!r}; it has {there}")
        try:
            params = tuple(
                (name, parameter.check(wanted[name]) if name in wanted else parameter.default)
                for name, parameter in known.items()
            )
        except MeasureError as error:
            raise MeasureError(f"{self.name}: {error}") from None
        return Measure(self.task, self.name, params, self._checked(cutoff))

    def _checked(self, cutoff: float | None) -> int | float | None:
        """Return a cutoff that the measure can have; raise an error for any other."""
        if cutoff is None:
            if self.cutoff in {"rank", "recall"}:
                example = f"{self.name}@{10 if self.cutoff == 'rank' else 0.1}"
                raise MeasureError(f"{self.name} needs a cutoff, for example {example}")
            return None
        if self.cutoff == "none":
            raise MeasureError(f"{self.name} takes no cutoff (got @{cutoff:g})")
        if self.cutoff == "recall":
            is_right, words = 0 <= cutoff <= 1, "a recall level must be between 0 and 1"
        else:
            is_right = 1 <= cutoff <= 10**9 and cutoff == int(cutoff)
            words = "a cutoff must be a positive integer, at most 1,000,000,000"
        if not is_right:
            raise MeasureError(f"{self.name}@{cutoff:g}: {words}")
        return float(cutoff) if self.cutoff == "recall" else int(cutoff)


Function = TypeVar("Function", bound=Callable[..., Any])

DEFINITIONS: Final[dict[tuple[str, str], Definition]] = {}
"""All measures by task and name: F is a measure of rankings and of classes."""

_MODULES: Final[dict[str, tuple[str, ...]]] = {
    "ranking": ("counts", "diversity", "graded", "user_models", "binary"),
    "classification": ("classes", "probabilities", "order"),
    "regression": ("numbers", "order"),
    "text": ("sacrebleu_measures", "overlap", "meteor", "perplexity", "embeddings"),
}


def definitions(task: str) -> dict[str, Definition]:
    """Return all measures of a task by name; their modules are imported when they are needed."""
    folder = task if task in {"ranking", "text"} else "prediction"
    modules = [f"heldout.measure.{folder}.{name}" for name in _MODULES[task]]
    places = {import_module(name).__name__: place for place, name in enumerate(modules)}
    known = [definition for (of, _), definition in DEFINITIONS.items() if of == task]
    known.sort(key=lambda definition: places.get(definition.compute.__module__, len(places)))
    return {definition.name: definition for definition in known}


def measure(name: str, task: Task, **about: Any) -> Callable[[Function], Function]:
    """Register a function as a measure; `about` are fields of its `Definition`."""

    def register(compute: Function) -> Function:
        DEFINITIONS[task, name] = Definition(name, task, compute, **about)
        return compute

    return register


# Measures


@dataclass(frozen=True, repr=False)
class Measure:
    """A measure with all its parameters: hashable, and equal to another if all of them are equal.

    ``str(measure)`` is its name, which `heldout.parse_measure` reads back.
    """

    task: Task
    family: str
    params: tuple[tuple[str, Value], ...] = ()
    cutoff: int | float | None = None

    @property
    def definition(self) -> Definition:
        """What all measures of this name share."""
        known = DEFINITIONS.get((self.task, self.family))
        if known is None and ":" in self.family:  # of another process
            from heldout.measure.custom import sklearn_definition

            return sklearn_definition(self.task, self.family)
        return known or definitions(self.task)[self.family]

    @property
    def aggregate(self) -> Aggregate:
        """How the score of a set of units is computed."""
        return self.definition.aggregate

    @property
    def parameters(self) -> dict[str, Any]:
        """Every parameter with its value, defaults included."""
        return dict(self.params)

    @property
    def range(self) -> tuple[float, float]:
        """The lowest and highest possible value."""
        return self.definition.bounds

    @property
    def higher_is_better(self) -> bool | None:
        """Whether higher values are better; None for counts."""
        return self.definition.higher_is_better

    @property
    def needs_scores(self) -> bool:
        """Whether it needs scores for the classes, not only predicted classes."""
        return self.definition.needs in {"scores", "probabilities"}

    def units(self, given: Any) -> UnitScores:
        """Return the scores of one system's units: all that evaluation and inference need.

        `given` depends on the task: `Judged`, `ClassPredictions`, `NumberPredictions` or `Texts`.
        """
        definition, options = self.definition, self.parameters
        if self.task == "ranking":
            given = given.only_judged() if options.pop(JUDGED_ONLY) else given
        elif "class" in options:
            options["class_"] = options.pop("class")
        cutoff = () if definition.cutoff == "none" else (self.cutoff,)
        computed = definition.compute(given, *cutoff, **options, **definition.fixed)
        if self.task == "ranking":  # a value per query
            return Means(computed, how=definition.how)
        scores: UnitScores = computed
        return scores if given.weights is None else scores._replace(weights=given.weights)

    def compute(self, given: Any) -> Number:
        """Return the score of all units, or `Undefined` with the reason."""
        try:
            scores = self.units(given)
        except LackingError as error:
            return Undefined(str(error))
        score = scores.value()
        return Undefined(scores.why()) if math.isnan(score) else score

    def __str__(self) -> str:
        definition, options = self.definition, self.parameters
        arguments = []
        for parameter in definition.parameters:
            name, value = parameter.name, options[parameter.name]
            is_shown = name in definition.shown and value is not None
            if name == "average" and options.get("class") is not None:
                continue  # of one class there is none
            if value == parameter.default and not is_shown:
                continue
            if parameter.choices and self.task == "classification":
                arguments.append(str(value))
            else:
                text = _show_text(value) if name == "class" else show_value(value)
                arguments.append(f"{name}={text}")
        inner = f"({', '.join(arguments)})" if arguments else ""
        return f"{self.family}{inner}{'' if self.cutoff is None else f'@{show_value(self.cutoff)}'}"

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    def __matmul__(self, cutoff: Any) -> Any:
        """Return the measure at one or several cutoffs: ``AP @ 10``, ``AP @ [10, 100]``."""
        if isinstance(cutoff, int | float):
            return self.definition.make(self.parameters, cutoff=cutoff)
        return [self @ each for each in cutoff]

    def __reduce__(self) -> Any:
        fields, definition = (self.task, self.family, self.params, self.cutoff), self.definition
        if definition.own is None or ":" in self.family:
            return Measure, fields
        from heldout.measure.custom import own_measure  # a user's function goes with its measure

        known = (definition.own, definition.bounds, definition.higher_is_better)
        return own_measure, (*known, *fields)


def _show_text(value: Any) -> str:
    """Return the name of a class, in quotes where it could not be parsed without."""
    is_plain = re.fullmatch(r"[^,'\"{}()\s=](?:[^,'\"{}()=]*[^,'\"{}()\s=])?", value)
    return str(value) if is_plain else f'"{value}"' if "'" in value else f"'{value}'"
