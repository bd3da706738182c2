"""An experiment with systems that rank, in tables and in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.notes import count_of
from heldout.report.tables import Table, plain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.experiment.manifest import SettingsRecord
    from heldout.experiment.prepare import PreparedRankings
    from heldout.experiment.results.results import Results
    from heldout.experiment.results.summary import SystemDifference, SystemSummary

__all__ = [
    "document_answers",
    "parameters",
    "ranking_plan",
    "ranking_sentences",
    "ranking_tables",
    "validates",
]


def ranking_tables(results: Results) -> list[Table]:
    """One table per measure, with one row per system; one more with the estimates of each judge."""
    tables = [_table(results, measure) for measure in results.measures]
    return [*tables, *([machine_table(results)] if len(results.machine) else [])]


def machine_table(results: Results) -> Table:
    """What each of the judgements says alone, one row per system and measure."""
    several = len(results.measures) > 1
    rows = []
    for one in results.summary:
        for found in one["estimates"]:
            if "machine" not in found:
                continue
            parts = found["machine"]
            human = parts["human"]
            cells = [
                f"{one['name']}, {found['measure']}" if several else one["name"],
                f"{human['value']:z.4f}",
                f"[{human['low']:z.4f}, {human['high']:z.4f}]",
                f"{parts['machine']['value']:z.4f}",
                f"{parts['effective_queries']:.0f}",
            ]
            rows.append([plain_text(cell) for cell in cells])
    head = ["one judge alone", "human", f"{results.level:.0%} CI", "machine (biased)"]
    return Table([*head, "counts like"], rows)


def _number(value: float | None, form: str = "z.4f") -> str:
    return "—" if value is None else f"{value:{form}}"


def _table(results: Results, measure: str) -> Table:
    """Held-out score and interval; of tuned systems the training score and the parameters, too."""
    tuned = any(one["tuned"] for one in results.summary)
    head = [f"held-out {measure}", "score", f"{results.level:.0%} CI"]
    head += ["training", "selected parameters"] if tuned else []
    rows = []
    for one in results.summary:
        found = results.estimate(one["name"], measure)
        bounds = "—" if found["low"] is None else f"[{found['low']:z.4f}, {found['high']:z.4f}]"
        cells = [one["name"], _number(found["value"]), bounds]
        if tuned:
            cells += [
                _number(found["train"]) if one["tuned"] else "—",
                _selected(results, one) if one["tuned"] else "—",
            ]
        rows.append([plain_text(cell) for cell in cells])
    return Table([plain_text(cell) for cell in head], rows)


def _selected(results: Results, system: SystemSummary) -> str:
    """The parameters selected on all data, and in how many splits the same were selected."""
    chosen = results.chosen(system["name"])
    same = sum(one == system["ship"] for one in chosen)
    return f"{parameters(system['ship'])} ({same} of {len(chosen)})"


def ranking_sentences(results: Results, *, full: bool = False) -> Iterator[str]:
    """How the numbers were made; with `full` what each of them means."""
    settings = results.manifest["settings"]
    tuned = any(one["tuned"] for one in results.summary)
    yield from _meanings(results, full=full)
    yield from _judges(results)
    yield f"{plain_text(settings['plan_in_words'])}{_tuned_words(settings) if tuned else ''}."
    if not (full and tuned):
        return
    yield (
        "The training score is measured on the data used for tuning and is therefore optimistic."
    )
    yield (
        "Selected parameters are tuned on all data; in parentheses: splits that selected the same. "
        "The held-out score applies to them; it is slightly pessimistic because each split tuned "
        "on less data."
    )


def _judges(results: Results) -> Iterator[str]:
    """How many queries were judged by whom."""
    found = results.summary[0]["estimates"][0]
    if "machine" in found:
        yield (
            f"Scores combine {count_of(found['n_queries'], 'query', 'queries')} with human "
            f"judgements and {found['machine']['machine_queries']:,} that only the machine judged."
        )


def _tuned_words(settings: SettingsRecord) -> str:
    whose = settings["machine"]["tune_on"] if "machine" in settings else ""
    judged = f" ({whose} judgements)" if whose else ""
    where = "validation part" if validates(settings) else "training side"
    return f"; parameters tuned for {settings['tune_for']}{judged} on the {where} of each"


def validates(settings: SettingsRecord) -> bool:
    """Whether parameters were chosen on a validation part of each split."""
    plan = settings["plan"]
    return bool(plan.get("queries", plan).get("validation"))


def _meanings(results: Results, *, full: bool) -> Iterator[str]:
    """What the estimates are of, once for all systems of which it is the same."""
    found: dict[str, list[str]] = {}
    for one in results.summary:
        first = one["estimates"][0]
        size = first["target_size"]
        words = first["estimand"]
        if results.manifest["settings"]["by"] != "query" and size is not None:
            words += f" (collection size {size:,})"
        if full:
            words += f"; estimation method: {first['estimator']}, interval: {first['interval']}"
        found.setdefault(words, []).append(plain_text(one["name"]))
    for words, names in found.items():
        of = "" if len(found) == 1 else f" of {', '.join(names)}"
        yield f"Held-out scores{of} estimate performance on {words}."


def document_answers(results: Results) -> Iterator[str]:
    """Which system is better on new documents: a question that tests over queries do not answer."""
    level = results.level
    for one in results.summary:
        for found in one.get("differences", ()):
            names = plain_text(one["name"]), plain_text(found["system"])
            yield (
                f"{_document_verdict(results, found, *names)}: {plain_text(found['measure'])} "
                f"difference {found['difference']:+z.4f}, {level:.0%} CI [{found['low']:+z.4f}, "
                f"{found['high']:+z.4f}]."
            )


def _document_verdict(results: Results, found: SystemDifference, first: str, second: str) -> str:
    if found["low"] <= 0 <= found["high"]:
        return f"No significant difference between {first} and {second} on new documents"
    higher = results.higher_is_better(found["measure"]) is not False
    better = (found["difference"] > 0) == higher
    return (
        f"{first} is significantly {'better' if better else 'worse'} than {second} on new documents"
    )


def parameters(values: dict[str, Any]) -> str:
    """Parameters as they are written: ``k1=1.2, b=0.75``."""
    shown = (
        f"{key}={value:g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in values.items()
        if value is not None
    )
    return plain_text(", ".join(shown)) or "no parameters"


def ranking_plan(prepared: PreparedRankings) -> list[str]:
    """What would be run: the collection, the plan and the measures, a line each."""
    measures = ", ".join(map(str, prepared.measures))
    lines = [
        f"{plain_text(prepared.collection.name)}: {prepared.collection.sizes()}",
        plain_text(prepared.splits.words()),
        f"measures: {measures}; parameters tuned for {prepared.tune_for}",
    ]
    judges = prepared.judges
    if judges is not None:
        human, machine = judges.judged.human.queries, judges.judged.machine.queries
        lines.append(
            f"people judged {count_of(len(human), 'query', 'queries')} and the machine "
            f"{len(machine):,}; parameters tuned on {prepared.experiment.tune_on} judgements"
        )
    return lines
