"""Results as something to read: text for a terminal, tables for files, HTML for a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.report.table import Table

# By name instead of functools.singledispatch: registering the types would import all of them.
# Each class has NAME_text(result, full=, width=, quiet=) and NAME_tables(result) in a module.
VIEWS: Final = {
    "Agreement": "agreement.judges",
    "BiasStudy": "studies.study",
    "Comparison": "comparison.comparison",
    "Evaluation": "evaluation.evaluation",
    "Results": "experiment.results",
    "Description": "listings.splits",
    "PowerPlan": "power.power",
}


def text(result: Any, *, full: bool = False, width: int | None = None, quiet: bool = False) -> str:
    """A result for people; `full` adds what not everybody needs, `quiet` leaves out the notes."""
    return str(_view(result, "text")(result, full=full, width=width, quiet=quiet))


def tables(result: Any) -> list[Table]:
    """All tables of a result, with the answer as the first title and the notes below."""
    return list(_view(result, "tables")(result))


def _view(result: Any, form: str) -> Callable[..., Any]:
    name = next(VIEWS[kind.__name__] for kind in type(result).__mro__ if kind.__name__ in VIEWS)
    module, _, prefix = name.partition(".")
    view: Callable[..., Any] = getattr(import_module(f"{__name__}.{module}"), f"{prefix}_{form}")
    return view
