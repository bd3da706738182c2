"""Held-out rankings of an experiment as TREC run files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from heldout.data.atomic import made_folder
from heldout.errors import InputError

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from heldout.experiment.results import Results

__all__ = ["export_runs"]

_UNSAFE: Final = re.compile(r"[^\w.=,+()-]+")


def export_runs(results: Results, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the held-out rankings of all systems and return the paths of the files.

    ``SYSTEM.run`` has all queries, if none was held out twice; ``SYSTEM/r0-f3.run`` the held-out
    queries or documents of one split. A single split is written once. Rankings are as deep as the
    experiment kept them (`keep_depth`).

    Parameters
    ----------
    results
        Results of systems that rank.
    folder
        Folder to write to; it is created if necessary.
    """
    if results.task != "ranking":
        raise InputError(f"a {results.task} experiment has predictions, not rankings to export")
    written: list[Path] = []
    with made_folder(folder) as place:
        for system, name in _file_names(results.systems).items():
            runs = results.runs(system)
            if _once(results, system):
                written.append(place / f"{name}.run")
                whole: Any = results.predictions(system)  # of rankings a run
                whole.write(written[-1], "trec")
            if len(runs) < 2:
                continue
            with made_folder(place / name) as own:
                for part, run in runs.items():
                    written.append(own / f"{part}.run")
                    run.write(written[-1], "trec")
    return written


def _once(results: Results, system: str) -> bool:
    """Whether each query has one held-out ranking."""
    import polars as pl

    mine = results.held_out.filter(pl.col("system") == system)
    return not mine.select("unit", "rank").is_duplicated().any()


def _file_names(systems: tuple[str, ...]) -> dict[str, str]:
    """Names of files for systems, whose own names may have any characters."""
    names: dict[str, str] = {}
    for system in systems:
        plain = _UNSAFE.sub("-", system).strip("-.") or "system"
        name, number = plain, 2
        while name in names.values():
            name, number = f"{plain}-{number}", number + 1
        names[system] = name
    return names
