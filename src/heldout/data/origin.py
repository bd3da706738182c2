"""Where documents were read from, so that they are known again without reading them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.io.blocks import Reading

__all__ = ["Origin"]


@dataclass(frozen=True, slots=True)
class Origin:
    """The files of documents, and how they were read.

    Parameters
    ----------
    kind
        The format.
    files
        Absolute path, size in bytes and time of the last change (nanoseconds) of each.
    reading
        Encoding, and the fields that were read.
    notes
        What was found odd in the documents.
    """

    kind: str
    files: tuple[tuple[str, int, int], ...]
    reading: tuple[str, tuple[str, ...] | None]
    notes: tuple[Note, ...] = ()

    @classmethod
    def of(
        cls, kind: str, files: Sequence[str], reading: Reading, notes: tuple[Note, ...] = ()
    ) -> Origin:
        """Look at files as they are now."""
        found = []
        for path in files:
            status = Path(path).stat()
            found.append((str(Path(path).absolute()), status.st_size, status.st_mtime_ns))
        return cls(kind, tuple(found), (reading.encoding, reading.fields), notes)

    def same_files(self, other: Origin) -> bool:
        """Return whether path, size and time of all files are equal, and how they are read."""
        return (self.kind, self.files, self.reading) == (other.kind, other.files, other.reading)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "kind": self.kind,
            "files": [list(one) for one in self.files],
            "reading": [self.reading[0], None if self.reading[1] is None else [*self.reading[1]]],
            "notes": [[one.code, one.text, one.severity, one.count] for one in self.notes],
        }

    @classmethod
    def from_json(cls, found: Any) -> Origin | None:
        """Read what `as_json` gives; None if it is anything else."""
        try:
            encoding, fields = found["reading"]
            return cls(
                str(found["kind"]),
                tuple((str(path), int(size), int(time)) for path, size, time in found["files"]),
                (str(encoding), None if fields is None else tuple(map(str, fields))),
                tuple(Note(*one) for one in found["notes"]),
            )
        except (KeyError, TypeError, ValueError):
            return None
