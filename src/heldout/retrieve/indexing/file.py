"""An index on disk: a folder of ``.npy`` files, and ``index.json`` that says what they are.

The folder is written aside and gets its name when all is in it: a folder of that name is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.data.atomic import make_aside
from heldout.data.parallel import run_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from numpy.typing import DTypeLike, NDArray

FORMAT: Final = 3
"""Increased whenever another index would be misread or its terms would differ."""

_ABOUT: Final = "index.json"
_LARGE: Final = 1 << 20
_AGAIN: Final = "build the index again"


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is an index, damaged or not."""
    return os.path.isfile(os.path.join(path, _ABOUT))  # noqa: PTH113, PTH118 - any text


def index_size(path: str | os.PathLike[str]) -> int:
    """Return the bytes of all files of an index."""
    return sum(file.stat().st_size for file in Path(path).iterdir())


class IndexWriter:
    """Takes the arrays of an index, each from beginning to end: into files, or into memory."""

    def __init__(self, folder: Path | None, threads: int = 1) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}  # if there is no folder
        self._folder = folder
        self._threads = threads
        self._files: dict[str, IO[bytes]] = {}
        self._places: dict[str, int] = {}
        self._hashes: dict[str, Any] = {}
        self._kinds: dict[str, tuple[str, list[int]]] = {}

    def begin(self, name: str, dtype: DTypeLike, *shape: int) -> None:
        """Begin an array, whose size must be known."""
        little = np.dtype(dtype).newbyteorder("<")
        self._kinds[name] = little.str, list(shape)
        self._hashes[name] = hashlib.sha256()
        self._places[name] = 0
        if self._folder is None:
            self.arrays[name] = np.empty(shape, little)
            return
        self._files[name] = file = (self._folder / f"{name}.npy").open("wb")
        header = {"descr": little.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Add elements after those before."""
        little = np.ascontiguousarray(values, self._kinds[name][0]).reshape(-1)
        data = little.view(np.uint8).data

        def keep(data: memoryview) -> None:
            if self._folder is not None:
                self._files[name].write(data)
            else:
                place = self._places[name]
                self.arrays[name].reshape(-1)[place : place + len(little)] = little

        takers: list[Callable[[memoryview], object]] = [keep, self._hashes[name].update]
        threads = self._threads if len(data) > _LARGE else 1  # both take about as long
        run_threads(lambda take: take(data), takers, threads)
        self._places[name] += len(little)

    def write(self, name: str, values: NDArray[Any]) -> None:
        """Take a whole array."""
        self.begin(name, values.dtype, *values.shape)
        self.append(name, values)

    def finish(self, signature: str, about: Mapping[str, Any]) -> dict[str, Any]:
        """Write and return the description, after all arrays."""
        for file in self._files.values():
            file.close()
        sums = {name: self._hashes[name].hexdigest() for name in sorted(self._hashes)}
        lines = [signature, *(f"{name} {checksum}" for name, checksum in sums.items())]
        described = {
            "format": FORMAT,
            "fingerprint": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
            "signature": signature,
            **about,
            "files": {
                name: {"dtype": self._kinds[name][0], "shape": self._kinds[name][1], "sha256": sha}
                for name, sha in sums.items()
            },
        }
        if self._folder is not None:
            text = json.dumps({**described, "checksum": _checksum(described)}, indent=1)
            (self._folder / _ABOUT).write_text(text, encoding="ascii")
        return described

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in self._files.values():
            with suppress(OSError):  # of a full disk, which another error says
                file.close()


@contextmanager
def new_index(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a folder beside `path` and rename it to `path` at the end, in place of an index there.

    A folder cannot be replaced in one step: the old index is renamed first and removed last.
    """
    target = Path(os.path.abspath(path))  # noqa: PTH100 - a name is needed even for "."
    if target.exists() and not is_index(target):
        raise InputError(f"{os.fspath(path)!r} exists and is not an index: choose another name")
    temporary = []
    try:
        aside = make_aside(target, Path.mkdir)
        temporary.append(aside)
        yield aside
        if target.exists():
            room = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
            temporary.append(room)
            old = target.rename(room / target.name)
            try:
                aside.rename(target)
            except OSError:
                old.rename(target)
                raise
        else:
            aside.rename(target)
    except OSError as error:
        reason = error.strerror or error
        raise InputError(f"{os.fspath(path)}: cannot be written ({reason})") from error
    finally:
        for folder in temporary:
            shutil.rmtree(folder, ignore_errors=True)


def open_index(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return the description and the mapped arrays of an index; their bytes are not compared."""
    about = _described(path)
    arrays = {
        name: _mapped(Path(path) / f"{name}.npy", **of) for name, of in about["files"].items()
    }
    for offsets, content in (
        ("offsets", "documents"),
        ("term_offsets", "term_bytes"),
        ("id_offsets", "id_bytes"),
    ):
        if offsets not in arrays:  # ids are words, unless some are long
            continue
        places = arrays[offsets]
        ends = places[0] == 0 and places[-1] == len(arrays[content])
        if not ends or (places[1:] < places[:-1]).any():
            raise InputError(f"{os.fspath(path)}: the index is damaged in its {offsets}: {_AGAIN}")
    return about, arrays


def digest(array: NDArray[Any]) -> str:
    """Return the SHA-256 of an array as it is stored."""
    little = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1)
    return hashlib.sha256(little.view(np.uint8).data).hexdigest()


def _checksum(described: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _described(path: str | os.PathLike[str]) -> dict[str, Any]:
    name = os.fspath(path)
    if not is_index(path):
        raise InputError(
            f"{name}: not an index of heldout (a folder with {_ABOUT}): build one with heldout "
            "index, or give another path"
        )
    try:
        about = json.loads((Path(path) / _ABOUT).read_text(encoding="ascii"))
        checksum = about.pop("checksum", "")
    except OSError as error:
        raise InputError(f"{name}: the index cannot be read ({error.strerror})") from None
    except (ValueError, AttributeError):
        raise InputError(f"{name}: the {_ABOUT} of the index is damaged: {_AGAIN}") from None
    if about.get("format", FORMAT) != FORMAT:
        raise InputError(
            f"{name}: the index has format {about['format']}, but this version of heldout reads "
            f"format {FORMAT}: {_AGAIN}"
        )
    if checksum != _checksum(about):
        raise InputError(f"{name}: the {_ABOUT} of the index is damaged: {_AGAIN}")
    described: dict[str, Any] = about
    return described


def _mapped(file: Path, dtype: str, shape: list[int], sha256: str) -> NDArray[Any]:
    """Map an array, whose kind must be as described: compiled loops rely on it."""
    del sha256
    try:
        array = np.lib.format.open_memmap(file, mode="r")
        good = array.dtype.str == dtype and list(array.shape) == shape
        if good and file.stat().st_size == array.offset + array.nbytes:
            return np.asarray(array)  # compiled loops know plain arrays only
        reason = "truncated or changed"
    except OSError as error:
        reason = error.strerror or str(error)
    except Exception as error:  # noqa: BLE001 - NumPy raises errors of many kinds for a bad header
        reason = f"truncated or changed: {error}"
    raise InputError(f"{file}: the file of the index cannot be used ({reason}): {_AGAIN}")
