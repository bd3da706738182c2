"""A table for a paper: systems by measures, the best in bold, significant differences marked."""

from __future__ import annotations

from string import ascii_lowercase
from typing import TYPE_CHECKING

from heldout.errors import InputError
from heldout.report.claim_words import correction_words
from heldout.report.tables import escape_latex, plain_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.infer.comparison import Comparison

__all__ = ["paper_table"]


def paper_table(comparisons: Sequence[Comparison]) -> str:
    r"""Write comparisons of the same systems as one table in LaTeX.

    A superscript names the systems that a score is significantly better than; in comparisons with
    a baseline a dagger marks scores that differ significantly from it. It needs the package
    ``booktabs``.

    Parameters
    ----------
    comparisons
        One per measure.

    Examples
    --------
    >>> import heldout
    >>> runs = {"A": [0.2, 0.3, 0.1, 0.4, 0.2, 0.3], "B": [0.5, 0.6, 0.3, 0.7, 0.6, 0.5]}
    >>> found = heldout.compare(heldout.Scores.of(runs, "AP"))
    >>> print("\n".join(paper_table([found]).splitlines()[8:10]))
    A & 0.2500 \\
    B & \textbf{0.5333}$^{\dagger}$ \\
    """
    systems = _systems(comparisons)
    labels = _labels(len(systems)) if comparisons[0].baseline is None else [""] * len(systems)
    columns = [_column(one, labels) for one in comparisons]
    measures = [plain_text(one.scores.measure) for one in comparisons]
    rows = [
        [label, plain_text(name), *(column[at] for column in columns)]
        for at, (label, name) in enumerate(zip(labels, systems, strict=True))
    ]
    if comparisons[0].baseline is not None:
        rows = [row[1:] for row in rows]
    texts = len(rows[0]) - len(measures)
    return _latex(["", "system"][2 - texts :], measures, rows, _caption(comparisons))


def _systems(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    systems = comparisons[0].scores.systems
    for one in comparisons[1:]:
        if one.scores.systems != systems or one.baseline != comparisons[0].baseline:
            raise InputError("one table needs the same systems and baseline in every measure")
    return systems


def _labels(count: int) -> list[str]:
    if count <= len(ascii_lowercase):
        return list(ascii_lowercase[:count])
    return [str(number) for number in range(1, count + 1)]


def _column(comparison: Comparison, labels: Sequence[str]) -> list[str]:
    """The cells of one measure, in the order of the systems."""
    names = comparison.scores.systems
    means = [row.mean.estimate for row in comparison.systems]
    sign = 1 if comparison.scores.higher_is_better else -1
    best = max(sign * mean for mean in means)
    marks: dict[str, list[str]] = {name: [] for name in names}
    for claim in comparison.claims:
        if claim.adjusted > comparison.alpha:
            continue
        if comparison.baseline is not None:
            marks[claim.first].append(r"\dagger")
            continue
        wins = sign * claim.difference.estimate > 0
        better, worse = (claim.first, claim.second) if wins else (claim.second, claim.first)
        marks[better].append(labels[names.index(worse)])
    joined = "," if labels[-1].isdigit() else ""
    return [
        _cell(mean, joined.join(_sorted(marks[name])), bold=sign * mean == best)
        for name, mean in zip(names, means, strict=True)
    ]


def _sorted(marks: list[str]) -> list[str]:
    return sorted(marks, key=lambda mark: (len(mark), mark))


def _cell(mean: float, mark: str, *, bold: bool) -> str:
    number = f"{mean:z.4f}"
    shown = rf"\textbf{{{number}}}" if bold else number
    return f"{shown}$^{{{mark}}}$" if mark else shown


def _caption(comparisons: Sequence[Comparison]) -> str:
    """What the marks mean, by which test, on how many units."""
    first = comparisons[0]
    sizes = list(dict.fromkeys(one.scores.size for one in comparisons))
    how = list(dict.fromkeys(correction_words(one) for one in comparisons))
    made = f"({'; '.join(how)}, p < {first.alpha:g}, {' / '.join(sizes)})"
    if first.baseline is not None:
        said = f"Dagger: significantly different from {plain_text(first.baseline)}"
    else:
        said = "Superscripts: significantly better than the system with that "
        said += "letter" if len(first.scores.systems) <= len(ascii_lowercase) else "number"
    return f"{said} {made}. Best in bold."


def _latex(
    texts: Sequence[str], measures: Sequence[str], rows: Sequence[Sequence[str]], caption: str
) -> str:
    columns = "l" * len(texts) + "r" * len(measures)
    head = " & ".join([*texts, *map(escape_latex, measures)])
    body = "".join(
        " & ".join([*map(escape_latex, row[: len(texts)]), *row[len(texts) :]]) + " \\\\\n"
        for row in rows
    )
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n\\centering\n"
        f"\\caption{{{escape_latex(caption)}}}\n\\begin{{tabular}}{{{columns}}}\n\\toprule\n"
        f"{head} \\\\\n\\midrule\n{body}\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )
