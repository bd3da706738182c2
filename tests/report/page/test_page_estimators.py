"""Experiments with estimators have a page too: rows instead of queries, no rankings."""

import numpy as np
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from heldout.experiment.experiment import Experiment
from heldout.report.page.of_results import part_of_results
from heldout.report.page.render import render_page, write_page

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 3))
CLASSES = np.where(X[:, 0] + RNG.normal(scale=0.7, size=80) > 0, "<b>yes</b>", "no")


@pytest.fixture(scope="module")
def classified():
    return Experiment(
        task="classification",
        data=(X, CLASSES),
        systems={
            "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 9]}),
            "logistic": LogisticRegression(),
        },
        measures=["accuracy", "AUC"],
        plan={"folds": 4, "repeats": 2},
    ).run()


def test_rows_have_truth_and_predictions(classified):
    part = part_of_results(classified)
    units = part.units["units"]
    assert sorted(units) == sorted(classified.held_out["unit"].unique())
    assert part.rankings is None
    at = units.index("7")
    assert part.units["truth"][at] == CLASSES[7]
    own = classified.held_out.filter((pl.col("system") == "k-NN") & (pl.col("unit") == "7"))
    assert len(own) == 2
    said = set(own["prediction"])
    shown = part.units["predicted"][classified.systems.index("k-NN")][at]
    assert all(one in shown for one in said)
    right = np.mean([one == CLASSES[7] for one in own["prediction"]])
    assert [one["name"] for one in part.units["measures"]] == ["accuracy"]
    assert part.units["values"][0][classified.systems.index("k-NN")][at] == right


def test_numbers_have_a_page():
    results = Experiment(
        task="regression",
        data=(X, X @ [1.0, 0.5, 0.0]),
        systems={"ridge": Ridge(), "k-NN": KNeighborsRegressor()},
        measures=["RMSE"],
        plan={"folds": 4},
    ).run()
    part = part_of_results(results)
    (measure,) = part.units["measures"]
    assert not measure["up"]
    assert part.answer[0].startswith(
        "ridge is better than k-NN on rows not used for training: RMSE "
    )
    assert render_page("numbers", [part])


def test_the_page_in_a_browser(classified, visit, tmp_path):
    path = tmp_path / "rows.html"
    write_page(path, render_page("rows", [part_of_results(classified)]))
    one = visit()
    page = one.open(path)
    one.charts()
    assert page.locator("#part-1-roc svg").count() == 1
    assert page.locator("#part-1-calibration svg").count() == 1
    page.get_by_role("searchbox").fill("7")
    page.locator(".open", has_text="7").first.click()
    dialog = page.get_by_role("dialog")
    assert "True value:" in dialog.inner_text()
    assert dialog.locator("b").count() == 0
    assert dialog.locator("ol").count() == 0
