"""Files for `reference.py`, written from seeds.

Only `random.Random.random` is drawn from, whose stream is the same in all versions of Python, and
every number is rounded before it is written.
"""

from __future__ import annotations

import json
import random
from math import fsum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

__all__ = ["Draw", "write_files"]

QUERIES, DOCUMENTS = 24, 90
SYSTEMS = "ABCDEFGHI"

RANKERS = '''
"""Systems in Python: a function, an object, and a reranker."""

from collections import Counter
from math import fsum


def overlaps(train, test, power):
    seen = Counter(w for _, text in train.documents.pairs() for w in set(text.split()))
    documents = [(name, set(text.split())) for name, text in test.documents.pairs()]
    ranked = {}
    for query, text in test.queries.pairs():
        words = set(text.split())
        scores = {
            name: fsum(1 / (1 + seen[word]) ** power for word in words & own)
            for name, own in documents
        }
        ranked[query] = {name: score for name, score in scores.items() if score > 0}
    return ranked


def rank(train, test, power=1.0):
    return overlaps(train, test, power)


def learned(train, test, weight=1.0, power=1.0):
    """Prefer documents that are relevant to a training query."""
    liked = {d for docs in train.qrels.to_dict().values() for d, grade in docs.items() if grade}
    found = overlaps(train, test, power)
    return {
        query: {name: score + weight * (name in liked) for name, score in ranked.items()}
        for query, ranked in found.items()
    }


class Ranker:
    def __init__(self, power=1.0):
        self.power = power

    def fit(self, train):
        self.train = train

    def predict(self, test):
        return overlaps(self.train, test, self.power)


def shorter(train, test, candidates, weight=0.1):
    lengths = {name: len(text.split()) for name, text in test.documents.pairs()}
    return {
        query: {name: score - weight * lengths[name] for name, score in ranked.items()}
        for query, ranked in candidates.to_dict().items()
    }


def make_nearest():
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(n_neighbors=3)


def first_grade(ranked):
    """The grade of the first document."""
    return max(0, ranked.grades[0]) / 3 if len(ranked.grades) else 0.0
'''

CLASSES = """
task = "classification"
measures = ["accuracy", "F1(macro)", "AUC"]
plan = {folds = 4, repeats = 2}
data = {file = "points.csv", target = "label", features = ["x", "y"], id = "id"}

[[systems]]
name = "knn"
estimator = "sklearn.neighbors:KNeighborsClassifier"
space = {n_neighbors = [1, 5, 9]}

[[systems]]
name = "bayes"
estimator = "sklearn.naive_bayes:GaussianNB"
"""

HOLD_OUT = CLASSES.replace(
    "{folds = 4, repeats = 2}", '{kind = "test-set", ids = {file = "rows.txt"}}'
).replace("space = {n_neighbors = [1, 5, 9]}", "")

NUMBERS = """
task = "regression"
measures = ["MSE", "R2", "median-AE"]
plan = {kind = "test-set", ids = {file = "rows.txt"}}
data = {file = "points.csv", target = "value", features = ["x", "y"], id = "id"}

[[systems]]
name = "ridge"
estimator = "sklearn.linear_model:Ridge"

[[systems]]
name = "knn"
estimator = "sklearn.neighbors:KNeighborsRegressor"
"""


class Draw:
    """Random numbers that depend on a seed alone."""

    def __init__(self, seed: int) -> None:
        self.uniform = random.Random(seed).random  # noqa: S311

    def below(self, n: int) -> int:
        """Return an integer from 0 to n - 1."""
        return int(self.uniform() * n)

    def normal(self) -> float:
        """Return a sum of uniform numbers: it has no logarithm, whose last bit may differ."""
        return fsum(self.uniform() for _ in range(12)) - 6

    def order(self, n: int) -> list[int]:
        """Return the integers from 0 to n - 1 in random order."""
        keys = [self.uniform() for _ in range(n)]
        return sorted(range(n), key=keys.__getitem__)

    def zipf(self, n: int) -> int:
        """Return a number below n; small ones are frequent."""
        return int(n ** self.uniform()) - 1


