"""Record the output of some thirty commands over all tasks, and compare it with a record.

Run it before a change of structure, then after each step:

    python benchmarks/reference_outputs.py before
    python benchmarks/reference_outputs.py after --against before

What is recorded: standard output (JSON where a command has it), exit codes, and every table that an
experiment writes, as text at full precision. Notes on standard error are recorded, too, but apart,
so that a change of words is seen as what it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl

HELDOUT = (sys.executable, "-c", "from heldout.cli import main; main()")
IGNORED = ("timings.json", "lock")

FUNCTION = """
from collections import Counter


def rank(train, test, power=1.0):
    seen = Counter(w for _, text in train.collection.documents.pairs() for w in set(text.split()))
    documents = [(name, set(text.split())) for name, text in test.collection.documents.pairs()]
    queries, found = test.collection.queries, {}
    for query, text in zip(queries.ids, queries.texts, strict=True):
        words = set(text.split())
        scores = {
            name: sum(1 / (1 + seen[word]) ** power for word in sorted(words & own))
            for name, own in documents
        }
        found[query] = {name: score for name, score in scores.items() if score > 0}
    return found
"""

CLASSES = """
task = "classification"
measures = ["accuracy", "F1"]
plan = {folds = 4, repeats = 2}
data = {file = "classes.csv", target = "label", features = ["x", "y"]}

[[systems]]
name = "knn"
estimator = "sklearn.neighbors:KNeighborsClassifier"
space = {n_neighbors = [1, 5, 9]}

[[systems]]
name = "tree"
estimator = "sklearn.tree:DecisionTreeClassifier"
parameters = {max_depth = 3}
"""

CALLS = """
collection = "small"
plan = {folds = 3}
inner = 2

[[systems]]
name = "mine"
function = "ranker.py:rank"
space = {power = [0.5, 1.0]}

[[systems]]
model = "bm25"
"""

BY_DOCUMENT = CALLS.replace("inner = 2", 'by = "document"').replace(
    "function =", "comparable = true\nfunction ="
)

NUMBERS = """
task = "regression"
measures = ["MSE", "R2"]
plan = {kind = "holdout", test = 0.3}
data = {file = "numbers.csv", target = "target", features = ["x", "y"]}

[[systems]]
name = "ridge"
estimator = "sklearn.linear_model:Ridge"
space = {alpha = [0.1, 1.0, 10.0]}

