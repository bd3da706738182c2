"""A search space: named parameters, the values to try, and their order."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeGuard

import numpy as np

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST: Final = 1e300
"""The largest float: Python integers can be larger."""

MOST_VALUES: Final = 10_000
MOST_POINTS: Final = 1_000_000
"""More values per parameter, or more points per space, are taken for a mistake."""

Value = float | int | str | bool
Point = dict[str, Value]
Scale = Literal["linear", "geometric", "given"]


@dataclass(frozen=True, slots=True)
class Axis:
    """A parameter and the values to try, all different; made by `linear`, `geometric` or `given`.

    Ties between values go to the earlier one. The `scale` is how to sample between the ends:
    ``linear``, ``geometric``, or only the values ``given``.
    """

    name: str
    values: tuple[Value, ...]
    scale: Scale = "given"

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError(f"{self.name}: no values to try")
        for value in self.values:
            if not isinstance(value, int | float | str):
                raise InputError(f"{self.name}: {value!r} is not a number, a string, true or false")
            if isinstance(value, float) and not math.isfinite(value):
                raise InputError(f"{self.name}: {value!r} is not a finite number")
        # Python treats 1, 1.0 and True as equal; here True differs from 1, but 1.0 does not.
        keys = [(isinstance(value, bool), value) for value in self.values]
        if len(set(keys)) < len(keys):
            twice = next(key[1] for place, key in enumerate(keys) if key in keys[:place])
            raise InputError(f"{self.name}: duplicate value {twice!r}")

    @property
    def whole(self) -> bool:
        """Whether all values are integers, so that only integers are sampled."""
        return all(isinstance(value, int) and not isinstance(value, bool) for value in self.values)

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest value of a parameter with numbers."""
        numbers = [float(value) for value in self.values]
        return min(numbers), max(numbers)

    def at_edge(self, value: object) -> bool:
        """Whether a value is at an end; unordered or single values have no ends."""
        numbers = all(map(_is_number, self.values))
        if len(self.values) < 2 or not numbers or not _is_number(value):
            return False
        low, high = self.ends
        return value <= low or value >= high


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def linear(name: str, low: float, high: float, count: int) -> Axis:
    """Return an axis with equal steps from `low` to `high`.

    >>> linear("b", 0, 1, 5).values
    (0.0, 0.25, 0.5, 0.75, 1.0)
    >>> linear("neighbours", 1, 5, 5).values
    (1, 2, 3, 4, 5)
    """
    _check_ends(name, low, high, count)
    return Axis(name, _tidy(np.linspace(float(low), float(high), count), low, high), "linear")


def geometric(name: str, low: float, high: float, count: int) -> Axis:
    """Return an axis with equal ratios from `low` to `high`.

    >>> geometric("mu", 100, 10_000, 3).values
    (100, 1000, 10000)
    """
    _check_ends(name, low, high, count)
    if low <= 0:
        raise InputError(f"{name}: geometric steps need a start above 0, not {low:g}")
    return Axis(name, _tidy(np.geomspace(float(low), float(high), count), low, high), "geometric")


def given(name: str, values: Iterable[Value]) -> Axis:
    """Return an axis of the given values, simplest first."""
    return Axis(name, tuple(values), "given")


def _check_ends(name: str, low: float, high: float, count: int) -> None:
    if not all(_is_number(end) and -MOST < end < MOST for end in (low, high)):
        raise InputError(f"{name}: from {low!r} to {high!r}, expected two finite numbers")
    if count < 2:
        raise InputError(f"{name}: {count!r} values, expected an integer of at least 2")
    if not low < high:
        raise InputError(f"{name}: from {low:g} to {high:g}, the first must be the lower")


def _tidy(
    values: np.ndarray[tuple[int], np.dtype[np.float64]], low: float, high: float
) -> tuple[Value, ...]:
    """Round away noise in the last digits: 0.3, not 0.30000000000000004."""
    rounded = [float(f"{value:.12g}") for value in values.tolist()]
    rounded[0], rounded[-1] = float(low), float(high)
    whole = isinstance(low, int) and isinstance(high, int)
    if whole and all(value.is_integer() for value in rounded):
        return tuple(int(value) for value in rounded)
    return tuple(rounded)


