"""The output of trec_eval 10.0, byte for byte."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import InputError
from heldout.measure.base import Means
from heldout.measure.names import parse_measure
from heldout.measure.ranking.binary import hits_for_recall
from heldout.measure.ranking.judged import join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.data.words import Flags
    from heldout.measure.base import Measure
    from heldout.measure.ranking.judged import Judged
    from heldout.measure.ranking.trec_names import TrecLine

__all__ = ["trec_output"]

_CLEARED = frozenset({"num_ret", "utility", "relstring", "rbp_resid"})


def trec_output(
    qrels: Qrels,
    run: Run,
    lines: list[TrecLine],
    *,
    per_query: bool = False,
    complete: bool = False,
    summary: bool = True,
    judged_only: bool = False,
    depth: int | None = None,
) -> Iterator[str]:
    """Give the lines that trec_eval prints.

    Parameters
    ----------
    per_query, complete, summary, judged_only, depth
        trec_eval's -q, -c, -n (turned round), -J and -M.
    """
    judged = join(qrels, run, depth)
    counted = np.ones(len(judged), np.bool_) if complete else judged.present
    if not judged.present.any():
        raise InputError(
            f"run {run.name} and the qrels have no query in common: the run has "
            f"{', '.join(run.queries[:3])}, the qrels have {', '.join(qrels.queries[:3])}"
        )
    missing = ~judged.present
    view = _with_stand_ins(judged) if complete else judged
    if judged_only:
        view = view.only_judged()
    columns = {
        line.label: _column(view, line, missing) for line in lines if line.measure is not None
    }
    if per_query:
        yield from _single(judged, lines, columns, counted)
    if summary:
        if complete:  # 10.0 then counts all grades above 0 in the qrels, whatever -l says
            columns["num_rel"] = parse_measure("num_rel", "ranking").units(view).per_unit()
        yield from _final(run, lines, columns, counted)


def _with_stand_ins(judged: Judged) -> Judged:
    """With -c trec_eval gives a query that the run lacks one document that is not in the qrels."""
    retrieved = np.where(judged.present, judged.retrieved, 1)
    return replace(judged, retrieved=retrieved, present=np.ones_like(judged.present), _cache={})


def _column(view: Judged, line: TrecLine, missing: Flags) -> NDArray[Any]:
    """All values of one line; what the stand-in would show is cleared where trec_eval does so."""
    assert line.measure is not None  # noqa: S101 - the caller leaves the run's id out
    values = line.measure.units(view).per_unit()
    if line.measure.family in {"IPrec", "IPrec11"}:
        values[_zero_by_zero(view, line.measure)] = np.nan
    if line.label in _CLEARED or line.label.startswith("unj"):
        values[missing] = "" if line.measure.family == "RelString" else 0.0
    return values


def _zero_by_zero(view: Judged, measure: Measure) -> Flags:
    """Lists of which -J leaves nothing: there trec_eval takes 0 / 0 as precision at recall 0."""
    empty: Flags = (view.retrieved == 0) & view.present
    if not empty.any():
        return empty
    relevant = view.relevant(int(measure.parameters["rel"]))
    if measure.cutoff is not None:
        levels = [measure.cutoff]
    else:
        levels = [float(level) for level in str(measure.parameters["levels"]).split(",")]
    empty &= np.any([hits_for_recall(level, relevant) == 0 for level in levels], axis=0)
    return empty


def _single(
    judged: Judged, lines: list[TrecLine], columns: dict[str, NDArray[Any]], counted: Flags
) -> Iterator[str]:
    shown = [line for line in lines if line.single]
    for row in np.flatnonzero(counted).tolist():
        query = judged.queries[row]
        for line in shown:
            yield _line(line, query, columns[line.label][row])


def _final(
    run: Run, lines: list[TrecLine], columns: dict[str, NDArray[Any]], counted: Flags
) -> Iterator[str]:
    for line in lines:
        if not line.final:
            continue
        if line.measure is None:
            yield f"{line.label:<22}\tall\t{run.name}\n"
        else:
            values = Means(columns[line.label][counted], how=line.measure.definition.how)
            yield _line(line, "all", values.value())


def _line(line: TrecLine, query: str, value: Any) -> str:
    assert line.measure is not None  # noqa: S101 - the caller leaves the run's id out
    definition = line.measure.definition
    if definition.how == "text":
        shown = f"'{value}'"
    elif definition.integral:
        shown = str(int(value))
    elif math.isnan(value):
        shown = "  -nan"  # what C prints for 0.0 / 0.0 on x86
    else:
        shown = f"{value:6.4f}"
    return f"{line.label:<22}\t{query}\t{shown}\n"