[[systems]]
name = "tree"
estimator = "sklearn.tree:DecisionTreeRegressor"
parameters = {max_depth = 3}
"""

COMMANDS: dict[str, str] = {
    "example": "demo --files ex",
    "eval": "eval ex/qrels.txt ex/baseline.run ex/improved.run",
    "eval-json": "eval ex/qrels.txt ex/baseline.run ex/improved.run --json -q",
    "eval-trec": "eval ex/qrels.txt ex/improved.run --format trec -q",
    "eval-tsv": "eval ex/qrels.txt ex/improved.run -m nDCG@10 -m AP -q --format tsv",
    "compare": "compare ex/qrels.txt ex/baseline.run ex/improved.run",
    "compare-json": "compare ex/qrels.txt ex/baseline.run ex/improved.run -m nDCG@10 -m AP --json",
    "compare-tests": "compare ex/qrels.txt ex/baseline.run ex/improved.run --test wilcoxon --json",
    "compare-table": "compare --scores scores.csv --json",
    "compare-many": "compare --scores scores.csv --correction holm",
    "compare-baseline": "compare --scores scores.csv --baseline s0 --json",
    "compare-gate": "compare --scores scores.csv --baseline s0 --gate non-inferior --margin 0.05",
    "power": "power ex/qrels.txt ex/baseline.run ex/improved.run --json",
    "classes": "score classification one.csv two.csv --compare --json",
    "classes-text": "score classification one.csv two.csv --per-class",
    "classes-compare": "compare one.csv two.csv -m F1 --json",
    "numbers": "score regression n1.csv n2.csv --compare --json",
    "text": "score text --references refs.txt h1.txt h2.txt -m BLEU -m chrF --compare --json",
    "measures": "measures",
    "split": "split pydocs --by query --folds 3 --assignments split.tsv",
    "search": "search pydocs --queries asked.tsv --model bm25 -o found.run -k 20",
    "tune": "run small/qrels/test.tsv --system x=tuned/k=*.run --json",
    "run-query": "run pydocs --system bm25(k1=0.5:2:4) --system ql-jm(lambda=0.2,0.5,0.8) -o r1",
    "run-document": "run pydocs --by document --system bm25(k1=1,2) --system ql-dirichlet -o r2",
    "run-both": "run pydocs --by both --system bm25(k1=0.5:2:4) -o r3",
    "run-function": "run function.toml -o r4",
    "run-function-document": "run documents.toml -o r8",
    "run-classes": "run classes.toml -o r5",
    "run-numbers": "run numbers.toml -o r6",
    "run-files": "run small --system tuned/k=*.run --system bm25 --folds 3 -o r7",
    "report": "report r1 -o r1.html",
    "bias": "study bias small --draws 3 --json",
}


def write_inputs(folder: Path) -> None:
    """Write seeded inputs of all kinds."""
    source = np.random.default_rng(0)
    quality = (
        source.normal(0.5, 0.15, (40, 1)) + source.normal(0, 0.1, (40, 4)) + 0.02 * np.arange(4)
    )
    header = ["topic", *(f"s{n}" for n in range(4))]
    rows = [[f"t{at}", *(f"{x:.6f}" for x in row)] for at, row in enumerate(quality.clip(0, 1))]
    write_csv(folder / "scores.csv", header, rows)
    for number, name in enumerate(("one.csv", "two.csv")):
        wrong = source.random(200) < 0.2 + 0.1 * number
        truth = np.random.default_rng(5).integers(0, 3, 200)
        predicted = np.where(wrong, (truth + 1) % 3, truth)
        rows = [
            [f"u{at}", "abc"[t], "abc"[p]]
            for at, (t, p) in enumerate(zip(truth, predicted, strict=True))
        ]
        write_csv(folder / name, ["id", "truth", "prediction"], rows)
    target = np.random.default_rng(6).normal(0, 1, 150)
    for name, noise in (("n1.csv", 0.4), ("n2.csv", 0.5)):
        guess = target + source.normal(0, noise, 150)
        rows = [[f"u{at}", f"{target[at]:.6f}", f"{guess[at]:.6f}"] for at in range(150)]
        write_csv(folder / name, ["id", "truth", "prediction"], rows)
    words = [f"w{n}" for n in range(60)]
    references = [list(source.choice(words, source.integers(5, 12))) for _ in range(60)]
    (folder / "refs.txt").write_text("\n".join(map(" ".join, references)) + "\n")
    for name, share in (("h1.txt", 0.2), ("h2.txt", 0.3)):
        lines = [
            " ".join(source.choice(words) if source.random() < share else w for w in one)
            for one in references
        ]
        (folder / name).write_text("\n".join(lines) + "\n")
    for name, labels in (("classes.csv", True), ("numbers.csv", False)):
        points = source.normal(0, 1, (120, 2))
        value = points[:, 0] + 0.5 * points[:, 1] ** 2 + source.normal(0, 0.3, 120)
        last = (
            ["b" if one > 0.5 else "a" for one in value] if labels else [f"{v:.5f}" for v in value]
        )
        rows = [[f"i{n}", f"{p[0]:.5f}", f"{p[1]:.5f}", last[n]] for n, p in enumerate(points)]
        write_csv(folder / name, ["id", "x", "y", "label" if labels else "target"], rows)
    write_collection(folder / "small", source)
    write_runs(folder, source)
    (folder / "ranker.py").write_text(FUNCTION)
    (folder / "function.toml").write_text(CALLS)
    (folder / "documents.toml").write_text(BY_DOCUMENT)
    (folder / "classes.toml").write_text(CLASSES)
    (folder / "numbers.toml").write_text(NUMBERS)
    (folder / "asked.tsv").write_text("q1\tread a csv file\nq2\tsort a list of numbers\n")


def write_csv(path: Path, header: list[str], rows: list[list[str]]) -> None:
    path.write_text("\n".join(",".join(row) for row in [header, *rows]) + "\n")


def write_collection(folder: Path, source: np.random.Generator) -> None:
    """Write a small collection in BEIR's form."""
    (folder / "qrels").mkdir(parents=True)
    words = [f"term{n}" for n in range(80)]
    weights = 1 / np.arange(1, 81)
    weights /= weights.sum()
    texts = [" ".join(source.choice(words, 25, p=weights)) for _ in range(90)]
    corpus = [
        json.dumps({"_id": f"d{n}", "title": "", "text": text}) for n, text in enumerate(texts)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(corpus) + "\n")
    asked, judged = [], ["query-id\tcorpus-id\tscore"]
    for n in range(24):
        chosen = source.choice(90, 3, replace=False)
        text = " ".join(source.choice(texts[chosen[0]].split(), 4))
        asked.append(json.dumps({"_id": f"q{n}", "text": text}))
        judged += [f"q{n}\td{d}\t{2 - at}" for at, d in enumerate(chosen) if at < 2]
    (folder / "queries.jsonl").write_text("\n".join(asked) + "\n")
    (folder / "qrels" / "test.tsv").write_text("\n".join(judged) + "\n")


