"""Every chart that a comparison allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.infer.compare import Comparison
    from heldout.report.charts.named import NamedChart

__all__ = ["charts_of_comparison"]


def charts_of_comparison(
    comparison: Comparison, *, texts: Mapping[str, str] | None = None
) -> tuple[NamedChart, ...]:
    """Every chart that a comparison allows.

    Parameters
    ----------
    comparison
        Of `heldout.compare` or `Results.compare`.
    texts
        The text of each unit (query) by its id, to be shown beside it.
    """
    del comparison, texts
    return ()
