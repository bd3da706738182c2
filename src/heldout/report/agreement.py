"""The agreement of machine judgements with human ones: the answer, the tables behind it, notes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from heldout.notes import count_of
from heldout.report.answers import interval, percent
from heldout.report.order_agreement import CORRELATIONS, change_words
from heldout.report.table import Table, note_lines, paragraphs, printable, write_tables

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.infer.agreement import Agreement, JudgeAgreement
    from heldout.infer.results import Interval

STATISTICS: Final = {  # in words, and in the heading of a column
    "exact": ("same grade", "same"),
    "kappa": ("κ", "κ"),
    "kappa_linear": ("κ, linear weights", "κ lin"),
    "kappa_quadratic": ("κ, quadratic weights", "κ quad"),
    "kappa_binary": ("κ, grade ≥ {rel}", "κ ≥ {rel}"),
    "alpha": ("α, ordinal", "α"),
    "overrated": ("overrated", "over"),
    "underrated": ("underrated", "under"),
    "difference": ("mean difference", "diff"),
}


def judges_text(
    agreement: Agreement, *, full: bool = False, width: int | None = None, quiet: bool = False
) -> str:
    """The answer, the tables behind it, and notes, for a terminal."""
    tables = write_tables(agreement_tables(agreement, full=full), "text", width)
    notes = legends(agreement) + ([] if quiet else note_lines(agreement.notes))
    answer = paragraphs(agreement_sentences(agreement), width)
    return f"{answer}\n{tables}{paragraphs(notes, width)}"


def judges_tables(agreement: Agreement, *, full: bool = False) -> list[Table]:
    """The same for a file: the sentences are notes of the last table."""
    *tables, last = agreement_tables(agreement, full=full)
    notes = [*agreement_sentences(agreement), *legends(agreement), *note_lines(agreement.notes)]
    return [*tables, replace(last, rows=last.cells, notes=notes)]


# ---- sentences -----------------------------------------------------------------------------------


def agreement_sentences(agreement: Agreement) -> list[str]:
    """What the agreement is, in which direction the machines err, and what they change."""
    judges = agreement.judges
    best = max(judges, key=lambda judge: _finite(judge.statistics.kappa.estimate))
    on = f"{count_of(best.pairs, 'pair')}, {count_of(best.queries, 'query', 'queries')}"
    kappa = f"Cohen's kappa {_shown(best.statistics.kappa)}, {percent(agreement.level)} CI ({on})."
    if len(judges) == 1:
        lines = [f"{best.name} and human: {kappa}", _direction(best)]
    else:
        lines = [f"Highest agreement with human: {best.name}, {kappa}", *_directions(judges)]
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
    if not _errs(judge):
        return f"{judge.name} grades neither higher nor lower on average ({numbers})."
    return f"{judge.name} {'overrates' if gap.estimate > 0 else 'underrates'}: {numbers}."


def _directions(judges: Sequence[JudgeAgreement]) -> Iterator[str]:
    for word, sign in (("Overrating", 1), ("Underrating", -1)):
        gaps = {judge.name: judge.statistics.difference.estimate for judge in filter(_errs, judges)}
        erring = [f"{name} {gap:+.2f}" for name, gap in gaps.items() if sign * gap > 0]
        if erring:
            yield f"{word} (mean difference in grade): {', '.join(erring)}."


def _errs(judge: JudgeAgreement) -> bool:
    """Whether the mean grades differ significantly."""
    gap = judge.statistics.difference
    return gap.low > 0 or gap.high < 0


def legends(agreement: Agreement) -> list[str]:
    """What the short headings of several judges mean."""
    if len(agreement.judges) == 1:
        return []
    text = (
        "same, over, under: shares of pairs with the same, a higher, a lower grade than human; "
        "κ: Cohen's kappa, with linear and quadratic weights, and of grades from "
        f"{agreement.rel} on; α: Krippendorff's alpha (ordinal); diff: mean grade minus human mean."
    )
    return [text]


# ---- tables --------------------------------------------------------------------------------------


def agreement_tables(agreement: Agreement, *, full: bool = False) -> list[Table]:
    """Statistics, confusion by grade, spread over queries, and systems; `full` has all of them."""
    judges = agreement.judges
    alone = len(judges) == 1
    tables = [_one_judge(agreement) if alone else _all_judges(agreement, full=full)]
    if alone or full:
        tables += [_confusion(agreement, judge) for judge in judges]
    if full and not alone:
        tables.append(_spread(judges))
    for number in range(len(judges[0].orders)):
        tables += [_orders(agreement, number), _scores(judges, number)]
    return tables


def _one_judge(agreement: Agreement) -> Table:
    (judge,) = agreement.judges
    rows = []
    for name, (words, _) in STATISTICS.items():
        value: Interval = getattr(judge.statistics, name)
        form = _form(name)
        ends = interval(value.low, value.high, form)
        rows.append([words.format(rel=agreement.rel), _shown(value, form, bounds=False), ends])
    gaps = sorted(judge.by_query, key=lambda query: query.difference)
    for which, gap in (("lowest", gaps[0]), ("highest", gaps[-1])):
        rows.append([f"mean difference, {which} query", f"{gap.difference:+.3f}", gap.query])
    head = ["statistic", "value", f"{percent(agreement.level)} CI"]
    return Table(head, rows, f"Agreement of {judge.name} with human")


def _all_judges(agreement: Agreement, *, full: bool) -> Table:
    rows = []
    for judge in agreement.judges:
        values = judge.statistics._asdict().items()
        cells = [_shown(value, _form(name), bounds=full) for name, value in values]
        rows.append([judge.name, f"{judge.pairs:,}", *cells])
    head = [short.format(rel=agreement.rel) for _, short in STATISTICS.values()]
    ci = f", {percent(agreement.level)} CI" if full else ""
    return Table(["judge", "pairs", *head], rows, f"Agreement with human{ci}")


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


def _spread(judges: Sequence[JudgeAgreement]) -> Table:
    rows = []
    for judge in judges:
        gaps = sorted(judge.by_query, key=lambda query: query.difference)
        shown = (gaps[0], gaps[len(gaps) // 2], gaps[-1])
        same = [query.exact for query in gaps]
        cells = [f"{query.difference:+.2f} ({query.query})" for query in shown]
        rows.append([judge.name, *cells, f"{min(same):.2f} to {max(same):.2f}"])
    head = ["judge", "lowest", "median", "highest", "same grade"]
    return Table(head, rows, "Mean difference by query")


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
    rows = [[name, *(f"{found[name]:.4f}" for found in means)] for name in names]
    head = ["system", "human", *(judge.name for judge in judges)]
    return Table(head, rows, f"{human.scores.measure} under each judge")


def _form(name: str) -> str:
    return "+.3f" if name == "difference" else ".3f"


def _finite(value: float) -> float:
    return value if math.isfinite(value) else -math.inf


def _shown(value: Interval, form: str = ".3f", *, bounds: bool = True) -> str:
    if not math.isfinite(value.estimate):
        return "undefined"
    ends = f" {interval(value.low, value.high, form)}" if math.isfinite(value.low) else ""
    return f"{value.estimate:{form}}{ends if bounds else ''}"