def write_runs(folder: Path, source: np.random.Generator) -> None:
    (folder / "tuned").mkdir()
    for value in (1, 2, 3):
        lines = [
            f"q{query} Q0 d{document} {rank + 1} {1 - rank / 20:.4f} run"
            for query in range(24)
            for rank, document in enumerate(source.permutation(90)[:20])
        ]
        (folder / "tuned" / f"k={value}.run").write_text("\n".join(lines) + "\n")


def record(folder: Path) -> None:
    """Run all commands in a folder and keep what they give."""
    folder.mkdir(parents=True)
    write_inputs(folder)
    for name, typed in COMMANDS.items():
        words = typed.split()
        done = subprocess.run([*HELDOUT, *words], cwd=folder, capture_output=True, check=False)
        (folder / f"{name}.stdout").write_bytes(done.stdout)
        (folder / f"{name}.stderr").write_bytes(done.stderr)
        (folder / f"{name}.code").write_text(f"{done.returncode}\n")
        print(f"{name}: exit code {done.returncode}, {len(done.stdout):,} bytes", flush=True)
    for path in sorted(folder.glob("*/*.parquet")):
        table = pl.read_parquet(path)
        shown = table.select(
            pl.col(name).struct.json_encode() if isinstance(kind, pl.Struct) else name
            for name, kind in table.schema.items()
        )
        shown.write_ndjson(path.with_suffix(".rows"))


def differences(old: Path, new: Path) -> list[str]:
    """Name the files that differ, with the first line that does."""
    found = []
    names = {
        one.relative_to(side)
        for side in (old, new)
        for one in side.rglob("*")
        if one.is_file() and one.name not in IGNORED and one.suffix not in (".parquet", ".html")
    }
    for name in sorted(names):
        sides = [side / name for side in (old, new)]
        if not all(one.exists() for one in sides):
            found.append(f"{name}: only in {next(one for one in sides if one.exists()).parent}")
            continue
        before, after = (one.read_text(encoding="utf-8").splitlines() for one in sides)
        if before != after:
            pairs = zip([*before, "(end)"], [*after, "(end)"], strict=False)
            at, pair = next((n, p) for n, p in enumerate(pairs, 1) if p[0] != p[1])
            found.append(f"{name}:{at}:\n  - {pair[0][:400]}\n  + {pair[1][:400]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--against", type=Path, help="an earlier record to compare with")
    given = parser.parse_args()
    if not given.folder.exists():
        record(given.folder)
    if given.against is not None:
        found = differences(given.against, given.folder)
        print("\n".join(found) if found else "no difference")
        sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
