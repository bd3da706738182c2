"""What holds in every test."""

import contextlib
import gc
import io
import json
import shutil

import numpy as np
import pytest
from hypothesis import settings

import heldout
from heldout.cli import main
from heldout.infer.ledger import Look, record_looks

# A busy machine is slow, not wrong: no deadline anywhere. No examples are kept between runs.
settings.register_profile("heldout", deadline=None, database=None, max_examples=25)
# Of `make test-all`: before a release, and after a change of what is tested.
settings.register_profile("thorough", settings.get_profile("heldout"), max_examples=500)
settings.load_profile("heldout")


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="run tests marked as long, too")


def pytest_collection_modifyitems(config, items):
    """Leave out what is long and rarely fails, unless it is asked for."""
    if not config.getoption("--long"):
        long = [item for item in items if item.get_closest_marker("long")]
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not item.get_closest_marker("long")]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file():
    """Look for doctests in the product and its documentation, not in tests."""
    collectors = yield
    return [each for each in collectors if type(each).__name__ != "DoctestModule"]


def pytest_collection_finish():
    """Leave what was imported out of every later search for garbage: it stays, and it is a lot."""
    gc.collect()
    gc.freeze()


# Example files of all kinds, small


WORDS = ["red", "green", "apple", "pear", "plum", "tree", "garden", "river", "stone", "bird"]
CODE = '''
import os

import heldout


def rank(train, test, power=1.0):
    """Shared words over a power of the length; waits for ever where the test says so."""
    if os.environ.get("WAIT_AT") == f"{power} {len(train.queries.ids)}":
        with open(os.environ["WAIT_FOR"]):  # a pipe that nobody writes to
            pass
    found = {}
    for query, text in zip(test.queries.ids, test.queries.texts, strict=True):
        words = set(text.split())
        scores = {
            one: sum(word in words for word in body.split()) / len(body.split()) ** power
            for one, body in test.documents.pairs()
        }
        found[query] = {one: score for one, score in scores.items() if score}
    return found


def FirstGrade(ranked, *, scale=1.0):
    return scale * max(0, ranked.grades[0]) / 2 if len(ranked.grades) else 0.0


def worst(truth, predicted):
    return -abs(truth - predicted).max()


@heldout.define_measure(name="Cost", bounds=(0, 9), higher_is_better=False)
def cost(ranked, *, power=1):
    return (2.0 - FirstGrade(ranked)) ** power


def failing(ranked):
    return {}[ranked.query]


def make(p=1):
    return type("Pipe", (), {"transform": lambda self, topics: topics})()


Short = heldout.parse_measure("nDCG@3", "ranking")
number = 7
'''
EXPERIMENT = """\
measures = ["nDCG@10", "AP"]
seed = 3

[collection]
source = "docs.jsonl"
queries = "queries.tsv"
qrels = "small.qrels"

[plan]
folds = 3

[[systems]]
name = "BM25"
system = "bm25(k1=0.1:3:40, b=0.25,0.75)"

[[systems]]
name = "mine"
system = "my.py:rank(power=0.0,0.5,1.0)"
"""


@pytest.fixture(scope="session")
def collection():
    """Texts whose lengths and counts differ, so that there is something to tune."""
    documents = {
        f"d{n:02}": " ".join(WORDS[(n * step + step * step) % 10] for step in range(1, 4 + n % 9))
        for n in range(40)
    }
    queries = {f"q{n:02}": f"{WORDS[n % 10]} {WORDS[(3 * n + 1) % 10]}" for n in range(12)}
    judged = {
        query: {
            doc: 1 + len(text) % 2
            for n, (doc, text) in enumerate(documents.items())
            if set(words.split()) <= set(text.split()) and (n + at) % 3
        }
        for at, (query, words) in enumerate(queries.items())
    }
    return heldout.Collection(documents, queries, judged, name="small")


def tables():
    """Tables of scores and predictions, by the names of their files."""
    rows = {"scores": "unit,A,B,C\n1,.1,.3,.2\n2,.4,.4,.5\n3,.2,.6,.1\n4,.5,.4,.3\n"}
    source = np.random.default_rng(0)
    truth = source.integers(0, 2, 80)
    words = ("no", "yes")
    for name, share in (("old", 0.6), ("new", 0.9)):  # the second is right more often
        guess = np.where(source.random(80) < share, truth, 1 - truth)
        lines = [f"u{n},{words[truth[n]]},{words[guess[n]]}\n" for n in range(80)]
        rows[name] = "unit,truth,prediction\n" + "".join(lines)
    spam = source.integers(0, 2, 120)
    for name, strength in (("weak", 0.8), ("strong", 2.0), ("noise", 0.0)):  # five folds
        shares = 1 / (1 + np.exp(-strength * (2 * spam - 1) - source.normal(size=120)))
        lines = [
            f"u{n},{'spam' if spam[n] else 'ham'},{shares[n]:.6f},{n % 5}\n" for n in range(120)
        ]
        rows[name] = "unit,truth,probability,fold\n" + "".join(lines)
    lines = [
        f"{name},{n},{n},{n + 0.1 * n * len(name)}\n" for n in range(9) for name in ("x", "yy")
    ]
    rows["numbers"] = "system,unit,truth,prediction\n" + "".join(lines)
    return rows


@pytest.fixture(scope="session")
def example_files(collection, tmp_path_factory):
    """A folder of files of all kinds; tests change a copy (`here`)."""
    place = tmp_path_factory.mktemp("example")
    with contextlib.redirect_stdout(io.StringIO()):
        main(["demo", "--files", str(place), "--quiet"])
    heldout.export_collection(collection, place / "small", "beir")
    lines = [json.dumps({"_id": one, "text": text}) for one, text in collection.documents.pairs()]
    pairs = zip(collection.queries.ids, collection.queries.texts, strict=True)
    texts = {
        "docs.jsonl": lines,
        "queries.tsv": [f"{one}\t{text}" for one, text in pairs],
        "my.py": [CODE],
        "experiment.toml": [EXPERIMENT],
        "references.txt": ["the cat is on the mat", "there is a dog here", "five six"],
        "a.txt": ["the cat is on a mat", "there is the dog here", "five"],
        "b.txt": ["the mat", "there is a dog", "five six"],
        **{f"{name}.csv": [text.rstrip("\n")] for name, text in tables().items()},
    }
    for name, rows in texts.items():
        (place / name).write_text("\n".join(rows) + "\n", encoding="utf-8")
    judged = (place / "qrels.txt").read_text().splitlines(keepends=True)
    (place / "human.qrels").write_text("".join(judged[:2000]))  # of 20 queries
    collection.qrels.write(place / "small.qrels")
    index = heldout.Index.build(collection)
    index.save(place / "small.index")
    for model in ("bm25", "ql-jm"):
        heldout.search(index, collection.queries, model).write(place / f"{model}.run")
    look = Look("abc", ("A", "B"), "AP", "t", 0.1, 0.1, 9, "heldout")
    record_looks(place / "looks.jsonl", [look])
    heldout.Experiment(
        collection=heldout.read_collection(place / "small"),
        systems=["bm25(k1=0.5:1.5:3, b=0.4)", "ql-jm(lambda=0.2:0.8:2)"],
        measures=["AP", "nDCG@10"],
        plan={"folds": 4},
    ).run(place / "results")
    return place


@pytest.fixture
def here(example_files, tmp_path, monkeypatch):
    """A copy of the example files, in which commands are run."""
    place = tmp_path / "here"
    shutil.copytree(example_files, place)
    monkeypatch.chdir(place)
    monkeypatch.delenv("HELDOUT_LEDGER", raising=False)
    return place
