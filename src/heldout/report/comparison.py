"""Comparisons for people: text, tables, the table for a paper, gates."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError
from heldout.report.answers import (
    answer,
    gate_sentence,
    interval,
    number,
    p_value,
    p_words,
    percent,
    sides,
    test_line,
    test_name,
)
from heldout.report.machine import comparison_estimates, estimate_lines
from heldout.report.order_agreement import agreement_lines
from heldout.report.standing import standing
from heldout.report.table import (
    Cell,
    Table,
    escape_markdown,
    note_lines,
    paragraphs,
    printable,
    write_tables,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.infer.comparison import Comparison
    from heldout.infer.gate import GateResult
    from heldout.notes import Note
    from heldout.report.standing import Gap, Standing

MOST_SHOWN: Final = 2_000  # pairs up to which all are listed for people


def comparison_text(comparison: Comparison, **how: Any) -> str:
    """The answer, the numbers behind it, the test, then notes."""
    return comparisons_text([comparison], **how)


def comparisons_text(
    comparisons: Sequence[Comparison],
    *,
    full: bool = False,
    width: int | None = None,
    quiet: bool = False,
) -> str:
    """Comparisons of the same systems, one per measure; each note is shown once."""
    parts: list[str] = []
    for comparison, notes in _with_new_notes(comparisons, quiet=quiet):
        board = standing(comparison)
        tables = write_tables(_tables(comparison, board, full=full), "text", width)
        lines = [*estimate_lines(comparison), *how_lines(comparison, full=full), *note_lines(notes)]
        said = paragraphs([answer(board), *counts_line(board)], width)
        parts.append(said + tables + paragraphs(lines, width))
    parts.append(paragraphs(agreement_lines(comparisons), width))
    return "\n".join(filter(None, parts))


def _with_new_notes(
    comparisons: Sequence[Comparison], *, quiet: bool
) -> Iterator[tuple[Comparison, list[Note]]]:
    """Each comparison with the notes that those before it have not."""
    known: set[Note] = set()
    for comparison in comparisons:
        new = [note for note in comparison.warnings if note not in known and not quiet]
        yield comparison, new
        known.update(new)


def comparison_tables(
    comparison: Comparison, *, full: bool = True, notes: Sequence[Note] | None = None
) -> list[Table]:
    """All tables; the answer is the title of the first, test and notes are below the last."""
    board = standing(comparison)
    lines = [*counts_line(board), *estimate_lines(comparison), *how_lines(comparison, full=full)]
    lines += note_lines(comparison.warnings if notes is None else notes)
    tables = _tables(comparison, board, full=full) or [systems_table(board)]
    tables[0] = tables[0].with_words(answer(board))
    return [*tables[:-1], tables[-1].with_words(notes=lines)]


def _tables(comparison: Comparison, board: Standing, *, full: bool) -> list[Table]:
    """The tables of a text: of two systems the answer has all numbers, unless all are wanted."""
    tables = [systems_table(board, full=full)] if full or len(board.gaps) > 1 else []
    tables += [pairs_table(board)] if full else []
    tables += anova_table(comparison) if full or comparison.analysis.correction == "tukey" else []
    return tables + (comparison_estimates(comparison) if full else [])


def counts_line(board: Standing) -> list[str]:
    """Of two systems: on how many units the first is better, and the effect size."""
    gap = board.asked(board.gaps[0])
    if len(board.gaps) > 1 or gap.counts is None or not gap.counts[0] + gap.counts[2]:
        return []
    won, tied, lost = gap.counts
    effect = "" if gap.effect is None else f"; effect size d_z {gap.effect:+.2f}"
    return [f"{board.size}: {won:,} won, {tied:,} tied, {lost:,} lost{effect}."]


def how_lines(comparison: Comparison, *, full: bool = False) -> list[str]:
    """The test, and why it was chosen."""
    return [test_line(comparison), *([comparison.analysis.why] if full else [])]


def systems_table(board: Standing, *, full: bool = False) -> Table:
    """One row per system, the best first; the columns that carry the answer come first.

    `full` adds the interval of each score and the share of judged documents, for which a terminal
    of 80 columns has no room. Of two systems the sentence above the table has the difference.
    """
    reference = board.reference if full or len(board.gaps) > 1 else None
    gaps = board.against(reference) if reference else {}
    level = percent(board.level)
    versus = "vs best" if reference == board.names[0] and not board.baseline else "difference"
    of = " of difference" if full else ""
    head = ["", "system", board.measure, versus, "p", "group", f"{level} CI{of}"]
    head += [f"{level} CI of score", "judged"] if full or not gaps else []
    rows = []
    for place, row in enumerate(board.rows, 1):
        difference, p, ends = _difference(gaps.get(row.name))
        cells = [str(place), row.name, number(row.score), difference, p, row.group, ends]
        judged = "—" if row.judged is None else f"{row.judged:.2f}"
        rows.append([*cells, interval(row.low, row.high), judged][: len(head)])
    return Table(head, rows, left=2).without_empty()


def pairs_table(board: Standing) -> Table:
    """One row per pair, the system with the better score first; of very many those with the best.

    Tests whose p-values are not those of the verdicts have columns of their own.
    """
    gaps, notes = board.ranked_gaps(), []
    if len(gaps) > MOST_SHOWN:
        gaps, every = [gap for gap in gaps if gap.first == board.names[0]], len(gaps)
        text = "pairs with the best system are listed; all are in the formats csv, json and parquet"
        notes = [f"{len(gaps):,} of {every:,} pairs: {text}."]
    kind = "simultaneous " if board.simultaneous else ""
    tests = [
        (number, name)
        for number, (name, _) in enumerate(gaps[0].tests if gaps else ())
        if any(gap.tests[number][1] != gap.p for gap in gaps)
    ]
    head = ["system", "compared with", "difference", "p", f"{kind}{percent(board.level)} CI"]
    head += [*(f"p ({name})" for _, name in tests), "effect size d_z", "won/tied/lost"]
    rows: list[list[str | Cell]] = [
        [
            *(gap.first, gap.second, *_difference(gap)),
            *(p_value(gap.tests[number][1]) for number, _ in tests),
            "—" if gap.effect is None else f"{gap.effect:+.2f}",
            "/".join(map(str, gap.counts or ())) or "—",
        ]
        for gap in gaps
    ]
    return Table(head, rows, left=2, notes=notes).without_empty()


def _difference(gap: Gap | None) -> tuple[str | Cell, str, str]:
    """Its value, p-value and interval."""
    if gap is None:
        return "—", "—", "—"
    value = Cell(f"{gap.value:+z.4f}", mark="*" if gap.significant else "")
    return value, p_value(gap.p), interval(gap.low, gap.high, "+z.4f")


def anova_table(comparison: Comparison) -> list[Table]:
    """The analyses of all systems together, by variance and by ranks; none of two systems."""
    anova = comparison.anova
    if anova is None:
        return []
    rows = []
    names = ("systems", comparison.scores.unit, "residual")
    for name, source in zip(names, anova[:3], strict=True):
        tested = math.isfinite(source.f)
        squares = f"{source.sum_of_squares:.4f}", f"{source.mean_square:.6f}"
        test = (f"{source.f:.3f}", p_value(source.p)) if tested else ("—", "—")
        rows.append([name, f"{source.df}", *squares, *test])
    if math.isnan(anova.systems.f):
        notes = ["Nothing varies between the systems."]
    elif math.isinf(anova.systems.f):
        notes = ["The differences are the same on every unit: no variation to judge them by."]
    else:
        notes = [f"Partial eta squared {anova.systems.partial_eta_squared:.3f}"]
        if comparison.sphericity is not None:
            epsilon, p = comparison.sphericity
            notes[0] += f"; Greenhouse-Geisser epsilon {epsilon:.3f} gives {p_words(p)}"
        notes[0] += "."
        if comparison.friedman is not None:
            friedman, nemenyi = comparison.friedman
            notes.append(
                f"By ranks: Friedman {friedman.statistic:.3f}, {p_words(friedman.p)}; Nemenyi's "
                f"critical difference of mean ranks {nemenyi.critical_difference:.3f}."
            )
        if comparison.analysis.test_share is not None:
            notes.append("Both take folds for independent.")
    title = "All systems together (two-way analysis of variance)"
    head = ["source", "df", "sum of squares", "mean square", "F", "p"]
    return [Table(head, rows, title, notes=notes)]


def paper_text(comparisons: Sequence[Comparison]) -> str:
    """Comparisons of the same systems as one table in LaTeX, which needs booktabs."""
    how = dict.fromkeys(f"{test_name(each)}, {sides(each)}" for each in comparisons)
    table = paper_table([standing(each) for each in comparisons], "; ".join(how))
    return write_tables([table], "paper")


def paper_table(standings: Sequence[Standing], how: str) -> Table:
    """Systems by measures; the best in bold, significant differences as superscripts.

    The superscript of a score names the systems that it is significantly better than; with a
    baseline, a dagger marks a significant difference to it. `how` names the test.
    """
    first = standings[0]
    names, baseline = sorted(first.names), first.baseline
    if any((sorted(b.names), b.baseline) != (names, baseline) for b in standings):
        raise InputError("one table needs the same systems and baseline in every measure")
    lettered = len(names) <= len(ascii_lowercase)
    numbers = map(str, range(1, len(names) + 1))
    labels = dict(zip(names, ascii_lowercase if lettered else numbers, strict=False))
    columns = []
    for board in standings:
        marks: dict[str, set[str]] = {name: set() for name in names}
        for gap in board.ranked_gaps():
            if baseline is None and board.decided(gap):
                marks[gap.first].add(labels[gap.second])
            elif baseline is not None and gap.significant:
                marks[gap.first if gap.second == baseline else gap.second].add("†")
        cells = {}
        for row in board.rows:
            mark = ",".join(label for label in (*labels.values(), "†") if label in marks[row.name])
            cells[row.name] = Cell(number(row.score), mark, bold=row.score == board.rows[0].score)
        columns.append(cells)
    rows: list[list[str | Cell]] = [
        [labels[name], name, *(cells[name] for cells in columns)] for name in names
    ]
    sizes = " / ".join(dict.fromkeys(board.size for board in standings))
    test = f"({how}, p < {round(1 - first.level, 6):g}, {sizes})"
    meaning = f"Superscripts: significantly better than the system with that label {test}."
    if baseline is not None:
        meaning = f"Dagger: significantly different from {baseline} {test}."
    head = ["", "system", *(board.measure for board in standings)]
    table = Table(head, rows, left=2, notes=[meaning, "Best in bold."])
    return table if baseline is None else table.columns(range(1, len(head)))


def comparisons_markdown(
    comparisons: Sequence[Comparison],
    gates: Sequence[GateResult] = (),
    *,
    full: bool = False,
    quiet: bool = False,
) -> str:
    """Verdicts of a gate, tables and sentences, for the summary of a pull request."""
    sentences = (gate_sentence(result).partition(": ") for result in gates)
    verdicts = [f"**{verdict}**: {escape_markdown(rest)}\n" for verdict, _, rest in sentences]
    tables = [
        write_tables(comparison_tables(each, full=full, notes=notes), "md")
        for each, notes in _with_new_notes(comparisons, quiet=quiet)
    ]
    agreement = [f"{escape_markdown(line)}\n" for line in agreement_lines(comparisons)]
    return "\n".join([*verdicts, *tables, *agreement])


def gates_junit(results: Sequence[GateResult]) -> str:
    """The verdicts of a gate as JUnit XML, one test case per system and measure."""
    from xml.etree.ElementTree import Element, SubElement, indent, tostring

    failures = str(sum(not result.passed for result in results))
    counts = {"tests": str(len(results)), "failures": failures, "errors": "0"}
    suite = Element("testsuite", {"name": "heldout compare", **counts})
    for result in results:
        title = f"{result.first} {result.kind} {result.second} in {result.measure}"
        case = SubElement(suite, "testcase", classname="heldout", name=printable(title))
        if not result.passed:
            SubElement(case, "failure", message=gate_sentence(result))
        SubElement(case, "system-out").text = gate_sentence(result)
    indent(suite)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(suite, encoding="unicode")}\n'
