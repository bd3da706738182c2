"""Freeze numbers of the whole product, and check that they are still the same.

    python benchmarks/reference.py check            all entries, or 'commands/eval*' 'lists/*'
    python benchmarks/reference.py freeze           the same; removes entries that are not listed

Everything is asked for through commands and through the names in ``heldout.__all__``, on files that
are written from seeds, so that the inside can be rebuilt under it. `reference_entries.py` lists
what is asked for, and has the tables in which names change. The answers are in ``tests/reference``:
a line for each object, with its entry, its path, and its numbers.

- Integers, texts and orders are equal. Other numbers agree to 1e-12 (relatively; 1e-14 near 0).
- P-values of exact tests agree to 1e-14; the fourth item of the line says ``exact``.
- A number that depends on the seed by chance alone has its standard deviation over other seeds
  there. It agrees to 1e-12, too, unless ``check --monte-carlo`` allows four standard errors.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import warnings
from concurrent.futures import ProcessPoolExecutor
from fnmatch import fnmatch
from itertools import groupby
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reference_answers import OUT, SECTIONS, SEP, Exact, Leaves, command, only_chance
from reference_data import write_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FROZEN: Final = Path(__file__).parent.parent / "tests" / "reference"
DIGITS: Final = 14
TOLERANCE, OF_EXACT, NEAR_ZERO = 1e-12, 1e-14, 1e-14
SEEDS: Final = range(1, 9)
ALLOWED: Final = 4 * math.sqrt(2)
"""Standard deviations between two Monte Carlo numbers: both have an error."""
SHOWN: Final = 20


class Line(NamedTuple):
    """A number, a text, or a list of them: where it is, and how it is compared."""

    entry: str
    path: str
    value: Any
    how: Any = None
    """``exact``, standard deviations over seeds (``any`` for what is no number), or None."""


# Comparing --------------------------------------------------------------------------------------


def agree(frozen: Any, now: Any, how: Any) -> bool:
    """Whether a number, a text, or a list of them is what was frozen."""
    if how == "any":
        return True
    if isinstance(frozen, list) and isinstance(now, list):
        each = how if isinstance(how, list) else [how] * len(frozen)
        return len(frozen) == len(now) and all(map(agree, frozen, now, each))
    numbers = is_number(frozen) and is_number(now)
    if not numbers or (isinstance(frozen, int) and isinstance(now, int) and how is None):
        return type(frozen) is type(now) and bool(frozen == now)
    if how == "exact":
        return math.isclose(frozen, now, rel_tol=OF_EXACT)
    chance = 0.0 if how is None else ALLOWED * how
    return math.isclose(frozen, now, rel_tol=TOLERANCE, abs_tol=max(chance, NEAR_ZERO))


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def spreads(leaves: Leaves, others: Sequence[Leaves]) -> dict[str, Any]:
    """Return standard deviations over seeds, of all leaves that depend on the seed."""
    found = {}
    for path, leaf in leaves.items():
        values = [leaf, *(other.get(path) for other in others)]
        if any(value != leaf for value in values):
            alike = all(isinstance(v, list) and len(v) == len(leaf) for v in values)
            columns = zip(*values, strict=True) if alike else [values]
            each = [deviation(list(column)) for column in columns]
            found[path] = each if alike else each[0]
    return found


def deviation(values: Sequence[Any]) -> float | str | None:
    """Return a standard deviation; None if all are equal, ``any`` if some are no numbers."""
    if all(value == values[0] for value in values):
        return None
    return float(f"{statistics.stdev(values):.2g}") if all(map(is_number, values)) else "any"


def difference(old: Any, new: Any, how: Any = None) -> str:
    """Say what was and what is; of lists the first item that differs."""
    if isinstance(old, str) and isinstance(new, str) and " " in old and " " in new:
        several = old.split(), new.split()
        old, new = several if len(several[0]) == len(several[1]) else (old, new)
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        each = how if isinstance(how, list) else [how] * len(old)
        places = (n for n in range(len(old)) if not agree(old[n], new[n], each[n]))
        place = next(places, 0)
        old, new = old[place], new[place]
        return f"{old!r} -> {new!r}" + (f" (item {place})" if place else "")
    return f"{str(old)[:90]} -> {str(new)[:90]}"


# Computing --------------------------------------------------------------------------------------


def start_worker() -> None:
    """Write all files into a folder of this process, and work there."""
    folder = Path(tempfile.mkdtemp(dir=os.environ["HELDOUT_REFERENCE"]))
    write_files(folder)
    os.chdir(folder)
    os.environ.pop("HELDOUT_LEDGER", None)
    warnings.simplefilter("ignore")


def compute(section: str, entry: str, freezing: bool) -> list[Line]:
    """Compute an entry and, to freeze it, its standard deviations over seeds."""
    work, _ = SECTIONS[section]
    try:
        clear()
        leaves = work(entry)
        others = []
        if freezing and section == "commands" and only_chance(entry):
            for seed in SEEDS:
                clear()
                others.append(command(entry, seed))
    except Exception as error:
        if freezing:
            raise RuntimeError(f"{section}/{entry}: {error}") from error
        return [Line(entry, "failed", f"{type(error).__name__}: {error}")]
    how = spreads(leaves, others)
    return [
        Line(entry, path, leaf, how.get(path, "exact" if isinstance(leaf, Exact) else None))
        for path, leaf in leaves.items()
    ]


def clear() -> None:
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir()


def compute_all(patterns: Sequence[str], jobs: int, *, freezing: bool) -> dict[str, list[Line]]:
    """Compute all entries that match, on several processes."""
    found: dict[str, list[Line]] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HELDOUT_REFERENCE"] = folder
        with ProcessPoolExecutor(jobs, get_context("spawn"), start_worker) as pool:
            waiting = {
                section: [
                    pool.submit(compute, section, entry, freezing)
                    for entry in entries
                    if matches(section, entry, patterns)
                ]
                for section, (_, entries) in SECTIONS.items()
            }
            for section, futures in waiting.items():
                found[section] = [line for future in futures for line in future.result()]
    return found


def matches(section: str, entry: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch(f"{section}/{entry}", pattern) for pattern in patterns)


# Files ------------------------------------------------------------------------------------------


def read_frozen(section: str) -> list[Line]:
    path = FROZEN / f"{section}.jsonl"
    lines = []
    for text in path.read_text("utf-8").splitlines() if path.exists() else []:
        entry, parent, leaves, *how = json.loads(text)
        for name, value in leaves.items():
            place = f"{parent}{SEP}{name}" if parent else name
            lines.append(Line(entry, place, value, how[0].get(name) if how else None))
    return lines


def frozen_text(lines: Sequence[Line]) -> str:
    """Return a line for each object: its entry, path, leaves, and how some are compared."""
    texts = []
    for (entry, parent), group in groupby(
        sorted(lines, key=place_of), lambda line: place_of(line)[:2]
    ):
        leaves, how = {}, {}
        for line in group:
            name = place_of(line)[2]
            leaves[name] = line.value if line.how == "exact" else rounded(line.value)
            if line.how is not None:
                how[name] = line.how
        record = [entry, parent, leaves, how] if how else [entry, parent, leaves]
        texts.append(json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(texts)


def place_of(line: Line) -> tuple[str, str, str]:
    parent, _, name = line.path.rpartition(SEP)
    return line.entry, parent, name


def rounded(value: Any) -> Any:
    if isinstance(value, list):
        return [rounded(item) for item in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def freeze(patterns: Sequence[str], jobs: int) -> None:
    """Write what the entries give now; others stay, if they have a source."""
    found = compute_all(patterns, jobs, freezing=True)
    for section, (_, entries) in SECTIONS.items():
        stay = [
            line
            for line in read_frozen(section)
            if line.entry in entries and not matches(section, line.entry, patterns)
        ]
        path = FROZEN / f"{section}.jsonl"
        path.write_text(frozen_text([*stay, *found[section]]), "utf-8")
    print(summary(found))


def check(patterns: Sequence[str], jobs: int, *, monte_carlo: bool) -> int:
    """Print what differs from what was frozen, and return the exit code."""
    found = compute_all(patterns, jobs, freezing=False)
    wrong = []
    for section in SECTIONS:
        frozen = [line for line in read_frozen(section) if matches(section, line.entry, patterns)]
        old, now = by_entry(frozen), by_entry(found[section])
        for entry in sorted(old.keys() | now.keys()):
            told = differences(old.get(entry, {}), now.get(entry, {}), monte_carlo=monte_carlo)
            wrong += [f"{section}/{entry}: {text}" for text in told]
    print("\n".join([*wrong[:SHOWN], summary(found)]))
    if wrong:
        print(f"{len(wrong):,} differences from tests/reference", file=sys.stderr)
    return 1 if wrong else 0


def by_entry(lines: Sequence[Line]) -> dict[str, dict[str, Line]]:
    found: dict[str, dict[str, Line]] = {}
    for line in lines:
        found.setdefault(line.entry, {})[line.path] = line
    return found


def differences(
    frozen: Mapping[str, Line], now: Mapping[str, Line], *, monte_carlo: bool
) -> list[str]:
    """Say what differs in an entry, which may also have failed, or be missing on one side."""
    if not now:
        return ["frozen, but not an entry: freeze removes it"]
    if not frozen:
        return ["not frozen"]
    if "failed" in now:
        return [now["failed"].value]
    told = []
    for path in sorted(frozen.keys() | now.keys()):
        if path not in frozen or path not in now:
            told.append(f"{path}: {'only now' if path in now else 'only in what was frozen'}")
            continue
        old, how = frozen[path].value, frozen[path].how
        how = how if monte_carlo or how == "exact" else None
        if not agree(old, now[path].value, how):
            told.append(f"{path}: {difference(old, now[path].value, how)}")
    return told


def summary(found: Mapping[str, Sequence[Line]]) -> str:
    texts = []
    for section, lines in found.items():
        values = sum(len(line.value) if isinstance(line.value, list) else 1 for line in lines)
        texts.append(f"{section} {len({line.entry for line in lines})} entries, {values:,} values")
    return "; ".join(texts)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("freeze", "check"))
    parser.add_argument("entry", nargs="*", help="patterns of section/entry (default: all)")
    parser.add_argument("--monte-carlo", action="store_true", help="allow four standard errors")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="processes (default: 2)")
    given = parser.parse_args()
    if given.action == "freeze":
        freeze(given.entry, given.jobs)
    else:
        sys.exit(check(given.entry, given.jobs, monte_carlo=given.monte_carlo))


if __name__ == "__main__":
    main()
