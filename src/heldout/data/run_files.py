"""Runs and judgements in any form: files of all formats, frames, mappings, objects of others.

A TREC file becomes columns directly; anything else becomes a table first. Both end in `Rows`, from
which `Run` and `Qrels` are made.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from heldout.data import trec
from heldout.data.files import EXTENSIONS, compress, decode_text, file_stem, open_source, parse_json
from heldout.data.frames import (
    USUAL_NAMES,
    frame_columns,
    header_cells,
    is_frame,
    is_nested,
    refuse_repeated,
)
from heldout.data.ids import Ids, encode_ids
from heldout.data.tables import Table, read_table
from heldout.data.trec import Rows
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.files import Source
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.data.words import Ints

_KINDS: Final = {"score": ("run", "a Run", "score"), "grade": ("qrels", "Qrels", "relevance")}
_HEADER_WORDS: Final = frozenset(
    name for role in ("query", "doc", "score", "grade") for name in USUAL_NAMES[role]
)
Format = Literal["trec", "csv", "tsv", "json", "parquet"]


def read_rows(given: Any, number: str, *, subtopics: bool = False) -> Rows:
    """Return the rows of a run or of judgements in any form; `number` is score or grade."""
    if isinstance(given, str | os.PathLike):
        return _read_file(open_source(given), number, subtopics)
    what, kind, field = _KINDS[number]
    if is_frame(given):
        return _of_table(Table.of(frame_columns(given, what), what), number, subtopics)
    records = list(given) if isinstance(given, Iterable) else []
    if records and all(map(is_record, records)):
        names = ("query_id", "doc_id", field, *(("iteration",) if subtopics else ()))
        columns = {name: [getattr(record, name) for record in records] for name in names}
        return _of_table(Table.of(columns, what), number, subtopics)
    content = given.to_dict() if callable(getattr(given, "to_dict", None)) else given  # ranx
    is_mapping = isinstance(content, Mapping)
    if is_nested(content):  # which has no subtopics
        rows = _of_table(_nested_table(content, what, number), number, subtopics=False)
    elif is_mapping and all(isinstance(cells, Iterable) for cells in content.values()):
        columns = {str(name): list(cells) for name, cells in content.items()}
        rows = _of_table(Table.of(columns, what), number, subtopics)
    else:
        kind_given = f"an object of type {type(given).__name__}"
        raise InputError(
            f"{what}: expected {kind}, {{query: {{document: {number}}}}}, a pandas or Polars frame "
            f"with columns such as query_id, doc_id, {field}, or the path of a file, got "
            f"{'a mapping whose values are not mappings' if is_mapping else kind_given}"
        )
    name = getattr(given, "name", None)
    return rows._replace(name=name) if isinstance(name, str) else rows


def is_record(given: Any) -> bool:
    """Return whether this is a judgement or a scored document of ir_measures."""
    return hasattr(given, "query_id") and hasattr(given, "doc_id") and not is_frame(given)


# Files


def _read_file(source: Source, number: str, subtopics: bool) -> Rows:
    head = source.head()
    cells = {cell.lower() for cell in header_cells(source.first_line())}
    has_header = len(cells & _HEADER_WORDS) >= 2
    if re.match(rb'\s*\{\s*("(?:[^"\\]|\\.)*"\s*:\s*\{|\}\s*$)', head):
        if subtopics:
            raise InputError(f"{source.name}: JSON has no subtopics; use TREC qrels or a table")
        text = decode_text(source.whole(), source.name)
        lists = parse_json(text, source.name, pairs_hook=partial(_once, source.name))
        table = _nested_table(lists, source.name, number)
    elif head.startswith(b"PAR1") or re.match(rb"\s*\{\s*[\"}]", head) or has_header:
        table = read_table(source)
    elif number == "score":
        return trec.read_run(source)
    else:
        return trec.read_qrels(source, subtopics=subtopics)
    return _of_table(table, number, subtopics)._replace(name=file_stem(source.name))


# Tables


def _of_table(table: Table, number: str, subtopics: bool) -> Rows:
    needed = {"query": "query ids", "doc": "document ids", number: f"{number}s"}
    if subtopics:
        needed["subtopic"] = "subtopics"
    picked = {role: table.need(role, what) for role, what in needed.items()}
    refuse_repeated([name.lower() for name in table.names], table.source)
    if not len(table):
        raise InputError(f"{table.source} has no rows")
    lengths = {name: len(table.columns[name]) for name in picked.values()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise InputError(f"{table.source}: columns of different lengths ({shown})")
    queries, codes = table.codes(picked["query"], "query id")
    texts = table.texts(picked["doc"], "document id")
    try:
        encode_ids(queries)
        docs = Ids.of(texts)
    except InputError as error:
        raise InputError(f"{table.source}: {error}") from None
    values = table.numbers(picked[number])
    if number == "grade":
        # Most scores have decimals.
        is_run = np.count_nonzero(values % 1) > max(1, len(values) // 2)
        hint = f": {trec.SWAPPED}" if is_run else ""
        table.refuse(
            trec.wrong_grades(values),
            lambda row: f"grade {values[row]:g} {trec.grade_problem(values[row])}{hint}",
        )

    def places(query: str, doc: str) -> list[str]:
        pairs = zip(table.labels(picked["query"], ""), table.labels(picked["doc"], ""), strict=True)
        return [table.place(row) for row, pair in enumerate(pairs) if pair == (query, doc)]

    names = table.labels(picked["subtopic"], "subtopic") if subtopics else None
    return Rows(table.source, queries, codes, docs, values, places, subtopics=names)


def _nested_table(given: Mapping[Any, Any], name: str, number: str) -> Table:
    """Return ``{query: {document: number}}`` as columns; there are no lines to name."""
    for query, lists in given.items():
        if not isinstance(lists, Mapping):
            raise InputError(
                f"{name}: query {query!r} has {type(lists).__name__}, expected an object "
                f"{{document: {number}}}"
            )
    queries = [query for query, lists in given.items() for _ in lists]
    docs = [doc for lists in given.values() for doc in lists]
    values = [value for lists in given.values() for value in lists.values()]
    columns = {"query": queries, "doc": docs, number: values}
    return Table(
        name, columns, lambda row: f"{name}: query {queries[row]!r}, document {docs[row]!r}"
    )


def _once(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise an error for repeated names, of which json keeps the last."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise FormatError(
            name, f"the name {twice!r} appears twice in one JSON object: keep one of them"
        )
    return mapping


def refuse_duplicate(parts: Sequence[Rows], query: str, doc: str, detail: str = "") -> None:
    """Raise an error for a document that appears twice for a query, with both places."""
    places = [place for part in parts for place in part.places(query, doc)]
    first = f" (first in {places[0]})" if len(places) > 1 else ""
    where = places[1] if len(places) > 1 else parts[0].source
    twice = f"document {doc} appears twice for query {query}{detail}{first}"
    raise FormatError(where, f"{twice}: keep one of them")


# Out


def nested(
    queries: tuple[str, ...], offsets: Ints, docs: Ids, values: Any
) -> dict[str, dict[str, Any]]:
    """Return ``{query: {document: number}}``."""
    ids, numbers, ends = docs.tolist(), values.tolist(), offsets.tolist()
    return {
        query: dict(zip(ids[begin:end], numbers[begin:end], strict=True))
        for query, begin, end in zip(queries, ends, ends[1:], strict=False)
    }


def write_rows(
    what: Run | Qrels,
    path: str | os.PathLike[str],
    lines: Callable[[Any], Iterator[str]],
    kind: str | None = None,
) -> None:
    """Write a run or judgements in the format of the extension, or of `kind`, or as TREC lines."""
    from pathlib import Path

    from heldout.data.atomic import write_atomically

    compression = Path(path).suffix.lower()
    ending = Path(path).with_suffix("").suffix.lower() if compression in EXTENSIONS else compression
    if kind is not None:
        ending = f".{kind}"
    with write_atomically(path) as aside:
        if ending == ".json":
            aside.write_text(json.dumps(what.to_dict(), ensure_ascii=False) + "\n", "utf-8")
        elif ending == ".parquet":
            what.to_frame().write_parquet(aside)
        elif ending in {".csv", ".tsv"}:
            what.to_frame().write_csv(aside, separator="," if ending == ".csv" else "\t")
        else:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines(what))
        if compression in EXTENSIONS:
            aside.write_bytes(compress(aside.read_bytes(), compression))
