"""Group runs by system: their names, and the order in which they are tried."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from heldout.data.columns import is_frame
from heldout.data.notes import named_few
from heldout.data.paths import is_there
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.tune.listed import read_names

if TYPE_CHECKING:
    from heldout.tune.listed import Listed

__all__ = ["RunGroup", "file_stem", "matching", "run_groups"]


@dataclass(frozen=True, slots=True, eq=False)
class RunGroup:
    """The runs of one system, simplest first.

    Parameters
    ----------
    name
        Name of the system.
    runs
        Names of its runs.
    sources
        Runs, or paths to their files.
    points
        The parameters in the names if all have the same ones; otherwise None.
    """

    name: str
    runs: tuple[str, ...]
    sources: tuple[Any, ...]
    points: Listed | None


def run_groups(systems: Any) -> list[RunGroup]:
    """Return the runs of each system; see `heldout.tune.runs.tune_runs` for accepted forms."""
    several = isinstance(systems, Mapping) and not any(
        isinstance(value, Run) or is_frame(value) for value in systems.values()
    )
    named = systems if several else {"tuned": systems}
    if not named:
        raise InputError("no systems given")
    groups = [_group(str(name), runs) for name, runs in named.items()]
    if all(len(group.runs) == 1 for group in groups):
        raise InputError(
            f"only one run ({groups[0].sources[0]}), nothing to choose from: give several, such as "
            "'runs/lambda=*.run', or use heldout eval to evaluate one run"
        )
    return groups


def _group(name: str, runs: Any) -> RunGroup:
    if isinstance(runs, Mapping):
        labels, sources = [str(label) for label in runs], list(runs.values())
    else:
        given = [runs] if isinstance(runs, str | os.PathLike) else _paths(name, runs)
        sources = list(dict.fromkeys(path for one in given for path in matching(os.fspath(one))))
        labels = _labels(sources)
    if not sources:
        raise InputError(f"system {name}: no runs given")
    order, points = read_names(labels)
    return RunGroup(
        name, tuple(labels[at] for at in order), tuple(sources[at] for at in order), points
    )


def _paths(name: str, runs: Any) -> list[Any]:
    """Return the paths in a list; other runs need names, from which parameters are read."""
    if not isinstance(runs, Iterable) or is_frame(runs):
        kind = type(runs).__name__
        raise InputError(f"system {name}: expected paths or {{name: run}}, not a {kind}")
    listed = list(runs)
    if not all(isinstance(one, str | os.PathLike) for one in listed):
        raise InputError(f"system {name}: runs that are not paths need names: pass {{name: run}}")
    return listed


def matching(pattern: str) -> list[str]:
    """Return the files that match a path with ``*``, ``?`` or ``[…]``, or the file of that name."""
    if is_there(pattern) or not glob.has_magic(pattern):
        return [pattern]  # the reader reports a missing file
    found = sorted(path for path in glob.glob(pattern) if Path(path).is_file())  # noqa: PTH207
    if not found:
        raise InputError(f"no run matches {pattern}: {_nearby(pattern)}")
    return found


def _nearby(pattern: str) -> str:
    """Describe the contents of the folder that was searched."""
    folder = Path(pattern).parent
    if glob.has_magic(str(folder)):
        return "check the folders in the pattern"
    if not folder.is_dir():
        return f"there is no folder {folder}"
    files = sorted(one.name for one in folder.iterdir() if one.is_file())
    return f"{folder} has {named_few(files, len(files)) if files else 'no files'}"


_ENDINGS: Final = (".run", ".trec", ".txt", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".res")
_PACKED: Final = (".gz", ".xz", ".bz2", ".zst")


def _labels(paths: list[str]) -> list[str]:
    """Return file names without folders and extensions, or with them where they clash."""
    for shorten in (file_stem, lambda path: Path(path).name, str):
        names = [shorten(path) for path in paths]
        if len(set(names)) == len(names):
            return names
    return paths


def file_stem(path: str) -> str:
    """Return the name of a file without folders and extensions."""
    # Only known extensions: the .5 of lambda=0.5 is not one.
    name = Path(path).name
    for endings in (_PACKED, _ENDINGS):
        for ending in endings:
            if name.lower().endswith(ending) and len(name) > len(ending):
                name = name[: -len(ending)]
                break
    return name
