"""Stand-in until all charts are found here."""

from __future__ import annotations

from typing import Any

from heldout.report.charts.draw import Chart


def charts(of: Any, *, measure: Any = None, texts: Any = None, compared: Any = None) -> list[Chart]:
    from heldout.as_json import plain
    from heldout.infer.agreement import Agreement
    from heldout.infer.comparison import Comparison
    from heldout.report.charts import of_agreement, of_comparison, of_results
    from types import SimpleNamespace

    if isinstance(of, Agreement):
        found = of_agreement.charts_of_agreement(plain(of.to_dict()))
    elif isinstance(of, Comparison):
        found = of_comparison.charts_of_comparison(of, texts=texts, unit=of.scores.unit)
    elif isinstance(of, list):
        found = of_agreement.charts_of_measures(of)
    elif hasattr(of, "draws") or type(of).__name__ == "BiasStudy":
        from heldout.report.charts import of_study

        found = of_study.charts_of_study(of)
    else:
        collection = texts and SimpleNamespace(queries=SimpleNamespace(to_dict=lambda: texts))
        found = of_results.charts_of(
            of, measure=measure, collection=collection, comparison=compared
        )
    return [Chart(c.key, c.title, c.caption, c.frame, c.chart) for c in found]
