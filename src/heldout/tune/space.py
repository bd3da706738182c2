"""A search space: named parameters, the values to try, and the order in which they are tried."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Axis", "Point", "Scale", "Space", "Value", "geometric", "given", "linear", "parse_axis"]

MOST: Final = 1e300
"""Where numbers end: a whole number in Python can be greater than any float."""

MOST_VALUES: Final = 10_000
MOST_POINTS: Final = 1_000_000
MOST_DRAWN: Final = 100_000
"""More values of a parameter, or more points of a space, are a slip of the pen."""

Value = float | int | str | bool
Point = dict[str, Value]
Scale = Literal["linear", "geometric", "given"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and the values to try; `linear`, `geometric` and `given` make one.

    Parameters
    ----------
    name
        Of the parameter.
    values
        All different. Of two values that do equally well the earlier one is chosen.
    scale
        How to draw between the ends: ``linear``, ``geometric``, or only from the values ``given``.
    """

    name: str
    values: tuple[Value, ...]
    scale: Scale = "given"

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip():
            raise InputError(f"{self.name!r} is not the name of a parameter")
        if self.scale not in get_args(Scale):
            expected = ", ".join(get_args(Scale))
            raise InputError(f"{self.name}: scale {self.scale!r}, expected one of {expected}")
        object.__setattr__(self, "values", tuple(self.values))
        _check_values(self.name, self.values)
        if self.scale != "given" and not self.ordered:
            raise InputError(f"{self.name}: a {self.scale} scale is for numbers")

    @property
    def ordered(self) -> bool:
        """Whether the values are numbers, so that there is a lowest and a highest one."""
        return all(_is_number(value) for value in self.values)

    @property
    def whole(self) -> bool:
        """Whether all values are whole numbers, so that only such are drawn."""
        return all(isinstance(value, int) and not isinstance(value, bool) for value in self.values)

    def at_edge(self, value: Value) -> str:
        """``lowest`` or ``highest`` for a value at an end of the axis, else an empty text.

        Values without an order, and an axis with one value, have no ends.
        """
        if len(self.values) < 2 or not self.ordered or not _is_number(value):
            return ""
        numbers = [float(one) for one in self.values]
        if float(value) <= min(numbers):
            return "lowest"
        return "highest" if float(value) >= max(numbers) else ""


def _is_number(value: Value) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_values(name: str, values: tuple[Value, ...]) -> None:
    if not values:
        raise InputError(f"{name}: there is no value to try")
    for value in values:
        if not isinstance(value, int | float | str):
            raise InputError(f"{name}: {value!r} is not a number, a text, true or false")
        if isinstance(value, float) and not math.isfinite(value):
            raise InputError(f"{name}: {value!r} is not a finite number")
    # 1, 1.0 and True are equal to Python; true is another value than 1, but 1.0 is not.
    keys = [(isinstance(value, bool), value) for value in values]
    if len(set(keys)) < len(keys):
        twice = next(key[1] for at, key in enumerate(keys) if key in keys[:at])
        raise InputError(f"{name}: {twice!r} stands twice among the values")


def linear(name: str, low: float, high: float, count: int) -> Axis:
    """Equal steps from `low` to `high`.

    Examples
    --------
    >>> linear("b", 0, 1, 5).values
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> linear("neighbours", 1, 5, 5).values
    (1, 2, 3, 4, 5)
    """
    _check_ends(name, low, high, count)
    return Axis(name, _tidy(np.linspace(float(low), float(high), count), low, high), "linear")


def geometric(name: str, low: float, high: float, count: int) -> Axis:
    """Equal ratios from `low` to `high`.

    Examples
    --------
    >>> geometric("mu", 100, 10_000, 3).values
    (100, 1000, 10000)
    """
    _check_ends(name, low, high, count)
    if low <= 0:
        raise InputError(f"{name}: geometric steps need ends above 0, but it begins at {low:g}")
    return Axis(name, _tidy(np.geomspace(float(low), float(high), count), low, high), "geometric")


def given(name: str, values: Iterable[Value]) -> Axis:
    """The values themselves, the simplest first.

    Examples
    --------
    >>> given("stemmer", ["none", "english"]).values
    ('none', 'english')
    """
    if isinstance(values, str):
        raise InputError(f"{name}: {values!r} is one text, expected a list of values")
    return Axis(name, tuple(values), "given")


