"""Tuning: search spaces, and the selection of parameters on the training data alone."""

from __future__ import annotations

from typing import Literal

Rule = Literal["best", "one-se"]
"""How parameters are chosen: the best mean, or the simplest within one standard error of it."""
