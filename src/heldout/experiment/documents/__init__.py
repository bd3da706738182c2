"""Held-out documents: pooling, estimates for new documents, and their uncertainty."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "pooled", "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff", "training"
]
"""How the score on new documents is estimated; see `heldout.experiment.documents.estimates`."""
