"""Fusion methods: how the scores or ranks that runs give to a document are combined.

A method turns scores or ranks of each run into contributions, and combines the contributions of a
document. Adding a method is a row in `METHODS`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

import numpy as np

from heldout.data.notes import count_of
from heldout.errors import InputError
from heldout.retrieve.contributions import NORMS, normalise
from heldout.retrieve.kernels.fusion_codes import ANZ, MAX, MED, MIN, MNZ, SUM

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.words import Floats
    from heldout.retrieve.joined import Joined

__all__ = ["METHODS", "Fusion", "How", "Norm", "is_method", "method_name"]

How = Literal[
    "rrf",
    "wsum",
    "combsum",
    "combmnz",
    "combmax",
    "combmin",
    "combanz",
    "combmed",
]
Norm = Literal["minmax", "max", "sum", "zscore", "rank", "none"]


class Method(NamedTuple):
    """A way to combine runs.

    Parameters
    ----------
    combination
        How contributions are combined: a code of the compiled loop.
    uses_scores
        Whether scores count, which are normalised, not ranks alone.
    parameters
        Its parameters beside the normalisation.
    summary, policy
        What it computes, and how documents that a run lacks are treated.
    """

    combination: int
    uses_scores: bool
    parameters: tuple[str, ...]
    summary: str
    policy: str


_ZERO: Final = "get 0 from the run"
_HAVING: Final = "only runs that have them count"
METHODS: Final[dict[str, Method]] = {
    "rrf": Method(SUM, False, ("k",), "Σ 1 / (k + rank)", _ZERO),
    "wsum": Method(SUM, True, ("weights",), "Σ weight · score", _ZERO),
    "combsum": Method(SUM, True, (), "sum of the scores", _ZERO),
    "combmnz": Method(MNZ, True, (), "sum × number of runs that have it", _HAVING),
    "combmax": Method(MAX, True, (), "highest score", _HAVING),
    "combmin": Method(MIN, True, (), "lowest score", _HAVING),
    "combanz": Method(ANZ, True, (), "mean of the scores", _HAVING),
    "combmed": Method(MED, True, (), "median of the scores", _HAVING),
}
"""Fusion methods by name."""

_SPELLINGS: Final = {
    **{name.removeprefix("comb"): name for name in METHODS},  # as ranx has them
    **{name: name for name in METHODS},
}
_NORM_SPELLINGS: Final = {**{name: name for name in NORMS}, "zmuv": "zscore", "z": "zscore"}


@dataclass(frozen=True, slots=True)
class Fusion:
    """A fusion method with its parameters, checked; see `fuse`."""

    how: str = "rrf"
    norm: str | None = None
    weights: tuple[float, ...] | None = None
    k: float | None = None

    def __post_init__(self) -> None:
        how = method_name(self.how)
        object.__setattr__(self, "how", how)
        object.__setattr__(self, "norm", _checked_norm(self.norm, how))
        for name, owner in (("weights", "wsum"), ("k", "rrf")):
            if getattr(self, name) is not None and name not in METHODS[how].parameters:
                raise InputError(f"{how} has no {name}: it is a parameter of {owner}")
        if how == "rrf":
            object.__setattr__(self, "k", _number("k", 60 if self.k is None else self.k))
        if self.weights is not None:
            object.__setattr__(self, "weights", _checked_weights(self.weights))

    @property
    def method(self) -> Method:
        """Its definition."""
        return METHODS[self.how]

    def check_runs(self, count: int) -> None:
        """Refuse a number of runs that it cannot combine."""
        if count < 2:
            raise InputError(f"fusion needs two or more runs, got {count}")
        if self.how == "wsum" and self.weights is None:
            example = ",".join([str(round(1 / count, 2))] * count)
            raise InputError(f"wsum needs a weight per run, such as weights={example}")
        if self.weights is not None and len(self.weights) != count:
            given = count_of(len(self.weights), "weight")
            raise InputError(f"{given} for {count} runs: give one per run")

    def __str__(self) -> str:
        """Method and parameters, such as ``wsum(norm=minmax, weights=0.3/0.7)``."""
        shown = [] if self.norm is None else [f"norm={self.norm}"]
        if self.weights is not None:
            shown.append("weights=" + "/".join(f"{one:g}" for one in self.weights))
        if self.k is not None:
            shown.append(f"k={self.k:g}")
        return f"{self.how}({', '.join(shown)})" if shown else self.how

    def without_weights(self) -> Fusion:
        """The same; all that contributions depend on."""
        return replace(self, weights=None)

    def table(self, joined: Joined) -> Floats:
        """What each run gives to each entry (entries × runs), before weights."""
        from heldout.retrieve.kernels.fusion import spread  # the compiler comes with it

        table = np.empty(joined.row_of.shape)
        spread(joined.row_of, self._values(joined), table)
        return table

    def _values(self, joined: Joined) -> Floats:
        """What each row gives to its document."""
        if self.k is not None:
            return 1 / (self.k + joined.ranks().astype(np.float64))
        return normalise(str(self.norm), joined)

    def scores(self, joined: Joined, table: Floats) -> Floats:
        """The fused score of each entry.

        Parameters
        ----------
        table
            What `table` has made of the same.
        """
        from heldout.retrieve.kernels.fusion import add, combine

        scores = np.empty(len(joined))
        runs = table.shape[1]
        weights = np.ones(runs) if self.weights is None else np.array(self.weights)
        if self.method.combination == SUM:
            add(table, weights, scores)
        else:
            combine(table, weights, self.method.combination, scores)
        return scores


def method_name(given: str) -> str:
    """Return the name of a method, in whatever spelling it was given."""
    return _spelled(given, _SPELLINGS, "how", METHODS)


def is_method(given: str) -> bool:
    """Return whether this is the name of a method."""
    return _plain(given) in _SPELLINGS


def _plain(given: Any) -> str:
    return str(given).lower().replace("-", "").replace("_", "")


def _spelled(given: Any, spellings: dict[str, str], what: str, known: Iterable[str]) -> str:
    plain = _plain(given)
    if plain not in spellings:
        raise InputError(f"{what}={given!r}: expected one of {', '.join(known)}")
    return spellings[plain]


def _checked_norm(norm: str | None, how: str) -> str | None:
    if not METHODS[how].uses_scores:
        if norm is not None:
            raise InputError(f"{how} uses ranks alone: leave out norm={norm}")
        return None
    return "minmax" if norm is None else _spelled(norm, _NORM_SPELLINGS, "norm", NORMS)


def _number(name: str, value: Any) -> float:
    number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    if not number or not value >= 0 or math.isinf(value):
        raise InputError(f"{name} is {value!r}: expected a number of at least 0")
    return float(value)


def _checked_weights(weights: Any) -> tuple[float, ...]:
    listed = [weights] if isinstance(weights, int | float) else weights
    if not isinstance(listed, Sequence | np.ndarray) or isinstance(listed, str):
        raise InputError(f"weights={weights!r}: expected a number per run")
    found = tuple(_number("weights", one) for one in listed)
    if not any(found):
        raise InputError("all weights are 0: nothing would be ranked")
    return found
