"""The names of the charts."""

from __future__ import annotations

from typing import Final

__all__ = ["NAMES"]

NAMES: Final = {
    "forest": "each system's mean with its interval, and the letters it shares",
    "pairs": "differences of pairs of systems with simultaneous intervals",
    "query-differences": "what each query gained or lost, sorted",
    "heatmap": "systems by queries, from hard to easy",
    "null": "what the difference could have been by chance, and what it is",
    "power": "how sure so many queries are to show a difference",
    "critical-difference": "mean ranks, and who was not told apart (Demšar)",
    "tuning": "the score by the parameters, and what was chosen in each fold",
    "optimism": "the score on what was seen against the held-out one",
    "folds": "what each split holds out, and the relevant documents there",
    "roc": "ROC curves with their convex hull",
    "precision-recall": "precision by recall",
    "calibration": "how often predictions come true beside how sure they are",
    "bias": "how far each estimator is from the truth",
    "bias-means": "the mean of each strategy in each training set",
    "bias-queries": "estimate minus truth of each query, by training set and Pro10",
    "learning-curve": "the held-out score by what is seen",
}
"""Every chart in a line."""
