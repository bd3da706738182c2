"""The collection of an experiment, found again through the experiment that results keep."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError
from heldout.experiment.experiment import Experiment
from heldout.experiment.schema import CollectionTable

if TYPE_CHECKING:
    import os

    from heldout.data.collection import Collection
    from heldout.experiment.results import Results

__all__ = ["stored_collection"]


def stored_collection(folder: str | os.PathLike[str], results: Results) -> Collection | None:
    """Return the collection that was evaluated, or None if it is not where it was.

    Only files of this machine are read, and only the collection with the fingerprint that the
    results have is returned.

    Parameters
    ----------
    folder
        Folder of the results.
    results
        Results in this folder.
    """
    try:
        found = _read(Path(folder), results)
    except (HeldoutError, OSError, ValueError):
        return None  # moved, changed, or never there: a report has no texts then
    if found is None or found.fingerprint() != results.manifest["fingerprints"]["collection"]:
        return None
    return found


def _read(folder: Path, results: Results) -> Collection | None:
    from heldout.data.collection_files import read_collection
    from heldout.retrieve.index_files import is_index

    settings: Any = results.manifest["settings"]
    if settings["collection"]["name"].startswith("pydocs-"):
        return read_collection("pydocs")
    experiment = Experiment.read(folder)
    given = experiment.fields.get("collection")
    fields = given if isinstance(given, Mapping) else {"source": given}
    table = CollectionTable.model_validate(fields).moved(experiment.path_of)
    if table.source is None or not Path(table.source).exists() or is_index(table.source):
        return None
    return table.read()
