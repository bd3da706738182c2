"""An experiment with systems that rank, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from heldout.data.collection import collection_sizes
from heldout.infer.results import count_of
from heldout.report.grid import Grid
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.results import Results
    from heldout.experiment.settings import RankingSettings

__all__ = ["parameters", "ranking_plan", "ranking_sentences", "ranking_tables"]

_WHAT: Final = {"query": "queries", "document": "documents", "both": "queries and documents"}


def ranking_tables(results: Results) -> list[Grid]:
    """One table a measure: a row a system."""
    return [_table(results, measure) for measure in results.measures]


def _number(value: float | None, form: str = ".4f") -> str:
    return "—" if value is None else f"{value:{form}}"


def _table(results: Results, measure: str) -> Grid:
    first = results.estimate(results.systems[0], measure)
    level = f"{first['level']:.0%} interval"
    rows = [["system", "values", f"{measure} held out", level, "seen", "optimism", "queries"]]
    for one in results.summary:
        found = results.estimate(one["name"], measure)
        bounds = "—" if found["low"] is None else f"[{found['low']:.4f}, {found['high']:.4f}]"
        optimism = _number(found["optimism"], "+.4f") if one["tuned"] else "—"
        rows.append(
            [
                one["name"],
                str(one["points"]),
                _number(found["value"]),
                bounds,
                _number(found["train"]),
                optimism,
                f"{found['n_queries']:,}",
            ]
        )
    head, *rows = [[plain_text(cell) for cell in row] for row in rows]
    return Grid(head, rows)


def ranking_sentences(results: Results) -> Iterator[str]:
    """What the numbers are, and what to ship."""
    settings = results.manifest["settings"]
    what = _WHAT[settings["by"]]
    splits = count_of(settings["splits"], "split")
    plan = plain_text(settings["plan"])
    own = settings["plan_seed"]
    seed = "" if own is None or "seed=" in plan else f", seed {own}"
    yield (
        f"{splits} of the {what} by {plan}{seed}; parameters are chosen by {settings['tune_for']} "
        "on what is seen, and never by what is held out."
    )
    yield from _meanings(results)
    yield from _document_differences(results)
    yield "Seen: the same on the data that the parameters were chosen on, which flatters."
    for one in results.summary:
        if one["tuned"]:
            yield (
                f"To ship: {plain_text(one['name'])} with {parameters(one['ship'])}, chosen on "
                "everything. The held-out estimate stands for it, and is slightly pessimistic: the "
                "choices in it were made on less data."
            )


def _meanings(results: Results) -> Iterator[str]:
    """What the estimates are of, once for all systems of which it is the same."""
    found: dict[str, list[str]] = {}
    for one in results.summary:
        first = one["estimates"][0]
        size = first["target_size"]
        words = first["estimand"]
        if results.manifest["settings"]["by"] != "query" and size is not None:
            words += f", {size:,} of them"
        words = f"{words} ({first['estimator']}, interval: {first['interval']})"
        found.setdefault(words, []).append(plain_text(one["name"]))
    for words, names in found.items():
        of = "" if len(found) == 1 else f" of {', '.join(names)}"
        yield f"The held-out estimate{of} is for {words}."


def _document_differences(results: Results) -> Iterator[str]:
    """Which system is better on new documents: a question that tests over queries do not answer."""
    level = results.level
    for one in results.summary:
        for found in one.get("differences", ()):
            sure = found["low"] > 0 or found["high"] < 0
            yield (
                f"On new documents, for these queries: {plain_text(one['name'])} − "
                f"{plain_text(found['system'])} in {plain_text(found['measure'])} is "
                f"{found['difference']:+.4f}, {level:.0%} interval {found['low']:+.4f} to "
                f"{found['high']:+.4f}{'' if sure else ', which holds zero'}."
            )


def parameters(values: dict[str, Any]) -> str:
    """Parameters as they are written: ``k1=1.2, b=0.75``."""
    shown = (
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in values.items()
        if value is not None
    )
    return plain_text(", ".join(shown)) or "no parameters"


def ranking_plan(settings: RankingSettings) -> list[str]:
    """What would be run: the collection, the plan and the measures, a line each."""
    collection, plan = settings.collection, plain_text(repr(settings.splits.plan))
    measures = ", ".join(map(str, settings.measures))
    return [
        f"{plain_text(collection.name)}: {collection_sizes(collection)}",
        f"{count_of(len(settings.splits), 'split')} of the {_WHAT[settings.by]} by {plan}",
        f"measures: {measures}; parameters are chosen by {settings.tune_for}",
    ]
