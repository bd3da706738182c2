"""Results: the long table of an experiment, and all that inference and reports need beside it."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self

import numpy as np

from heldout.data.aside import write_atomically
from heldout.data.formats.parquet import read_parquet
from heldout.data.scores import Scores
from heldout.errors import InputError
from heldout.experiment.result_checks import check_results
from heldout.experiment.result_notes import result_notes
from heldout.experiment.split_table import no_splits
from heldout.measure.parse import parse_measure
from heldout.notes import Note
from heldout.tune.runs import VERY_DIFFERENT

if TYPE_CHECKING:
    import polars as pl

    from heldout.infer.compare import Comparison

__all__ = ["MANIFEST", "Results"]

MANIFEST: Final = "manifest.json"
"""Written last: a folder that has it is complete."""
PREDICTIONS: Final = "predictions.parquet"
"""In place of the ranked lists, of experiments with estimators."""
SUMMARY: Final = "summary.json"
TIMINGS: Final = "timings.json"
_CHECKSUMS: Final = "files"
_FORMAT: Final = 1


@dataclass(frozen=True, slots=True, eq=False)
class Results:
    """What an experiment has found.

    Parameters
    ----------
    values
        The long table: system, repeat, fold, other (the fold of the documents where both are held
        out), run, unit (the query), measure, value, parameters (as JSON). A fold of null: all folds
        of the repeat were merged into one ranking.
    folds
        For each system and split what was chosen (number, parameters), its score on the train side
        and on the held-out side, by the measure it was chosen by.
    surface
        For each system and split the train-side mean of every point; a repeat of null: all data.
    lists
        The top of each ranked list: system, repeat, fold, run, unit, rank, document, score.
    summary
        For each system the estimates, the choices and the parameters to ship.
    manifest
        Versions, seed, fingerprints, policies and settings.
    timings
        Seconds of each task; not part of what is compared.
    splits
        Which unit was held out where: repeat, fold, kind (query, document or instance), unit, side,
        count (how often it was drawn). Of folds there are the test sides alone; the train side of a
        fold is the rest of its repeat.
    """

    FILES: ClassVar[dict[str, str]] = {
        name: f"{name}.parquet" for name in ("values", "folds", "surface", "lists", "splits")
    }

    values: pl.DataFrame
    folds: pl.DataFrame
    surface: pl.DataFrame
    lists: pl.DataFrame
    summary: list[dict[str, Any]]
    manifest: dict[str, Any]
    timings: dict[str, Any]
    splits: pl.DataFrame = field(default_factory=no_splits)

    def __repr__(self) -> str:
        return (
            f"<Results: {len(self.systems)} systems, {', '.join(self.measures)}, "
            f"{len(self.values)} values>"
        )

    def _repr_html_(self) -> str:
        """Show the estimates as tables and a chart in a notebook."""
        from heldout.notebook import results_html  # the report reads results

        return results_html(self)

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(one["name"] for one in self.summary)

    @property
    def task(self) -> str:
        """``ranking``, ``classification`` or ``regression``."""
        return str(self.manifest["settings"]["task"])

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures."""
        return tuple(self.manifest["settings"]["measures"])

    @property
    def notes(self) -> tuple[Note, ...]:
        """What a careful reader should know about the data, the splits and the systems."""
        return result_notes(self.manifest, self.summary)

    def to_frame(self) -> pl.DataFrame:
        """The long table."""
        return self.values

    def _name_of(self, measure: str | None) -> str:
        """A measure as it is called in the tables; by default the first."""
        return str(parse_measure(measure or self.measures[0], "ranking"))

    def estimate(self, system: str, measure: str | None = None) -> dict[str, Any]:
        """The estimate of a system, of the first measure by default."""
        for one in self.summary:
            if one["name"] == system:
                wanted = self._name_of(measure)
                for found in one["estimates"]:
                    if found["measure"] == wanted:
                        return dict(found)
                raise InputError(f"{wanted} was not measured; there are {', '.join(self.measures)}")
        raise InputError(f"no system {system!r}; there are {', '.join(self.systems)}")

    def scores(self, measure: str | None = None) -> Scores:
        """What each query got where it was held out, for each system, paired by query."""
        import polars as pl

        wanted = parse_measure(measure or self.measures[0], "ranking")
        if str(wanted) not in self.measures:
            raise InputError(f"{wanted} was not measured; there are {', '.join(self.measures)}")
        if wanted.higher_is_better is None:
            raise InputError(f"{wanted} has no better or worse: it cannot be compared")
        rows = self.values.filter(pl.col("measure") == str(wanted))
        table: dict[str, dict[str, float]] = {name: {} for name in self.systems}
        times: Counter[tuple[str, str]] = Counter()
        # A query that was held out several times counts once: the unit is the query. The values are
        # added in the order of the table, so that no digit depends on threads.
        for system, unit, value in rows.select("system", "unit", "value").iter_rows():
            table[system][unit] = table[system].get(unit, 0.0) + value
            times[system, unit] += 1
        for system, unit in times:
            table[system][unit] /= times[system, unit]
        for name, units in table.items():
            if not units:
                raise InputError(f"{name} has no value of {wanted}")
        common = sorted(set.intersection(*(set(units) for units in table.values())))
        every = sorted(set.union(*(set(units) for units in table.values())))
        return Scores(
            str(wanted),
            self.systems,
            tuple(common),
            np.array([[table[name][unit] for name in self.systems] for unit in common]),
            bool(wanted.higher_is_better),
            dropped=tuple(one for one in every if one not in set(common)),
            data=self.manifest["fingerprints"]["collection"],
            notes=tuple(self._effort()),
        )

    def _effort(self) -> list[Note]:
        """Whether the systems were tuned with like effort."""
        points = {one["name"]: one["points"] for one in self.summary if one["tuned"]}
        if len(points) < 2 or max(points.values()) < VERY_DIFFERENT * min(points.values()):
            return []
        listed = ", ".join(f"{name} {count}" for name, count in points.items())
        text = f"the systems were tuned over very different numbers of values ({listed})"
        return [Note("uneven-tuning", text)]

    def compare(
        self, measure: str | None = None, *, baseline: str | None = None, **options: Any
    ) -> Comparison:
        """Compare the systems on what each query got where it was held out.

        Parameters
        ----------
        measure
            By default the first.
        baseline
            Compare all others with this system; by default the experiment's own.
        options
            As for `heldout.compare`.
        """
        from heldout.infer.compare import compare  # SciPy

        settings = self.manifest["settings"]
        chosen = {
            "baseline": baseline or settings["baseline"],
            "alpha": settings["alpha"],
            "seed": settings["seed"],
            "tuned": tuple(one["name"] for one in self.summary if one["tuned"]),
        }
        return compare(self.scores(measure), **{**chosen, **options})

    def write(self, folder: str | os.PathLike[str]) -> None:
        """Write all tables as Parquet, summary, timings and manifest as JSON; the manifest last.

        The manifest holds a checksum of every table and of the summary.
        """
        place = Path(folder)
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"{place}: cannot be made ({error.strerror})") from None
        checksums: dict[str, str] = {}
        try:
            for name, file in self.FILES.items():
                with write_atomically(place / file) as aside:
                    getattr(self, name).write_parquet(aside)
                    flush(aside)
                    checksums[file] = _sha256(aside)
            checksums[SUMMARY] = _write_json(place / SUMMARY, self.summary)
            _write_json(place / TIMINGS, self.timings)
            whole = {"format": _FORMAT, **self.manifest, _CHECKSUMS: checksums}
            _write_json(place / MANIFEST, whole)
        except InputError as error:
            raise InputError(
                f"{error}; what was computed is kept if a journal is there: make room and go on "
                "with --resume"
            ) from error.__cause__

    @classmethod
    def read(cls, folder: str | os.PathLike[str], *, verify: bool = True) -> Self:
        """Read the results of an experiment from their folder.

        Parameters
        ----------
        verify
            Refuse files that are not as they were written, by their checksums in the manifest.
            Results of heldout 0.1 have none, and are read as they are.
        """
        import polars as pl

        place = Path(folder)
        if not (place / MANIFEST).is_file():
            raise InputError(
                f"{place} has no results: it has no {MANIFEST}, which is written when all is done"
            )
        manifest = _json(place / MANIFEST)
        if not isinstance(manifest, dict) or manifest.pop("format", None) != _FORMAT:
            raise InputError(f"{place / MANIFEST}: written by another version of heldout")
        kind = _kind(manifest, place)
        checksums = manifest.pop(_CHECKSUMS, None)
        if verify and checksums is not None:
            _refuse_changed(place, (*kind.FILES.values(), SUMMARY), checksums)
        files = dict(kind.FILES)
        if checksums is None and not (place / files["splits"]).exists():
            del files["splits"]  # heldout 0.1 kept neither
        tables = {"splits": no_splits(), **{n: _table(place / one) for n, one in files.items()}}
        timings = _json(place / TIMINGS) if (place / TIMINGS).is_file() else {}
        summary = _json(place / SUMMARY)
        check_results(str(place), manifest, summary, tables)
        try:
            found = kind(**tables, summary=summary, manifest=manifest, timings=timings)
        except (KeyError, TypeError, ValueError, pl.exceptions.PolarsError) as error:
            raise InputError(f"{place}: predictions that no experiment writes ({error})") from None
        if not isinstance(found, cls):
            raise InputError(f"{place}: results of task {manifest['settings']['task']}")
        return found


