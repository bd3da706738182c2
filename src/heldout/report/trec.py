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
    """The lines that trec_eval prints; options are its -q, -c, -n (turned round), -J and -M."""
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
        line.label: _column(view, line.label, line.measure, missing)
        for line in lines
        if line.measure is not None
    }
    if per_query:
        for row in np.flatnonzero(counted).tolist():
            for line in lines:
                if line.single and line.measure is not None:
                    value = columns[line.label][row]
                    yield _line(line.label, line.measure, judged.queries[row], value)
    if summary:
        if complete:  # 10.0 then counts all grades above 0 in the qrels, whatever -l says
            columns["num_rel"] = parse_measure("num_rel", "ranking").units(view).per_unit()
        yield from _final(run, lines, columns, counted)


def _with_stand_ins(judged: Judged) -> Judged:
    """With -c trec_eval gives a query that the run lacks one document that is not in the qrels."""
    retrieved = np.where(judged.present, judged.retrieved, 1)
    return replace(judged, retrieved=retrieved, present=np.ones_like(judged.present), _cache={})


def _column(view: Judged, label: str, measure: Measure, missing: Flags) -> NDArray[Any]:
    """All values of one line; what the stand-in would show is cleared where trec_eval does so."""
    values = measure.units(view).per_unit()
    if measure.family in {"IPrec", "IPrec11"}:
        values[_zero_by_zero(view, measure)] = np.nan
    if label in _CLEARED or label.startswith("unj"):
        values[missing] = "" if measure.family == "RelString" else 0.0
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


def _final(
    run: Run, lines: list[TrecLine], columns: dict[str, NDArray[Any]], counted: Flags
) -> Iterator[str]:
    for line in lines:
        if line.final and line.measure is None:
            yield f"{line.label:<22}\tall\t{run.name}\n"
        elif line.final and line.measure is not None:
            values = Means(columns[line.label][counted], how=line.measure.definition.how)
            yield _line(line.label, line.measure, "all", values.value())


def _line(label: str, measure: Measure, query: str, value: Any) -> str:
    if measure.definition.how == "text":
        shown = f"'{value}'"
    elif measure.definition.integral:
        shown = str(int(value))
    elif math.isnan(value):
        shown = "  -nan"  # what C prints for 0.0 / 0.0 on x86
    else:
        shown = f"{value:6.4f}"
    return f"{label:<22}\t{query}\t{shown}\n"
