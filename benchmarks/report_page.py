"""How long a page takes to make, how large it is, and how soon a reader can use it.

Results are those of an experiment with runs of ten documents a query, made up: 250 queries × 5
systems, and 5,000 × 20, with the texts of 100,000 documents. Goals: 250 × 5 in 5 s and 5 MB,
5,000 × 20 in 30 s.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np

from harness import heldout

CLICK = """(name) => {
  const begin = performance.now();
  document.querySelector(name).click();
  document.body.offsetHeight;  // until it is laid out
  return performance.now() - begin;
}"""
FILLER = "with some words that say little " * 8


def write(folder: Path, queries: int, systems: int, documents: int) -> list[str]:
    """Write a collection and runs, and return the options that name the runs."""
    rng = np.random.default_rng(0)
    with (folder / "corpus.jsonl").open("w") as file:
        for at in range(documents):
            file.write(json.dumps({"_id": f"d{at:06}", "text": f"Document {at} {FILLER}"}) + "\n")
    with (folder / "queries.jsonl").open("w") as file:
        for at in range(queries):
            text = f"what is asked in query {at} by somebody"
            file.write(json.dumps({"_id": f"q{at}", "text": text}) + "\n")
    judged = rng.integers(0, documents, (queries, 5))
    (folder / "qrels").mkdir()
    rows = [f"q{at}\td{one:06}\t1\n" for at, row in enumerate(judged.tolist()) for one in set(row)]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(rows))
    named = []
    for number in range(systems):
        # Some of the judged documents among others, more of them for better systems.
        found = rng.integers(0, documents, (queries, 10))
        kept = rng.random((queries, 5)) < 0.3 + 0.3 * number / systems
        found[:, :5][kept] = judged[kept]
        path = folder / f"system-{number}.run"
        with path.open("w") as file:
            for at, row in enumerate(found.tolist()):
                for rank, one in enumerate(dict.fromkeys(row), 1):
                    file.write(f"q{at} Q0 d{one:06} {rank} {11 - rank} system-{number}\n")
        named += ["--system", f"system-{number}={path}"]
    return named


def browse(path: Path) -> None:
    """The time until the table can be used and until all charts are drawn, in Chromium."""
    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        print("  no Chromium here")
        return
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page()
        begin = time.perf_counter()
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-ready]")
        ready = time.perf_counter() - begin
        for figure in page.locator(".chart").all():  # they are drawn when they come into view
            figure.scroll_into_view_if_needed()
        others = page.locator(".drawing:not([data-drawn])").first
        others.wait_for(state="detached", timeout=120_000)
        charts = time.perf_counter() - begin
        page.get_by_role("searchbox").fill("q1")
        sort, opened = (page.evaluate(CLICK, one) for one in ("th[data-key=unit] button", ".open"))
        browser.close()
    print(
        f"  in Chromium: usable after {ready:.1f} s, all charts after {charts:.1f} s, sorting "
        f"{sort:.0f} ms, opening a query {opened:.0f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", default=["250x5", "5000x20"], metavar="QUERIESxN")
    parser.add_argument("--documents", type=int, default=100_000)
    options = parser.parse_args()
    for size in options.sizes:
        queries, systems = map(int, size.split("x"))
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            named = write(folder, queries, systems, options.documents)
            heldout("run", folder, *named, "-o", folder / "results", "--quiet")
            page = folder / "report.html"
            used = heldout("report", folder / "results", "-o", page, "--quiet")
            print(
                f"{queries:,} queries × {systems} systems: {used.seconds:.1f} s, "
                f"{used.processor:.1f} s of CPU, {page.stat().st_size / 1e6:.1f} MB, memory peak "
                f"{used.memory:.0f} MB"
            )
            browse(page)


if __name__ == "__main__":
    main()
