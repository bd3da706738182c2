"""User-defined functions as measures of predictions and texts.

Such a function takes the truth and the predictions of some units and returns a number. It is
treated as an order statistic: under resampling it is called again for the units drawn.
"""

from __future__ import annotations

import inspect
import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from heldout.data.predictions import ClassPredictions
from heldout.errors import HeldoutError, MeasureError, failure
from heldout.measure.base import LackingError, Measure, Order
from heldout.measure.parameters import fit_parameter, show_value
from heldout.measure.syntax import read_arguments, read_value

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.words import Floats
    from heldout.measure.base import Aggregate, Task
    from heldout.measure.base import Task as PredictionTask
    from heldout.measure.parameters import Value

    Own = Callable[..., float]

__all__ = [
    "PredictedFunction",
    "TextFunction",
    "find_function",
    "function_measure",
    "function_names",
    "keep_function",
]

_known: dict[tuple[str, str], PredictedFunction | TextFunction] = {}


@dataclass(frozen=True, slots=True, repr=False)
class PredictedFunction(Measure):
    """A function of the truth and the predictions of units.

    Parameters
    ----------
    family
        Name of the measure.
    task
        ``classification`` (it gets the names of classes) or ``regression``.
    function
        ``function(truth, predicted, **parameters)``, both being arrays.
    params
        Its keyword-only parameters with their values.
    higher_is_better
        Whether higher values are better.
    bounds
        The lowest and highest possible value.
    """

    family: str
    task: PredictionTask
    function: Own
    params: tuple[tuple[str, Value], ...] = ()
    higher_is_better: bool = True
    bounds: tuple[float, float] = (-math.inf, math.inf)

    def __str__(self) -> str:
        return _shown(self.family, self.function, self.params)

    @property
    def aggregate(self) -> Aggregate:
        """``order``: called again for every set of units."""
        return "order"

    @property
    def range(self) -> tuple[float, float]:
        """The given bounds."""
        return self.bounds

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword-only parameters."""
        return dict(self.params)

    def units(self, given: Any) -> Order:
        """Return the function as a score under integer weights."""
        if given.weights is not None:
            raise LackingError("user-defined functions do not support weighted units")
        truth, predicted = self._values(given)

        def drawn(at: Any) -> float:
            return _called(self, truth[at], predicted[at])

        return Order(len(given.units), _resampled(drawn), lambda _: "the function returned NaN")

    def _values(self, given: Any) -> tuple[Any, Any]:
        if not isinstance(given, ClassPredictions):
            return given.truth, given.predicted
        if given.predicted is None:
            raise MeasureError(f"{self}: {given.name} has scores but no predictions")
        names = np.array(given.classes)
        return names[given.truth], names[given.predicted]


@dataclass(frozen=True, slots=True, repr=False)
class TextFunction(Measure):
    """A function of references and texts.

    Parameters
    ----------
    name, function, params, higher, limits
        As for `PredictedFunction`. The function gets two lists: references (one text each, or a
        tuple of texts where a segment has several), and the system's texts.
    """

    name: str
    function: Own
    params: tuple[tuple[str, Value], ...] = ()
    higher: bool = True
    limits: tuple[float, float] = (-math.inf, math.inf)

    task: ClassVar[Task] = "text"

    def __str__(self) -> str:
        return _shown(self.name, self.function, self.params)

    @property
    def family(self) -> str:
        """The name of the measure."""
        return self.name

    @property
    def higher_is_better(self) -> bool:
        """Whether higher values are better."""
        return self.higher

    @property
    def aggregate(self) -> Aggregate:
        """``order``: called again for every set of segments."""
        return "order"

    @property
    def range(self) -> tuple[float, float]:
        """The given bounds."""
        return self.limits

    @property
    def parameters(self) -> dict[str, Any]:
        """The keyword-only parameters."""
        return dict(self.params)

    def units(self, given: Any) -> Order:
        """Return the function as a score under integer weights."""
        references, system = given.references, given.system
        single = all(len(texts) == 1 for texts in references.texts)
        wanted = [texts[0] if single else texts for texts in references.texts]
        written = [texts[0] for texts in system.texts]

        def drawn(at: Sequence[int]) -> float:
            return _called(self, [wanted[one] for one in at], [written[one] for one in at])

        return Order(len(wanted), _resampled(drawn), lambda _: "the function returned NaN")


def _resampled(drawn: Callable[[Any], float]) -> Callable[[Floats], Floats]:
    """Turn a function of unit indexes into a function of unit counts."""

    def found(weights: Floats) -> Floats:
        units = np.arange(weights.shape[1])
        return np.array([drawn(np.repeat(units, row.astype(np.int64))) for row in weights])

    return found


def _called(measure: PredictedFunction | TextFunction, truth: Any, predicted: Any) -> float:
    if not len(truth):
        return math.nan
    try:
        return float(measure.function(truth, predicted, **dict(measure.params)))
    except (HeldoutError, KeyboardInterrupt):
        raise
    except BaseException as error:
        raise MeasureError(failure(f"the measure {measure.family}", error)) from error


def _shown(name: str, function: Own, params: tuple[tuple[str, Value], ...]) -> str:
    defaults = dict(keyword_defaults(name, function))
    given = [f"{key}={show_value(value)}" for key, value in params if value != defaults[key]]
    return f"{name}({', '.join(given)})" if given else name


def keyword_defaults(name: str, function: Own) -> tuple[tuple[str, Value], ...]:
    """Return the keyword-only parameters of a function and their defaults; all must have one."""
    parameters = inspect.signature(function).parameters.values()
    keywords = [one for one in parameters if one.kind is one.KEYWORD_ONLY]
    if any(one.default is one.empty for one in keywords):
        raise MeasureError(f"{name}: every keyword-only parameter needs a default")
    return tuple((one.name, one.default) for one in keywords)


def checked_name(name: str | None, function: Own) -> str:
    """Return the name of a function as a measure: the given one, else the function's own."""
    called = name or str(getattr(function, "__name__", ""))
    if not isinstance(called, str) or not re.fullmatch(r"[^\W\d]\w*", called):
        raise MeasureError(f"{called!r} cannot name a measure: use letters, digits and _")
    return called


