"""A corpus of four times the memory that is allowed is indexed and evaluated within it.

Three commands, as a user would give them, first within a limit and then without:

    heldout index CORPUS --max-memory SIZE -o INDEX
    heldout search INDEX --queries QUERIES --qrels QRELS --eval -o RUN
    heldout run CORPUS --index INDEX --by document -o RESULTS

The limit is a control group (version 2: memory.max, no swap) where one may be made, which takes
root; page cache counts there. Elsewhere nothing holds the commands back, and their peaks are
measured: VmHWM counts pages of mapped files, which the kernel can drop at any time, and anonymous
memory does not. With ``--limit data`` the kernel refuses private memory beyond the limit
(RLIMIT_DATA); that is address space, some 200 MB more than is ever resident. What is found must be
the same, byte for byte.

    python benchmarks/out_of_core.py --folder data
"""

from __future__ import annotations

import argparse
import filecmp
import hashlib
import os
import resource
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heaps import QUERY_COUNTS, Corpus, Shape, make
from watched import Watched, heldout

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

MB = 2**20
GROUPS = Path("/sys/fs/cgroup")
"""The exit code of what heldout refuses."""
SYSTEM = "bm25(k1=0.6,1.2,1.8, b=0.25,0.5,0.75)"


@dataclass(frozen=True)
class Limit:
    """What a command may take; `prepare` is called in its process before it starts."""

    name: str
    prepare: Callable[[], None] | None = None
    folder: Path | None = None

    def peak(self) -> str:
        """The greatest memory of a control group in MB, page cache included."""
        if self.folder is None:
            return ""
        try:
            return f"{int((self.folder / 'memory.peak').read_text()) / MB:,.0f}"
        except OSError:  # kernels before 5.19 do not keep it
            return "not known"


NONE = Limit("none, measured")
FREE = Limit("none, no --memory")


