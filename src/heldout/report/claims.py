"""A comparison in words and tables: what an expert would write under a result."""

from __future__ import annotations

import html
import json
import math
from typing import TYPE_CHECKING, Any

from heldout.infer.compare import claim_row
from heldout.report.tables import LATEX_ESCAPES, plain_text

if TYPE_CHECKING:
    from heldout.infer.compare import Claim, Comparison
    from heldout.infer.results import Outcome

__all__ = ["claims_text", "comparison_dict", "html_claims", "sentences", "warning_lines"]


def show_p(p: float) -> str:
    """A p-value as papers print it."""
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def _p_words(p: float) -> str:
    return f"p {show_p(p)}" if p < 0.0001 else f"p = {show_p(p)}"


def sentences(comparison: Comparison) -> list[str]:
    """One plain sentence for each claim."""
    return [_sentence(comparison, claim) for claim in comparison.claims]


def _sentence(comparison: Comparison, claim: Claim) -> str:
    scores = comparison.scores
    first, second = plain_text(claim.first), plain_text(claim.second)
    means = {row.name: row.mean.estimate for row in comparison.systems}
    gap = claim.difference
    if claim.effects.wins + claim.effects.losses == 0:
        return (
            f"{first} and {second} have the same {scores.measure} on all {len(scores.units)} units."
        )
    level = f"{round(100 * gap.level, 6):g}%"
    if comparison.advice.correction and gap.method != "Tukey":
        level = f"unadjusted {level}"
    facts = (
        f"{scores.measure} {means[claim.first]:.4f} against {means[claim.second]:.4f}, difference "
        f"{gap.estimate:+.4f}, {level} interval {gap.low:+.4f} to {gap.high:+.4f}; "
        f"{_test_words(comparison, claim)}"
    )
    if claim.adjusted > comparison.alpha:
        return f"No difference between {first} and {second} was shown: {facts}."
    better = (gap.estimate > 0) == scores.higher_is_better
    by_rank = comparison.advice.correction == "nemenyi" or claim.outcomes[0].test in _BY_RANK
    if by_rank and better != (claim.effects.wins > claim.effects.losses):
        return f"{first} and {second} differ, but wins and means point different ways: {facts}."
    return f"{first} is {'better' if better else 'worse'} than {second}: {facts}."


_BY_RANK = ("sign", "wilcoxon", "mcnemar")
_NAMES = {
    "t": "paired t test",
    "randomization": "randomization test",
    "bootstrap-shift": "bootstrap-shift test",
    "bootstrap-shift-studentized": "studentized bootstrap-shift test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "sign": "sign test",
    "mcnemar": "McNemar's test",
    "corrected-t": "corrected resampled t test",
}
_CORRECTIONS = {
    "tukey": "Tukey's HSD on the block design",
    "randomized-tukey": "randomized Tukey HSD",
    "nemenyi": "Nemenyi's test of mean ranks",
    "maxt": "MaxT permutation test",
    "dunnett": "Dunnett's test by permutation",
    "dunnett-t": "Dunnett's test",
}


def _test_words(comparison: Comparison, claim: Claim) -> str:
    verdict = claim.outcomes[0]
    units = f"{len(comparison.scores.units)} units"
    how = comparison.advice.correction
    if how in _CORRECTIONS:
        return f"{_CORRECTIONS[how]} on {units}, {_p_words(claim.adjusted)}"
    name = _NAMES.get(verdict.test, verdict.test)
    words = f"{name} on {units}, {_p_words(verdict.p)} ({_method(verdict)})"
    return f"{words}, {_p_words(claim.adjusted)} after {how}" if how else words


def _method(outcome: Outcome) -> str:
    tails = "two-tailed" if outcome.tail == "two" else "one-tailed"
    parts = [tails, outcome.detail or outcome.method]
    if outcome.error and "±" not in outcome.detail:
        parts.append(f"± {outcome.error:.1g}")
    return ", ".join(parts)


def warning_lines(comparison: Comparison) -> list[str]:
    """Why this analysis, and what to be careful about."""
    careful = [f"Careful: {plain_text(one)}." for one in comparison.advice.warnings]
    return [*_together(comparison), comparison.advice.why, *careful]


