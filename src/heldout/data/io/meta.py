"""The files of a MeTA line corpus, found by its config or by their names.

Paths in a config are relative to the folder in which MeTA was started, which is unknown. They are
tried from the folder of the config and from its parent, with and without ``prefix`` and
``dataset``.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heldout.data.files import EXTENSIONS, readable
from heldout.data.io.toml import parse_toml
from heldout.data.paths import names_file
from heldout.errors import InputError

__all__ = [
    "LineCorpus",
    "find_compressed",
    "is_meta_folder",
    "line_files",
    "meta_config",
    "meta_folder",
]

_SUFFIXES = ("", *EXTENSIONS)
_KINDS = ("line-corpus", "gz-corpus")


@dataclass(frozen=True, slots=True)
class LineCorpus:
    """The files of a line corpus.

    Parameters
    ----------
    name
        Its name.
    documents
        The file of documents.
    queries, qrels
        The files of queries and judgements, if there are any.
    first_query
        The id of the first query.
    """

    name: str
    documents: str
    queries: str | None
    qrels: str | None
    first_query: int = 1


def find_compressed(path: Path) -> Path | None:
    """Return the path of a file, or of its compressed form; None if neither exists."""
    found = (path.with_name(path.name + ending) for ending in _SUFFIXES)
    return next((one for one in found if names_file(one)), None)


def is_meta_folder(folder: Path) -> bool:
    """Return whether a folder has a line corpus."""
    return bool(_configs(folder) or _corpora(folder))


def _configs(folder: Path) -> list[Path]:
    """Return the TOML files of a folder that name a corpus."""
    return [one for one in sorted(folder.glob("*.toml")) if "dataset" in _quietly(one)]


def _quietly(path: Path) -> dict[str, Any]:
    try:
        return _toml(path)
    except InputError:  # another file
        return {}


def _corpora(folder: Path) -> list[Path]:
    return [one for ending in _SUFFIXES for one in sorted(folder.glob(f"*.dat{ending}"))]


def meta_folder(folder: Path) -> LineCorpus:
    """Return the line corpus in a folder, found by its config or by the names of files."""
    configs = _configs(folder)
    if len(configs) > 1:
        names = ", ".join(one.name for one in configs)
        raise InputError(f"{folder} has several configs ({names}): give the path of one of them")
    if configs:
        return meta_config(configs[0])
    corpora = [one for one in _corpora(folder) if not one.name.startswith("metadata.")]
    if len(corpora) != 1:
        names = ", ".join(one.name for one in corpora) or "none"
        raise InputError(f"{folder}: expected one .dat file, found {names}")
    return line_files(corpora[0])


def line_files(documents: Path) -> LineCorpus:
    """Return a line corpus by file names: NAME.dat, NAME-queries.txt, NAME-qrels.txt."""
    name = documents.name.partition(".dat")[0]
    queries = find_compressed(documents.with_name(f"{name}-queries.txt"))
    qrels = find_compressed(documents.with_name(f"{name}-qrels.txt"))
    return LineCorpus(name, str(documents), _text(queries), _text(qrels))


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def meta_config(path: Path) -> LineCorpus:
    """Return the line corpus that a config names."""
    config = _toml(path)
    dataset = config.get("dataset")
    if not isinstance(dataset, str) or not dataset:
        raise InputError(f"{path}: the config has no dataset")
    _check_kind(path, config, dataset)
    documents = _find(path, config, f"{dataset}.dat", "documents")
    runner = config.get("query-runner", {})
    runner = runner if isinstance(runner, dict) else {}
    judged = ("query-judgements", "query-judgments")
    qrels = next(
        (found[name] for found in (config, runner) for name in judged if name in found), None
    )
    queries = runner.get("query-path")
    first = runner.get("query-id-start", 1)
    if not isinstance(first, int) or isinstance(first, bool):
        raise InputError(f"{path}: query-id-start is {first!r}, expected an integer")
    by_name = line_files(documents)
    return LineCorpus(
        dataset,
        str(documents),
        by_name.queries if queries is None else str(_find(path, config, queries, "queries")),
        by_name.qrels if qrels is None else str(_find(path, config, qrels, "judgements")),
        first,
    )


def _toml(path: Path) -> dict[str, Any]:
    with readable(str(path)):
        content = path.read_bytes()
    return parse_toml(content, str(path))[0]


def _check_kind(path: Path, config: dict[str, Any], dataset: str) -> None:
    """Raise an error for a corpus that is not a line corpus."""
    corpus = config.get("corpus", "line.toml")
    if not isinstance(corpus, str):
        raise InputError(f"{path}: corpus is {corpus!r}, expected the name of a file")
    found = next((one for one in _candidates(path, config, corpus) if names_file(one)), None)
    kind = "line-corpus" if found is None else _toml(found).get("type", "line-corpus")
    if kind not in _KINDS:
        raise InputError(
            f"{found}: {dataset} is a {kind}, expected {' or '.join(_KINDS)}, which have one "
            "document per line"
        )


def _find(path: Path, config: dict[str, Any], name: object, what: str) -> Path:
    if not isinstance(name, str) or not name:
        raise InputError(f"{path}: the path of the {what} is {name!r}, expected a text")
    tried = _candidates(path, config, name)
    for one in tried:
        found = find_compressed(one)
        if found is not None:
            return found
    raise InputError(
        f"{path}: the {what} {name!r} do not exist; tried {', '.join(map(str, tried))}"
    )


def _candidates(path: Path, config: dict[str, Any], name: str) -> list[Path]:
    """Return the possible paths of a file of the config."""
    home = path.parent
    prefix, dataset = str(config.get("prefix", "")), str(config["dataset"])
    spellings = [
        os.path.normpath(base.joinpath(*parts, name))
        for base in (home, home / "..")
        for parts in ((prefix, dataset), (dataset,), (prefix,), ())
    ]
    return [Path(one) for one in dict.fromkeys(spellings)]
