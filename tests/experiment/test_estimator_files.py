"""Estimators from a file: as in Python, resumed to the same bytes, with rows from tables."""

import json
import re
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
from pathlib import Path
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline

class Vectors(TfidfVectorizer):
    def fit_transform(self, rows, y=None):
        if Path(__file__).with_name("trap").exists():
            raise KeyboardInterrupt
        return super().fit_transform(rows, y)

def make():
    return make_pipeline(Vectors(), SGDClassifier(loss="log_loss"))
"""


def write_experiment(folder):
    rows = [
        (f"{kind}{at}", kind, text)
        for kind, texts in TEXTS.items()
        for at, text in enumerate(texts)
    ]
    frame = pl.DataFrame(rows, schema=["name", "kind", "text"], orient="row")
    frame.write_csv(folder / "texts.csv")
    (folder / "slow.py").write_text(MODULE, encoding="utf-8")
    (folder / "e.toml").write_text(EXPERIMENT, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path):
    return write_experiment(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The folder of a run in one go."""
    folder = write_experiment(tmp_path_factory.mktemp("whole"))
    Experiment.read(folder / "e.toml").run(folder / "whole")
    return folder / "whole"


def test_stopped_it_is_resumed_to_the_same_bytes_but_not_when_something_has_changed(folder, whole):
    experiment = Experiment.read(folder / "e.toml")
    (folder / "trap").touch()
    with pytest.raises(KeyboardInterrupt):  # all fits of k-NN are done
        experiment.run(folder / "out")
    assert len([*folder.glob("out/heldout-work/*.npz")]) > 6
    assert not (folder / "out" / "manifest.json").exists()
    (folder / "trap").unlink()
    experiment.run(folder / "out", resume=True)
    assert table_bytes(folder / "out") == table_bytes(whole)
    assert experiment.run(folder / "out", resume=True).systems[0] == "k-NN"
    text = (folder / "texts.csv").read_text(encoding="utf-8")
    for name, changed in (
        ("texts.csv", text.replace("pear tree", "pear leaf")),
        ("slow.py", MODULE + "\n# changed\n"),
    ):
        before = (folder / name).read_text(encoding="utf-8")
        (folder / name).write_text(changed, encoding="utf-8")
        with pytest.raises(InputError, match="another experiment"):
            experiment.run(folder / "out", resume=True)
        (folder / name).write_text(before, encoding="utf-8")


def test_a_folder_can_be_moved_and_python_says_the_same(whole, tmp_path):
    place = tmp_path / "moved"
    shutil.copytree(whole.parent, place)
    found = Experiment.read(place / "e.toml").run(place / "again")
    assert table_bytes(place / "again") == table_bytes(whole)
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


ROWS, LABELS = load_iris(return_X_y=True)  # sorted by class: the row number gives it away
KNN = {"k-NN": "sklearn.neighbors:KNeighborsClassifier"}
FIELDS = {"task": "classification", "systems": KNN, "plan": {"folds": 5}}


def test_numbers_from_tables(tmp_path):
    frame = pl.DataFrame(ROWS, schema=["a", "b", "c", "d"]).with_columns(
        kind=pl.Series(LABELS), who=pl.Series(np.arange(150) % 15)
    )
    arrays = {"X": ROWS, "y": LABELS, "groups": np.arange(150) % 15}
    theirs = Experiment(data=arrays, **FIELDS).run()
    for ending, write in (
        ("csv", frame.write_csv),
        ("jsonl", frame.write_ndjson),
        ("parquet", frame.write_parquet),
    ):
        write(tmp_path / f"iris.{ending}")
        table = {"file": str(tmp_path / f"iris.{ending}"), "target": "kind", "groups": "who"}
        mine = Experiment(data=table, **FIELDS).run()
        assert mine.split_values("k-NN") == theirs.split_values("k-NN")
    some = Experiment(data={**table, "features": ["a"]}, **FIELDS).run()
    assert some.value("k-NN") < mine.value("k-NN")


def test_a_column_id_names_the_rows_and_is_not_a_feature(tmp_path):
    frame = pl.DataFrame(ROWS, schema=["a", "b", "c", "d"]).with_columns(kind=pl.Series(LABELS))

    def results(name, ids, **more):
        path = tmp_path / name
        frame.with_columns(id=pl.Series(ids)).write_csv(path)
        return Experiment(data={"file": str(path), "target": "kind", **more}, **FIELDS).run()

    plain = Experiment(data={"X": ROWS, "y": LABELS}, **FIELDS).run().value("k-NN")
    found = results("ids.csv", np.arange(150) + 1000)
    assert found.value("k-NN") == pytest.approx(plain, abs=0.03)
    assert set(found.predictions("k-NN").units) == {str(n) for n in range(1000, 1150)}
    leaked = results("named.csv", np.arange(150) + 1000, features=["a", "b", "c", "d", "id"])
    assert leaked.value("k-NN") > found.value("k-NN")
    results("again.csv", np.arange(150) // 2)  # appears twice: a feature like any other


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


def test_the_file_of_the_documentation_can_be_run(tmp_path):
    page = Path(__file__).parents[2] / "docs/classification.md"
    text = page.read_text(encoding="utf-8").partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "e.toml").write_text(text, encoding="utf-8")
    (tmp_path / "systems.py").write_text(MODULE, encoding="utf-8")
    rows = [f"n{n},{'ab'[n % 2]},text {n},{n % 20}" for n in range(80)]
    (tmp_path / "texts.csv").write_text("\n".join(["name,home,text,author", *rows]))
    prepared = Experiment.read(tmp_path / "e.toml").check()
    assert len(prepared.splits) == 30
    last = {"kneighborsclassifier__n_neighbors": 31, "tfidfvectorizer__ngram_range": [1, 2]}
    system = prepared.systems[0]
    assert system.shown(system.search.points[-1]).items() >= last.items()


def test_the_command(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    shown = printed(capsys, "run", "e.toml", "--dry-run").out
    assert "texts: 8 rows, 2 classes" in shown
    assert "k-NN: 2 settings × 6 splits" in shown
    shown = printed(capsys, "run", "e.toml", "-o", "out", "--quiet").out
    assert "(random by shares)" in shown
    assert re.search(r"alpha=.* \d of 6", shown)
    again = json.loads(printed(capsys, "run", "e.toml", "-o", "out", "--resume", "--json").out)
    assert again["manifest"]["settings"]["task"] == "classification"
    # What was predicted can be scored on its own, and gives the same.
    command = ("eval", "--task", "classification", "out/predictions.parquet", "-m", "accuracy")
    results = Results.read("out")
    for row in json.loads(printed(capsys, *command, "--json").out)["systems"]:
        assert row["measures"]["accuracy"]["value"] == pytest.approx(results.value(row["name"]))