def flush(path: Path) -> None:
    """Let a file or folder reach the disk: a name must not come before what it names."""
    if path.is_dir() and sys.platform == "win32":
        return  # folders have no flush there
    file = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def _kind(manifest: dict[str, Any], place: Path) -> type[Results]:
    settings = manifest.get("settings")
    task = settings.get("task") if isinstance(settings, dict) else None
    if task not in ("ranking", "classification", "regression"):
        named = "no task is named" if task is None else f"there is no task {task!r}"
        raise InputError(f"{place / MANIFEST}: {named}; was it edited?")
    if task == "ranking":
        return Results
    from heldout.experiment.estimator_results import EstimatorResults  # a kind of these

    return EstimatorResults


def _write_json(path: Path, content: Any) -> str:
    """Write JSON, and give its checksum."""
    text = json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"
    with write_atomically(path) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
        flush(aside)
        return _sha256(aside)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_changed(place: Path, files: tuple[str, ...], checksums: Any) -> None:
    """Refuse files that were changed after the experiment: edited, damaged, or of another run."""
    if not isinstance(checksums, dict) or any(name not in checksums for name in files):
        raise InputError(f"{place / MANIFEST}: has no checksum of every file: was it edited?")
    for name in files:
        try:
            found = _sha256(place / name)
        except OSError as error:
            raise InputError(f"{place / name}: cannot be read ({error.strerror})") from None
        if found != checksums[name]:
            raise InputError(
                f"{place / name}: changed after the experiment (its checksum in {MANIFEST} is "
                "another): run the experiment again, or use it as it is with heldout report "
                "--unverified (verify=False in Python)"
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
        if "\\u" in text:  # half of a surrogate pair can be escaped, and be written nowhere then
            json.dumps(found, ensure_ascii=False).encode()
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path}: cannot be read ({error})") from None
    return found