def _check_ends(name: str, low: float, high: float, count: int) -> None:
    if not all(_is_number(one) and -MOST < one < MOST for one in (low, high)):
        raise InputError(f"{name}: from {low!r} to {high!r}, expected two finite numbers")
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 2:
        raise InputError(f"{name}: {count!r} values, expected a whole number from 2 on")
    if not low < high:
        raise InputError(f"{name}: from {low:g} to {high:g}, expected a rise")


def _tidy(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], low: float, high: float
) -> tuple[Value, ...]:
    """Values without the noise of the last digits: 0.3, not 0.30000000000000004."""
    found = [float(f"{value:.12g}") for value in values.tolist()]
    found[0], found[-1] = float(low), float(high)
    ends = isinstance(low, int) and isinstance(high, int)
    if ends and all(value.is_integer() for value in found):
        return tuple(int(value) for value in found)
    return tuple(found)


def parse_axis(text: str) -> Axis:
    """Read an axis: equal steps, equal ratios, or values.

    They are written ``k1=0.5:3:11`` (from:to:count), ``mu=100:5000:9:log`` and ``b=0.3,0.5,0.75``.

    Examples
    --------
    >>> parse_axis("k1=0.5:3:6").values
    (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    >>> parse_axis("mu=100:1600:5:log").values
    (100, 200, 400, 800, 1600)
    >>> parse_axis("b=0.3,0.75").values, parse_axis("stem=yes,no").values
    ((0.3, 0.75), ('yes', 'no'))
    """
    name, equals, rest = (part.strip() for part in text.partition("="))
    if not equals or not name or not rest:
        raise InputError(
            f"{text!r} is not a parameter with values: write k1=0.5:3:11 (from:to:count), "
            "mu=100:5000:9:log or b=0.3,0.5,0.75"
        )
    parts = rest.split(":")
    if len(parts) == 1:
        return given(name, [parse_value(one.strip()) for one in rest.split(",")])
    low, high, *more = (parse_value(part.strip()) for part in parts)
    counted = bool(more) and isinstance(more[0], int) and not isinstance(more[0], bool)
    if not counted or more[1:] not in ([], ["log"]):
        raise InputError(f"{text!r}: expected {name}=from:to:count, or {name}=from:to:count:log")
    if int(more[0]) > MOST_VALUES:
        raise InputError(f"{text!r}: {more[0]:,} values, at most {MOST_VALUES:,} can be tried")
    make = geometric if more[1:] else linear
    return make(name, low, high, more[0])  # type: ignore[arg-type] # the ends are checked there


def parse_value(text: str) -> Value:
    """A whole number, a number, true or false, or else the text itself.

    Examples
    --------
    >>> [parse_value(one) for one in ("3", "3.0", "1e-3", "true", "porter")]
    [3, 3.0, 0.001, True, 'porter']
    """
    if not text:
        raise InputError("an empty text is no value: is there a comma too many?")
    if text.lower() in {"true", "false"}:
        return text.lower() == "true"
    for kind in (int, float):
        try:
            # Python would read 1_000 as a number; in a file name it is two parts.
            return text if "_" in text else kind(text)
        except ValueError:
            continue
    return text


