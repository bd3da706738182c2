"""Maps from the ids of an exported dataset to the original ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from heldout.data.export import DOC_MAP, MAP_HEAD, QUERY_MAP
from heldout.data.files import readable
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping, Sequence

__all__ = ["NO_MAPS", "IdMaps", "maps_beside", "read_map"]


class IdMaps(NamedTuple):
    """Maps from the ids of an exported collection to the original ids; None: ids are original."""

    documents: Mapping[str, str] | None = None
    queries: Mapping[str, str] | None = None

    def first(self, kind: str, ids: Sequence[str]) -> Sequence[str]:
        """Return the original ids of some ``documents`` or ``queries``."""
        known = self.documents if kind == "documents" else self.queries
        if known is None:
            return ids
        unknown = next((one for one in ids if one not in known), None)
        if unknown is not None:
            name = DOC_MAP if kind == "documents" else QUERY_MAP
            raise InputError(
                f"{name} has no line for {unknown!r}, so that it belongs to another collection: "
                "remove it, or restore the right one"
            )
        return [known[one] for one in ids]


NO_MAPS = IdMaps()


def maps_beside(source: str | os.PathLike[str]) -> IdMaps:
    """Read the maps in the folder of a collection, if it was exported."""
    path = Path(source)
    home = path if path.is_dir() else path.parent if path.is_file() else None
    if home is None:
        return NO_MAPS
    found = [home / DOC_MAP, home / QUERY_MAP]
    documents, queries = (read_map(one) if one.is_file() else None for one in found)
    return IdMaps(documents, queries)


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
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 2):
        cells = line.split("\t")
        if len(cells) != 2:
            raise FormatError(f"{path}:{number}", f"{len(cells)} columns, expected 2")
        new, original = (_read(cell, f"{path}:{number}") for cell in cells)
        if new in found:
            raise FormatError(f"{path}:{number}", f"the new id {new!r} appears twice")
        found[new] = original
    return found


def _read(cell: str, place: str) -> str:
    if "\\" not in cell:
        return cell
    try:
        return str(json.loads(f'"{cell}"'))
    except json.JSONDecodeError:
        raise FormatError(place, f"{cell!r} has an invalid escape (backslash)") from None
