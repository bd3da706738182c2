"""An index, a list of documents found, and the models, in words."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from heldout.report.tables import Table, plain_text
from heldout.report.terminal import aligned

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.retrieve.index import Index

__all__ = ["found_json", "found_text", "index_json", "index_text", "models_text"]

_WIDTH = 14
_ROOM = 66  # columns for values in a terminal of 80
_WIDEST_ID = 50


def index_text(index: Index, size: int) -> str:
    """What there is to know of an index, line by line.

    Parameters
    ----------
    size
        Bytes of its files.
    """
    lines = []
    for name, value in _index_rows(index, size):
        first, *rest = textwrap.wrap(value, _ROOM, break_on_hyphens=False)
        lines += [f"{name:{_WIDTH}}{first}\n", *(f"{'':{_WIDTH}}{line}\n" for line in rest)]
    return "".join(lines)


def _index_rows(index: Index, size: int) -> Iterator[tuple[str, str]]:
    words = index.total_length
    mean = words / index.n_documents if index.n_documents else 0.0
    yield "documents", f"{index.n_documents:,}"
    yield "  length", f"{mean:,.1f} terms on average, total {words:,}"
    yield "terms", f"{index.n_terms:,}"
    yield "postings", f"{index.n_postings:,}"
    each = f" ({size / index.n_postings:.1f} per posting)" if index.n_postings else ""
    yield "bytes", f"{size:,}{each}"
    yield "analyzer", plain_text(index.analyzer.signature()).replace("|", ", ")
    yield "corpus", index.documents_digest or "unknown"
    yield "fingerprint", index.fingerprint


def index_json(index: Index, size: int) -> str:
    """The same for programs."""
    from heldout.as_json import json_text

    found = {
        "documents": index.n_documents,
        "total_length": index.total_length,
        "terms": index.n_terms,
        "postings": index.n_postings,
        "bytes": size,
        "analyzer": index.analyzer.signature(),
        "of_documents": index.documents_digest,
        "fingerprint": index.fingerprint,
    }
    return json_text(found)


def found_json(rows: Sequence[tuple[float, str, str]]) -> str:
    """A ranked list for programs."""
    from heldout.as_json import json_text

    found = [
        {"rank": rank, "score": score, "document": name, "text": text}
        for rank, (score, name, text) in enumerate(rows, 1)
    ]
    return json_text(found)


def found_text(rows: Sequence[tuple[float, str, str]], *, width: int = 100) -> str:
    """A ranked list for people.

    Parameters
    ----------
    rows
        Score, id and first line of each document, the best first; the line may be empty.
    width
        Where a row is cut.

    Examples
    --------
    >>> print(found_text([(2.5, "d7", "Red apples"), (1, "d10", "")]), end="")
     1  2.5000  d7   Red apples
     2  1.0000  d10
    """
    ids = [plain_text(name) for _, name, _ in rows]
    scores = [f"{score:.4f}" for score, _, _ in rows]
    widest = min(max(map(len, ids), default=0), _WIDEST_ID)
    column, places = max(map(len, scores), default=0), max(len(str(len(rows))), 2)
    lines = []
    for rank, (name, score, (_, _, text)) in enumerate(zip(ids, scores, rows, strict=True), 1):
        line = f"{rank:{places}}  {score:>{column}}  {name:{widest}}  {plain_text(text)}".rstrip()
        lines.append(line if len(line) <= width else line[: width - 1] + "…")
    return "".join(line + "\n" for line in lines)


def models_text() -> str:
    """All models with their parameters, defaults and conventions."""
    from heldout.retrieve.models import model_table

    table = Table(("model", "parameters", ""), model_table(), texts=3)
    return aligned(table) + "\n" + _CONVENTIONS


_CONVENTIONS = """\
M documents with average length avdl; word w occurs in df documents, cf times in total, and c times
in document d with |d| words. A score is a sum over the words of the query, each multiplied by its
count in the query, or by (k3+1)c/(k3+c) if k3 is given (not for query likelihood). Logarithms are
natural. lambda is the weight of the DOCUMENT, 1 − lambda that of the collection (MeTA and Lucene
have it the other way round). Only documents with a word of the query are ranked; ties are broken by
document id, descending.
"""
