"""Write splits as standalone datasets for other tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.as_json import json_text
from heldout.data.export import (
    DOC_MAP,
    QUERY_MAP,
    export_collection,
    new_export,
    write_map,
)
from heldout.resample.combined import TwoWaySplits
from heldout.resample.fold_files import fold_lines
from heldout.resample.id_maps import NO_MAPS
from heldout.resample.parts import part_of

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from heldout.data.collection import Collection
    from heldout.data.export import ExportFormat
    from heldout.resample.id_maps import IdMaps
    from heldout.resample.split import Split, Splits

__all__ = ["export_splits", "fold_table"]

_ID_NAMES = {"query": "query_id", "document": "doc_id", "instance": "instance"}


def export_splits(
    splits: Splits,
    collection: Collection,
    folder: str | os.PathLike[str],
    to: ExportFormat = "beir",
    *,
    maps: IdMaps = NO_MAPS,
    force: bool = False,
) -> list[str]:
    """Write the sides of splits as datasets, into a folder that appears only when complete.

    Each split has a folder (``r0-f3``) with ``train`` and ``test`` (and ``validation``, if there is
    one). Each of these is a collection that `heldout.read_collection` reads: documents, queries,
    judgements, a config if the format has one, and ``doc_map.tsv``, which maps document ids to the
    original ones. ``split.json`` describes the plan, ``folds.tsv`` has the fold of each unit.

    Parameters
    ----------
    splits
        The splits.
    collection
        The collection that they divide.
    folder
        Where to write. An existing folder is an error, unless `force` is true and it holds nothing
        but an earlier export.
    to
        ``beir``, ``trec`` or ``lines``.
    maps
        The original ids of the collection, if it is an exported split itself.

    Returns
    -------
    list of str
        The folders of the splits.
    """
    with new_export(folder, force=force) as aside:
        written = [_export_split(split, collection, aside, to, maps) for split in splits]
        if splits.partitions:
            with (aside / "folds.tsv").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(fold_table(splits))
        manifest = _manifest(splits, collection, to, written)
        text = json_text(manifest)
        (aside / "split.json").write_text(text, encoding="utf-8", newline="\n")
    return [one["folder"] for one in written]


def _export_split(
    split: Split, collection: Collection, home: Path, to: ExportFormat, maps: IdMaps
) -> dict[str, Any]:
    # The name of the folder has numbers only: an id could be a path to anywhere.
    name = str(split.key).replace("/", "-")
    sides = ["train", "test", *(["validation"] if split.validation is not None else [])]
    counts = {}
    for side in sides:
        part = part_of(split.view(collection, side))
        folder = home / name / side
        export_collection(part.collection, folder, to)
        _write_maps(folder, part.collection, to, maps, (part.documents, part.queries))
        counts[side] = {
            "documents": len(part.collection.documents),
            "queries": len(part.collection.queries),
            "judgements": len(part.collection.qrels),
        }
    return {"key": str(split.key), "folder": name, "sides": counts}


def _write_maps(
    folder: Path, side: Collection, to: ExportFormat, maps: IdMaps, before: tuple[Any, Any]
) -> None:
    documents, queries = before
    numbered = to == "lines"
    size = len(side.documents)
    new = map(str, range(size)) if numbered else side.documents.ids
    write_map(folder / DOC_MAP, new, maps.first("documents", documents))
    renumbered = (folder / QUERY_MAP).exists()  # written if a line corpus cannot keep the ids
    new_ids = [str(at) for at in range(1, len(queries) + 1)] if renumbered else side.queries.ids
    first = maps.first("queries", queries)
    if renumbered or list(new_ids) != list(first):
        write_map(folder / QUERY_MAP, new_ids, first)


def _manifest(
    splits: Splits, collection: Collection, to: ExportFormat, written: list[dict[str, Any]]
) -> dict[str, Any]:
    from heldout import __version__  # circular import

    return {
        "heldout": __version__,
        "collection": collection.name,
        "collection_fingerprint": collection.fingerprint(),
        "plan": repr(splits.plan),
        "unit": "both" if isinstance(splits, TwoWaySplits) else splits.unit,
        "seed": splits.seed,
        "fingerprint": splits.fingerprint,
        "format": to,
        "splits": written,
    }


def fold_table(splits: Splits, mark: str = "\t") -> Iterator[str]:
    """Return the fold of each unit as lines of a table that `GivenFolds` reads.

    Parameters
    ----------
    mark
        The separator: a tab or a comma.
    """
    if not splits.partitions:
        splits.folds()  # raises an error that says why
    tables = splits.source.folds or ()
    several = len(tables) > 1
    rows: list[tuple[str, ...]] = []
    for repeat in range(len(tables)):
        folds = splits.folds(repeat).tolist()
        for one, fold in zip(splits.ids, folds, strict=True):
            if fold >= 0:
                rows.append((one, str(repeat), str(fold)) if several else (one, str(fold)))
    name = _ID_NAMES[splits.unit]
    return fold_lines(rows, (name, "repeat", "fold") if several else (name, "fold"), mark)
