"""Notes as they are printed, and as JSON has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.notes import distinct
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from heldout.notes import Note

__all__ = ["note_lines", "note_texts"]


def note_lines(notes: Iterable[Note]) -> list[str]:
    """Notes as they are printed, each once, with the codes to look them up by."""
    return [plain_text(note.line()) for note in distinct(notes)]


def note_texts(notes: Sequence[Note]) -> dict[str, Any]:
    """Texts and codes side by side, as JSON has them."""
    return {
        "warnings": [note.text for note in notes],
        "warning_codes": [note.code for note in notes],
    }
