"""Read collections in any supported format: find their documents, queries and judgements."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from heldout.data.collection import Collection
from heldout.data.document_files import EXPECTED, json_records, line_records, records_of
from heldout.data.documents import Documents, FileDocuments
from heldout.data.export import DOC_MAP, QUERY_MAP
from heldout.data.files import (
    EXTENSIONS,
    Reading,
    encoded,
    file_stem,
    open_source,
    parse_toml,
)
from heldout.data.ids import as_id
from heldout.data.qrels import Qrels, read_qrels
from heldout.data.queries import Queries, read_queries
from heldout.errors import Argument, FormatError, InputError, MissingExtraError
from heldout.notes import Note

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.documents import Record

    Path_ = str | os.PathLike[str]


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
    found = _find(source, reading, split, needs_queries=queries is None)
    documents = found.documents
    len(documents)  # reads them, so that errors in their files come first
    dataset = documents if isinstance(documents, IrdsDocuments) else None
    path = found.queries if queries is None else os.fspath(queries)
    if path is not None:
        first = 1 if found.first_query is None and queries is not None else found.first_query
        topics = read_queries(path, reading, field=query_field, first_line=first)
    elif dataset is not None:
        topics = dataset.queries(query_field)
    else:
        raise InputError(
            f"{found.name} has no queries: give a file of queries (", Argument("queries", "…"), ")"
        )
    paths: Sequence[Path_] = found.qrels
    if qrels is not None:
        paths = [qrels] if isinstance(qrels, str | os.PathLike) else qrels
    judged = read_qrels(*paths) if paths else dataset.qrels() if dataset is not None else None
    notes = list(found.notes)
    if judged is not None:
        topics = _matched(topics, judged, notes, only_judged=found.only_judged)
    elif found.only_judged:
        raise InputError(
            f"{found.name} has judgements of several splits, and none is called test: give the "
            "file of one of them (",
            Argument("qrels", "…"),
            ")",
        )
    return Collection(documents, topics, judged, name=name or found.name, notes=notes)


def read_documents(
    source: Path_, *, encoding: str = "utf-8", fields: Sequence[str] | None = None
) -> Documents:
    """Open the documents of a collection, which needs no queries or judgements then."""
    reading = Reading(encoding, None if fields is None else tuple(fields))
    return _find(source, reading, None, needs_queries=False).documents


def _matched(topics: Queries, judged: Qrels, notes: list[Note], *, only_judged: bool) -> Queries:
    """Return the queries that the judgements are of; add notes about what was done."""
    known = set(judged.queries)
    places = [place for place, query in enumerate(topics.ids) if query in known]
    left = len(topics) - len(places)
    if only_judged and left and places:
        text = f"queries without judgements in this split, ignored: {left}"
        notes.append(Note("other-splits", text, "info", left))
        topics = topics.take(places)
    plain = [query.lstrip("0") or "0" for query in topics.ids]
    if not places and known & set(plain):  # early TRECs judge topic 051 as 51
        text = "leading zeros of query ids were removed, because the judgements have none"
        notes.append(Note("zeros", text, "info", len(plain)))
        topics = topics.take(range(len(plain)), plain)
    if judged.repeated:
        text = f"repeated judgements, counted once: {judged.repeated}"
        notes.append(Note("repeated-judgements", text, "info", judged.repeated))
    return topics


def _find(
    source: Path_ | Documents, reading: Reading, split: str | None, *, needs_queries: bool
) -> _Found:
    if isinstance(source, Documents):
        return _Found("documents", source)
    given = os.fspath(source)
    path = Path(given)
    if os.path.isdir(path):
        if _compressed(path / "corpus.jsonl") is not None:
            return _beir(path, reading, split)
        return _meta_folder(path, reading) or _folder(path, reading, needs_queries=needs_queries)
    if os.path.exists(path) or given.lower().endswith(".toml"):
        return _file(path, reading)
    if given.startswith("irds:"):
        return _Found(given.removeprefix("irds:"), IrdsDocuments(given, reading))
    if given == "pydocs":
        from heldout.data.pydocs import pydocs_folder  # seldom needed

        name, folder, notes = pydocs_folder()
        return _beir(folder, reading, split)._replace(name=name, notes=notes)
    raise InputError(f"{given}: no such file or folder; {EXPECTED}")


def _file(path: Path, reading: Reading) -> _Found:
    if path.suffix.lower() == ".toml":
        return _meta_config(path, reading)
    records = records_of(str(path))
    if records is line_records:
        return _lines(path, reading)
    return _Found(file_stem(str(path)), FileDocuments([str(path)], reading, records))


def _compressed(path: Path) -> str | None:
    """Return the path of a file, or of its compressed form; None if neither exists."""
    paths = (f"{path}{ending}" for ending in ("", *EXTENSIONS))
    return next(filter(os.path.isfile, paths), None)


def _beir(folder: Path, reading: Reading, split: str | None) -> _Found:
    """Find the files of a BEIR folder; the default split is ``test``, or the only one."""
    files = [file for file in sorted((folder / "qrels").glob("*.tsv*")) if file.is_file()]
    splits = {file.name.partition(".tsv")[0]: str(file) for file in files}
    if split is not None and split not in splits:
        raise InputError(
            f"{folder / 'qrels'} has no split {split!r}; it has {', '.join(splits) or 'none'}: "
            "choose one of them (",
            Argument("split", "…"),
            ")",
        )
    chosen = split or (next(iter(splits)) if len(splits) == 1 else "test")
    others = [name for name in splits if name != chosen]
    message = f"using the split {chosen} (also available: {', '.join(others)})"
    return _Found(
        folder.resolve().name,
        FileDocuments([str(_compressed(folder / "corpus.jsonl"))], reading, json_records),
        _compressed(folder / "queries.jsonl"),
        (splits[chosen],) if chosen in splits else (),
        notes=(Note("split", message, "info", len(others)),) if others and chosen in splits else (),
        only_judged=bool(others),
    )


def _folder(folder: Path, reading: Reading, *, needs_queries: bool) -> _Found:
    """Find documents of one format in a folder and below it, and queries and qrels by name."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    names = {
        str(path): path.name.lower()
        for path in paths
        if path.name not in {DOC_MAP, QUERY_MAP}
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    qrels = [path for path, name in names.items() if "qrels" in name]
    queries = [path for path, name in names.items() if "topics" in name or "queries" in name]
    documents = [path for path in names if path not in {*qrels, *queries}]
    formats = {records_of(path) for path in documents}
    if len(formats) != 1 or line_records in formats:
        problem = "its files have different formats" if formats else "no documents found"
        raise InputError(f"{folder}: {problem}; {EXPECTED}")
    if len(queries) > 1 and needs_queries:
        shown = ", ".join(Path(path).name for path in queries)
        raise InputError(
            f"{folder} has several files of queries ({shown}): choose one (",
            Argument("queries", "…"),
            ")",
        )
    return _Found(
        folder.resolve().name,
        FileDocuments(documents, reading, formats.pop()),
        queries[0] if queries else None,
        tuple(qrels),
    )


