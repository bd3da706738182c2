"""Nested folds of the worked example, through an experiment and through bare scikit-learn loops.

Which subpackage does a docstring belong to? k-NN on TF-IDF vectors with K chosen by 5 inner folds,
and logistic regression, on 10 stratified folds of texts of the embedded collection. The bare loops
get the same folds: `GridSearchCV` on every train side, then the predictions of the held-out side.
The experiment writes what is finished and its results to the disk, and also selects K on all data.

Each contestant runs in a process of its own; what is counted is the time from the data in memory to
the last score, and the memory peak of the process. The scores must be equal. An experiment fits on
one thread; the loops run as they are, and on one thread too.

    python benchmarks/nested.py [--texts 40] [--classes 6] [--rounds 3]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from sklearn.model_selection import GridSearchCV  # type: ignore[import-untyped]
from sklearn.neighbors import KNeighborsClassifier  # type: ignore[import-untyped]
from sklearn.pipeline import make_pipeline  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

import heldout
from harness import run_process

if TYPE_CHECKING:
    from collections.abc import Callable

ALLOWED = 1.3
GRID = {"kneighborsclassifier__n_neighbors": [1, 3, 5, 9, 15]}
KNN = make_pipeline(TfidfVectorizer(), KNeighborsClassifier(metric="cosine"))
LOGISTIC = make_pipeline(TfidfVectorizer(), LogisticRegression())
OUTER = heldout.KFold(10, stratify="labels")
INNER = heldout.KFold(5, stratify="labels")

Scores = dict[str, list[float]]


def texts_of(limit: int, classes: int) -> tuple[list[str], list[str]]:
    """Texts and subpackages: the first `limit` texts of each of the first that have that many."""
    documents = heldout.read_collection("pydocs").documents
    homes: dict[str, list[int]] = {}
    for at, name in enumerate(documents.ids):
        homes.setdefault(".".join(name.split(".")[:2]), []).append(at)
    large = [home for home, places in homes.items() if len(places) >= limit][:classes]
    kept = {home: homes[home][:limit] for home in large}
    texts = [documents.text(at) for places in kept.values() for at in places]
    return texts, [home for home, places in kept.items() for _ in places]


def by_experiment(texts: list[str], labels: list[str]) -> Scores:
    """Held-out accuracies of each split."""
    experiment = heldout.Experiment(
        task="classification",
        data=(texts, labels),
        systems={"k-NN": (KNN, GRID), "logistic": LOGISTIC},
        plan=OUTER,
        inner=INNER.folds,
    )
    with tempfile.TemporaryDirectory() as folder:
        results: Any = experiment.run(f"{folder}/results")
    return {name: results.split_values(name) for name in ("k-NN", "logistic")}


def by_loops(texts: list[str], labels: list[str]) -> Scores:
    """The same as people write it."""
    found: Scores = {"k-NN": [], "logistic": []}
    truth = np.array(labels)
    for split in OUTER.splits(len(texts), "instance", labels=labels):
        train, test = split.rows("train"), split.rows("test")
        place = {row: at for at, row in enumerate(train.tolist())}
        inner = [
            tuple([place[row] for row in one.rows(side).tolist()] for side in ("train", "test"))
            for one in split.inner(INNER)
        ]
        seen, held_out = [texts[at] for at in train], [texts[at] for at in test]
        systems = {"k-NN": GridSearchCV(KNN, GRID, cv=inner), "logistic": LOGISTIC}
        for name, system in systems.items():
            system.fit(seen, truth[train])
            found[name].append(float(np.mean(system.predict(held_out) == truth[test])))
            system.predict_proba(held_out)
    return found


def by_loops_on_one_thread(texts: list[str], labels: list[str]) -> Scores:
    """The same without the threads of linear algebra, which cost more than they give here."""
    with threadpool_limits(1):
        return by_loops(texts, labels)


CONTESTANTS: dict[str, Callable[[list[str], list[str]], Scores]] = {
    "heldout": by_experiment,
    "loops": by_loops,
    "loops, 1 thread": by_loops_on_one_thread,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--texts", type=int, default=40, help="texts of each subpackage")
    parser.add_argument("--classes", type=int, default=6, help="subpackages, at most")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--alone", choices=CONTESTANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.alone:
        texts, labels = texts_of(options.texts, options.classes)
        begin, used = time.perf_counter(), time.process_time()
        alone = CONTESTANTS[options.alone](texts, labels)
        seconds, cpu_seconds = time.perf_counter() - begin, time.process_time() - used
        sizes = [len(texts), len(set(labels))]
        told = {"seconds": seconds, "cpu": cpu_seconds, "scores": alone, "counts": sizes}
        print(json.dumps(told))
        return
    best = dict.fromkeys(CONTESTANTS, float("inf"))
    cpu = dict.fromkeys(CONTESTANTS, float("inf"))
    memory = dict.fromkeys(CONTESTANTS, 0.0)
    scores: dict[str, Scores] = {}
    found: dict[str, Any] = {}
    for _ in range(options.rounds):
        for name in CONTESTANTS:
            asked = ["--texts", str(options.texts), "--classes", str(options.classes)]
            output, _, peak = run_process([sys.executable, __file__, *asked, "--alone", name])
            found = json.loads(output)
            best[name] = min(best[name], found["seconds"])
            cpu[name] = min(cpu[name], found["cpu"])
            memory[name] = max(memory[name], peak or 0.0)
            scores[name] = found["scores"]
    if any(one != scores["heldout"] for one in scores.values()):
        raise SystemExit(f"the scores differ: {scores}")
    rows, classes = found["counts"]
    print(f"{rows} texts of {classes} subpackages, 10 x 5 folds, the same scores")
    for name, values in scores["heldout"].items():
        print(f"  {name}: accuracy {np.mean(values):.4f}")
    for name in CONTESTANTS:
        print(f"  {name:16}{best[name]:8.2f} s{cpu[name]:8.2f} s of CPU{memory[name]:8.0f} MB")
    ratio, of_cpu = (
        one["heldout"] / min(one[name] for name in CONTESTANTS if name != "heldout")
        for one in (best, cpu)
    )
    print(f"  time {ratio:.2f}, CPU {of_cpu:.2f} of the quicker loops (asked: at most {ALLOWED})")


if __name__ == "__main__":
    main()