def may_group(root: Path) -> bool:
    """Whether control groups with a limit of memory can be made, without changing any other."""
    try:
        # Given on to groups below already: switching it on would change the machine.
        enabled = (root / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
    return "memory" in enabled and os.access(root, os.W_OK)


@contextmanager
def control_group(root: Path, size: int, name: str) -> Iterator[Limit]:
    """A control group for one command, gone afterwards."""
    folder = root / f"heldout-{os.getpid()}-{name}"
    folder.mkdir()
    try:
        (folder / "memory.max").write_text(str(size))
        swap = folder / "memory.swap.max"
        if swap.exists():
            swap.write_text("0")

        def enter() -> None:
            (folder / "cgroup.procs").write_text(str(os.getpid()))

        yield Limit(f"control group, {size / MB:,.0f} MB", enter, folder)
    finally:
        folder.rmdir()


@contextmanager
def data_limit(size: int) -> Iterator[Limit]:
    """A limit of private memory that needs no rights."""

    def enter() -> None:
        resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    yield Limit(f"RLIMIT_DATA, {size / MB:,.0f} MB", enter)


@dataclass(frozen=True)
class Places:
    """What is read and written."""

    corpus: Corpus
    queries: int
    folder: Path

    def index(self) -> Path:
        """A file, or a folder of shards."""
        return self.folder / "index"

    def commands(self, memory: int, more: Sequence[str] = ()) -> dict[str, list[str]]:
        """The commands of a user; 0: without a bound; `more` options are for ``heldout index``."""
        corpus = str(self.corpus.documents)
        asked = ["--queries", str(self.corpus.queries(self.queries))]
        asked += ["--qrels", str(self.corpus.qrels(self.queries))]
        index = ["index", corpus, "-o", str(self.index()), "--quiet", *more]
        if memory:
            index += ["--max-memory", f"{memory // MB}MB"]
        search = ["search", str(self.index()), *asked, "--eval", "-m", "nDCG@10", "-m", "AP"]
        run = ["run", corpus, *asked, "--index", str(self.index()), "--system", SYSTEM]
        run += ["--by", "document", "--folds", "5", "-m", "nDCG@10", "--quiet"]
        return {
            "index": index,
            "search": [*search, "--quiet", "-o", str(self.folder / "bm25.run")],
            "run": [*run, "-o", str(self.folder / "results")],
        }

    def digests(self) -> dict[str, str]:
        """Of all results; timings and the paths in the manifest are not the same."""
        files = [self.folder / "bm25.run", *sorted((self.folder / "results").iterdir())]
        return {
            one.name: hashlib.sha256(one.read_bytes()).hexdigest()
            for one in files
            if one.name not in {"timings.json", "manifest.json"}
        }


def index_bytes(path: Path) -> int:
    """Of a file, or of all files of a folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(one.stat().st_size for one in files if one.is_file())


def cells(step: str, limit: Limit, found: Watched) -> str:
    """A row of the table."""
    shown = [f"{found.seconds:.1f}", limit.peak(), f"{found.peak:,.0f}", f"{found.anonymous:,.0f}"]
    return "| " + " | ".join([step, limit.name, *shown]) + " |"


@dataclass(frozen=True)
class Limiter:
    """Makes the limit of each command; a size of 0: there is none."""

    kind: str
    root: Path
    size: int

    def limit(self, step: str) -> AbstractContextManager[Limit]:
        """The limit of one command."""
        if self.kind == "group":
            return control_group(self.root, self.size, step)
        if self.kind == "data":
            return data_limit(self.size)
        return nullcontext(NONE if self.size else FREE)


def do_all(commands: dict[str, list[str]], limiter: Limiter) -> dict[str, Watched]:
    """Do all commands and print a row for each."""
    done = {}
    for step, words in commands.items():
        with limiter.limit(step) as limit:
            found = heldout(*words, prepare=limit.prepare, may_fail=True)
            print(cells(step, limit, found), flush=True)
            if found.code:
                sys.exit(f"\n{step} has failed: {found.failure()}")
            done[step] = found
    return done


def kind_of(wanted: str, root: Path) -> str:
    """The limit that is wanted, or the strictest there is."""
    if wanted != "auto":
        return wanted
    if may_group(root):
        return "group"
    print(f"No control group with a limit of memory can be made in {root}: peaks are measured.")
    return "none"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--allowed", type=int, default=512, metavar="MB", help="memory (default 512)")
    add("--times", type=float, default=4, help="size of the corpus in it (default 4)")
    add("--memory", type=int, metavar="MB", help="for heldout index (default a quarter of it)")
    add("--shards", type=int, metavar="N", help="for heldout index (default: none)")
    add("--threads", type=int, metavar="N", help="for heldout index (default: none given)")
    add("--queries", type=int, default=QUERY_COUNTS[0], choices=QUERY_COUNTS)
    add("--words", type=int, default=300, help="a document (default 300)")
    add("--limit", choices=("auto", "group", "data", "none"), default="auto")
    add("--groups", type=Path, default=GROUPS, metavar="FOLDER", help=f"default {GROUPS}")
    add("--folder", type=Path, help="of the corpora, which are kept (default: a temporary one)")
    options = parser.parse_args()
    allowed = options.allowed * MB
    memory = (options.memory or max(options.allowed // 4, 1)) * MB
    more = [
        part
        for option, given in (("--shards", options.shards), ("--jobs", options.threads))
        if given is not None
        for part in (option, str(given))
    ]
    limiter = Limiter(kind_of(options.limit, options.groups), options.groups, allowed)
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        shape = Shape(words=options.words, size=int(options.times * allowed))
        corpus = make(options.folder or Path(name), shape)
        size = corpus.documents.stat().st_size
        within, without = (Places(corpus, options.queries, Path(name) / part) for part in "ab")
        for one in (within, without):
            one.folder.mkdir()
        given = " ".join(["--memory", f"{memory // MB}MB", *more])
        print(
            f"Corpus {size / MB:,.0f} MB, allowed {options.allowed:,} MB: {size / allowed:.1f} "
            f"times as much; heldout index {given}\n\n"
            "| command | limit | seconds | group's peak MB | VmHWM MB | anonymous MB |\n"
            "| --- | --- | ---: | ---: | ---: | ---: |",
            flush=True,
        )
        done = do_all(within.commands(memory, more), limiter)
        alone = do_all(without.commands(0), Limiter("none", options.groups, 0))
        print(f"\nIndex {index_bytes(within.index()) / MB:,.0f} MB.")
        compare(within, without, done, alone)
        judge(done, options.allowed)


def judge(done: dict[str, Watched], allowed: int) -> None:
    """Say whether the peaks were within what is allowed; end with an error if they were not."""
    peak = max(one.peak for one in done.values())
    anonymous = max(one.anonymous for one in done.values())
    print(
        f"Allowed {allowed:,} MB; at most {peak:,.0f} MB were resident, "
        f"{anonymous:,.0f} MB of them anonymous."
    )
    if anonymous > allowed:
        sys.exit("More than is allowed.")


def compare(
    within: Places, without: Places, done: dict[str, Watched], alone: dict[str, Watched]
) -> None:
    """End with an error if the limit has changed anything."""
    ours, theirs = within.digests(), without.digests()
    wrong = [one for one in {*ours, *theirs} if ours.get(one) != theirs.get(one)]
    wrong += [
        f"output of {step}" for step in ("search", "run") if done[step].output != alone[step].output
    ]
    if wrong:
        sys.exit(f"not the same within the limit and without: {', '.join(sorted(wrong))}")
    print(f"The same bytes within the limit and without: {', '.join(ours)}, and what is printed.")
    if within.index().is_file():
        same = filecmp.cmp(within.index(), without.index(), shallow=False)
        print(f"The index is {'the same, too' if same else 'another one'}.")


if __name__ == "__main__":
    main()
