"""The notes of an experiment: those that were kept, and what its summary shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heldout.infer.results import count_of
from heldout.notes import Note, as_note, distinct

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.experiment.manifest import Manifest, NoteRecord
    from heldout.experiment.summary import SystemSummary

__all__ = ["result_notes"]


def result_notes(manifest: Manifest, summary: Sequence[SystemSummary]) -> tuple[Note, ...]:
    """The notes of the data, the splits and the systems, each once.

    Parameters
    ----------
    manifest, summary
        Of the results; what heldout 0.1 has written there are texts, which become notes without a
        code.
    """
    splits = manifest["settings"]["splits"]
    notes = [_read(one) for one in manifest["notes"]]
    notes += [_read(note).of(one["name"]) for one in summary for note in one.get("notes", ())]
    notes += [note.of(one["name"]) for one in summary for note in _of_system(one, splits)]
    return distinct(notes)


def _read(kept: str | NoteRecord) -> Note:
    return as_note(kept if isinstance(kept, str) else dict(kept))


def _of_system(one: SystemSummary, splits: int) -> Iterator[Note]:
    for edge in one["edges"]:
        times = f"in {edge['folds']:,} of {count_of(splits, 'split')}" if edge["folds"] else ""
        ships = "to ship" if edge["shipped"] else ""
        where = " and ".join(filter(None, (times, ships)))
        text = (
            f"{edge['name']}={edge['value']:g}, at an end of its grid, was chosen {where}; the "
            "best may lie beyond it: try more values there, unless there are none"
        )
        yield Note("at-an-end", text)
    left = one["estimates"][0].get("left_out", 0)
    if left:
        text = (
            f"{count_of(left, 'query', 'queries')} left out: without a relevant document where "
            "held out, or never held out"
        )
        yield Note("left-out", text)
