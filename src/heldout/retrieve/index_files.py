"""An index on disk: a folder of ``.npy`` files, and ``index.json`` that says what they are.

The folder is written aside and gets its name when all is in it: a folder of that name is complete.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Self

import numpy as np

from heldout.data.atomic import write_folder
from heldout.data.parallel import run_threads
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from numpy.typing import NDArray


FORMAT: Final = 4
"""Increased whenever another index would be misread or its terms would differ."""

_ABOUT: Final = "index.json"
_LARGE: Final = 1 << 20
_AGAIN: Final = "build the index again"


def is_index(path: str | os.PathLike[str]) -> bool:
    """Return whether a folder is an index, damaged or not."""
    return os.path.isfile(os.path.join(path, _ABOUT))  # noqa: PTH118 - any text


def index_size(path: str | os.PathLike[str]) -> int:
    """Return the bytes of all files of an index."""
    return sum(file.stat().st_size for file in Path(path).iterdir())


class _Growing:
    """An array that is written from beginning to end: into a file, or as pieces in memory."""

    def __init__(self, file: IO[bytes] | None, kind: NDArray[Any]) -> None:
        self.file, self.sha = file, hashlib.sha256()
        self.pieces: list[NDArray[Any]] = []
        self.dtype, self.shape = kind.dtype.newbyteorder("<"), [0, *kind.shape[1:]]
        self.write_header()

    def write_header(self) -> None:
        """Write the header, whose length does not depend on the number of rows."""
        if self.file is not None:
            self.file.seek(0)
            described = {"descr": self.dtype.str, "fortran_order": False, "shape": (*self.shape,)}
            np.lib.format.write_array_header_1_0(self.file, described)


class IndexWriter:
    """Takes the arrays of an index, each from beginning to end: into files, or into memory."""

    def __init__(self, folder: Path | None, threads: int = 1) -> None:
        self._folder, self._threads, self._files = folder, threads, ExitStack()
        self._written: dict[str, _Growing] = {}

    def append(self, name: str, values: NDArray[Any]) -> None:
        """Begin an array, or add rows to those before."""
        if name not in self._written:
            file = None
            if self._folder is not None:
                file = self._files.enter_context((self._folder / f"{name}.npy").open("wb"))
            self._written[name] = _Growing(file, values)
        own = self._written[name]
        little = np.ascontiguousarray(values, own.dtype)
        own.shape[0] += len(little)
        data = little.reshape(-1).view(np.uint8).data
        takers: list[Callable[[memoryview], object]] = [own.sha.update]
        if own.file is None:
            own.pieces.append(little)
        else:
            takers.append(own.file.write)
        threads = self._threads if len(data) > _LARGE else 1  # both take about as long
        run_threads(lambda take: take(data), takers, threads)

    def finish(self, about: Mapping[str, Any]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """Return the arrays, if they are in memory, and the description, which is written last."""
        files = {
            name: {"dtype": own.dtype.str, "shape": own.shape, "sha256": own.sha.hexdigest()}
            for name, own in sorted(self._written.items())
        }
        lines = [about["signature"], *(f"{name} {file['sha256']}" for name, file in files.items())]
        described = {
            "format": FORMAT,
            "fingerprint": hashlib.sha256("\n".join(lines).encode()).hexdigest(),
            **about,
            "files": files,
        }
        if self._folder is None:
            arrays = {
                name: own.pieces[0] if len(own.pieces) == 1 else np.concatenate(own.pieces)
                for name, own in self._written.items()
            }
            return arrays, described
        for own in self._written.values():
            own.write_header()
        self._files.close()
        text = json.dumps({**described, "checksum": _checksum(described)}, indent=1)
        (self._folder / _ABOUT).write_text(text, encoding="ascii")
        return {}, described

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):  # of a full disk, which another error says
            self._files.close()


def new_index(path: str | os.PathLike[str]) -> AbstractContextManager[Path]:
    """Return a folder beside `path` that becomes `path` at the end, in place of an index there."""

    def check(target: Path) -> None:
        if not is_index(target):
            raise InputError(f"{os.fspath(path)!r} exists and is not an index: choose another name")

    return write_folder(path, check)


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
    except (ValueError, AttributeError, TypeError):
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
