"""The tables of a standing: systems, pairs, and the table for a paper."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

from heldout.report.answers import interval, number, p_value, percent
from heldout.report.table import Cell, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.report.standing import Gap, Standing


def systems_table(standing: Standing, *, full: bool = False) -> Table:
    """One row per system, the best first; the columns that carry the answer come first.

    `full` adds the interval of each score and the share of judged documents, for which a terminal
    of 80 columns has no room. Of two systems the sentence above the table has the difference.
    """
    reference = standing.reference if full or len(standing.gaps) > 1 else None
    gaps = standing.against(reference) if reference else {}
    level = percent(standing.level)
    versus = "vs best" if standing.baseline is None else "difference"
    head = [
        "",
        "system",
        standing.measure,
        versus,
        "p",
        "group",
        f"{level} CI{' of difference' if full else ''}",
    ]
    head += [f"{level} CI of score", "judged"] if full or not gaps else []
    rows = []
    for place, row in enumerate(standing.rows, 1):
        difference, p, bounds = _difference(gaps.get(row.name))
        cells = [str(place), row.name, number(row.score), difference, p, row.group, bounds]
        judged = "—" if row.judged is None else f"{row.judged:.2f}"
        rows.append([*cells, interval(row.low, row.high), judged][: len(head)])
    return Table(head, rows, left=2).without_empty()


def pairs_table(standing: Standing) -> Table:
    """One row per pair, the system with the better score first."""
    kind = "simultaneous " if standing.simultaneous else ""
    level = f"{kind}{percent(standing.level)} CI"
    head = ["system", "compared with", "difference", "p", level, "won/tied/lost"]
    rows: list[list[str | Cell]] = [
        [gap.first, gap.second, *_difference(gap), "/".join(map(str, gap.counts or ())) or "—"]
        for gap in standing.ranked_gaps()
    ]
    return Table(head, rows, left=2).without_empty()


def _difference(gap: Gap | None) -> list[str | Cell]:
    """Its value, p-value and interval."""
    if gap is None:
        return ["—", "—", "—"]
    value = Cell(f"{gap.value:+z.4f}", mark="*" if gap.significant else "")
    return [value, p_value(gap.p), interval(gap.low, gap.high, "+z.4f")]


def paper_table(standings: Sequence[Standing], how: str) -> Table:
    """Systems by measures; the best in bold, significant differences as superscripts.

    The superscript of a score names the systems that it is significantly better than; with a
    baseline, a dagger marks a significant difference to it. `how` names the test.
    """
    first = standings[0]
    names = sorted(first.names)
    lettered = len(names) <= len(ascii_lowercase)
    labels = {name: ascii_lowercase[n] if lettered else f"{n + 1}" for n, name in enumerate(names)}
    columns = [_paper_column(standing, labels, "" if lettered else ",") for standing in standings]
    rows: list[list[str | Cell]] = [
        [labels[name], name, *(column[name] for column in columns)] for name in names
    ]
    measures = [standing.measure for standing in standings]
    sizes = " / ".join(dict.fromkeys(standing.size for standing in standings))
    alpha = f"p < {round(1 - first.level, 6):g}, {sizes}"
    if first.baseline is not None:
        meaning = f"Dagger: significantly different from {first.baseline} ({how}, {alpha})."
        return Table(
            ["system", *measures], [row[1:] for row in rows], notes=[meaning, "Best in bold."]
        )
    label = "letter" if lettered else "number"
    meaning = (
        f"Superscripts: significantly better than the system with that {label} ({how}, {alpha})."
    )
    return Table(["", "system", *measures], rows, left=2, notes=[meaning, "Best in bold."])


def _paper_column(standing: Standing, labels: dict[str, str], comma: str) -> dict[str, Cell]:
    beaten: dict[str, list[str]] = {name: [] for name in standing.names}
    daggers = set()
    for gap in standing.ranked_gaps():
        if not gap.significant:
            continue
        if standing.baseline is None:
            beaten[gap.first].append(labels[gap.second])
        else:
            daggers.add(gap.first if gap.second == standing.baseline else gap.second)
    best = standing.rows[0].score
    return {
        row.name: Cell(
            number(row.score),
            "†"
            if row.name in daggers
            else comma.join(sorted(beaten[row.name], key=lambda at: (len(at), at))),
            bold=row.score == best,
        )
        for row in standing.rows
    }
