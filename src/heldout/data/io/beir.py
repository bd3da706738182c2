"""A BEIR folder: corpus.jsonl, queries.jsonl, and judgements of each split in qrels/SPLIT.tsv."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.data.io.meta import find_packed
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.data.queries import Queries
    from heldout.data.run import Qrels

__all__ = ["BeirFolder", "beir_folder", "is_beir_folder", "judged_only"]


@dataclass(frozen=True, slots=True)
class BeirFolder:
    """The files of a BEIR folder.

    Parameters
    ----------
    documents, queries
        Their paths.
    qrels
        The judgements of the chosen split.
    split
        Its name.
    others
        The names of the other splits.
    """

    documents: str
    queries: str | None
    qrels: str | None
    split: str
    others: tuple[str, ...]

    def notes(self) -> list[Note]:
        """Which split was taken, where there is a choice."""
        if not self.others:
            return []
        message = f"the split is {self.split}; the others are {', '.join(self.others)}"
        return [Note("split", message, "info", len(self.others))]


def is_beir_folder(folder: Path) -> bool:
    """Whether a folder is a BEIR folder."""
    return find_packed(folder / "corpus.jsonl") is not None


def beir_folder(folder: Path, split: str | None) -> BeirFolder:
    """Find the files of a BEIR folder; without a wish the split is ``test``, or the only one."""
    corpus = find_packed(folder / "corpus.jsonl")
    queries = find_packed(folder / "queries.jsonl")
    splits = {
        one.name.partition(".tsv")[0]: one
        for one in sorted((folder / "qrels").glob("*.tsv*"))
        if one.is_file()
    }
    chosen = split
    if chosen is None and splits:
        chosen = next(iter(splits)) if len(splits) == 1 else "test"
    if chosen is not None and chosen not in splits:
        raise InputError(
            f"{folder / 'qrels'} has no split {chosen!r}; it has {', '.join(splits) or 'none'}: "
            "choose one with --split"
        )
    return BeirFolder(
        str(corpus),
        None if queries is None else str(queries),
        None if chosen is None else str(splits[chosen]),
        chosen or "",
        tuple(name for name in splits if name != chosen),
    )


def judged_only(queries: Queries, qrels: Qrels) -> tuple[Queries, list[Note]]:
    """The queries of a split: those that are judged in it (one file holds those of all splits)."""
    judged = set(qrels.queries)
    places = [place for place, one in enumerate(queries.ids) if one in judged]
    if len(places) == len(queries) or not places:
        return queries, []
    left = len(queries) - len(places)
    message = f"queries that are not judged in this split, left out: {left}"
    return queries.take(places), [Note("other-splits", message, "info", left)]