@dataclass(frozen=True, slots=True)
class Space:
    """All combinations of the values of some parameters.

    Parameters
    ----------
    axes
        The parameters; none at all is a system with nothing to tune, one point.

    Examples
    --------
    >>> space = Space((given("k1", [1, 2]), given("b", [0.3, 0.5])))
    >>> len(space), space.points()[1]
    (4, {'k1': 1, 'b': 0.5})
    >>> space.edges(0)
    ('k1', 'b')
    """

    axes: tuple[Axis, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes))
        names = [axis.name for axis in self.axes]
        if len(set(names)) < len(names):
            twice = next(name for at, name in enumerate(names) if name in names[:at])
            raise InputError(f"the parameter {twice} stands twice in the search space")
        if len(self) > MOST_POINTS:
            raise InputError(
                f"the search space has {len(self):,} points, at most {MOST_POINTS:,} can be tried: "
                "give fewer values"
            )

    @classmethod
    def parse(cls, texts: Iterable[str]) -> Space:
        """A space of axes as `parse_axis` reads them.

        Examples
        --------
        >>> len(Space.parse(["k1=0.5:3:11", "b=0.3,0.5,0.75"]))
        33
        """
        return cls(tuple(parse_axis(text) for text in texts))

    def __len__(self) -> int:
        return math.prod(len(axis.values) for axis in self.axes)

    def points(self) -> tuple[Point, ...]:
        """All points, the last axis fastest; the earlier of two points is the simpler one."""
        names = [axis.name for axis in self.axes]
        combined = itertools.product(*(axis.values for axis in self.axes))
        return tuple(dict(zip(names, values, strict=True)) for values in combined)

    def point(self, number: int) -> Point:
        """One of the points, without making the others."""
        if not 0 <= number < len(self):
            raise InputError(f"point {number} of {len(self)}: they are numbered from 0")
        rest, places = number, []
        for axis in reversed(self.axes):
            rest, place = divmod(rest, len(axis.values))
            places.append(axis.values[place])
        return dict(zip((axis.name for axis in self.axes), reversed(places), strict=True))

    def edges(self, number: int) -> tuple[str, ...]:
        """The parameters that have their lowest or highest value at this point.

        A parameter with one value, or with values that are not numbers, has no edges.
        """
        point = self.point(number)
        return tuple(axis.name for axis in self.axes if axis.at_edge(point[axis.name]))

    def sample(self, count: int, seed: int = 0) -> tuple[Point, ...]:
        """Points drawn at random, all different, in the order they are drawn.

        Between the ends of a ``linear`` or ``geometric`` axis any value may come (whole numbers if
        its values are), because a random search that draws from a grid tries few values of the
        parameter that matters (Bergstra & Bengio 2012); ``given`` values are drawn as they are.
        The first points of a longer sample are those of a shorter one.

        Parameters
        ----------
        count
            How many; fewer come if there are not so many.
        seed
            Decides them.
        """
        if not isinstance(count, int) or count < 1:
            raise InputError(f"{count!r} points, expected a whole number from 1 on")
        if count > MOST_DRAWN:
            raise InputError(f"{count:,} points, at most {MOST_DRAWN:,} can be drawn: draw fewer")
        generator = np.random.default_rng(seed)
        drawn: dict[tuple[Value, ...], None] = {}
        possible = math.prod(_possible(axis) for axis in self.axes)
        # There are fewer than possible where the ends are so near that hardly any number lies
        # between them: many draws without a new point say so.
        patience = 1000 + (20 * count if math.isfinite(possible) else 0)
        before = missed = 0
        while len(drawn) < min(count, possible) and missed < patience:
            missed = missed + 1 if len(drawn) == before else 0
            before = len(drawn)
            shares = generator.random(len(self.axes)).tolist()
            point = tuple(_at(axis, share) for axis, share in zip(self.axes, shares, strict=True))
            drawn.setdefault(point)
        names = [axis.name for axis in self.axes]
        return tuple(dict(zip(names, point, strict=True)) for point in drawn)


def _ends(axis: Axis) -> tuple[float, float]:
    numbers = [float(value) for value in axis.values]
    return min(numbers), max(numbers)


def _possible(axis: Axis) -> float:
    """How many different values can be drawn."""
    if axis.scale == "given" or len(axis.values) == 1:
        return len(axis.values)
    low, high = _ends(axis)
    return high - low + 1 if axis.whole else math.inf


def _at(axis: Axis, share: float) -> Value:
    """The value at a share of the way from the lowest to the highest."""
    if axis.scale == "given":
        return axis.values[int(share * len(axis.values))]
    low, high = _ends(axis)
    if axis.whole:
        # Every whole number has the room from half below to half above it.
        low, high = low - 0.5, high + 0.5
    if axis.scale == "geometric":
        value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        value = low + share * (high - low)
    return _rounded(value, axis) if axis.whole else value


def _rounded(value: float, axis: Axis) -> int:
    low, high = _ends(axis)
    return int(min(max(round(value), low), high))
