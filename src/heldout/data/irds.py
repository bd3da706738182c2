"""Collections of ir_datasets, by their ids."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from heldout.data.document_files import FileDocuments, Record, joined_text
from heldout.data.files import encoded
from heldout.data.qrels import Qrels
from heldout.data.queries import Queries
from heldout.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from heldout.data.files import Reading


def load_irds(name: str) -> Any:
    """Load a dataset by its name."""
    try:
        package: Any = import_module("ir_datasets")
    except ImportError:
        raise MissingExtraError(f"irds:{name} needs a package: pip install ir_datasets") from None
    try:
        return package.load(name)
    except KeyError:
        raise InputError(
            f"ir_datasets has no dataset {name!r}: see https://ir-datasets.com for its names"
        ) from None


def _unavailable(name: str, error: Exception) -> InputError:
    """Return an error for a dataset; downloads and parsers raise many types."""
    return InputError(f"irds:{name} cannot be read ({type(error).__name__}: {error})")


class IrdsDocuments(FileDocuments):
    """The documents of a dataset; `reading.fields` are attributes of its documents."""

    __slots__ = ("_dataset", "_name")

    def __init__(self, name: str, dataset: Any, reading: Reading) -> None:
        if not dataset.has_docs():
            raise InputError(f"irds:{name} has no documents")
        self._dataset = dataset
        self._name = name
        super().__init__([f"irds:{name}"], reading, self._all)

    def _all(self, path: str, begin: int, reading: Reading) -> Iterator[Record]:
        del begin, reading
        try:
            for number, doc in enumerate(self._dataset.docs_iter(), 1):
                text = encoded(self._text(doc), f"{path}, document {number}")
                yield Record(str(doc.doc_id), text, -1, number)
        except (InputError, GeneratorExit):
            raise
        except Exception as error:
            raise _unavailable(self._name, error) from error

    def text(self, number: int) -> str:
        """Return the text of one document from the store of ir_datasets."""
        if not 0 <= number < len(self):
            raise IndexError(f"document {number} of {len(self)}")
        try:
            return self._text(self._dataset.docs_store().get(self.ids[number]))
        except InputError:
            raise
        except Exception as error:
            raise _unavailable(self._name, error) from error

    def place(self, number: int) -> str:
        """Return name and number of a document."""
        return f"irds:{self._name}, document {number + 1}"

    def _text(self, doc: Any) -> str:
        fields = self._reading.fields
        if fields is None:
            return str(doc.default_text())
        missing = [name for name in fields if name not in doc._fields]
        if missing:
            raise InputError(
                f"irds:{self._name}: no field {missing[0]!r}; documents have "
                f"{', '.join(doc._fields)}"
            )
        return joined_text([str(getattr(doc, name)) for name in fields])


def irds_queries(name: str, dataset: Any, field: str) -> Queries:
    """Return the queries of a dataset, with their fields."""
    if not dataset.has_queries():
        raise InputError(
            f"irds:{name} has no queries: name a subset that has, or give a file (queries=…)"
        )
    try:
        found = list(dataset.queries_iter())
    except Exception as error:
        raise _unavailable(name, error) from error
    texts = tuple(str(query.default_text()) for query in found)
    names = found[0]._fields if found else ()
    fields = {
        one: tuple(str(getattr(query, one)) for query in found)
        for one in names
        if one != "query_id" and isinstance(getattr(found[0], one), str)
    }
    queries = Queries(tuple(str(q.query_id) for q in found), texts, {"title": texts, **fields})
    return queries.by_field(field)


def irds_qrels(name: str, dataset: Any) -> Qrels | None:
    """Return the judgements of a dataset, if it has any."""
    if not dataset.has_qrels():
        return None
    try:
        rows = [(row.query_id, row.doc_id, row.relevance) for row in dataset.qrels_iter()]
    except Exception as error:
        raise _unavailable(name, error) from error
    queries, docs, grades = zip(*rows, strict=True) if rows else ((), (), ())
    return Qrels.of({"query": queries, "doc": docs, "grade": grades})
