"""Run files, and runs in memory, as systems: one per parameter setting, or one per split."""

from __future__ import annotations

import glob
import hashlib
import os
import re
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.documents.lists import lists_of_run
from heldout.experiment.systems.base import System, refuse_others
from heldout.notes import named_few
from heldout.tune.run_names import labels_of, read_names
from heldout.tune.search import Search
from heldout.tune.space import Space
from heldout.tune.space import given as axis_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.experiment.documents.lists import Lists
    from heldout.experiment.systems.base import Data, Part, Parts
    from heldout.experiment.systems.build import Given
    from heldout.resample.split import SplitKey, Splits
    from heldout.tune.space import Point

_FIELDS: Final = r"\{(?:split|repeat|fold|other|run)\}"  # in the path of a run per split


def _read(run: Run | str) -> Run:
    """Return a run; a file is read once for all that it is a part of, while it does not change."""
    if isinstance(run, Run):
        return run
    return _read_file(run, Path(run).stat().st_mtime_ns if os.path.isfile(run) else 0)


@lru_cache(maxsize=16)
def _read_file(path: str, changed: int) -> Run:
    del changed
    return Run.of(path)


@dataclass(frozen=True, kw_only=True, eq=False)
class RunSystem(System):
    """Existing runs: one, or one per parameter setting."""

    needs_documents: ClassVar[bool] = False
    pools: ClassVar[bool] = True

    files: tuple[Run | str, ...]  # paths or runs, in the order of the points
    learns: bool = False

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Return the lists of a run, without documents and queries of other sides."""
        run = self._at(point)
        return test.restrict(lists_of_run(run, data.collection, data.depth))

    def _at(self, point: Point) -> Run:
        return _read(self.files[self.search.points.index(point)])

    def run(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Run:
        """Return a run as it is, if all documents are ranked."""
        if test.documents is not None:
            return super().run(data, train, test, point, parts)
        return self._at(point)

    def runs(self) -> Iterator[Run]:
        """Yield its runs one after another."""
        return map(_read, self.files)

    @cached_property
    def _hashes(self) -> list[str]:
        return list(map(_hash, self.files))

    def describe(self) -> dict[str, Any]:
        """Return what it is as plain values, with a hash of each run."""
        return {**super().describe(), "runs": self._hashes, "comparable": self.comparable}


def _hash(run: Run | str) -> str:
    """Return a hash of a run or of its file."""
    if isinstance(run, Run):
        digest = hashlib.sha256("\0".join(run.queries).encode())
        digest.update(run.offsets.tobytes() + run.scores.tobytes())
        digest.update("\0".join(run.docs.tolist()).encode())
        return digest.hexdigest()
    with Path(run).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class FoldRunSystem(RunSystem):
    """Run files made by other tools, one per split: ``folds/{fold}.run``.

    Numbers begin at 0; ``{split}`` is such as ``r0-f3``, and ``{other}`` the fold of the documents
    if queries and documents are held out. Its files are all that the pattern can name.
    """

    pools: ClassVar[bool] = False

    pattern: str
    learns: bool = True

    def path(self, key: SplitKey) -> str:
        """Return the run file of a split."""
        values = {**key._asdict(), "split": str(key).replace("/", "-")}
        return re.sub(_FIELDS, lambda match: str(values[match[0][1:-1]]), self.pattern)

    def rank(self, data: Data, train: Part, test: Part, point: Point, parts: Parts) -> Lists:
        """Return the lists of the run of the split, which ranks what is held out there."""
        path = self.path(cast("SplitKey", test.key))  # what is held out has one
        run = _read(path)
        # Like any run, it may have unknown documents, unless some are held out.
        refuse_others(
            run,
            test.sealed(data.collection, judged=False),
            f"{self.name}: {path}",
            documents=test.documents is not None,
            why=". Were other folds or another seed used?",
        )
        return lists_of_run(run, data.collection, data.depth)

    def misfits(self, by: str, splits: Splits | None) -> Iterator[str]:
        """Yield that nothing is known about its scores, or which files are wrong."""
        yield from super().misfits(by, splits)
        keys = map(splits.key, range(len(splits))) if splits else ()
        paths = [self.path(key) for key in keys]
        missing = [path for path in paths if not os.path.isfile(path)]
        if len(set(paths)) < len(paths):
            yield (
                f"{self.pattern} names the same file for several of the {len(paths)} splits: add "
                "{repeat}, or use {split} (such as r0-f3)"
            )
        elif missing:
            yield (
                f"{len(missing)} of {len(paths)} run files are missing: "
                f"{named_few(missing, len(missing))} (folds are numbered from 0)"
            )


# ---- from what was given ------------------------------------------------------------------------


def run_system(runs: Mapping[Any, Any], options: Given) -> RunSystem:
    """Make a system of runs or their paths by name; their parameters are read from the names."""
    options.only(options.name or "runs", "comparable")
    listed = dict[str, Run | str]()
    for key, given in runs.items():
        run = os.fspath(given) if isinstance(given, os.PathLike) else given
        if not isinstance(run, Run | str):
            raise InputError(f"{key}: expected a run or the path of one, not {type(run).__name__}")
        if isinstance(run, str) and not os.path.isfile(run):
            raise InputError(f"{run}: no such run file")
        listed[str(key)] = run
    labels, values = labels_of(list(listed)), list(listed.values())
    order, space = read_names(labels)
    if len(listed) == 1:
        space = Space()
    elif space is None:
        space = Space((axis_of("run", [labels[place] for place in order]),))
    return RunSystem(
        name=options.name or (labels[0] if len(listed) == 1 else "runs"),
        search=Search(space),
        files=tuple(values[place] for place in order),
        comparable=options.comparable,
    )


def fold_run_system(pattern: str, options: Given) -> FoldRunSystem:
    """Make a system of a path with fields such as ``{fold}``."""
    around = re.split(_FIELDS, pattern)
    if not {*"{}"}.isdisjoint("".join(around)):
        raise InputError(
            f"{pattern}: expected {{fold}}, {{repeat}}, {{other}}, {{run}} or {{split}} in brackets"
        )
    name = options.name or Path(around[0]).name.strip("-_.") or "runs"
    options.only(name, "comparable")
    path = os.fspath((options.folder or Path()) / pattern)
    files = glob.glob("*".join(map(glob.escape, re.split(_FIELDS, path))))  # noqa: PTH207
    return FoldRunSystem(
        name=name, pattern=path, files=tuple(sorted(files)), comparable=options.comparable
    )
