"""The agreement of machine judgements with human ones, as tables, sentences and JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.claim_words import bounds
from heldout.report.order_agreement import change_words
from heldout.report.tables import (
    Table,
    note_lines,
    notes_text,
    plain_text,
    safe_frame,
    tables_text,
)
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from heldout.infer.agreement import Agreement, JudgeAgreement, JudgedOrder
    from heldout.infer.results import Interval

__all__ = [
    "agreement_csv",
    "agreement_dict",
    "agreement_legends",
    "agreement_sentences",
    "agreement_tables",
    "agreement_text",
    "confusion_table",
    "order_sentences",
]


def agreement_text(
    agreement: Agreement, kind: str, *, full: bool = False, terminal: bool = False
) -> str:
    """Return the answer, the tables behind it, and notes.

    Parameters
    ----------
    agreement
        What is shown.
    kind
        ``table``, ``tsv``, ``md``, ``latex`` or ``html``; ``csv`` has one row per judge and
        statistic.
    full
        With intervals in all tables, and the confusion matrices of several judges.
    terminal
        Whether a terminal shows it.
    """
    if kind == "csv":
        return agreement_csv(agreement)
    tables = agreement_tables(agreement, full=full)
    said = [*agreement_sentences(agreement), *order_sentences(agreement)]
    notes = [*agreement_legends(agreement), *note_lines(agreement.notes)]
    if kind != "table":
        return tables_text(tables, kind) + notes_text([*said, *notes], kind)
    width = _terminal_width() if terminal else None
    shown = [f"{table.title}\n{aligned(table, width)}" for table in tables]
    return "\n".join(["\n".join(said) + "\n", *shown]) + notes_text(notes, kind)


def _terminal_width() -> int:
    import shutil

    return shutil.get_terminal_size((100, 24)).columns


def agreement_csv(agreement: Agreement) -> str:
    """Return one row per judge and statistic, with its interval."""
    return safe_frame(agreement.to_frame()).write_csv()


# Sentences


def agreement_sentences(agreement: Agreement) -> list[str]:
    """Return what the agreement is, and in which direction the machines err."""
    judges = agreement.judges
    best = max(judges, key=lambda one: _or_least(one.statistics.kappa.estimate))
    on = f"{count_of(best.pairs, 'pair')}, {count_of(best.queries, 'query', 'queries')}"
    kappa = f"Cohen's kappa {_with_bounds(best.statistics.kappa)}, {_percent(agreement.level)} CI"
    name = plain_text(best.name)
    if len(judges) == 1:
        return [f"{name} and human: {kappa} ({on}).", _direction(best), *_unshared(best)]
    said = [f"Highest agreement with human: {name}, {kappa} ({on})."]
    said += _directions(agreement)
    return [*said, *(line for one in judges for line in _unshared(one))]


def _or_least(value: float) -> float:
    return value if math.isfinite(value) else -2.0


def _errs(judge: JudgeAgreement) -> bool:
    """Return whether the mean grades differ significantly."""
    gap = judge.statistics.difference
    return gap.low > 0 or gap.high < 0


def _directions(agreement: Agreement) -> list[str]:
    """Return the judges whose mean grades differ significantly from the human one."""
    lines = []
    for word, sign in (("Overrating", 1), ("Underrating", -1)):
        erring = [
            f"{plain_text(one.name)} {one.statistics.difference.estimate:+.2f}"
            for one in agreement.judges
            if _errs(one) and sign * one.statistics.difference.estimate > 0
        ]
        if erring:
            lines.append(f"{word} (mean difference in grade): {', '.join(erring)}.")
    return lines


def _direction(judge: JudgeAgreement) -> str:
    gap, name = judge.statistics.difference, plain_text(judge.name)
    means = f"mean grade {judge.mean_machine:.2f}, human {judge.mean_human:.2f}"
    numbers = f"{means}, difference {_with_bounds(gap, '+.2f')}"
    if not _errs(judge):
        return f"{name} grades neither higher nor lower on average ({numbers})."
    return f"{name} {'overrates' if gap.estimate > 0 else 'underrates'}: {numbers}."


def _unshared(judge: JudgeAgreement) -> list[str]:
    if not judge.only_human and not judge.only_machine:
        return []
    human = f"{count_of(judge.only_human, 'pair')} judged by human only"
    return [f"Not used: {human}, {judge.only_machine:,} by {plain_text(judge.name)} only."]


def order_sentences(agreement: Agreement) -> list[str]:
    """Return the pairs of systems whose verdicts differ, for each judge and measure."""
    lines = []
    for judge in agreement.judges:
        for order in judge.orders:
            if order.changes:
                name = plain_text(judge.name)
                words = change_words(order.changes, ("human", name), "under")
                count = f"{len(order.changes):,} of {len(order.human.claims):,}"
                lines.append(
                    f"{name}: {count} verdicts in {plain_text(order.measure)} differ; {words}."
                )
    return lines


# Tables


def agreement_tables(agreement: Agreement, *, full: bool = False) -> list[Table]:
    """Return the tables: statistics, confusion by grade, spread over queries, and systems.

    Parameters
    ----------
    agreement
        What is shown.
    full
        With intervals, and with the tables of each of several judges.
    """
    judges = agreement.judges
    alone = len(judges) == 1
    tables = [_one_judge(agreement)] if alone else [_all_judges(agreement, full=full)]
    if alone or full:
        tables += [confusion_table(agreement, one) for one in judges]
    if full and not alone:
        tables.append(_spread(agreement))
    for number, order in enumerate(judges[0].orders):
        tables.append(_orders(agreement, number))
        tables.append(_scores(agreement, number, order))
    return tables


_ONE: Final = {
    "exact": "same grade",
    "kappa": "κ",
    "kappa_linear": "κ, linear weights",
    "kappa_quadratic": "κ, quadratic weights",
    "kappa_binary": "κ, grade ≥ {rel}",
    "alpha": "α, ordinal",
    "overrated": "overrated",
    "underrated": "underrated",
    "difference": "mean difference",
}
_SHORT: Final = {
    "exact": "same",
    "kappa": "κ",
    "kappa_linear": "κ lin",
    "kappa_quadratic": "κ quad",
    "kappa_binary": "κ ≥ {rel}",
    "alpha": "α",
    "overrated": "over",
    "underrated": "under",
    "difference": "diff",
}


def agreement_legends(agreement: Agreement) -> list[str]:
    """Return what the short headings of several judges mean."""
    if len(agreement.judges) == 1:
        return []
    text = (
        "same, over, under: shares of pairs with the same, a higher, a lower grade than human; "
        "κ: Cohen's kappa, with linear and quadratic weights, and of grades from "
        f"{agreement.rel} on; α: Krippendorff's alpha (ordinal); diff: mean grade minus human mean."
    )
    return [text]


def _one_judge(agreement: Agreement) -> Table:
    (judge,) = agreement.judges
    rows = []
    for name, words in _ONE.items():
        value: Interval = getattr(judge.statistics, name)
        shown = bounds(value, _form(name)) if math.isfinite(value.low) else "—"
        rows.append([words.format(rel=agreement.rel), _value(name, value), shown])
    gaps = sorted(judge.by_query, key=lambda one: one.difference)
    rows += [
        [f"mean difference, {which} query", f"{one.difference:+.3f}", one.query]
        for which, one in (("lowest", gaps[0]), ("highest", gaps[-1]))
    ]
    head = ["statistic", "value", f"{_percent(agreement.level)} CI"]
    return _plain(head, rows, f"Agreement of {judge.name} with human")


def _all_judges(agreement: Agreement, *, full: bool) -> Table:
    rows = []
    for judge in agreement.judges:
        cells = [judge.name, f"{judge.pairs:,}"]
        for name in _SHORT:
            value: Interval = getattr(judge.statistics, name)
            cells.append(_with_bounds(value, _form(name)) if full else _value(name, value))
        rows.append(cells)
    title = "Agreement with human"
    if full:
        title += f", {_percent(agreement.level)} CI"
    head = ["judge", "pairs", *(words.format(rel=agreement.rel) for words in _SHORT.values())]
    return _plain(head, rows, title)


def confusion_table(agreement: Agreement, judge: JudgeAgreement) -> Table:
    """Return how often the machine gave each grade, by human grade.

    Parameters
    ----------
    agreement, judge
        The agreement, and one of its judges.
    """
    rows = [
        [f"human {grade}", *(f"{int(count):,}" for count in row), f"{int(row.sum()):,}"]
        for grade, row in zip(agreement.grades, judge.counts, strict=True)
    ]
    head = ["grade", *(f"{judge.name} {grade}" for grade in agreement.grades), "all"]
    if len(head) * len(judge.name) > 60:  # a name in every heading would be too wide
        head = ["grade", *(f"machine {grade}" for grade in agreement.grades), "all"]
    return _plain(head, rows, f"Pairs by grade: human (rows) and {judge.name} (columns)")


def _spread(agreement: Agreement) -> Table:
    rows = []
    for judge in agreement.judges:
        gaps = sorted(judge.by_query, key=lambda one: one.difference)
        middle = gaps[len(gaps) // 2]
        rows.append(
            [
                judge.name,
                *(f"{one.difference:+.2f} ({one.query})" for one in (gaps[0], middle, gaps[-1])),
                f"{min(one.exact for one in gaps):.2f} to {max(one.exact for one in gaps):.2f}",
            ]
        )
    head = ["judge", "lowest", "median", "highest", "same grade"]
    return _plain(head, rows, "Mean difference by query")


def _orders(agreement: Agreement, number: int) -> Table:
    rows = []
    for judge in agreement.judges:
        order = judge.orders[number]
        found = order.agreement
        cells = [_with_bounds(one, ".2f") for one in (found.kendall, found.tau_ap, found.rbo)]
        opposite = sum(one.reversed for one in order.changes)
        flips = f"{len(order.changes):,} of {len(order.human.claims):,} ({opposite:,} opposite)"
        rows.append([judge.name, *cells, flips])
    order = agreement.judges[0].orders[number]
    head = ["judge", "Kendall's tau", "AP correlation", "RBO", "verdicts that differ"]
    title = (
        f"Order of {len(order.human.systems)} systems in {order.measure} under both, "
        f"{_percent(agreement.level)} CI"
    )
    return _plain(head, rows, title)


def _scores(agreement: Agreement, number: int, order: JudgedOrder) -> Table:
    means = [
        {row.name: row.mean.estimate for row in judge.orders[number].machine.systems}
        for judge in agreement.judges
    ]
    sign = -1 if order.human.scores.higher_is_better else 1
    rows = [
        [row.name, f"{row.mean.estimate:.4f}", *(f"{one[row.name]:.4f}" for one in means)]
        for row in sorted(order.human.systems, key=lambda row: sign * row.mean.estimate)
    ]
    head = ["system", "human", *(judge.name for judge in agreement.judges)]
    return _plain(head, rows, f"{order.measure} under each judge")


def _plain(head: list[str], rows: list[list[str]], title: str) -> Table:
    """Return a table without control characters, which names may have."""
    cells = [[plain_text(cell) for cell in row] for row in rows]
    return Table([plain_text(cell) for cell in head], cells, plain_text(title))


def _form(name: str) -> str:
    return "+.3f" if name == "difference" else ".3f"


def _value(name: str, interval: Interval) -> str:
    return f"{interval.estimate:{_form(name)}}" if math.isfinite(interval.estimate) else "undefined"


def _with_bounds(interval: Interval, form: str = ".3f") -> str:
    if not math.isfinite(interval.estimate):
        return "undefined"
    if not math.isfinite(interval.low):
        return f"{interval.estimate:{form}}"
    return f"{interval.estimate:{form}} {bounds(interval, form)}"


def _percent(level: float) -> str:
    return f"{round(100 * level, 6):g}%"


# JSON


def agreement_dict(agreement: Agreement) -> dict[str, Any]:
    """Return every number at full precision, as plain values."""
    return {
        "level": agreement.level,
        "rel": agreement.rel,
        "grades": list(agreement.grades),
        "judges": [_judge_dict(one) for one in agreement.judges],
        "notes": list(agreement.notes),
    }


def _judge_dict(judge: JudgeAgreement) -> dict[str, Any]:
    return {
        "name": judge.name,
        "pairs": judge.pairs,
        "queries": judge.queries,
        "only_human": judge.only_human,
        "only_machine": judge.only_machine,
        "mean_human": judge.mean_human,
        "mean_machine": judge.mean_machine,
        "confusion": [[int(count) for count in row] for row in judge.counts],
        **judge.statistics._asdict(),
        "by_query": list(judge.by_query),
        "orders": [_order_dict(one) for one in judge.orders],
    }


def _order_dict(order: JudgedOrder) -> dict[str, Any]:
    machine = {row.name: row.mean for row in order.machine.systems}
    return {
        "measure": order.measure,
        "systems": [
            {"name": row.name, "human": row.mean, "machine": machine[row.name]}
            for row in order.human.systems
        ],
        "correlations": order.agreement,
        "verdicts": len(order.human.claims),
        "verdict_changes": list(order.changes),
    }