# Line corpora of MeTA, found by a config or by the names of files


def _meta_folder(folder: Path, reading: Reading) -> _Found | None:
    """Return the line corpus in a folder, if it has one."""
    configs = []
    for file in sorted(folder.glob("*.toml")):
        with suppress(InputError):  # another file
            configs += [file] if "dataset" in _toml(file) else []
    files = [file for ending in ("", *EXTENSIONS) for file in sorted(folder.glob(f"*.dat{ending}"))]
    corpora = [file for file in files if not file.name.startswith("metadata.")]
    for what, some in (("config", configs), (".dat file", corpora)):
        if len(some) > 1:
            names = ", ".join(file.name for file in some)
            raise InputError(
                f"{folder} has several {what}s ({names}): give the path of one of them"
            )
        if some:
            return (_meta_config if some is configs else _lines)(some[0], reading)
    return None


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

    def find(name: object, what: str) -> str:
        tried = dict.fromkeys(
            os.path.normpath(base.joinpath(*parts, str(name)))
            for base in (path.parent, path.parent / "..")
            for parts in ((prefix, dataset), (dataset,), (prefix,), ())
        )
        found = next(filter(None, map(_compressed, map(Path, tried))), None)
        if found is None:
            raise InputError(f"{path}: the {what} {name!r} do not exist; tried {', '.join(tried)}")
        return found

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
    return parse_toml(open_source(path).whole(), str(path))[0]


# Collections of ir_datasets, by their ids


def load_irds(name: str) -> Any:
    """Load a dataset by its name, such as ``irds:vaswani``."""
    try:
        package: Any = import_module("ir_datasets")
    except ImportError:
        raise MissingExtraError(f"{name} needs a package: pip install ir_datasets") from None
    short = name.removeprefix("irds:")
    try:
        return package.load(short)
    except KeyError:
        raise InputError(
            f"ir_datasets has no dataset {short!r}: see https://ir-datasets.com for its names"
        ) from None


@contextmanager
def _available(name: str) -> Iterator[None]:
    """Turn what downloads and parsers raise, which is of many types, into one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{name} cannot be read ({type(error).__name__}: {error})") from error


class IrdsDocuments(FileDocuments):
    """The documents of a dataset; `reading.fields` are attributes of its documents."""

    def __init__(self, name: str, reading: Reading) -> None:
        self._name = name
        self._dataset = load_irds(name)
        if not self._dataset.has_docs():
            raise InputError(f"{name} has no documents")
        super().__init__([name], reading, self._all)

    def _all(self, path: str, _begin: int, _reading: Reading) -> Iterator[Record]:
        with _available(path):
            for number, doc in enumerate(self._dataset.docs_iter(), 1):
                yield as_id(doc.doc_id), self._text(doc), -1, number

    def raw(self, number: int) -> bytes:
        """Return the bytes of one document from the store of ir_datasets."""
        with _available(self._name):
            return self._text(self._dataset.docs_store().get(self.ids[number]))

    def _text(self, doc: Any) -> bytes:
        where, fields = f"{self._name}, document {doc.doc_id}", self._reading.fields
        missing = [field for field in fields or () if field not in doc._fields]
        if missing:
            has = ", ".join(doc._fields)
            raise FormatError(where, f"no field {missing[0]!r}; documents have {has}")
        parts = [doc.default_text()] if fields is None else [getattr(doc, key) for key in fields]
        return encoded("\n".join(filter(None, map(str, parts))), where)

    def queries(self, field: str) -> Queries:
        """Return the queries of the dataset, with their fields."""
        if not self._dataset.has_queries():
            raise InputError(
                f"{self._name} has no queries: name a subset that has, or give a file (",
                Argument("queries", "…"),
                ")",
            )
        with _available(self._name):
            topics = list(self._dataset.queries_iter())
        texts = tuple(str(query.default_text()) for query in topics)
        fields = {
            name: tuple(str(getattr(query, name)) for query in topics)
            for name in (topics[0]._fields if topics else ())
            if name != "query_id" and isinstance(getattr(topics[0], name), str)
        }
        ids = [query.query_id for query in topics]
        return Queries(ids, texts, {"title": texts, **fields}).by_field(field)

    def qrels(self) -> Qrels | None:
        """Return the judgements of the dataset, if it has any."""
        if not self._dataset.has_qrels():
            return None
        with _available(self._name):
            rows = list(self._dataset.qrels_iter())
        return Qrels.of(rows) if rows else None
