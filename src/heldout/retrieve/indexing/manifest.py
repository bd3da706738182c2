"""``shards.json``: which files are the parts of an index, in which order."""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from heldout.data.aside import write_atomically
from heldout.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

__all__ = ["MANIFEST", "Manifest", "PartFile", "is_sharded", "read_manifest", "write_manifest"]

MANIFEST: Final = "shards.json"
_FORMAT: Final = 1
_NAME: Final = re.compile(r"[\w-][\w.-]*")
"""A file of the folder itself: a manifest from elsewhere must not name any other."""
_LARGEST: Final = 64 << 20


@dataclass(frozen=True, slots=True)
class PartFile:
    """An index in the folder, and its fingerprint."""

    file: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The parts in the order of their documents; the file with the order of all ids, its hash."""

    parts: tuple[PartFile, ...]
    order: str
    order_sha256: str


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Whether a folder is an index of several parts, sound or not."""
    return os.path.isfile(os.path.join(path, MANIFEST))  # noqa: PTH113, PTH118 - of any kind


def write_manifest(folder: Path, manifest: Manifest, order: NDArray[np.int32]) -> None:
    """Write the order of the ids, then the manifest: only then is the folder an index."""
    with write_atomically(folder / manifest.order) as aside, aside.open("wb") as file:
        file.write(order.data)
    text = json.dumps({"format": _FORMAT, **asdict(manifest)}, indent=1)
    with write_atomically(folder / MANIFEST) as aside:
        aside.write_text(text + "\n", encoding="utf-8")


def read_manifest(folder: Path) -> Manifest:
    """Read a manifest, and refuse one that is damaged or names files elsewhere."""
    path = folder / MANIFEST
    try:
        with path.open("rb") as file:
            return _parsed(file.read(_LARGEST))
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError(
            f"{path}: does not say which parts the index has ({error}): join the parts again with "
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
        raise ValueError("something is missing")
    if not all(_NAME.fullmatch(one) for one in names) or len(set(names)) < len(names):
        raise ValueError("a part is named that is no file of this folder, or twice")
    return manifest
