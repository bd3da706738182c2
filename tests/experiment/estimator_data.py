"""Rows with classes that are not easy to predict, and an estimator that fails."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

X, Y = load_iris(return_X_y=True)
NOISY = X + np.random.default_rng(1).normal(scale=1.5, size=X.shape)


class Fragile(ClassifierMixin, BaseEstimator):
    """Fails, warns or says strange things where it is told to."""

    def __init__(self, does="well", level=0):
        self.does, self.level = does, level

    def fit(self, rows, labels):
        del rows
        if self.does == "fail":
            raise RuntimeError("cannot do this\nnor that")
        if self.does == "warn":
            warnings.warn("hardly converged", UserWarning, stacklevel=1)
        self.classes_ = np.unique(labels)
        return self

    def predict(self, rows):
        return np.full(len(rows), "strange" if self.does == "stray" else self.classes_[self.level])

    def predict_proba(self, rows):
        return np.full((len(rows), 3), 0.5 if self.does == "more" else 1 / 3)
