"""The agreement of judges as one part of a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.as_json import plain
from heldout.report.agreement import (
    agreement_dict,
    agreement_legends,
    agreement_sentences,
    agreement_tables,
    order_sentences,
)
from heldout.report.page.citations import measure_methods
from heldout.report.page.drawn import made_charts
from heldout.report.page.parts import PageTable, Part
from heldout.report.tables import tables_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.agreement import Agreement
    from heldout.report.charts.named import NamedChart

__all__ = ["part_of_agreement"]


def part_of_agreement(agreement: Agreement, *, provenance: Sequence[tuple[str, str]] = ()) -> Part:
    """Return the agreement of machine judgements with human ones as a part of a page.

    Parameters
    ----------
    agreement
        Of `heldout.agree`.
    provenance
        Names and values to start with, such as the files.
    """
    charts, left_out = made_charts(lambda: _charts(agreement))
    measures = [one.measure for one in agreement.judges[0].orders]
    tables = agreement_tables(agreement, full=True)
    correlated = ["tau-ap", "rbo", "bootstrap"] if measures else []
    return Part(
        heading="Agreement of judges",
        answer=(*agreement_sentences(agreement), *order_sentences(agreement)),
        about=(*agreement_legends(agreement), _INTERVALS),
        tables=tuple(PageTable(one, latex=tables_text([one], "latex")) for one in tables),
        charts=charts,
        checks=(*agreement.notes, *left_out),
        provenance=(*provenance, ("level", f"{agreement.level:g}"), ("rel", str(agreement.rel))),
        methods=("kappa", "alpha", *correlated, *measure_methods(measures)),
    )


_INTERVALS = (
    "Intervals treat queries as the units: documents of a query are not independent. Those of the "
    "statistics of agreement come from the jackknife, those of the order of systems from the "
    "bootstrap."
)


def _charts(agreement: Agreement) -> tuple[NamedChart, ...]:
    from heldout.report.charts.of_agreement import charts_of_agreement

    return charts_of_agreement(plain(agreement_dict(agreement)))
