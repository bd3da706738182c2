"""Read collections in any supported format."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.data.collection import Collection
from heldout.data.document_files import (
    FileDocuments,
    Records,
    json_records,
    line_records,
    records_of,
)
from heldout.data.documents import Documents
from heldout.data.files import Reading
from heldout.data.io.beir import beir_folder, is_beir_folder, judged_only
from heldout.data.io.meta import (
    find_compressed,
    is_meta_folder,
    line_files,
    meta_config,
    meta_folder,
)
from heldout.data.paths import is_there, names_folder, place_among
from heldout.data.qrels import read_qrels
from heldout.data.query_files import read_queries
from heldout.data.run_files import read_rows
from heldout.errors import HeldoutError, InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.io.meta import LineCorpus
    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries

    Path_ = str | os.PathLike[str]

__all__ = ["read_collection", "read_documents", "refuse_unknown"]

_EXPECTED = (
    "expected a BEIR folder (corpus.jsonl), a MeTA folder or its config toml, TREC documents, JSON "
    "lines, CSV, TSV or Parquet of documents, a line corpus (.dat), irds:NAME, or pydocs"
)
_MAPS = ("doc_map.tsv", "query_map.tsv")
"""Written beside an exported collection, and not part of it."""

_ENDINGS = re.compile(
    r"(\.(dat|txt|toml|jsonl?|ndjson|csv|tsv|parquet|trec|sgml?|xml|gz|xz|bz2|zst))+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Found:
    """The parts of a collection that a source has; files given by the user replace them."""

    name: str
    documents: Documents
    queries: str | None = None
    qrels: tuple[str, ...] = ()
    first_query: int | None = None
    notes: tuple[Note, ...] = ()
    only_judged: bool = False


def read_collection(
    source: Path_ | Documents,
    *,
    encoding: str = "utf-8",
    queries: Path_ | None = None,
    qrels: Path_ | Sequence[Path_] | None = None,
    fields: Sequence[str] | None = None,
    query_field: str = "title",
    split: str | None = None,
    name: str | None = None,
) -> Collection:
    """Read a collection of documents, queries and judgements.

    The texts of the documents stay in their files; ids, offsets and lengths are held in memory.

    Parameters
    ----------
    source
        A BEIR folder, a MeTA folder or its config (line corpus), TREC documents (a file or a
        folder), documents as JSON lines, CSV, TSV or Parquet (a file or a folder), a line corpus,
        ``irds:NAME`` for a collection of ir_datasets, or ``pydocs`` for the collection built from
        the documentation of NumPy, SciPy and scikit-learn. Text may be compressed (.gz .xz .bz2
        .zst). Or documents that were read before.
    encoding
        The encoding of the text.
    queries
        A file of queries, if `source` has none or others should be used.
    qrels
        A file of judgements, or several.
    fields
        The fields, columns or elements of a document to read, in this order.
    query_field
        The field of a topic to search for: ``title``, ``description``, ``narrative``, or several
        joined by ``+``.
    split
        The split of a BEIR folder; by default ``test``, or the only one there is.
    name
        The name of the collection.

    Returns
    -------
    Collection
        Its `notes` say what is unusual in the files.
    """
    wanted = None if fields is None else tuple(fields)
    reading = Reading(encoding, wanted)
    if isinstance(source, Documents):
        return _assemble(_Found(name or "documents", source), reading, queries, qrels, query_field)
    given = os.fspath(source)
    if given == "pydocs" and not Path(given).exists():
        from heldout.data.pydocs import read_pydocs  # needs the packages it is built from

        return read_pydocs()
    if given.startswith("irds:"):
        return _read_irds(given.removeprefix("irds:"), reading, queries, qrels, query_field, name)
    found = _find(given, reading, split, given_queries=queries is not None)
    len(found.documents)  # reads them, so that errors in their files come first
    return _assemble(found, reading, queries, qrels, query_field, name)


def read_documents(
    source: Path_,
    *,
    encoding: str = "utf-8",
    fields: Sequence[str] | None = None,
) -> Documents:
    """Open the documents of a collection, which needs no queries or judgements then.

    Files of records (JSON lines, TREC, tables) are read when they are needed, and an index is built
    while they are read.

    Parameters
    ----------
    source, encoding, fields
        As for `read_collection`.
    """
    reading = Reading(encoding, None if fields is None else tuple(fields))
    given = os.fspath(source)
    if given == "pydocs" and not Path(given).exists():
        from heldout.data.pydocs import read_pydocs  # needs the packages it is built from

        return read_pydocs().documents
    if given.startswith("irds:"):
        from heldout.data.irds import IrdsDocuments, load_irds

        name = given.removeprefix("irds:")
        return IrdsDocuments(name, load_irds(name), reading)
    if is_beir_folder(Path(given)):  # whatever its splits are
        return FileDocuments(
            [str(find_compressed(Path(given, "corpus.jsonl")))], reading, json_records
        )
    return _find(given, reading, None, given_queries=True).documents


def refuse_unknown(source: Path_) -> None:
    """Raise an error if a path or its first bytes are not those of a collection."""
    given = os.fspath(source)
    path = Path(given)
    if names_folder(path) or given.startswith("irds:") or path.suffix.lower() == ".toml":
        return
    if is_there(path):
        records_of(given, _EXPECTED)
    elif given != "pydocs":
        raise InputError(f"{given}: no such file or folder; {_EXPECTED}")


def _assemble(
    found: _Found,
    reading: Reading,
    queries: Path_ | None,
    qrels: Path_ | Sequence[Path_] | None,
    query_field: str,
    name: str | None = None,
) -> Collection:
    path = found.queries if queries is None else os.fspath(queries)
    if path is None:
        raise InputError(f"{found.name} has no queries: give a file of queries (queries=…)")
    first = found.first_query if queries is None else found.first_query or 1
    notes: list[Note] = []
    topics = read_queries(path, reading, field=query_field, first_line=first)
    paths = found.qrels if qrels is None else _paths(qrels)
    if found.only_judged and not paths:
        raise InputError(
            f"{found.name} has judgements of several splits, and none is called test: give the "
            "file of one of them (qrels=…)"
        )
    judged = read_qrels(*paths) if paths else None
    if judged is not None:
        if found.only_judged:
            topics, more = judged_only(topics, judged)
            notes += more
        topics, more = _without_zeros(topics, judged)
        notes += [*more, *_repeated(judged)]
    return Collection(
        found.documents,
        topics,
        judged,
        name=name or found.name,
        notes=(*found.notes, *notes),
        where=lambda query, doc: _place(paths, query, doc),
    )


def _paths(given: Path_ | Sequence[Path_]) -> tuple[str, ...]:
    if isinstance(given, str | os.PathLike):
        return (os.fspath(given),)
    return tuple(os.fspath(one) for one in given)


def _repeated(judged: Qrels) -> list[Note]:
    if not judged.repeated:
        return []
    message = f"repeated judgements, counted once: {judged.repeated}"
    return [Note("repeated-judgements", message, "info", judged.repeated)]


def _without_zeros(topics: Queries, judged: Qrels) -> tuple[Queries, list[Note]]:
    """Remove leading zeros if the judgements have none: early TRECs judge topic 051 as 51."""
    known = set(judged.queries)
    if known & set(topics.ids):
        return topics, []
    plain = tuple(one.lstrip("0") or "0" for one in topics.ids)
    if not known & set(plain):
        return topics, []
    message = "leading zeros of query ids were removed, because the judgements have none"
    return replace(topics, ids=plain), [Note("zeros", message, "info", len(plain))]


def _place(paths: Sequence[str], query: str, doc: str) -> str:
    """Return ``file:line`` of a judgement; empty if that is unknown, as in a table."""
    for path in paths:
        with suppress(HeldoutError):
            places = read_rows(path, "grade").places(query, doc)
            if places:
                return place_among(places[0], paths)
    return ""


def _find(given: str, reading: Reading, split: str | None, *, given_queries: bool) -> _Found:
    path = Path(given)
    if names_folder(path):
        if is_beir_folder(path):
            return _beir(path, reading, split)
        if is_meta_folder(path):
            return _lines(meta_folder(path), reading)
        return _folder(path, reading, given_queries=given_queries)
    if path.suffix.lower() == ".toml":
        return _lines(meta_config(path), reading)
    if not is_there(path):
        raise InputError(f"{given}: no such file or folder; {_EXPECTED}")
    name = _ENDINGS.sub("", path.name) or path.name
    records = records_of(given, _EXPECTED)
    if records is line_records:
        return _lines(line_files(path), reading)
    return _Found(name, FileDocuments([given], reading, records))


def _beir(path: Path, reading: Reading, split: str | None) -> _Found:
    files = beir_folder(path, split)
    return _Found(
        path.resolve().name,
        FileDocuments([files.documents], reading, json_records),
        files.queries,
        () if files.qrels is None else (files.qrels,),
        notes=tuple(files.notes()),
        only_judged=bool(files.others),
    )


def _lines(files: LineCorpus, reading: Reading) -> _Found:
    return _Found(
        files.name,
        FileDocuments([files.documents], reading, line_records),
        files.queries,
        () if files.qrels is None else (files.qrels,),
        files.first_query,
    )


def _folder(path: Path, reading: Reading, *, given_queries: bool) -> _Found:
    """Read a folder of documents of one format; queries and judgements are found by name."""
    files: list[Path] = []
    records: Records | None = None
    # Stop at the first file that cannot belong to it: the folder may be a whole disk.
    for one in _visible_files(path):
        files.append(one)
        if re.search(r"topics|queries|qrels", one.name, re.IGNORECASE):
            continue
        found = records_of(str(one), _EXPECTED)
        if found is line_records or records not in (None, found):
            raise InputError(f"{path}: its files have different formats; {_EXPECTED}")
        records = found
    if records is None:
        raise InputError(f"{path}: no documents found; {_EXPECTED}")
    files.sort()
    queries = [one for one in files if re.search(r"topics|queries", one.name, re.IGNORECASE)]
    qrels = [one for one in files if re.search(r"qrels", one.name, re.IGNORECASE)]
    rest = [str(one) for one in files if one not in queries and one not in qrels]
    if len(queries) > 1 and not given_queries:
        names = ", ".join(one.name for one in queries)
        raise InputError(f"{path} has several files of queries ({names}): choose one (queries=…)")
    return _Found(
        path.resolve().name,
        FileDocuments(rest, reading, records),
        str(queries[0]) if queries else None,
        tuple(map(str, qrels)),
    )


def _visible_files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and those below it, without hidden ones and our tables of ids."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name not in _MAPS and Path(place, name).is_file():
                yield Path(place, name)


def _read_irds(
    name: str,
    reading: Reading,
    queries: Path_ | None,
    qrels: Path_ | Sequence[Path_] | None,
    query_field: str,
    given_name: str | None,
) -> Collection:
    from heldout.data.irds import IrdsDocuments, irds_qrels, irds_queries, load_irds

    dataset = load_irds(name)
    documents = IrdsDocuments(name, dataset, reading)
    if queries is None:
        topics = irds_queries(name, dataset, query_field)
    else:
        topics = read_queries(os.fspath(queries), reading, field=query_field)
    judged = irds_qrels(name, dataset) if qrels is None else read_qrels(*_paths(qrels))
    return Collection(documents, topics, judged, name=given_name or name)