def parse_axis(text: str) -> Axis:
    """Read an axis: equal steps, equal ratios, or a list of values.

    They are written ``k1=0.5:3:11`` (from:to:count), ``mu=100:5000:9:log`` and ``b=0.3,0.5,0.75``.

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
        return given(name, [parse_value(part.strip()) for part in rest.split(",")])
    low, high, *more = (parse_value(part.strip()) for part in parts)
    counted = bool(more) and isinstance(more[0], int) and not isinstance(more[0], bool)
    if not counted or more[1:] not in ([], ["log"]):
        raise InputError(f"{text!r}: expected {name}=from:to:count, or {name}=from:to:count:log")
    if int(more[0]) > MOST_VALUES:
        raise InputError(f"{text!r}: {more[0]:,} values, at most {MOST_VALUES:,} are allowed")
    make = geometric if more[1:] else linear
    return make(name, low, high, more[0])  # type: ignore[arg-type] # the ends are checked there


def parse_value(text: str) -> Value:
    """Read an integer, a float, true or false; any other text is returned as it is.

    >>> [parse_value(text) for text in ("3", "3.0", "1e-3", "true", "porter")]
    [3, 3.0, 0.001, True, 'porter']
    """
    if not text:
        raise InputError("empty value: is there a comma too many?")
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
    """All combinations of the values of several parameters, or some points of them.

    A space without parameters has one point: a system with nothing to tune. If there are `rows`
    (see `listed`), these are the points; they need not form a grid.

    >>> space = Space((given("k1", [1, 2]), given("b", [0.3, 0.5])))
    >>> len(space), space.points()[1]
    (4, {'k1': 1, 'b': 0.5})
    """

    axes: tuple[Axis, ...] = ()
    rows: tuple[Point, ...] | None = None

    def __post_init__(self) -> None:
        names = [axis.name for axis in self.axes]
        if len(set(names)) < len(names):
            twice = next(name for place, name in enumerate(names) if name in names[:place])
            raise InputError(f"duplicate parameter {twice} in the search space")
        if len(self) > MOST_POINTS:
            raise InputError(
                f"the search space has {len(self):,} points, at most {MOST_POINTS:,} are allowed: "
                "give fewer values"
            )

    @classmethod
    def listed(cls, rows: Sequence[Point]) -> Space:
        """Return a space of some points, the simplest first, all with the same parameters.

        >>> space = Space.listed([{"k1": 1, "b": 0.3}, {"k1": 2, "b": 0.5}, {"k1": 3, "b": 0.3}])
        >>> [axis.values for axis in space.axes], len(space)
        ([(1, 2, 3), (0.3, 0.5)], 3)
        """
        axes = [given(name, dict.fromkeys(row[name] for row in rows)) for name in rows[0]]
        return cls(tuple(axes), tuple(rows))

    def __len__(self) -> int:
        if self.rows is not None:
            return len(self.rows)
        return math.prod(len(axis.values) for axis in self.axes)

    def points(self) -> tuple[Point, ...]:
        """Return all points, last axis fastest; of two points the earlier one is the simpler."""
        if self.rows is not None:
            return self.rows
        names = [axis.name for axis in self.axes]
        combined = itertools.product(*(axis.values for axis in self.axes))
        return tuple(dict(zip(names, values, strict=True)) for values in combined)

    def sample(self, count: int, seed: int = 0) -> tuple[Point, ...]:
        """Return distinct points sampled at random, in the order in which they were drawn.

        On a ``linear`` or ``geometric`` axis any value between the ends may be drawn (integers if
        its values are integers), because a random search over a grid tries few values of the
        parameter that matters (Bergstra & Bengio 2012). ``given`` values are drawn as they are. A
        longer sample begins with the points of a shorter one, and a parameter with one value does
        not change what is drawn. Fewer points are returned if the space has fewer.
        """
        generator = np.random.default_rng(seed)
        tuned = [axis for axis in self.axes if len(axis.values) > 1]
        drawn: dict[tuple[Value, ...], None] = {}
        possible = math.prod(_possible(axis) for axis in tuned)
        while len(drawn) < min(count, possible):
            shares = generator.random(len(tuned)).tolist()
            point = tuple(_at(axis, share) for axis, share in zip(tuned, shares, strict=True))
            drawn.setdefault(point)
        fixed = {axis.name: axis.values[0] for axis in self.axes}  # in the order of the axes
        names = [axis.name for axis in tuned]
        return tuple({**fixed, **dict(zip(names, point, strict=True))} for point in drawn)


def _possible(axis: Axis) -> float:
    """Return the number of distinct values that can be drawn."""
    if axis.scale == "given" or len(axis.values) == 1:
        return len(axis.values)
    low, high = axis.ends
    return high - low + 1 if axis.whole else math.inf


def _at(axis: Axis, share: float) -> Value:
    """Return the value at a fraction of the way from the lowest to the highest."""
    if axis.scale == "given":
        return axis.values[int(share * len(axis.values))]
    lowest, highest = axis.ends
    # Every integer gets the interval from one half below to one half above it.
    low, high = (lowest - 0.5, highest + 0.5) if axis.whole else axis.ends
    if axis.scale == "geometric":
        value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
    else:
        value = low + share * (high - low)
    return int(min(max(round(value), lowest), highest)) if axis.whole else value
