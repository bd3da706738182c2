"""Read collections in any supported format: find their documents, queries and judgements."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.collection import Collection
from heldout.data.document_files import (
    FileDocuments,
    Records,
    json_records,
    line_records,
    records_of,
)
from heldout.data.documents import Documents
from heldout.data.export import DOC_MAP, QUERY_MAP
from heldout.data.files import EXTENSIONS, Reading, file_stem, readable
from heldout.data.paths import is_there, names_file, names_folder, place_among
from heldout.data.qrels import read_qrels
from heldout.data.query_files import read_queries
from heldout.data.run_files import read_rows
from heldout.data.toml import parse_toml
from heldout.errors import HeldoutError, InputError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.qrels import Qrels
    from heldout.data.queries import Queries

    Path_ = str | os.PathLike[str]

_EXPECTED = (
    "expected a BEIR folder (corpus.jsonl), a MeTA folder or its config toml, TREC documents, JSON "
    "lines, CSV, TSV or Parquet of documents, a line corpus (.dat), irds:NAME, or pydocs"
)
_SUFFIXES = ("", *EXTENSIONS)


class _Found(NamedTuple):
    """The parts of a collection that a source has; files given by the user replace them."""

    name: str
    documents: Documents
    queries: str | None = None
    qrels: tuple[str, ...] = ()
    first_query: int | None = None  # its id, in a file without ids
    notes: tuple[Note, ...] = ()
    only_judged: bool = False  # the queries are those of several splits


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
    reading = Reading(encoding, None if fields is None else tuple(fields))
    if isinstance(source, Documents):
        found = _Found("documents", source)
    else:
        given = os.fspath(source)
        if _is_pydocs(given):
            from heldout.data.pydocs import read_pydocs  # needs the packages it is built from

            whole = read_pydocs()
            if queries is None and qrels is None:
                return whole
            found = _Found(whole.name, whole.documents)
        elif given.startswith("irds:"):
            from heldout.data.irds import IrdsDocuments

            dataset = IrdsDocuments(given, reading)
            if queries is None:
                topics = dataset.queries(query_field)
            else:
                topics = read_queries(os.fspath(queries), reading, field=query_field)
            judged = dataset.qrels() if qrels is None else read_qrels(*_paths(qrels))
            return Collection(dataset, topics, judged, name=name or given.removeprefix("irds:"))
        else:
            found = _find(given, reading, split, given_queries=queries is not None)
    len(found.documents)  # reads them, so that errors in their files come first
    return _assemble(found._replace(name=name or found.name), reading, queries, qrels, query_field)


def read_documents(
    source: Path_, *, encoding: str = "utf-8", fields: Sequence[str] | None = None
) -> Documents:
    """Open the documents of a collection, which needs no queries or judgements then.

    Files of records (JSON lines, TREC, tables) are read when they are needed, and an index is built
    while they are read. The parameters are those of `read_collection`.
    """
    reading = Reading(encoding, None if fields is None else tuple(fields))
    given = os.fspath(source)
    if _is_pydocs(given):
        from heldout.data.pydocs import read_pydocs  # needs the packages it is built from

        return read_pydocs().documents
    if given.startswith("irds:"):
        from heldout.data.irds import IrdsDocuments

        return IrdsDocuments(given, reading)
    return _find(given, reading, None, given_queries=True).documents


def _is_pydocs(given: str) -> bool:
    return given == "pydocs" and not is_there(given)


def refuse_unknown(source: Path_) -> None:
    """Raise an error if a path or its first bytes are not those of a collection."""
    given = os.fspath(source)
    if names_folder(given) or given.startswith("irds:") or given.lower().endswith(".toml"):
        return
    if is_there(given):
        records_of(given, _EXPECTED)
    elif given != "pydocs":
        raise InputError(f"{given}: no such file or folder; {_EXPECTED}")


def _assemble(
    found: _Found,
    reading: Reading,
    queries: Path_ | None,
    qrels: Path_ | Sequence[Path_] | None,
    query_field: str,
) -> Collection:
    path = found.queries if queries is None else os.fspath(queries)
    if path is None:
        raise InputError(f"{found.name} has no queries: give a file of queries (queries=…)")
    first = found.first_query if queries is None else found.first_query or 1
    topics = read_queries(path, reading, field=query_field, first_line=first)
    paths = found.qrels if qrels is None else _paths(qrels)
    notes = list(found.notes)
    if paths:
        judged = read_qrels(*paths)
        topics = _matched(topics, judged, notes, only_judged=found.only_judged)
    elif found.only_judged:
        raise InputError(
            f"{found.name} has judgements of several splits, and none is called test: give the "
            "file of one of them (qrels=…)"
        )
    else:
        judged = None

    def where(query: str, doc: str) -> str:
        """Return ``file:line`` of a judgement; empty if that is unknown, as in a table."""
        for one in paths:
            with suppress(HeldoutError):
                places = read_rows(one, "grade").places(query, doc)
                if places:
                    return place_among(places[0], paths)
        return ""

    return Collection(found.documents, topics, judged, name=found.name, notes=notes, where=where)


def _paths(given: Path_ | Sequence[Path_]) -> tuple[str, ...]:
    several = (given,) if isinstance(given, str | os.PathLike) else given
    return tuple(os.fspath(one) for one in several)


def _matched(topics: Queries, judged: Qrels, notes: list[Note], *, only_judged: bool) -> Queries:
    """Return the queries that the judgements are of; add notes about what was done."""
    known = set(judged.queries)
    if only_judged:
        places = [place for place, one in enumerate(topics.ids) if one in known]
        left = len(topics) - len(places)
        if left and places:
            text = f"queries without judgements in this split, ignored: {left}"
            notes.append(Note("other-splits", text, "info", left))
            topics = topics.take(places)
    plain = [one.lstrip("0") or "0" for one in topics.ids]
    if not known & set(topics.ids) and known & set(plain):  # early TRECs judge topic 051 as 51
        text = "leading zeros of query ids were removed, because the judgements have none"
        notes.append(Note("zeros", text, "info", len(plain)))
        topics = topics.take(range(len(plain)), plain)
    if judged.repeated:
        text = f"repeated judgements, counted once: {judged.repeated}"
        notes.append(Note("repeated-judgements", text, "info", judged.repeated))
    return topics


def _find(given: str, reading: Reading, split: str | None, *, given_queries: bool) -> _Found:
    path = Path(given)
    if names_folder(path):
        if _compressed(path / "corpus.jsonl") is not None:
            return _beir(path, reading, split)
        return _meta_folder(path, reading) or _folder(path, reading, given_queries=given_queries)
    if path.suffix.lower() == ".toml":
        return _meta_config(path, reading)
    if not is_there(path):
        raise InputError(f"{given}: no such file or folder; {_EXPECTED}")
    records = records_of(given, _EXPECTED)
    if records is line_records:
        return _lines(path, reading)
    name = file_stem(given)
    return _Found(name, FileDocuments([given], reading, records))


def _compressed(path: Path) -> str | None:
    """Return the path of a file, or of its compressed form; None if neither exists."""
    found = (f"{path}{ending}" for ending in _SUFFIXES)
    return next((one for one in found if names_file(one)), None)


def _beir(folder: Path, reading: Reading, split: str | None) -> _Found:
    """Find the files of a BEIR folder; the default split is ``test``, or the only one."""
    files = [one for one in sorted((folder / "qrels").glob("*.tsv*")) if one.is_file()]
    splits = {one.name.partition(".tsv")[0]: str(one) for one in files}
    if split is not None and split not in splits:
        raise InputError(
            f"{folder / 'qrels'} has no split {split!r}; it has {', '.join(splits) or 'none'}: "
            "choose one of them (split=…)"
        )
    chosen = split or (next(iter(splits)) if len(splits) == 1 else "test")
    others = [name for name in splits if name != chosen]
    notes = []
    if others and chosen in splits:
        message = f"using the split {chosen} (also available: {', '.join(others)})"
        notes.append(Note("split", message, "info", len(others)))
    return _Found(
        folder.resolve().name,
        FileDocuments([str(_compressed(folder / "corpus.jsonl"))], reading, json_records),
        _compressed(folder / "queries.jsonl"),
        (splits[chosen],) if chosen in splits else (),
        notes=tuple(notes),
        only_judged=bool(others),
    )


def _folder(path: Path, reading: Reading, *, given_queries: bool) -> _Found:
    """Read a folder of documents of one format; queries and judgements are found by name."""
    documents, queries, qrels = [], [], []
    records: Records | None = None
    for one in _visible_files(path):
        name = one.name.lower()
        if "qrels" in name:
            qrels.append(str(one))
        if "topics" in name or "queries" in name:
            queries.append(str(one))
        elif "qrels" not in name:
            # Stop at the first file that cannot belong to it: the folder may be a whole disk.
            found = records_of(str(one), _EXPECTED)
            if found is line_records or records not in (None, found):
                raise InputError(f"{path}: its files have different formats; {_EXPECTED}")
            records = found
            documents.append(one)
    if records is None:
        raise InputError(f"{path}: no documents found; {_EXPECTED}")
    if len(queries) > 1 and not given_queries:
        names = ", ".join(Path(one).name for one in sorted(queries))
        raise InputError(f"{path} has several files of queries ({names}): choose one (queries=…)")
    return _Found(
        path.resolve().name,
        FileDocuments([str(one) for one in sorted(documents)], reading, records),
        queries[0] if queries else None,
        tuple(sorted(qrels)),
    )


def _visible_files(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and those below it, without hidden ones and our tables of ids."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            one = Path(place, name)
            if not name.startswith(".") and name not in {DOC_MAP, QUERY_MAP} and one.is_file():
                yield one


# Line corpora of MeTA, found by a config or by the names of files


def _meta_folder(folder: Path, reading: Reading) -> _Found | None:
    """Return the line corpus in a folder, if it has one."""
    configs = []
    for one in sorted(folder.glob("*.toml")):
        with suppress(InputError):  # another file
            configs += [one] if "dataset" in _toml(one) else []
    if len(configs) > 1:
        names = ", ".join(one.name for one in configs)
        raise InputError(f"{folder} has several configs ({names}): give the path of one of them")
    if configs:
        return _meta_config(configs[0], reading)
    files = [one for ending in _SUFFIXES for one in sorted(folder.glob(f"*.dat{ending}"))]
    corpora = [one for one in files if not one.name.startswith("metadata.")]
    if files and len(corpora) != 1:
        names = ", ".join(one.name for one in corpora) or "none"
        raise InputError(f"{folder}: expected one .dat file, found {names}")
    return _lines(corpora[0], reading) if corpora else None


def _lines(documents: Path, reading: Reading) -> _Found:
    """Return a line corpus by file names: NAME.dat, NAME-queries.txt, NAME-qrels.txt."""
    name = documents.name.partition(".dat")[0]
    qrels = _compressed(documents.with_name(f"{name}-qrels.txt"))
    return _Found(
        name,
        FileDocuments([str(documents)], reading, line_records),
        _compressed(documents.with_name(f"{name}-queries.txt")),
        () if qrels is None else (qrels,),
        first_query=1,
    )


def _meta_config(path: Path, reading: Reading) -> _Found:
    """Return the line corpus that a config names.

    Paths are relative to the folder in which MeTA was started, which is unknown: they are tried
    from the folder of the config and from its parent, with and without ``prefix`` and ``dataset``.
    """
    config = _toml(path)
    dataset, prefix = config.get("dataset"), str(config.get("prefix", ""))
    if not isinstance(dataset, str) or not dataset:
        raise InputError(f"{path}: the config has no dataset")
    folders = [
        base.joinpath(*parts)
        for base in (path.parent, path.parent / "..")
        for parts in ((prefix, dataset), (dataset,), (prefix,), ())
    ]

    def candidates(name: str) -> list[Path]:
        tried = (os.path.normpath(folder / name) for folder in folders)
        return [Path(one) for one in dict.fromkeys(tried)]

    def find(name: object, what: str) -> str:
        if not isinstance(name, str) or not name:
            raise InputError(f"{path}: the path of the {what} is {name!r}, expected a text")
        found = next(filter(None, map(_compressed, candidates(name))), None)
        if found is None:
            tried = ", ".join(map(str, candidates(name)))
            raise InputError(f"{path}: the {what} {name!r} do not exist; tried {tried}")
        return found

    corpora = filter(names_file, candidates(str(config.get("corpus", "line.toml"))))
    for corpus in list(corpora)[:1]:
        kind = _toml(corpus).get("type", "line-corpus")
        if kind not in {"line-corpus", "gz-corpus"}:
            raise InputError(
                f"{corpus}: {dataset} is a {kind}, expected line-corpus or gz-corpus, which have "
                "one document per line"
            )
    found = _lines(Path(find(f"{dataset}.dat", "documents")), reading)
    runner = config.get("query-runner", {})
    runner = runner if isinstance(runner, dict) else {}
    first = runner.get("query-id-start", 1)
    if not isinstance(first, int) or isinstance(first, bool):
        raise InputError(f"{path}: query-id-start is {first!r}, expected an integer")
    names = ("query-judgements", "query-judgments")
    qrels = [place[name] for place in (config, runner) for name in names if name in place]
    return found._replace(
        name=dataset,
        queries=find(runner["query-path"], "queries") if "query-path" in runner else found.queries,
        qrels=(find(qrels[0], "judgements"),) if qrels else found.qrels,
        first_query=first,
    )


def _toml(path: Path) -> dict[str, Any]:
    with readable(str(path)):
        content = path.read_bytes()
    return parse_toml(content, str(path))[0]
