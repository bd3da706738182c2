"""Collections of ir_datasets, by their ids."""

from __future__ import annotations

from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout.data.document_files import FileDocuments, joined_text
from heldout.data.files import encoded
from heldout.data.ids import as_id
from heldout.data.qrels import Qrels
from heldout.data.queries import Queries
from heldout.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.document_files import Record
    from heldout.data.files import Reading


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


class IrdsDocuments(FileDocuments):
    """The documents of a dataset; `reading.fields` are attributes of its documents."""

    def __init__(self, name: str, reading: Reading) -> None:
        self._name = name
        self._dataset = load_irds(name)
        if not self._dataset.has_docs():
            raise InputError(f"{name} has no documents")
        super().__init__([name], reading, self._all)

    @contextmanager
    def _available(self) -> Iterator[None]:
        """Turn what downloads and parsers raise, which is of many types, into one sentence."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            raise InputError(
                f"{self._name} cannot be read ({type(error).__name__}: {error})"
            ) from error

    def _all(self, path: str, _begin: int, _reading: Reading) -> Iterator[Record]:
        with self._available():
            for number, doc in enumerate(self._dataset.docs_iter(), 1):
                text = encoded(self._text(doc), f"{path}, document {number}")
                yield as_id(doc.doc_id), text, -1, number

    def text(self, number: int) -> str:
        """Return the text of one document from the store of ir_datasets."""
        self._check(number)
        with self._available():
            return self._text(self._dataset.docs_store().get(self.ids[number]))

    def _where(self, path: str, line: int) -> str:
        return f"{path}, document {line}"

    def _text(self, doc: Any) -> str:
        fields = self._reading.fields
        if fields is None:
            return str(doc.default_text())
        missing = [name for name in fields if name not in doc._fields]
        if missing:
            raise InputError(
                f"{self._name}: no field {missing[0]!r}; documents have {', '.join(doc._fields)}"
            )
        return joined_text([str(getattr(doc, name)) for name in fields])

    def queries(self, field: str) -> Queries:
        """Return the queries of the dataset, with their fields."""
        if not self._dataset.has_queries():
            raise InputError(
                f"{self._name} has no queries: name a subset that has, or give a file (queries=…)"
            )
        with self._available():
            found = list(self._dataset.queries_iter())
        texts = tuple(str(query.default_text()) for query in found)
        fields = {
            name: tuple(str(getattr(query, name)) for query in found)
            for name in (found[0]._fields if found else ())
            if name != "query_id" and isinstance(getattr(found[0], name), str)
        }
        ids = [query.query_id for query in found]
        return Queries(ids, texts, {"title": texts, **fields}).by_field(field)

    def qrels(self) -> Qrels | None:
        """Return the judgements of the dataset, if it has any."""
        if not self._dataset.has_qrels():
            return None
        with self._available():
            rows = [(row.query_id, row.doc_id, row.relevance) for row in self._dataset.qrels_iter()]
        queries, docs, grades = zip(*rows, strict=True) if rows else ((), (), ())
        return Qrels.of({"query": queries, "doc": docs, "grade": grades})
