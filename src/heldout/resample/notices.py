"""Errors and warnings of plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.notes import Note

__all__ = ["PlanError", "ResamplingWarning"]


class PlanError(InputError):
    """A plan cannot divide these units; the message suggests another."""


class ResamplingWarning(UserWarning):
    """A plan works, but not exactly as requested; `Splits.notes` has the same notes.

    Parameters
    ----------
    note
        What was noticed, with its code.
    """

    def __init__(self, note: Note) -> None:
        super().__init__(note)
        self.note = note
