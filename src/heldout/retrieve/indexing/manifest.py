"""``shards.json``: the files of an index of several parts, in order."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from heldout.data.atomic import write_atomically
from heldout.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MANIFEST", "Manifest", "PartFile", "is_sharded", "read_manifest", "write_manifest"]

MANIFEST: Final = "shards.json"
_FORMAT: Final = 1
_NAME: Final = re.compile(r"[\w-][\w.-]*")
"""A file in the folder itself: a manifest must not name files elsewhere."""
_LARGEST: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class PartFile:
    """The index file of one part, and its fingerprint."""

    file: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts in the order of their documents, and the file with the order of all ids."""

    parts: tuple[PartFile, ...]
    order: str
    order_sha256: str


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is an index of several parts, damaged or not."""
    return os.path.isfile(os.path.join(path, MANIFEST))  # noqa: PTH113, PTH118 - of any kind


def write_manifest(folder: Path, manifest: Manifest, order: NDArray[np.int32]) -> None:
    """Write the order of the ids, then the manifest, which makes the folder an index."""
    with write_atomically(folder / manifest.order) as aside, aside.open("wb") as file:
        file.write(order.data)
    text = json.dumps({"format": _FORMAT, **asdict(manifest)}, indent=1)
    with write_atomically(folder / MANIFEST) as aside:
        aside.write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read a manifest; raise an error if it is damaged or names files elsewhere."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            return _parsed(file.read(_LARGEST))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: cannot read the parts of the index ({error}): join the parts again with "
            f"heldout index {folder} --join"
        ) from None


def _parsed(text: bytes) -> Manifest:
    found: Any = json.loads(text)
    if found["format"] != _FORMAT:
        raise ValueError(f"format {found['format']}")
    parts = tuple(PartFile(one["file"], one["fingerprint"]) for one in found["parts"])
    manifest = Manifest(parts, found["order"], found["order_sha256"])
    names = [manifest.order, *(one.file for one in parts)]
    texts = [*names, manifest.order_sha256, *(one.fingerprint for one in parts)]
    if not parts or not all(isinstance(one, str) for one in texts):
        raise ValueError("an entry is missing")
    if not all(_NAME.fullmatch(one) for one in names) or len(set(names)) < len(names):
        raise ValueError("a part is not a file of this folder, or appears twice")
    return manifest
