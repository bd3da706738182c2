"""The folder of results: tables as Parquet, the rest as JSON; the manifest is written last."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.atomic import made_folder, write_atomically
from heldout.data.tables import read_parquet
from heldout.errors import Argument, InputError
from heldout.experiment.manifest import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.experiment.manifest import Manifest

EXPERIMENT: Final = "experiment.toml"  # to repeat it; paths are relative to the folder of the run
SUMMARY: Final = "summary.json"
TIMINGS: Final = "timings.json"
_TABLES: Final = ("values", "folds", "surface", "splits", "machine")
_CHECKSUMS: Final = "files"
_FORMAT: Final = 1


def all_files() -> tuple[str, ...]:
    """Return all files of results of any task, the manifest last."""
    tables = (f"{name}.parquet" for name in (*_TABLES, "lists", "predictions"))
    return (*tables, EXPERIMENT, SUMMARY, TIMINGS, MANIFEST)


def _files(manifest: Manifest) -> dict[str, str]:
    """Return the file of each table."""
    settings = manifest["settings"]
    held_out = "lists" if settings["task"] == "ranking" else "predictions"
    tables = [name for name in _TABLES if name != "machine" or name in settings]
    return {name: f"{name}.parquet" for name in tables} | {"held_out": f"{held_out}.parquet"}


def write_folder(folder: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write the fields of results; the manifest has a checksum of every table and the summary."""
    manifest, checksums = content["manifest"], dict[str, str]()
    with made_folder(folder) as place:
        for name, file in _files(manifest).items():
            with write_atomically(place / file) as aside:
                content[name].write_parquet(aside)
                checksums[file] = _finished(aside)
        checksums[SUMMARY] = _write_json(place / SUMMARY, content["summary"])
        _write_json(place / TIMINGS, content["timings"])
        _write_json(place / MANIFEST, {"format": _FORMAT, **manifest, _CHECKSUMS: checksums})


@contextmanager
def resumable() -> Iterator[None]:
    """Add to a failure to write that the run can be continued."""
    try:
        yield
    except InputError as error:
        kept = f"{error}; finished splits are kept: make room and continue with "
        raise InputError(kept, Argument("resume", "True")) from error.__cause__


def _write_json(path: Path, content: Any) -> str:
    """Write JSON, and return its checksum."""
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
        return _finished(aside)


def _finished(path: Path) -> str:
    """Flush a file to disk, and return its checksum."""
    flush(path)
    return hashlib.sha256(path.read_bytes()).hexdigest()


def flush(path: Path) -> None:
    """Flush a file or folder to disk: a name must not be there before its content."""
    if path.is_dir() and sys.platform == "win32":
        return  # Windows cannot flush folders
    file = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def read_folder(folder: str | os.PathLike[str], *, verify: bool = True) -> dict[str, Any]:
    """Read the fields of results; refuse files that were changed, by their checksums."""
    place = Path(folder)
    about, timings = place / MANIFEST, place / TIMINGS
    if not about.is_file():
        raise InputError(
            f"{place} has no results: no {MANIFEST}, which is written at the end of a run"
        )
    manifest = _json(_read(about), about)
    if not isinstance(manifest, dict) or manifest.pop("format", None) != _FORMAT:
        raise InputError(f"{about}: written by another version of heldout")
    if "settings" not in manifest:
        raise InputError(f"{about}: no settings; was it edited?")
    checksums = manifest.pop(_CHECKSUMS, {})
    fields: dict[str, Any] = {"manifest": manifest, "timings": {}}
    if timings.is_file():
        fields["timings"] = _json(_read(timings), timings)
    for name, file in {**_files(manifest), "summary": SUMMARY}.items():
        path = place / file
        content = _read(path)
        if verify and hashlib.sha256(content).hexdigest() != checksums.get(file):
            raise InputError(
                f"{path}: changed after the experiment (its checksum in {MANIFEST} differs): run "
                "the experiment again, or read it anyway with ",
                Argument("verify", "False"),
            )
        fields[name] = _json(content, path) if file == SUMMARY else read_parquet(content, str(path))
    return fields


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _json(content: bytes, path: Path) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
