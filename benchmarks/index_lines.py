"""Index documents in JSON lines beside tantivy: seconds, processor seconds and memory peaks.

Each contestant has a process of its own and the same number of threads. heldout is the command
``heldout index`` with several values of ``--max-memory``, which is the memory of the whole process;
the indexes must have the same bytes. tantivy gets the texts from Python (``json.loads``), stores
counts and no positions. Peaks are of the resident set, and of its allocated part.

    python benchmarks/index_lines.py corpus.jsonl --threads 2 --memory 1GB 4GB
"""

from __future__ import annotations

import argparse
import filecmp
import json
import sys
import tempfile
from pathlib import Path

from watched import Watched, heldout, watch


def index_with_tantivy(corpus: Path, target: Path, threads: int) -> None:
    """Write an index that has the same information: counts, and the number of each document."""
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("number", fast=True)
    builder.add_text_field("text", tokenizer_name="default", index_option="freq")
    target.mkdir()
    index = tantivy.Index(builder.build(), path=str(target))
    writer = index.writer(heap_size=500_000_000, num_threads=threads)
    with corpus.open("rb") as file:
        for number, line in enumerate(file):
            writer.add_document(tantivy.Document(number=number, text=json.loads(line)["text"]))
    writer.commit()
    writer.wait_merging_threads()


def show(name: str, found: Watched, beside: Watched | None) -> None:
    """Print a row of the table."""
    ratio = "" if beside is None else f"{found.seconds / beside.seconds:.2f}"
    memory = f"{found.peak:,.0f} | {found.anonymous:,.0f}"
    print(f"| {name} | {found.seconds:.1f} | {found.busy:.1f} | {memory} | {ratio} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", nargs="+", default=["1GB", "4GB"], help="as --max-memory")
    parser.add_argument("--tantivy", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.tantivy is not None:
        index_with_tantivy(options.corpus, options.tantivy, options.threads)
        return
    with tempfile.TemporaryDirectory(dir=options.corpus.parent) as name:
        place = Path(name)
        print("| | seconds | CPU seconds | peak MB | allocated | times tantivy |")
        print("|---|---:|---:|---:|---:|---:|")
        command = [sys.executable, __file__, options.corpus, "--threads", options.threads]
        beside = watch([*map(str, command), "--tantivy", str(place / "tantivy")])
        if beside.code:
            sys.exit(f"tantivy: {beside.failure()}")
        show("tantivy", beside, None)
        words = ["index", str(options.corpus), "--jobs", str(options.threads), "--quiet"]
        made = [place / f"{memory}.index" for memory in options.memory]
        for memory, path in zip(options.memory, made, strict=True):
            found = heldout(*words, "--max-memory", memory, "-o", path)
            show(f"heldout, --max-memory {memory}", found, beside)
        names = [path.name for path in made[0].iterdir()]
        for path in made[1:]:
            _, *others = filecmp.cmpfiles(made[0], path, names, shallow=False)
            if any(others):
                sys.exit("the indexes differ")


if __name__ == "__main__":
    main()
