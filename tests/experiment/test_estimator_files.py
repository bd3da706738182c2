"""Estimators from a file: as in Python, resumed to the same bytes, with rows from tables."""

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from experiment_data import table_bytes
from sklearn.datasets import load_iris
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from commands import printed
from heldout import Experiment, InputError, Results

TEXTS = {
    "fruit": ["ripe apple and pear", "sweet pear tree", "apple pie with plum", "plum and cherry"],
    "metal": ["iron and steel", "hot steel plate", "copper wire", "iron gate of copper"],
}
EXPERIMENT = """\
task = "classification"
measures = ["accuracy", "AUC"]
seed = 4
inner = 2
runs = 2

[data]
file = "texts.csv"
target = "kind"
text = "text"
id = "name"

[plan]
folds = 3

[[systems]]
name = "k-NN"
estimator = [
    "sklearn.feature_extraction.text:TfidfVectorizer", "sklearn.neighbors:KNeighborsClassifier",
]
parameters = {tfidfvectorizer__ngram_range = [1, 2]}
space = {kneighborsclassifier__n_neighbors = [1, 3]}

[[systems]]
name = "slow"
estimator = "slow.py:make"
space = {sgdclassifier__alpha = "0.0001:0.01:2:log"}
"""


MODULE = """\
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

def make():
    return make_pipeline(TfidfVectorizer(), SGDClassifier(loss="log_loss"))
"""


@pytest.fixture
def folder(tmp_path):
    rows = [
        (f"{kind}{at}", kind, text)
        for kind, texts in TEXTS.items()
        for at, text in enumerate(texts)
    ]
    frame = pl.DataFrame(rows, schema=["name", "kind", "text"], orient="row")
    frame.write_csv(tmp_path / "texts.csv")
    (tmp_path / "slow.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "e.toml").write_text(EXPERIMENT, encoding="utf-8")
    return tmp_path


def test_a_folder_can_be_moved_and_python_says_the_same(folder, tmp_path_factory):
    found = Experiment.read(folder / "e.toml").run(folder / "out")
    place = tmp_path_factory.mktemp("moved") / "here"
    shutil.copytree(folder, place)
    moved = Experiment.read(place / "e.toml")
    moved.run(place / "again")
    assert table_bytes(place / "again") == table_bytes(folder / "out")
    rows = pl.read_csv(place / "texts.csv")
    knn = make_pipeline(TfidfVectorizer(ngram_range=(1, 2)), KNeighborsClassifier())
    data = {"X": rows["text"].to_list(), "y": rows["kind"].to_list(), "ids": rows["name"].to_list()}
    mine = Experiment(
        task="classification",
        data=data,
        systems={"k-NN": (knn, {"kneighborsclassifier__n_neighbors": [1, 3]})},
        seed=4,
        inner=2,
        plan={"folds": 3},
        runs=2,
    ).run()
    assert mine.split_values("k-NN") == found.split_values("k-NN")
    texts = (place / "texts.csv").read_text(encoding="utf-8")
    (place / "texts.csv").write_text(texts.replace("tree", "leaf"), encoding="utf-8")
    with pytest.raises(InputError, match="another experiment"):
        moved.run(place / "again", resume=True)


ROWS, LABELS = load_iris(return_X_y=True)  # sorted by class: the row number gives it away
KNN = {"k-NN": "sklearn.neighbors:KNeighborsClassifier"}
FIELDS = {"task": "classification", "systems": KNN, "plan": {"folds": 5}}


def test_numbers_from_tables(tmp_path):
    """A column id names the rows and is no feature, but where it is asked for."""
    frame = pl.DataFrame(ROWS, schema=["a", "b", "c", "d"]).with_columns(
        id=pl.Series(np.arange(150) + 1000),
        kind=pl.Series(LABELS),
        who=pl.Series(np.arange(150) % 15),
    )
    arrays = {"X": ROWS, "y": LABELS, "groups": np.arange(150) % 15}
    theirs = Experiment(data=arrays | {"ids": frame["id"].to_list()}, **FIELDS).run()
    for ending, write in (
        ("csv", frame.write_csv),
        ("jsonl", frame.write_ndjson),
        ("parquet", frame.write_parquet),
    ):
        write(tmp_path / f"iris.{ending}")
        table = {"file": str(tmp_path / f"iris.{ending}"), "target": "kind", "groups": "who"}
        mine = Experiment(data=table, **FIELDS).run()
        assert mine.split_values("k-NN") == theirs.split_values("k-NN")
        assert set(mine.predictions("k-NN").units) == {str(n) for n in range(1000, 1150)}
    some = Experiment(data={**table, "features": ["a"]}, **FIELDS).run()
    assert some.value("k-NN") < mine.value("k-NN")
    leaked = Experiment(data={**table, "features": ["a", "id"]}, **FIELDS).run()
    assert leaked.value("k-NN") > some.value("k-NN")


BAD = [
    ("texts.csv", "kind,", "sort,", "texts.csv: no column 'kind'; there are name, sort, text"),
    ("texts.csv", "fruit1,fruit", "fruit1,", "texts.csv:3: the kind is missing"),
    ("texts.csv", "fruit1,", "fruit0,", "'fruit0' appears twice"),
    ("e.toml", "sklearn.neighbors:KNeighborsClassifier", "os:system", "k-NN: TypeError: system"),
    ("e.toml", 'text = "text"', 'text = "text"\nfeatures = ["a"]', "give only one of them"),
    ("e.toml", '"texts.csv"', '"none.csv"', "data: .*none.csv"),
    ("e.toml", "[data]", "[data]\nrows = 3", "data.rows: unknown field"),
    (
        "e.toml",
        "sgdclassifier__alpha",
        "alpha",
        r"systems.*slow: ValueError: Invalid parameter 'alpha' .*\('sgdclassifier', ",
    ),
]


def test_bad_files_are_refused(folder):
    for file, old, new, message in BAD:
        text = (folder / file).read_text(encoding="utf-8")
        assert old in text
        (folder / file).write_text(text.replace(old, new), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            Experiment.read(folder / "e.toml").check()
        (folder / file).write_text(text, encoding="utf-8")


def test_the_command_and_the_file_of_the_documentation(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    assert "k-NN: 2 settings × 6 splits" in printed(capsys, "run", "e.toml", "--dry-run").out
    printed(capsys, "run", "e.toml", "-o", "out", "--quiet")
    # What was predicted can be scored on its own, and gives the same.
    command = ("eval", "--task", "classification", "out/predictions.parquet", "-m", "accuracy")
    results = Results.read("out")
    for row in json.loads(printed(capsys, *command, "--json").out)["systems"]:
        assert row["measures"]["accuracy"]["value"] == pytest.approx(results.value(row["name"]))
    page = Path(__file__).parents[2] / "docs/classification.md"
    text = page.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    Path("e.toml").write_text(text, encoding="utf-8")
    Path("systems.py").write_text(MODULE, encoding="utf-8")
    rows = [f"n{n},{'ab'[n % 2]},text {n},{n % 20}" for n in range(80)]
    Path("texts.csv").write_text("\n".join(["name,home,text,author", *rows]))
    assert len(Experiment.read("e.toml").check().splits) == 30