def _together(comparison: Comparison) -> list[str]:
    """Analysis of variance and of ranks, in a line each."""
    lines = []
    if comparison.anova is not None:
        source, rest = comparison.anova.systems, comparison.anova.residual
        lines.append(
            f"All systems together: F({source.df}, {rest.df}) = {source.f:.3f}, "
            f"{_p_words(source.p)} (two-way ANOVA, units as blocks), partial eta squared "
            f"{source.partial_eta_squared:.3f}{_sphericity(comparison)}."
        )
    if comparison.friedman is not None:
        plain, davenport, nemenyi = comparison.friedman
        lines.append(
            f"By ranks: Friedman {plain.statistic:.3f}, {_p_words(plain.p)}; Iman-Davenport "
            f"{davenport.statistic:.3f}, {_p_words(davenport.p)}; Nemenyi's critical difference "
            f"of mean ranks {nemenyi.critical_difference:.3f}."
        )
    return lines


def _sphericity(comparison: Comparison) -> str:
    found = comparison.sphericity
    if found is None:
        return ""
    return (
        f"; Mauchly's W {found.w:.3f}, {_p_words(found.p)}, Greenhouse-Geisser epsilon "
        f"{found.greenhouse_geisser:.3f} gives {_p_words(found.corrected_p)}"
    )


def _system_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of systems."""
    scores, base = comparison.scores, comparison.baseline
    letters = any(row.letters for row in comparison.systems)
    head = ["system", scores.measure, "interval"]
    head += _claim_head(comparison) if base else []
    head += ["group"] if letters else []
    head += ["judged"] if scores.judged else []
    claims = {claim.first: claim for claim in comparison.claims} if base else {}
    rows = []
    for at, row in enumerate(comparison.systems):
        cells = [plain_text(row.name), f"{row.mean.estimate:.4f}", _bounds(row.mean)]
        if base:
            blank = ["—"] * len(_claim_head(comparison))
            known = row.name in claims
            cells += _claim_cells(comparison, claims[row.name]) if known else blank
        cells += [row.letters] if letters else []
        cells += [f"{scores.judged[at]:.2f}"] if scores.judged else []
        rows.append(cells)
    return head, rows


def _bounds(interval: Any) -> str:
    return f"[{interval.low:.4f}, {interval.high:.4f}]"


def _claim_head(comparison: Comparison) -> list[str]:
    """The columns about a pair: every test has one, and the correction if there is any."""
    tests = [f"p {test}" for test in comparison.advice.tests]
    how = comparison.advice.correction
    return ["Δ", "interval of Δ", *tests, *([f"p {how}"] if how else []), "d_z", "W/T/L"]


def _claim_cells(comparison: Comparison, claim: Claim) -> list[str]:
    effects = claim.effects
    adjusted = [show_p(claim.adjusted)] if comparison.advice.correction else []
    mark = "*" if claim.adjusted <= comparison.alpha else ""
    return [
        f"{claim.difference.estimate:+.4f}{mark}",
        f"[{claim.difference.low:+.4f}, {claim.difference.high:+.4f}]",
        *(show_p(outcome.p) for outcome in claim.outcomes),
        *adjusted,
        f"{effects.standardised:+.2f}",
        f"{effects.wins}/{effects.ties}/{effects.losses}",
    ]


def _pair_rows(comparison: Comparison) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the table of pairs."""
    rows = [
        [
            f"{plain_text(claim.first)} - {plain_text(claim.second)}",
            *_claim_cells(comparison, claim),
        ]
        for claim in comparison.claims
    ]
    return ["pair", *_claim_head(comparison)], rows


def _tables(comparison: Comparison) -> list[tuple[list[str], list[list[str]]]]:
    tables = [_system_rows(comparison)]
    return tables if comparison.baseline else [*tables, _pair_rows(comparison)]


