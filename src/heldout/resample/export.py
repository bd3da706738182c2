"""Write splits as standalone datasets for other tools, with maps to the original ids.

Ids change on the way: a line corpus numbers its documents, and copies drawn by a bootstrap need
names of their own. Every exported side has maps from its ids to the original ones; if it is split
and exported again, the maps compose, so that they always lead to the first collection.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from heldout.as_json import json_text
from heldout.data.collection import Collection
from heldout.data.documents import PartDocuments, copy_names
from heldout.data.export import (
    DOC_MAP,
    MAP_HEAD,
    QUERY_MAP,
    export_collection,
    new_export,
    write_map,
)
from heldout.data.files import readable
from heldout.data.qrels import Qrels, empty_qrels
from heldout.errors import FormatError, InputError
from heldout.resample.fold_files import fold_lines

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from heldout.data.collection import View
    from heldout.data.documents import Documents
    from heldout.data.export import ExportFormat
    from heldout.data.words import Ints
    from heldout.resample.split import Split, Splits

_ID_NAMES = {"query": "query_id", "document": "doc_id", "instance": "instance"}


class IdMaps(NamedTuple):
    """Maps from the ids of an exported collection to the original ids; None: ids are original."""

    documents: Mapping[str, str] | None = None
    queries: Mapping[str, str] | None = None


NO_MAPS = IdMaps()


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
    original ones. ``split.json`` describes the plan, ``folds.tsv`` has the fold of each unit. The
    folders of the splits are returned.
    """
    from heldout import __version__  # circular import

    with new_export(folder, force=force) as aside:
        written = []
        for split in splits:
            # The name of the folder has numbers only: an id could be a path to anywhere.
            name = str(split.key).replace("/", "-")
            sides = {
                side: _export_side(split, side, collection, aside / name / side, to, maps)
                for side in split.sides()
            }
            written.append({"key": str(split.key), "folder": name, "sides": sides})
        if splits.tables is not None:
            with (aside / "folds.tsv").open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(fold_table(splits))
        about = {
            "heldout": __version__,
            "collection": collection.name,
            "collection_fingerprint": collection.fingerprint(),
            "plan": repr(splits.plan),
            "unit": splits.unit if splits.crossed is None else "both",
            "seed": splits.seed,
            "fingerprint": splits.fingerprint,
            "format": to,
            "splits": written,
        }
        (aside / "split.json").write_text(json_text(about), encoding="utf-8", newline="\n")
    return [str(split["folder"]) for split in written]


def _export_side(
    split: Split, side: str, collection: Collection, folder: Path, to: ExportFormat, maps: IdMaps
) -> dict[str, int]:
    """Write one side with its maps, and return its sizes."""
    part, documents, queries = standalone(split.view(collection, side))
    export_collection(part, folder, to)
    lines = map(str, range(len(part.documents)))
    new = lines if to == "lines" else part.documents.ids
    write_map(folder / DOC_MAP, new, _originals(documents, maps.documents, DOC_MAP))
    renumbered = (folder / QUERY_MAP).exists()  # written if a line corpus cannot keep the ids
    numbers = [str(number) for number in range(1, len(queries) + 1)]
    asked = numbers if renumbered else list(part.queries.ids)
    originals = list(_originals(queries, maps.queries, QUERY_MAP))
    if renumbered or asked != originals:
        write_map(folder / QUERY_MAP, asked, originals)
    return {
        "documents": len(part.documents),
        "queries": len(part.queries),
        "judgements": len(part.qrels),
    }


def fold_table(splits: Splits, mark: str = "\t") -> Iterator[str]:
    """Return the fold of each unit as lines of a table that `GivenFolds` reads."""
    splits.folds()  # raises an error if there are none
    several = splits.repeats > 1
    rows: list[tuple[str, ...]] = []
    for repeat in range(splits.repeats):
        for unit, fold in zip(splits.ids, splits.folds(repeat).tolist(), strict=True):
            if fold >= 0:
                rows.append((unit, str(repeat), str(fold)) if several else (unit, str(fold)))
    name = _ID_NAMES[splits.unit]
    return fold_lines(rows, (name, "repeat", "fold") if several else (name, "fold"), mark)


