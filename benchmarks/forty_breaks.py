"""Break the product in forty small ways, one at a time, and see which the tests notice.

Each break is a fault that a user could meet: a wrong sign, an end that is missed by one, a weight
that is forgotten, a note that is dropped, a text that is not escaped. The tests of its room are run
on a copy of the repository (without `-m long`) and stop at the first failure. Before that they are
run on the unbroken copy: tests that fail anyway would notice everything.

    python benchmarks/forty_breaks.py                       all; it takes long
    python benchmarks/forty_breaks.py --only tune           those of a room, a file, or a number
    python benchmarks/forty_breaks.py --jobs 2 --trust      in two copies, without the first check
    python benchmarks/forty_breaks.py --only 12 --tests tests/resample/test_plans.py
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[1]
PATIENCE = 1800.0
"""Seconds after which tests that do not end count as having noticed it."""

# Of other rooms, folders have their names. Commands show and write what the report makes.
COMMANDS = ("tests/test_cli*.py", "tests/test_refusals.py")
TESTS = {"cli": COMMANDS, "report": ("tests/report", "tests/test_escapes.py", *COMMANDS)}

# The file below src/heldout and what goes wrong, then the old text and the new one. An old text
# occurs exactly once in its file; a new one may be empty.
BREAKS = r"""
data/run.py: asked for ascending ids, ties are in descending order
- descending=against < 0
+ descending=True

data/trec.py: the ranks of a written run begin at 0
- {row - begin + 1}
+ {row - begin}

data/documents.py: the second copy of a document takes the id of another document
- (copy == name or copy in taken)
+ copy == name

data/export.py: a line corpus keeps the line breaks inside of documents
- np.isin(batch.text, (10, 13))
+ np.isin(batch.text, (13,))

data/scores.py: units that a system lacks are left out without a word
- dropped=tuple(compress(every, ~shared)),
+ dropped=(),

measure/ranking/binary.py: the depth of R-precision at a multiple of R is rounded otherwise
- times * relevant + 0.9
+ times * relevant + 0.5

measure/prediction/classes.py: balanced accuracy counts classes without units
- recalls.sum(axis=1), (counts.true > 0).sum(axis=1)
+ recalls.sum(axis=1), (counts.true >= 0).sum(axis=1)

measure/prediction/numbers.py: the sides of the pinball loss are exchanged
- np.maximum(alpha * gap, (alpha - 1) * gap)
+ np.maximum(-alpha * gap, (1 - alpha) * gap)

measure/ranking/evaluate.py: skipping missing queries keeps those that one run has
- counted = np.all(present, axis=0)
+ counted = np.any(present, axis=0)

measure/ranking/run_checks.py: no note about runs that are copies of each other
- *islice(_copies(runs), SHOWN),
+

resample/plans.py: a share is rounded down
- round(value * len(units))
+ int(value * len(units))

resample/split.py: inner folds of a bootstrap sample count each unit once
- [side * drawn for side in sides]
+ sides

resample/two_way.py: repeats of the documents alone get the number of the first repeat
- repeat = np.maximum(asked[:, 0], searched[:, 0])
+ repeat = asked[:, 0]

resample/groups.py: with groups of the user, documents with the same text are separated
- return Groups(_least_names(own, merged), merged)
+ return own

retrieve/models.py: held-out documents are ranked without counting themselves
- df = statistics.df + added
+ df = statistics.df

retrieve/dense.py: documents with the same score are in ascending order of their ids
- (~self.order[every], -values)
+ (self.order[every], -values)

