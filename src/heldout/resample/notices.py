"""What a plan says when it cannot work, or works otherwise than was asked."""

from __future__ import annotations

from heldout.errors import InputError

__all__ = ["PlanError", "ResamplingWarning"]


class PlanError(InputError):
    """A plan cannot work on these units; the text offers another."""


class ResamplingWarning(UserWarning):
    """A plan works, but not quite as asked; `Splits.notes` has the same sentences."""