# A side as a collection of its own


def standalone(view: View) -> tuple[Collection, Sequence[str], Sequence[str]]:
    """Return a view as a collection, and the ids of its documents and queries in the whole."""
    whole, weights = view.collection, view.document_weights
    documents: Documents = whole.documents
    originals: Sequence[str] = whole.documents.ids
    if (weights != 1).any():
        documents = PartDocuments(whole.documents, weights)
        originals = [whole.documents.ids[number] for number in documents.numbers.tolist()]
    places = np.repeat(np.arange(len(whole.queries)), view.query_weights).tolist()
    asked = tuple(whole.queries.ids[place] for place in places)
    queries = whole.queries.take(places, copy_names(asked, set(whole.queries.ids)))
    drawn = max(weights.max(initial=0), view.query_weights.max(initial=0)) > 1
    qrels = _judged_copies(view, documents.ids, queries.ids) if drawn else view.qrels
    part = Collection(documents, queries, qrels if len(qrels) else None, name=whole.name)
    return part, originals, asked


def _judged_copies(view: View, documents: Sequence[str], queries: Sequence[str]) -> Qrels:
    """Return the judgements of repeated documents or queries: each copy has all of them."""
    judged = view.collection.judgements
    query, asked = _copies(view.query_weights, judged.queries)
    document, searched = _copies(view.document_weights, judged.documents)
    pairs = asked * searched
    row = np.repeat(np.arange(len(judged)), pairs)
    if not len(row):
        return empty_qrels()
    # Copies of a judgement are numbered; a number is a pair of copies, of its query and document.
    turn = np.arange(len(row)) - np.repeat(np.cumsum(pairs) - pairs, pairs)
    new_queries = (query[row] + turn // searched[row]).tolist()
    new_documents = (document[row] + turn % searched[row]).tolist()
    columns: dict[str, Any] = {
        "query": [queries[number] for number in new_queries],
        "doc": [documents[number] for number in new_documents],
        "grade": judged.grades[row].tolist(),
    }
    return Qrels.of(columns)


def _copies(weights: NDArray[np.int32], units: Ints) -> tuple[Ints, Ints]:
    """Return the first position and the number of copies of the unit of each judgement."""
    times = weights.astype(np.int64)
    return (np.cumsum(times) - times)[units], times[units]


# Maps to the original ids


def _originals(ids: Sequence[str], known: Mapping[str, str] | None, name: str) -> Sequence[str]:
    if known is None:
        return ids
    unknown = next((unit for unit in ids if unit not in known), None)
    if unknown is not None:
        raise InputError(
            f"{name} has no line for {unknown!r}, so that it belongs to another collection: "
            "remove it, or restore the right one"
        )
    return [known[unit] for unit in ids]


def maps_beside(source: str | os.PathLike[str]) -> IdMaps:
    """Read the maps in the folder of a collection, if it was exported."""
    path = Path(source)
    if not path.exists():
        return NO_MAPS
    home = path if path.is_dir() else path.parent
    maps = (home / DOC_MAP, home / QUERY_MAP)
    return IdMaps(*(read_map(file) if file.is_file() else None for file in maps))


def read_map(path: Path) -> dict[str, str]:
    """Read a table of new and original ids."""
    with readable(str(path)):
        content = path.read_bytes()
    try:
        head, *lines = content.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8") from None
    if head != MAP_HEAD:
        raise FormatError(f"{path}:1", f"expected the header {MAP_HEAD!r}, found {head[:60]!r}")
    known: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        place, cells = f"{path}:{number}", line.split("\t")
        if len(cells) != 2:
            raise FormatError(place, f"{len(cells)} columns, expected 2")
        new, original = (_unescaped(cell, place) for cell in cells)
        if new in known:
            raise FormatError(place, f"the new id {new!r} appears twice")
        known[new] = original
    return known


def _unescaped(cell: str, place: str) -> str:
    if "\\" not in cell:
        return cell
    try:
        return str(json.loads(f'"{cell}"'))
    except json.JSONDecodeError:
        raise FormatError(place, f"{cell!r} has an invalid escape (backslash)") from None
