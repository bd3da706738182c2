"""BEIR folders: corpus.jsonl, queries.jsonl, and the judgements of splits in qrels/SPLIT.tsv."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from heldout.data.io.meta import find_compressed
from heldout.errors import InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from pathlib import Path

    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries

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
        """Return a note about the chosen split, if there are several."""
        if not self.others or not self.split:
            return []
        message = f"using the split {self.split} (also available: {', '.join(self.others)})"
        return [Note("split", message, "info", len(self.others))]


def is_beir_folder(folder: Path) -> bool:
    """Return whether a folder is a BEIR folder."""
    return find_compressed(folder / "corpus.jsonl") is not None


def beir_folder(folder: Path, split: str | None) -> BeirFolder:
    """Find the files of a BEIR folder; the default split is ``test``, or the only one."""
    corpus = find_compressed(folder / "corpus.jsonl")
    queries = find_compressed(folder / "queries.jsonl")
    splits = {
        one.name.partition(".tsv")[0]: one
        for one in sorted((folder / "qrels").glob("*.tsv*"))
        if one.is_file()
    }
    if split is not None and split not in splits:
        raise InputError(
            f"{folder / 'qrels'} has no split {split!r}; it has {', '.join(splits) or 'none'}: "
            "choose one of them (split=…)"
        )
    default = next(iter(splits)) if len(splits) == 1 else "test"
    chosen = split or (default if default in splits else None)
    return BeirFolder(
        str(corpus),
        None if queries is None else str(queries),
        None if chosen is None else str(splits[chosen]),
        chosen or "",
        tuple(name for name in splits if name != chosen),
    )


def judged_only(queries: Queries, qrels: Qrels) -> tuple[Queries, list[Note]]:
    """Return the queries that are judged in a split; the file has the queries of all splits."""
    judged = set(qrels.queries)
    places = [place for place, one in enumerate(queries.ids) if one in judged]
    if len(places) == len(queries) or not places:
        return queries, []
    left = len(queries) - len(places)
    message = f"queries without judgements in this split, ignored: {left}"
    return queries.take(places), [Note("other-splits", message, "info", left)]
