"""The folder of results: tables as Parquet, the rest as JSON; the manifest is written last."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.atomic import write_atomically
from heldout.data.tables import read_parquet
from heldout.errors import InputError
from heldout.experiment.manifest import MANIFEST, TASKS
from heldout.experiment.summary import SUMMARY
from heldout.experiment.table_columns import no_values

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from heldout.experiment.manifest import Manifest, Timings
    from heldout.experiment.summary import SystemSummary

__all__ = [
    "EXPERIMENT",
    "all_files",
    "files_of",
    "flush",
    "read_folder",
    "write_folder",
]

EXPERIMENT: Final = "experiment.toml"
"""The fields of the experiment, to repeat it; paths are relative to the folder of the run."""
TIMINGS: Final = "timings.json"
_CHECKSUMS: Final = "files"
_FORMAT: Final = 1


def all_files() -> tuple[str, ...]:
    """Return all files of results of any task, the manifest last."""
    tables = dict.fromkeys(
        file for task in TASKS for file in table_files(task, machine=True).values()
    )
    return (*tables, EXPERIMENT, SUMMARY, TIMINGS, MANIFEST)


def table_files(task: str, *, machine: bool = False) -> dict[str, str]:
    """Return the file of each table; rankings and predictions have different ones.

    Parameters
    ----------
    machine
        Whether there are values under machine judgements.
    """
    held_out = "lists" if task == "ranking" else "predictions"
    names = {"values": "values", "folds": "folds", "surface": "surface", "held_out": held_out}
    names |= {"splits": "splits"} | ({"machine": "machine"} if machine else {})
    return {name: f"{file}.parquet" for name, file in names.items()}


def files_of(manifest: Manifest) -> dict[str, str]:
    """Return the file of each table of some results."""
    settings = manifest["settings"]
    return table_files(settings["task"], machine="machine" in settings)


def write_folder(
    folder: str | os.PathLike[str],
    tables: Mapping[str, pl.DataFrame],
    summary: list[SystemSummary],
    manifest: Manifest,
    timings: Timings,
) -> None:
    """Write results; the manifest has a checksum of every table and of the summary."""
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{place}: the folder cannot be created ({error.strerror})") from None
    checksums: dict[str, str] = {}
    try:
        for name, file in files_of(manifest).items():
            with write_atomically(place / file) as aside:
                tables[name].write_parquet(aside)
                flush(aside)
                checksums[file] = _sha256(aside)
        checksums[SUMMARY] = _write_json(place / SUMMARY, summary)
        _write_json(place / TIMINGS, timings)
        _write_json(place / MANIFEST, {"format": _FORMAT, **manifest, _CHECKSUMS: checksums})
    except InputError as error:
        raise InputError(
            f"{error}; finished tasks are kept if there is a journal: make room and continue with "
            "resume=True"
        ) from error.__cause__


def read_folder(folder: str | os.PathLike[str], *, verify: bool = True) -> dict[str, Any]:
    """Read the fields of `heldout.Results` from their folder.

    Parameters
    ----------
    folder
        Where they are.
    verify
        Refuse files that were changed, by their checksums in the manifest.
    """
    place = Path(folder)
    if not (place / MANIFEST).is_file():
        raise InputError(
            f"{place} has no results: no {MANIFEST}, which is written at the end of a run"
        )
    content = _json(place / MANIFEST)
    if not isinstance(content, dict) or content.pop("format", None) != _FORMAT:
        raise InputError(f"{place / MANIFEST}: written by another version of heldout")
    checksums = content.pop(_CHECKSUMS, None)
    manifest: Any = content
    try:
        files = files_of(manifest)
    except (KeyError, TypeError):
        raise InputError(f"{place / MANIFEST}: no settings; was it edited?") from None
    if verify:
        _refuse_changed(place, (*files.values(), SUMMARY), checksums)
    return {
        "machine": no_values(),
        **{name: _table(place / one) for name, one in files.items()},
        "summary": _json(place / SUMMARY),
        "manifest": manifest,
        "timings": _json(place / TIMINGS) if (place / TIMINGS).is_file() else {},
    }


def flush(path: Path) -> None:
    """Flush a file or folder to disk: a name must not be there before its content."""
    if path.is_dir() and sys.platform == "win32":
        return  # Windows cannot flush folders
    file = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _write_json(path: Path, content: Any) -> str:
    """Write JSON, and return its checksum."""
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
        flush(aside)
        return _sha256(aside)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_changed(place: Path, files: tuple[str, ...], checksums: Any) -> None:
    """Refuse files that were changed after the experiment: edited, damaged, or from another run."""
    if not isinstance(checksums, dict) or any(name not in checksums for name in files):
        raise InputError(f"{place / MANIFEST}: checksums are missing: was it edited?")
    for name in files:
        try:
            found = _sha256(place / name)
        except OSError as error:
            raise InputError(f"{place / name}: cannot be read ({error.strerror})") from None
        if found != checksums[name]:
            raise InputError(
                f"{place / name}: changed after the experiment (its checksum in {MANIFEST} "
                "differs): run the experiment again, or read it anyway with verify=False"
            )


def _table(path: Path) -> pl.DataFrame:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None
    return read_parquet(content, str(path))


def _json(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text)
        if "\\u" in text:  # an escaped half of a surrogate pair cannot be written again
            json.dumps(found, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    return found