retrieve/kernels/fuse.py: the median of two scores is the higher one
- own[(n - 1) // 2]
+ own[n // 2]

retrieve/analyze.py: stop words are looked for after stemming
- "" if word in stop else stem
+ "" if stem in stop else stem

tune/choice.py: the standard error of one-se divides by n
- squares / (total - 1) / total
+ squares / total / total

tune/choice_variance.py: held-out units that were drawn twice count once
- total[:, places] += values[choices[:, number, None], places] * often
+ total[:, places] += values[choices[:, number, None], places]

tune/space.py: the first and last integer of a range are drawn half as often
- low, high = (lowest - 0.5, highest + 0.5) if axis.whole else axis.ends
+ low, high = axis.ends

tune/search.py: Optuna maximizes errors, too
- "maximize" if higher_is_better else "minimize"
+ "maximize"

infer/corrections.py: p-values of Holm are not monotone
- np.maximum.accumulate(values[order] * (count + 1 - rank))
+ values[order] * (count + 1 - rank)

infer/gate.py: a gate takes more of a loss for a gain
- estimate=-value, low=-high, high=-low
+ estimate=value, low=low, high=high

infer/ledger.py: a ledger without a last line end is continued in that line
- b"\n" + lines if before and not before.endswith(b"\n") else lines
+ lines

infer/intervals.py: areas under two curves are compared as if they were independent
- variance = both - 2 * table[first, second]
+ variance = both

infer/comparison_notes.py: no note if only some of the systems were tuned
- if analysis.tuned and rest:
+ if analysis.tuned and not rest:

experiment/documents/estimates.py: queries with many relevant documents outweigh all others
- np.minimum(folds.relevant, PRO) / PRO
+ folds.relevant / PRO

experiment/sides.py: rankings are tuned on the training part although there is a validation part
- test = sides.get("validation", train) if fold[1] == WHOLE
+ test = train if fold[1] == WHOLE

experiment/documents/pooling.py: scores above the scale of a fold are mapped downwards
- (scores[above] - own[0])
+ (own[0] - scores[above])

experiment/predictions.py: no note about settings that failed
- notes = [*_failures(system, tuned.points, fits)]
+ notes = []

experiment/work.py: a run is resumed in the folder of another experiment
- if own != other:
+ if not other:

report/table.py: formulas in exported tables of scores are run by spreadsheets
- return escape_formula(printable(text))
+ return printable(text)

report/comparison.py: JUnit XML counts gates that passed as failures
- sum(not result.passed for result in results)
+ sum(result.passed for result in results)

report/standing.py: the system with the largest error comes first
- -row.score if up else row.score
+ -row.score

report/charts/systems.py: of errors, the chart names the worse system as the better one
- names if scores.higher_is_better else names[::-1]
+ names

cli/main.py: the exit code says wrong input where the reader of a pipe has gone
- _end(READER_GONE)
+ _end(WRONG)

cli/eval.py: --intersection is ignored
- "skip" if options.intersection else "zero"
+ "zero"

cli/split.py: a table of folds has tabs although a CSV file was named
- "," if by_suffix(file, ("tsv", "csv"), "tsv") == "csv" else "\t"
+ "\t"

cli/compare.py: comparisons are not recorded in the ledger
- first = None if form == "html" else record
+ first = None
"""


class Break(NamedTuple):
    """A small wrong change."""

    number: int
    file: str  # below src/heldout
    what: str
    old: str
    new: str

    @property
    def room(self) -> str:
        """The folder whose tests should notice it."""
        return self.file.partition("/")[0]

    def path(self, copy: Path) -> Path:
        """The file in a copy of the repository."""
        return copy / "src" / "heldout" / self.file

    def __str__(self) -> str:
        return f"{self.number:2} {self.file}: {self.what}"


def all_breaks() -> list[Break]:
    """The breaks of the list above."""
    breaks = []
    for number, paragraph in enumerate(BREAKS.strip().split("\n\n"), 1):
        head, old, new = paragraph.split("\n")
        file, _, what = head.partition(": ")
        breaks.append(Break(number, file, what, old.removeprefix("- "), new[1:].strip()))
    return breaks


def check_texts(breaks: Sequence[Break]) -> None:
    """Stop if an old text does not occur exactly once."""
    times = [each.path(ROOT).read_text(encoding="utf-8").count(each.old) for each in breaks]
    wrong = [f"{each}: {n} times" for each, n in zip(breaks, times, strict=True) if n != 1]
    if wrong:
        sys.exit("\n".join(wrong))


def is_meant(each: Break, only: str) -> bool:
    """Whether a number, a room or a part of a file name means a break."""
    return only == str(each.number) if only.isdecimal() else only in each.file


def copy_tree(folder: Path) -> Path:
    """A copy of the repository without what was built in it."""
    built = (".git", ".venv", "*.pyc", "__pycache__", ".*_cache", ".hypothesis", "_build", "dist")
    return shutil.copytree(ROOT, folder, ignore=shutil.ignore_patterns(*built))


def failure(copy: Path, tests: Sequence[str]) -> str | None:
    """Run tests in a copy: the first that fails, or None."""
    found = [str(path.relative_to(copy)) for name in tests for path in sorted(copy.glob(name))]
    if not found:
        sys.exit(f"there are no tests in {', '.join(tests)}")
    command = [sys.executable, "-m", "pytest", *found, "-x", "-q", "-n", "0", "--tb=no"]
    command += ["-p", "no:randomly", "-p", "no:cacheprovider"]
    home = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(  # noqa: PLW1510 - failures are what it is for
            command, cwd=copy, env=home, capture_output=True, text=True, timeout=PATIENCE
        )
    except subprocess.TimeoutExpired:
        return f"no end after {PATIENCE:.0f} s"
    if not done.returncode:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return lines[0].split(" - ")[0] if lines else (done.stdout + done.stderr)[-300:].strip()


def try_break(each: Break, copy: Path, tests: Sequence[str]) -> str | None:
    """Apply a break to a copy, run tests, and restore the file: the test that noticed it."""
    path = each.path(copy)
    content = path.read_text(encoding="utf-8")
    try:
        path.write_text(content.replace(each.old, each.new), encoding="utf-8")
        return failure(copy, tests)
    finally:
        path.write_text(content, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--only", action="append", default=[], metavar="NAME|NUMBER")
    parser.add_argument("--tests", action="append", default=[], help="instead of those of the room")
    parser.add_argument("--jobs", type=int, default=1, help="copies that are tested side by side")
    parser.add_argument("--trust", action="store_true", help="do not run unbroken tests first")
    options = parser.parse_args()
    every = all_breaks()
    check_texts(every)
    asked = options.only or [""]
    wanted = [each for each in every if any(is_meant(each, only) for only in asked)]
    if not wanted:
        sys.exit(f"no break is named {' or '.join(options.only)}")

    def tests_of(room: str) -> Sequence[str]:
        return options.tests or TESTS.get(room, [f"tests/{room}"])

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(copy_tree(Path(folder, str(number), "heldout")))

        def work(each: Break | str) -> str | None:
            copy = copies.get()
            try:
                if isinstance(each, str):
                    return failure(copy, tests_of(each))
                return try_break(each, copy, tests_of(each.room))
            finally:
                copies.put(copy)

        rooms = [] if options.trust else list(dict.fromkeys(each.room for each in wanted))
        for room, found in zip(rooms, pool.map(work, rooms), strict=True):
            if found:
                sys.exit(f"{room}, unbroken: {found}")
        noticed = 0
        for each, found in zip(wanted, pool.map(work, wanted), strict=True):
            noticed += found is not None
            print(f"{each}\n   {found or 'NOT NOTICED'}", flush=True)
    print(f"{noticed} of {len(wanted)} were noticed")


if __name__ == "__main__":
    main()
