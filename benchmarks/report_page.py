"""How long a page takes to make, how large it is, and how soon a reader can use it.

Results are made up: 250 queries x 5 systems, and 5,000 x 20, with ten documents a list out of
100,000, and texts. Goals: 250 x 5 in 5 s and 5 MB, 5,000 x 20 in 30 s.
"""

from __future__ import annotations

import multiprocessing
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SIZES = ((250, 5), (5000, 20))
DOCUMENTS = 100_000
CLICK = """(name) => {
  const begin = performance.now();
  document.querySelector(name).click();
  document.body.offsetHeight;  // until it is laid out
  return performance.now() - begin;
}"""


def main() -> None:
    context = multiprocessing.get_context("spawn")  # a process each: its own memory peak
    with tempfile.TemporaryDirectory() as folder:
        for queries, systems in SIZES:
            path = Path(folder) / f"{queries}x{systems}.html"
            child = context.Process(target=measure, args=(queries, systems, str(path)))
            child.start()
            child.join()
            if child.exitcode:
                sys.exit(child.exitcode)
            browse(path)


def measure(queries: int, systems: int, path: str) -> None:
    from heldout.report.page import page
    from heldout.report.page.render import write_page

    results, collection = make(queries, systems)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    text = page(results, collection=collection, title="benchmark")
    write_page(path, text)
    end = time.perf_counter()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    size = Path(path).stat().st_size / 1e6
    print(
        f"{queries:,} queries x {systems} systems: {end - begin:.1f} s, {size:.1f} MB, "
        f"memory peak {peak / 1024:.0f} MB ({before / 1024:.0f} MB before)",
        flush=True,
    )


def make(queries: int, systems: int) -> tuple[Any, Any]:
    """Results as an experiment leaves them, without the experiment."""
    import polars as pl

    from heldout.data.collection import Collection
    from heldout.experiment.results.results import Results

    rng = np.random.default_rng(0)
    units = [f"q{n}" for n in range(queries)]
    names = [f"system-{k}" for k in range(systems)]
    ease = rng.beta(1.2, 1.5, (queries, 1))
    shift = np.linspace(0, 0.04, systems)
    scores = np.clip(ease + rng.normal(0, 0.12, (queries, systems)) + shift, 0, 1)
    folds = np.arange(queries) % 10
    place = {
        "system": np.repeat(names, queries),
        "repeat": np.zeros(queries * systems, np.int32),
        "fold": np.tile(folds, systems).astype(np.int32),
        "other": pl.Series([None] * (queries * systems), dtype=pl.Int32),
        "run": pl.Series([None] * (queries * systems), dtype=pl.Int32),
        "unit": units * systems,
    }
    values = pl.DataFrame(place | {"measure": "nDCG@10", "value": scores.T.ravel()})
    top = rng.integers(0, DOCUMENTS, (queries * systems, 10))
    lists = pl.DataFrame(place).with_columns(
        document=pl.Series([[f"doc-{d:06}" for d in row] for row in top.tolist()]),
        rank=pl.lit(pl.Series([list(range(1, 11))], dtype=pl.List(pl.Int32))).first(),
        score=pl.lit(1.0),
    )
    lists = lists.explode("document", "rank")
    chosen = pl.DataFrame(
        {
            "system": np.repeat(names, 10),
            "repeat": np.zeros(systems * 10, np.int32),
            "fold": np.tile(np.arange(10, dtype=np.int32), systems),
            "other": pl.Series([None] * (systems * 10), dtype=pl.Int32),
            "run": pl.Series([None] * (systems * 10), dtype=pl.Int32),
            "number": 0,
            "parameters": "{}",
            "train": 0.5,
            "held_out": 0.5,
            "edges": "",
        }
    )
    surface = chosen.select("system", "repeat", "fold", "other", "run", "number", "parameters")
    surface = surface.with_columns(mean=0.5).head(0)
    judged = rng.integers(0, DOCUMENTS, (queries, 5))
    filler = "with some words that say little " * 8
    rows = zip(units, judged.tolist(), strict=True)
    collection = Collection(
        {f"doc-{n:06}": f"Document {n} {filler}" for n in range(DOCUMENTS)},
        {unit: f"what is asked in query {unit} by somebody" for unit in units},
        {unit: {f"doc-{d:06}": 1 for d in row} for unit, row in rows},
        name="made up",
    )
    summary = [_summary(name, scores[:, k], queries) for k, name in enumerate(names)]
    return Results(
        values, chosen, surface, lists, summary, _manifest(names, collection), {}
    ), collection


def _summary(name: str, scores: Any, queries: int) -> Any:
    mean, error = float(scores.mean()), float(scores.std() / queries**0.5)
    estimate = {
        "measure": "nDCG@10",
        "estimator": "held-out mean",
        "value": mean,
        "low": mean - 2 * error,
        "high": mean + 2 * error,
        "estimand": "new queries on these documents",
        "n_queries": queries,
        "left_out": 0,
        "optimism": 0.0,
        "target_size": None,
        "level": 0.95,
        "interval": "t",
        "train": mean,
    }
    return {
        "name": name,
        "points": 1,
        "tuned": False,
        "estimates": [estimate],
        "chosen": [],
        "ship": {},
        "ship_number": 0,
        "edges": [],
    }


def _manifest(names: list[str], collection: Any) -> Any:
    return {
        "versions": {"heldout": "benchmark"},
        "fingerprints": {"collection": "made up", "splits": "made up", "index": None},
        "policies": {"ties": "docid-desc"},
        "settings": {
            "task": "ranking",
            "collection": {
                "name": "made up",
                "documents": len(collection.documents),
                "queries": len(collection.queries),
                "judgements": len(collection.qrels),
            },
            "systems": [{"name": name, "points": [{}]} for name in names],
            "by": "query",
            "plan": {"kind": "kfold", "folds": 10, "seed": 0},
            "plan_in_words": "10 folds of the queries (seed 0)",
            "runs": 1,
            "plan_seed": 0,
            "splits": 10,
            "measures": ["nDCG@10"],
            "tune_for": "nDCG@10",
            "seed": 0,
            "rule": "best",
            "level": 0.95,
            "baseline": None,
            "analyzer": None,
        },
        "notes": [],
    }


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


if __name__ == "__main__":
    main()