def function_measure(
    function: Own,
    task: Task,
    *,
    name: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    higher_is_better: bool = True,
) -> PredictedFunction | TextFunction:
    """Return a measure of predictions or texts computed by a function.

    Parameters
    ----------
    function
        Function of the truth and the predictions of some units.
    task
        ``classification``, ``regression`` or ``text``.
    name
        Name of the measure; by default the function's name.
    bounds
        The lowest and highest possible value.
    higher_is_better
        Whether higher values are better.
    """
    called = checked_name(name, function)
    params = keyword_defaults(called, function)
    if task == "text":
        return TextFunction(called, function, params, higher_is_better, bounds)
    if task == "ranking":
        raise MeasureError(f"{called}: a measure of rankings is a function of a RankedList")
    return PredictedFunction(called, task, function, params, higher_is_better, bounds)


def keep_function(measure: PredictedFunction | TextFunction) -> None:
    """Register a function under its name and task."""
    _known[measure.task, measure.family.lower()] = measure


def function_names(task: str) -> list[str]:
    """Return the names of all functions registered for a task."""
    return [measure.family for measure in _known.values() if measure.task == task]


def find_function(task: str, name: str) -> PredictedFunction | TextFunction | None:
    """Return the function registered under a name, with the parameters in the name.

    Parameters
    ----------
    task
        Task of the measure.
    name
        For example ``Spread`` or ``Spread(power=3)``.
    """
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\))?\s*", name, re.DOTALL)
    known = _known.get((task, match[1].lower())) if match else None
    if match is None or known is None:
        return None
    given = {key: read_value(name, text) for key, text in read_arguments(name, match[2]).items()}
    own = dict(known.params)
    for key, value in given.items():
        if key not in own:
            raise MeasureError(
                f"{known.family} has no parameter {key!r}; it has {', '.join(own) or 'none'}"
            )
        own[key] = fit_parameter(known.family, key, value, own[key])
    return replace(known, params=tuple(own.items()))
