"""What was chosen where, and what it is worth on held-out data: as text and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from heldout.as_json import json_text
from heldout.infer.results import count_of
from heldout.notes import note_texts
from heldout.report.tables import Table, note_lines, notes_text, plain_text, tables_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from heldout.infer.compare import Comparison
    from heldout.infer.results import Interval
    from heldout.tune.runs import TunedRuns, TunedSystem
    from heldout.tune.tuned_folds import TunedFold, TunedFolds

__all__ = ["held_out_interval", "json_tuning", "tuning_lines", "tuning_tables", "tuning_text"]

FOLDS_SHOWN: Final = 20
"""More splits than these are counted by what was chosen in them."""

_RULES: Final = {
    "best": "the best mean",
    "one-se": "the simplest run within one standard error of the best mean",
}


def held_out_interval(
    folds: TunedFolds, level: float, ends: tuple[float, float]
) -> Interval | None:
    """An interval for the held-out mean over units; None for a single unit.

    Wilson's for successes and failures, else t. A unit has one value, however often it was held
    out. The folds share train units, which the interval takes no account of: it is about the units.
    """
    from heldout.infer.intervals.units import mean_interval  # SciPy

    return mean_interval(folds.units[~np.isnan(folds.units)], level, ends)


def tuning_text(
    tuned: TunedRuns, level: float = 0.95, *, quiet: bool = False, width: int | None = None
) -> str:
    """Tables about systems that were tuned on the same splits, and sentences unless `quiet`.

    Columns that do not fit into `width` go into further tables.
    """
    parts = [aligned(_summary_table(tuned, level), width)]
    for system in tuned.systems:
        if system.tuned:
            title = f"{plain_text(system.name)}: " if len(tuned.systems) > 1 else ""
            parts.append(
                f"{title}{_chosen_title(system)}\n" + aligned(_chosen_table(system), width)
            )
    if quiet:
        return "\n".join(parts)
    return "\n".join(parts) + "\n" + "".join(line + "\n" for line in tuning_lines(tuned))


def tuning_lines(tuned: TunedRuns) -> list[str]:
    """How the numbers came about, what to take, and what to know about them."""
    return [*_how_lines(tuned), *_ship_lines(tuned), *note_lines(tuned.all_notes)]


def tuning_tables(
    tuned: TunedRuns, comparison: Comparison | None, kind: str, level: float, *, quiet: bool
) -> str:
    """The same tables for other programs and for papers.

    Parameters
    ----------
    kind
        ``tsv`` or ``csv`` (tables alone, the first about the systems), ``md``, ``latex``, ``html``.
    """
    from heldout.report.claims import claims_csv, claims_text  # brings tables
    from heldout.report.tables import tables_page

    tables = [_summary_table(tuned, level)]
    for system in tuned.systems:
        if system.tuned:
            chosen = _chosen_table(system)
            rows = [[plain_text(system.name), *row] for row in chosen.rows]
            tables.append(Table(["system", *chosen.head], rows, texts=2))
    parts = [tables_text(tables, kind)]
    if not quiet and kind in {"md", "latex", "html"}:
        parts.append(notes_text(tuning_lines(tuned), kind))
    if comparison is not None:
        csv = kind == "csv"
        known = () if quiet else tuned.all_notes
        claims = claims_csv([comparison]) if csv else claims_text(comparison, kind, known=known)
        parts.append(claims)
    return tables_page("\n".join(parts), kind, "Tuning")


def _summary_table(tuned: TunedRuns, level: float) -> Table:
    head = ["system", "runs", f"{plain_text(tuned.measure)} held out", f"{level:.0%} interval"]
    rows = []
    for system in tuned.systems:
        folds = system.folds
        interval = held_out_interval(folds, level, tuned.range)
        shown = f"[{interval.low:.4f}, {interval.high:.4f}]" if interval else "undefined"
        cells = [plain_text(system.name), str(len(system.runs)), f"{folds.mean:.4f}", shown]
        more = [f"{folds.optimistic:.4f}", f"{folds.optimism:+.4f}"] if system.tuned else ["—", "—"]
        rows.append([*cells, *more])
    return Table([*head, "optimistic", "optimism"], rows)


def _chosen_title(system: TunedSystem) -> str:
    count = len(system.folds.folds)
    if count > FOLDS_SHOWN:
        return f"chosen in {count:,} splits"
    return "chosen on the seen queries of each fold"


def _chosen_table(system: TunedSystem) -> Table:
    if len(system.folds.folds) > FOLDS_SHOWN:
        return _counted_table(system)
    head = ["fold", "seen", "held out", "chosen", "score seen", "score held out"]
    return Table(head, [_fold_row(system, fold) for fold in system.folds.folds])


def _fold_row(system: TunedSystem, fold: TunedFold) -> list[str]:
    return [
        str(fold.key),
        str(fold.n_train),
        str(fold.n_test),
        plain_text(system.runs[fold.number]),
        f"{fold.train:.4f}",
        "undefined" if math.isnan(fold.held_out) else f"{fold.held_out:.4f}",
    ]


def _counted_table(system: TunedSystem) -> Table:
    """The runs that were chosen at all, the most frequent first."""
    folds = system.folds
    rows = []
    for number in np.argsort(-folds.chosen, kind="stable").tolist():
        if folds.chosen[number]:
            share = f"{folds.chosen[number]} ({folds.chosen[number] / len(folds.folds):.0%})"
            mean = f"{folds.final.means[number]:.4f}"
            rows.append([plain_text(system.runs[number]), share, mean])
    return Table(["run", "chosen", "score on all queries"], rows)


def _how_lines(tuned: TunedRuns) -> list[str]:
    folds = tuned.systems[0].folds
    units = count_of(len(tuned.splits.ids), "query", "queries")
    plan, seed = repr(tuned.splits.plan), tuned.splits.seed
    plan += "" if seed is None or "seed=" in plan else f", seed {seed}"
    what = f"{count_of(len(folds.folds), 'split')} of {units} by {plan}"
    return [
        f"{what}: the run is chosen on the seen queries ({_RULES[folds.rule]}).",
        "Held out: the mean over queries of what each got where it had no say in the choice.",
        "Optimistic: what the run that is chosen on these same queries gets on them.",
    ]


def _ship_lines(tuned: TunedRuns) -> list[str]:
    lines = []
    for system in tuned.systems:
        if not system.tuned:
            continue
        final = system.folds.final
        where = system.sources[final.number]
        name = f"{plain_text(system.name)}, " if len(tuned.systems) > 1 else ""
        lines.append(
            f"To ship: {name}{plain_text(system.shipped)} ({plain_text(where)}), chosen on all "
            f"{count_of(final.units, 'query', 'queries')}. The held-out score stands for it, and "
            "is slightly pessimistic, because the choices in it were made on fewer queries."
        )
    return lines


def json_tuning(tuned: TunedRuns, comparison: Comparison | None = None, level: float = 0.95) -> str:
    """Every number at full precision; what is undefined is null."""
    content: dict[str, Any] = {
        "measure": tuned.measure,
        "higher_is_better": tuned.systems[0].folds.higher_is_better,
        "queries": len(tuned.splits.ids),
        "plan": repr(tuned.splits.plan),
        "seed": tuned.splits.seed,
        "splits": len(tuned.splits),
        "splits_fingerprint": tuned.splits.fingerprint,
        "rule": tuned.systems[0].folds.rule,
        "data": tuned.data,
        "policies": dict(tuned.policies),
        "systems": [_system_dict(system, level, tuned.range) for system in tuned.systems],
        **note_texts(tuned.all_notes),
        "comparison": None,
    }
    if comparison is not None:
        from heldout.report.claims import claim_records  # brings tables

        content["comparison"] = claim_records([comparison])[0]
    return json_text(content)


def _system_dict(system: TunedSystem, level: float, ends: tuple[float, float]) -> dict[str, Any]:
    folds = system.folds
    interval = held_out_interval(folds, level, ends)
    return {
        "name": system.name,
        "runs": list(system.runs),
        "tuned": system.tuned,
        "held_out": folds.mean,
        "interval": None if interval is None else interval._asdict(),
        "mean_over_folds": folds.fold_mean,
        "optimistic": folds.optimistic,
        "optimism": folds.optimism,
        "judged_at_10": system.judged,
        "ship": _point_dict(system, folds.final.number) | {"mean": folds.final.mean},
        "edges": [
            {
                "parameter": edge.name,
                "value": edge.value,
                "side": edge.side,
                "splits": edge.folds,
                "shipped": edge.shipped,
            }
            for edge in folds.edges
        ],
        "points": [
            _point_dict(system, number)
            | {"chosen": int(times), "mean": float(folds.final.means[number])}
            for number, times in enumerate(folds.chosen)
        ],
        "folds": [
            {
                "split": str(fold.key),
                "run": system.runs[fold.number],
                "seen": fold.train,
                "held_out": fold.held_out,
                "n_seen": fold.n_train,
                "n_held_out": fold.n_test,
                "surface": fold.surface.tolist(),
            }
            for fold in folds.folds
        ],
        "undefined": list(folds.undefined),
        "never_held_out": list(folds.never),
    }


def _point_dict(system: TunedSystem, number: int) -> dict[str, Any]:
    return {
        "run": system.runs[number],
        "source": system.sources[number],
        "parameters": None if system.points is None else system.points.point(number),
    }
