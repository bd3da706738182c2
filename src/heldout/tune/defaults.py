"""Default grids of the built-in models."""

from __future__ import annotations

from heldout.errors import InputError
from heldout.tune.space import Axis, Space, geometric, linear

__all__ = ["default_space"]


def default_space(model: str) -> Space:
    """Return the default grid of a model, wide enough that its edges are rarely chosen.

    Examples
    --------
    >>> len(default_space("bm25"))
    110
    """
    axes: tuple[Axis, ...]
    if model.startswith("bm25"):
        axes = (geometric("k1", 0.2, 5, 10), linear("b", 0, 1, 11))
    elif model == "ql-jm":
        axes = (linear("lambda", 0, 1, 11),)
    elif model == "ql-dirichlet":
        axes = (geometric("mu", 10, 10_000, 13),)
    elif model == "ql-absolute":
        axes = (linear("delta", 0.1, 1, 10),)
    elif model in ("tf-idf", "pivoted"):
        axes = (linear("s", 0, 1, 11),)
    else:
        raise InputError(f"no default grid for {model}: name its axes, such as --param k1=0.5:3:6")
    return Space(axes)
