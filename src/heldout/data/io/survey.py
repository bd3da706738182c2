"""What is noticed about documents while their files are read, and whether the files change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from heldout.data.documents import empty_documents, empty_note
from heldout.data.files import readable
from heldout.data.paths import place_among
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.documents import TextBatch
    from heldout.notes import Note

__all__ = ["Stamps", "Survey"]


class Survey:
    """Counts documents and empty ones."""

    def __init__(self) -> None:
        self.count = 0
        self.empty = 0
        self._first_empty: list[int] = []

    def add(self, batch: TextBatch) -> None:
        """Add the next batch."""
        empty = empty_documents(batch)
        self.empty += len(empty)
        self._first_empty += [self.count + place for place in empty[:5]]
        self.count += len(batch)

    def notes(self, place: Callable[[int], str], files: Sequence[str]) -> list[Note]:
        """Return a note about empty documents, with the places of the first ones."""
        if not self.empty:
            return []
        places = [place_among(place(number), files) for number in self._first_empty[:5]]
        return [empty_note(self.empty, places)]


class Stamps:
    """Sizes and times of files, by which later changes are noticed."""

    __slots__ = ("_stamps", "files")

    def __init__(self, files: Sequence[str]) -> None:
        self.files = tuple(files)
        self._stamps = tuple(map(_stamp, self.files))

    def check(self) -> None:
        """Raise an error if a file has changed."""
        for path, stamp in zip(self.files, self._stamps, strict=True):
            if _stamp(path) != stamp:
                raise InputError(f"{path} changed after it was opened: read it again")


def _stamp(path: str) -> tuple[int, int]:
    with readable(path):
        found = Path(path).stat()
        return found.st_size, found.st_mtime_ns