def write_files(folder: Path) -> None:
    """Write all files into a folder."""
    relevant = write_collection(folder / "small", Draw(1))
    write_runs(folder, relevant, Draw(2))
    write_predictions(folder, Draw(3))
    write_texts(folder, Draw(4))
    write_scores(folder, Draw(5))
    write_points(folder, Draw(6))
    (folder / "rankers.py").write_text(RANKERS)
    (folder / "classes.toml").write_text(CLASSES)
    (folder / "holdout.toml").write_text(HOLD_OUT)
    (folder / "numbers.toml").write_text(NUMBERS)


def write_table(path: Path, header: str, rows: Sequence[Sequence[object]]) -> None:
    between = "\t" if path.suffix == ".tsv" else ","
    lines = [header.replace(",", between), *(between.join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n")


def write_collection(folder: Path, draw: Draw) -> dict[str, dict[str, int]]:
    """Write a collection in BEIR's form, and return its judgements."""
    (folder / "qrels").mkdir(parents=True)
    texts = [[draw.zipf(150) for _ in range(15 + draw.below(30))] for _ in range(DOCUMENTS)]
    queries, qrels = {}, {}
    for number in range(QUERIES):
        words = [20 + draw.below(130) for _ in range(3)]
        grades = {}
        for document in sorted(draw.order(DOCUMENTS)[: 3 + draw.below(7)]):
            grade = draw.below(4)
            texts[document] += [words[draw.below(3)] for _ in range(grade)]
            grades[f"d{document:02}"] = grade
        grades[f"d{document:02}"] = 1 + draw.below(3)
        queries[f"q{number:02}"] = " ".join(f"w{word}" for word in [*words, draw.below(20)])
        qrels[f"q{number:02}"] = grades
    texts[7], texts[41] = texts[3], texts[40]  # documents with the same text
    texts[52] = [*texts[51], *texts[51][:2]]
    lines = [
        json.dumps({"_id": f"d{number:02}", "text": " ".join(f"w{word}" for word in text)})
        for number, text in enumerate(texts)
    ]
    (folder / "corpus.jsonl").write_text("\n".join(lines) + "\n")
    lines = [json.dumps({"_id": query, "text": text}) for query, text in queries.items()]
    (folder / "queries.jsonl").write_text("\n".join(lines) + "\n")
    rows = [(q, d, grade) for q, judged in qrels.items() for d, grade in judged.items()]
    write_table(folder / "qrels" / "test.tsv", "query-id,corpus-id,score", rows)
    home = folder.parent
    (home / "asked.tsv").write_text("".join(f"{q}\t{text}\n" for q, text in queries.items()))
    write_table(home / "folds.tsv", "id,fold", [(q, at % 3) for at, q in enumerate(queries)])
    write_table(home / "groups.tsv", "id,group", [(q, at // 2) for at, q in enumerate(queries)])
    write_table(home / "times.tsv", "id,time", [(q, 2000 + draw.below(90)) for q in queries])
    (home / "ids.txt").write_text("\n".join(sorted(queries)[3:24:4]) + "\n")
    documents = [f"d{number:02}" for number in range(DOCUMENTS)]
    write_table(home / "parts.tsv", "id,fold", [(d, at % 3) for at, d in enumerate(documents)])
    for name, ids in (("docs", documents), ("queries", list(queries))):
        vectors = [[round(draw.normal(), 3) for _ in range(6)] for _ in ids]
        np.save(home / f"{name}.npy", np.array(vectors))
        (home / f"{name}.ids").write_text("\n".join(ids) + "\n")
    return qrels


def write_runs(folder: Path, qrels: Mapping[str, Mapping[str, int]], draw: Draw) -> None:
    """Write judgements of all kinds and runs of nine systems; some have ties and lack queries."""
    places = [(query, document) for query, judged in qrels.items() for document in judged]
    human = [(q, 0, d, qrels[q][d]) for q, d in places]
    write_qrels(folder / "qrels.txt", human)
    write_qrels(folder / "human.txt", [row for row in human if int(row[0][1:]) % 3])
    for name, error in (("machine", 0.25), ("machine2", 0.4)):
        guess = [
            min(3, max(0, g + (draw.uniform() < error) * (1 - 2 * draw.below(2))))
            for *_, g in human
        ]
        write_qrels(
            folder / f"{name}.txt",
            [(q, 0, d, g) for (q, _, d, _), g in zip(human, guess, strict=True)],
        )
    aspects = [
        (q, draw.below(3), d, 1) for q, d in places if qrels[q][d] for _ in range(1 + draw.below(2))
    ]
    write_qrels(folder / "subtopics.txt", sorted(set(aspects)))
    pooled = [(q, 0, d, -1 if draw.uniform() < 0.2 else g) for q, _, d, g in human]
    write_qrels(folder / "sampled.txt", pooled)
    for number, system in enumerate(SYSTEMS):
        skill, missing = 0.5 + 0.12 * (number % 5), 5 if system == "C" else None
        (folder / f"{system}.run").write_text(run_text(qrels, draw, system, skill, missing))
    for name in ("tuned", "other"):
        (folder / name).mkdir()
        for value in (1, 2, 3, 4):
            text = run_text(qrels, draw, name, 0.7 + 0.1 * (value in {2, 3}))
            (folder / name / f"k={value}.run").write_text(text)
    (folder / "folded").mkdir()
    (folder / "parted").mkdir()
    lines = run_text(qrels, draw, "folded", 0.9).splitlines(keepends=True)
    for fold in range(3):
        own = [line for line in lines if int(line[1:3]) % 3 == fold]
        (folder / "folded" / f"{fold}.run").write_text("".join(own))
        own = [line for line in lines if int(line.split()[2][1:]) % 3 == fold]
        (folder / "parted" / f"{fold}.run").write_text("".join(own))
    degenerate = ["q00 Q0 d89 1 1 x\n", "q01 Q0 d01 1 1 x\n", "q01 Q0 d02 2 1 x\n"]
    (folder / "degenerate.run").write_text("".join(degenerate))


def write_qrels(path: Path, rows: Sequence[tuple[str, int, str, int]]) -> None:
    path.write_text("".join(f"{q} {aspect} {d} {grade}\n" for q, aspect, d, grade in rows))


def run_text(
    qrels: Mapping[str, Mapping[str, int]],
    draw: Draw,
    name: str,
    skill: float,
    missing: int | None = None,
) -> str:
    """Return a run whose scores rise with the grades by `skill`; scores of one digit have ties."""
    lines = []
    for number, (query, judged) in enumerate(qrels.items()):
        documents = [f"d{at:02}" for at in sorted(draw.order(DOCUMENTS)[:25])]
        documents += sorted(d for d in judged if d not in documents and draw.uniform() < 0.7)
        scores = {d: 5 + draw.normal() + skill * judged.get(d, 0) for d in documents}
        if number != missing:
            ranked = sorted(documents, key=lambda d: -scores[d])
            digits = 1 if number % 2 else 4
            lines += [
                f"{query} Q0 {d} {rank} {scores[d]:.{digits}f} {name}\n"
                for rank, d in enumerate(ranked, 1)
            ]
    return "".join(lines)


def write_predictions(folder: Path, draw: Draw) -> None:
    """Write predicted classes (two and three, weighted, in folds, degenerate) and numbers."""
    count = 60
    truth = [draw.below(3) for _ in range(count)]
    weights = [1 + draw.below(3) for _ in range(count)]
    for name, skill in (("k1", 1.0), ("k2", 1.4), ("k3", 1.5)):
        rows, pairs = [], []
        for unit in range(count):
            shares = [1 + draw.below(40) for _ in range(3)]
            shares[truth[unit]] += int(12 * skill)
            given = [round(share / sum(shares), 3) for share in shares[:2]]
            given.append(round(1 - sum(given), 3))
            guess = given.index(max(given))
            rows.append((f"u{unit:02}", "abc"[truth[unit]], "abc"[guess], *given))
            positive = round((given[0] + 0.15) / 1.3, 2)
            pairs.append((f"u{unit:02}", "np"[truth[unit] == 0], positive))
        header = "unit,truth,prediction,prob_a,prob_b,prob_c"
        write_table(folder / f"{name}.csv", header, rows)
        write_table(folder / f"{name}-two.csv", "unit,truth,probability", pairs)
        weighted = [(*row, weights[at]) for at, row in enumerate(rows)]
        write_table(folder / f"{name}-weighted.csv", header + ",weight", weighted)
        folds = [(*row, at % 5) for at, row in enumerate(rows)]
        write_table(folder / f"{name}-folds.csv", header + ",fold", folds)
    write_table(
        folder / "constant.csv", header, [(*row[:2], "a", 0.5, 0.25, 0.25) for row in rows[:12]]
    )
    write_table(folder / "one.csv", header, [(*row[:1], "b", *row[2:]) for row in rows[:12]])
    true = [round(1 + abs(3 * draw.normal()), 2) for _ in range(count)]
    for name, noise in (("n1", 0.8), ("n2", 0.6), ("n3", 0.6)):
        guesses = [round(abs(one + noise * draw.normal()), 1) for one in true]
        numbers = [(f"u{at:02}", *pair) for at, pair in enumerate(zip(true, guesses, strict=True))]
        write_table(folder / f"{name}.csv", "unit,truth,prediction", numbers)
        write_table(
            folder / f"{name}-weighted.csv",
            "unit,truth,prediction,weight",
            [(*row, weights[at]) for at, row in enumerate(numbers)],
        )
    same = [(unit, 2.5, guess) for unit, _, guess in numbers[:12]]
    write_table(folder / "same.csv", "unit,truth,prediction", same)
    write_table(folder / "flat.csv", "unit,truth,prediction", [(u, t, 3.5) for u, t, _ in numbers])


def write_texts(folder: Path, draw: Draw) -> None:
    """Write references, texts of three systems, log-probabilities and word vectors."""
    words = [f"{one}{two}" for one in ("run", "talk", "jump", "cat") for two in ("s", "", "ed")]
    words += ["the", "a", "of", "on", "not", "Paris", "2", "."]
    references = [
        [words[draw.below(len(words))] for _ in range(4 + draw.below(9))] for _ in range(30)
    ]
    other = [
        [words[draw.below(len(words))] if i % 3 else w for i, w in enumerate(line)]
        for line in references
    ]
    write_lines(folder / "refs.txt", references)
    write_lines(folder / "refs2.txt", other)
    for name, error in (("h1", 0.35), ("h2", 0.25), ("h3", 0.3)):
        changed = [
            [words[draw.below(len(words))] if draw.uniform() < error else word for word in line]
            for line in references
        ]
        write_lines(folder / f"{name}.txt", [line[draw.below(2) :] for line in changed])
    write_lines(folder / "empty.txt", [[] if at % 2 else line for at, line in enumerate(other)])
    for name in ("p1", "p2"):
        lines = [
            json.dumps(
                {"id": f"s{at}", "logprobs": [-round(3 * draw.uniform() ** 2, 3) for _ in line]}
            )
            for at, line in enumerate(references)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    vectors = [
        " ".join([word.lower(), *(f"{draw.normal():.3f}" for _ in range(4))]) for word in words[:-2]
    ]
    (folder / "words.txt").write_text("\n".join(vectors) + "\n")


def write_lines(path: Path, lines: Sequence[Sequence[str]]) -> None:
    path.write_text("".join(" ".join(line) + "\n" for line in lines))


def write_scores(folder: Path, draw: Draw) -> None:
    """Write tables of scores of 2, 3 and 9 systems: few and many units, folds, successes, ties."""

    def table(name: str, units: int, digits: int, spread: float = 0.12) -> None:
        rows = []
        for unit in range(units):
            level = 0.5 + 0.15 * draw.normal()
            scores = [level + spread * draw.normal() + 0.02 * at for at in range(len(SYSTEMS))]
            rows.append([f"t{unit:02}", *(f"{min(1, max(0, x)):.{digits}f}" for x in scores)])
        for count in (2, 3, len(SYSTEMS)):
            header = ",".join(["unit", *SYSTEMS[:count]])
            write_table(folder / f"{name}{count}.csv", header, [row[: count + 1] for row in rows])

    table("scores", 40, 5)
    table("few", 11, 5)
    table("lattice", 30, 1)
    table("binary", 60, 0, 0.4)
    table("folds", 10, 4, 0.05)
    table("many", 150, 5)


def write_points(folder: Path, draw: Draw) -> None:
    """Write rows with two features, a class and a number."""
    rows = []
    for number in range(90):
        x, y = round(draw.normal(), 3), round(draw.normal(), 3)
        value = round(x + 0.5 * y * y + 0.4 * draw.normal(), 4)
        rows.append((f"i{number:02}", x, y, "ab"[value > 0.4], value))
    write_table(folder / "points.csv", "id,x,y,label,value", rows)
    (folder / "rows.txt").write_text("".join(f"i{number:02}\n" for number in range(2, 90, 3)))
