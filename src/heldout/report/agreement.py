"""The agreement of machine judgements with human ones: the answer, the tables behind it, notes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.notes import count_of
from heldout.report.answers import interval, percent
from heldout.report.order_agreement import CORRELATIONS, change_words
from heldout.report.table import Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.agreement import Agreement, JudgeAgreement
    from heldout.infer.results import Interval

STATISTICS: Final = {
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


def judges_text(
    agreement: Agreement, *, full: bool = False, width: int | None = None, quiet: bool = False
) -> str:
    """The answer, the tables behind it, and notes, for a terminal."""
    tables = write_tables(agreement_tables(agreement, full=full), "text", width)
    notes = paragraphs([] if quiet else note_lines(agreement.notes), width)
    return f"{paragraphs(agreement_sentences(agreement), width)}\n{tables}{notes}"


def judges_tables(agreement: Agreement, *, full: bool = False) -> list[Table]:
    """The same for a file: the sentences are notes of the last table."""
    *tables, last = agreement_tables(agreement, full=full)
    notes = [*agreement_sentences(agreement), *note_lines(agreement.notes)]
    return [*tables, replace(last, rows=last.cells, notes=notes)]


# ---- sentences -----------------------------------------------------------------------------------


def agreement_sentences(agreement: Agreement) -> list[str]:
    """What the agreement is, in which direction the machines err, and what they change."""
    judges = agreement.judges
    best = max(judges, key=lambda judge: np.nan_to_num(judge.statistics.kappa.estimate, nan=-1))
    on = f"{count_of(best.pairs, 'pair')}, {count_of(best.queries, 'query', 'queries')}"
    kappa = f"Cohen's kappa {_shown(best.statistics.kappa)}, {percent(agreement.level)} CI ({on})."
    lead = "Highest agreement with human: {}," if len(judges) > 1 else "{} and human:"
    lines = [f"{lead.format(best.name)} {kappa}", *map(_direction, judges)]
    for judge in judges:
        if judge.only_human or judge.only_machine:
            human = f"{count_of(judge.only_human, 'pair')} judged by human only"
            lines.append(f"Not used: {human}, {judge.only_machine:,} by {judge.name} only.")
    for judge in judges:
        for order in judge.orders:
            if order.changes:
                count = f"{len(order.changes):,} of {len(order.human.claims):,}"
                words = change_words(order.changes, ("human", judge.name), "under")
                lines.append(f"{judge.name}: {count} verdicts in {order.measure} differ; {words}.")
    return [printable(line) for line in lines]


def _direction(judge: JudgeAgreement) -> str:
    gap = judge.statistics.difference
    means = f"mean grade {judge.mean_machine:.2f}, human {judge.mean_human:.2f}"
    numbers = f"{means}, difference {_shown(gap, '+.2f')}"
    if not (gap.low > 0 or gap.high < 0):  # also if there is no interval
        return f"{judge.name} grades neither higher nor lower on average ({numbers})."
    return f"{judge.name} {'overrates' if gap.estimate > 0 else 'underrates'}: {numbers}."


# ---- tables --------------------------------------------------------------------------------------


def agreement_tables(agreement: Agreement, *, full: bool = False) -> list[Table]:
    """Statistics and systems; of one judge, or with `full`, also the pairs by grade."""
    judges = agreement.judges
    tables = [_statistics(agreement)]
    if len(judges) == 1 or full:
        tables += [_confusion(agreement, judge) for judge in judges]
    for number in range(len(judges[0].orders)):
        tables += [_orders(agreement, number), _scores(judges, number)]
    return tables


def _statistics(agreement: Agreement) -> Table:
    judges = agreement.judges
    rows = [["pairs", *(f"{judge.pairs:,}" for judge in judges)]]
    for name, words in STATISTICS.items():
        form = "+.3f" if name == "difference" else ".3f"
        values = (_shown(getattr(judge.statistics, name), form) for judge in judges)
        rows.append([words.format(rel=agreement.rel), *values])
    for which, place in (("lowest", 0), ("highest", -1)):
        row = [f"mean difference, {which} query"]
        for judge in judges:
            query = sorted(judge.by_query, key=lambda query: query.difference)[place]
            row.append(f"{query.difference:+.3f} ({query.query})")
        rows.append(row)
    head = ["statistic", *(judge.name for judge in judges)]
    return Table(head, rows, f"Agreement with human, {percent(agreement.level)} CI")


def _confusion(agreement: Agreement, judge: JudgeAgreement) -> Table:
    """How often the machine gave each grade, by human grade."""
    rows = [
        [f"human {grade}", *(f"{int(count):,}" for count in row), f"{int(row.sum()):,}"]
        for grade, row in zip(agreement.grades, judge.counts, strict=True)
    ]
    # A long name in every heading would be too wide.
    name = judge.name if (len(agreement.grades) + 2) * len(judge.name) <= 60 else "machine"
    head = ["grade", *(f"{name} {grade}" for grade in agreement.grades), "all"]
    return Table(head, rows, f"Pairs by grade: human (rows) and {judge.name} (columns)")


def _orders(agreement: Agreement, number: int) -> Table:
    rows = []
    for judge in agreement.judges:
        order = judge.orders[number]
        opposite = sum(change.reversed for change in order.changes)
        flips = f"{len(order.changes):,} of {len(order.human.claims):,} ({opposite:,} opposite)"
        cells = [_shown(getattr(order.agreement, name), ".2f") for name in CORRELATIONS]
        rows.append([judge.name, *cells, flips])
    order = agreement.judges[0].orders[number]
    title = f"Order of {len(order.human.systems)} systems in {order.measure} under both"
    head = ["judge", *CORRELATIONS.values(), "verdicts that differ"]
    return Table(head, rows, f"{title}, {percent(agreement.level)} CI")


def _scores(judges: Sequence[JudgeAgreement], number: int) -> Table:
    human = judges[0].orders[number].human
    means = [
        {row.name: row.mean.estimate for row in comparison.systems}
        for comparison in (human, *(judge.orders[number].machine for judge in judges))
    ]
    names = sorted(means[0], key=means[0].__getitem__, reverse=human.scores.higher_is_better)
    rows = [[name, *(f"{values[name]:.4f}" for values in means)] for name in names]
    head = ["system", "human", *(judge.name for judge in judges)]
    return Table(head, rows, f"{human.scores.measure} under each judge")


def _shown(value: Interval, form: str = ".3f") -> str:
    if not math.isfinite(value.estimate):
        return "undefined"
    ends = f" {interval(value.low, value.high, form)}" if math.isfinite(value.low) else ""
    return f"{value.estimate:{form}}{ends}"