def claims_text(comparison: Comparison, kind: str, *, terminal: bool = False) -> str:
    """The tables of a comparison and its sentences: ``table``, ``tsv``, ``md`` or ``latex``."""
    writers = {"tsv": _tsv, "md": _markdown, "latex": _latex}
    tables = _tables(comparison)
    if kind == "table":
        return _rich(tables, terminal=terminal) + "\n" + _prose(comparison)
    text = "\n".join(writers[kind](head, rows) for head, rows in tables)
    if kind == "tsv":
        return text
    notes = [*sentences(comparison), *warning_lines(comparison)]
    if kind == "latex":
        return text + "".join(f"% {note}\n" for note in notes)
    return text + "\n" + "".join(f"{note}\n\n" for note in notes)


def _prose(comparison: Comparison) -> str:
    return "\n".join([*sentences(comparison), *warning_lines(comparison)]) + "\n"


def _tsv(head: list[str], rows: list[list[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in [head, *rows])


def _markdown(head: list[str], rows: list[list[str]]) -> str:
    rule = ["---", *("---:" for _ in head[1:])]
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in [head, rule, *rows]]
    return "".join(f"| {' | '.join(row)} |\n" for row in escaped)


def _latex(head: list[str], rows: list[list[str]]) -> str:
    lines = [f"\\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}", "\\toprule"]
    cells = [[_latex_cell(cell) for cell in row] for row in [head, *rows]]
    lines += [" & ".join(cells[0]) + r" \\", "\\midrule"]
    lines += [" & ".join(row) + r" \\" for row in cells[1:]]
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", ""])


def _latex_cell(cell: str) -> str:
    shown = cell.translate(LATEX_ESCAPES).replace("Δ", r"$\Delta$")
    shown = f"{shown[:-1]}$^{{*}}$" if shown.endswith("*") else shown
    return shown.replace("< 0.0001", "$<$ 0.0001").replace("—", "---")


def _rich(tables: list[tuple[list[str], list[list[str]]]], *, terminal: bool) -> str:
    from io import StringIO

    from rich.console import Console  # slow to import, needed for tables only
    from rich.table import Table
    from rich.text import Text

    buffer = StringIO()
    width = Console().width if terminal else 10_000
    console = Console(file=buffer, width=width, force_terminal=terminal, highlight=False)
    for head, rows in tables:
        table = Table(header_style="bold", show_edge=False, pad_edge=False)
        for at, name in enumerate(head):
            table.add_column(Text(name), justify="left" if not at else "right")
        for row in rows:
            table.add_row(*(Text(cell) for cell in row))
        console.print(table)
        console.print()
    return "".join(line.rstrip() + "\n" for line in buffer.getvalue().splitlines())


def comparison_dict(comparison: Comparison) -> dict[str, Any]:
    """Every number at full precision, as plain values."""
    anova, sphericity = comparison.anova, comparison.sphericity
    return {
        "measure": comparison.scores.measure,
        "units": len(comparison.scores.units),
        "units_left_out": list(comparison.scores.dropped),
        "data": comparison.scores.data,
        "baseline": comparison.baseline,
        "alpha": comparison.alpha,
        "tail": comparison.tail,
        "seed": comparison.seed,
        "correction": comparison.advice.correction or "none",
        "why": comparison.advice.why,
        "warnings": list(comparison.advice.warnings),
        "systems": [
            {"name": row.name, "letters": row.letters, **row.mean._asdict()}
            for row in comparison.systems
        ],
        "claims": [
            {
                **claim_row(comparison, claim),
                "tests": [outcome._asdict() for outcome in claim.outcomes],
                "sentence": _sentence(comparison, claim),
            }
            for claim in comparison.claims
        ],
        "anova": anova._asdict() if anova is not None else None,
        "sphericity": sphericity._asdict() if sphericity is not None else None,
        "ranks": comparison.friedman,
    }


def json_claims(comparisons: list[Comparison]) -> str:
    """All comparisons as JSON."""
    content = [_plain(comparison_dict(one)) for one in comparisons]
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Records and NumPy's numbers as JSON knows them; what is not finite is null."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def html_claims(comparison: Comparison) -> str:
    """Tables and sentences for a notebook."""
    parts = []
    for head, rows in _tables(comparison):
        top = "".join(f"<th>{html.escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in rows
        )
        parts.append(f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>")
    notes = [*sentences(comparison), *warning_lines(comparison)]
    return "".join(parts) + "".join(f"<p>{html.escape(note)}</p>" for note in notes)
