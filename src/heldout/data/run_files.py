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
    is_frame,
    is_nested,
    pick_columns,
    refuse_repeated,
)
from heldout.data.ids import Ids, encode_ids
from heldout.data.rows import Rows, Stretches
from heldout.data.tables import Table, read_table
from heldout.errors import DuplicateError, FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from heldout.data.files import Source
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.data.words import Ints

EXPECTED: Final = {
    "score": "a Run, {query: {document: score}}, a pandas or Polars frame with columns such as "
    "query_id, doc_id, score, or the path of a file",
    "grade": "Qrels, {query: {document: grade}}, a pandas or Polars frame with columns such as "
    "query_id, doc_id, relevance, or the path of a file",
}
WHAT: Final = {"score": "run", "grade": "qrels"}
_HEADER_WORDS: Final = frozenset(
    name for role in ("query", "doc", "score", "grade") for name in USUAL_NAMES[role]
)
Format = Literal["trec", "csv", "tsv", "json", "parquet"]
_ENDINGS: Final = (".csv", ".tsv", ".json", ".parquet")


def read_rows(given: Any, number: str, *, subtopics: bool = False) -> Rows:
    """Return the rows of a run or of judgements in any form; `number` is score or grade."""
    if isinstance(given, str | os.PathLike):
        return _read_file(open_source(given), number, subtopics)
    what = WHAT[number]
    if is_frame(given):
        return _of_table(Table.of(frame_columns(given, what), what), number, subtopics)
    records = [] if isinstance(given, Mapping | str) else _records(given)
    if records:
        field = {"score": "score", "grade": "relevance"}[number]
        roles = {"query": "query_id", "doc": "doc_id", number: field}
        if subtopics:
            roles["subtopic"] = "iteration"
        columns = {role: [getattr(one, name) for one in records] for role, name in roles.items()}
        return _of_table(Table.of(columns, what), number, subtopics)
    content = given.to_dict() if callable(getattr(given, "to_dict", None)) else given  # ranx
    if not isinstance(content, Mapping):
        raise InputError(f"{what}: expected {EXPECTED[number]}, got {_kind(given)}")
    if is_nested(content):  # which has no subtopics
        rows = _of_table(_nested_table(content, what, number), number, subtopics=False)
    else:
        columns = {str(name): list(cells) for name, cells in content.items() if _is_list(cells)}
        if len(columns) < len(content):
            raise InputError(f"{what}: expected {EXPECTED[number]}, got {_kind(given)}")
        rows = _of_table(Table.of(columns, what), number, subtopics)
    name = getattr(given, "name", None)
    return rows._replace(name=name) if isinstance(name, str) else rows


def _is_list(given: Any) -> bool:
    return isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)


def _kind(given: object) -> str:
    if given is None:
        return "None"
    if isinstance(given, Mapping):
        return "a mapping whose values are not mappings"
    return f"an object of type {type(given).__name__}"


def _records(given: Any) -> list[Any]:
    """Return the judgements or scored documents of ir_measures; empty if these are no such."""
    rows = list(given) if isinstance(given, Iterable) else []
    return rows if all(map(_is_record, rows)) else []


def _is_record(given: Any) -> bool:
    return hasattr(given, "query_id") and hasattr(given, "doc_id") and not is_frame(given)


def several(given: Any, kind: type) -> list[Any]:
    """Return a list of runs in accepted forms, of class `kind` or others; a mapping names them."""
    if isinstance(given, (kind, str, os.PathLike)) or is_frame(given):
        return [given]
    if isinstance(given, Mapping):
        named = given and all(_is_run(one, kind) for one in given.values())
        return list(given.items()) if named else [given]
    if not isinstance(given, Iterable):
        raise InputError(
            f"run: expected {EXPECTED['score']}, or a list of these, got {_kind(given)}"
        )
    found = list(given)
    return [found] if found and _is_record(found[0]) else found


def _is_run(given: Any, kind: type) -> bool:
    """Return whether this is a run in an accepted form; the ranked list of one query is not."""
    if isinstance(given, (kind, str, os.PathLike, list, tuple, Iterator)) or is_frame(given):
        return True
    content = given.to_dict() if callable(getattr(given, "to_dict", None)) else given
    return bool(content) and is_nested(content)


# Files


def _read_file(source: Source, number: str, subtopics: bool) -> Rows:
    name = file_stem(source.name)
    head = source.head()
    if re.match(rb'\s*\{\s*("(?:[^"\\]|\\.)*"\s*:\s*\{|\}\s*$)', head):
        if subtopics:
            raise InputError(f"{source.name}: JSON has no subtopics; use TREC qrels or a table")
        text = decode_text(source.whole(), source.name)
        lists = parse_json(text, source.name, object_pairs_hook=partial(_once, source.name))
        table = _nested_table(lists, source.name, number)
    elif head.startswith(b"PAR1") or re.match(rb"\s*\{\s*[\"}]", head) or _has_header(head):
        table = read_table(source)
    else:
        is_run = number == "score"
        return trec.read_run(source) if is_run else trec.read_qrels(source, subtopics=subtopics)
    return _of_table(table, number, subtopics)._replace(name=name)


def _has_header(head: bytes) -> bool:
    cells = {cell.lower() for cell in trec.header_cells(head)[2]}
    return len(cells & _HEADER_WORDS) >= 2


# Tables


def _of_table(table: Table, number: str, subtopics: bool) -> Rows:
    roles = ("query", "doc", number, *(("subtopic",) if subtopics else ()))
    picked = pick_columns(table.names, roles, table.source)
    refuse_repeated([name.lower() for name in table.names], table.header)
    if not len(table):
        raise InputError(f"{table.source} has no rows")
    lengths = {name: len(table.columns[name]) for name in picked.values()}
    if len(set(lengths.values())) > 1:
        shown = ", ".join(f"{name}: {length}" for name, length in lengths.items())
        raise InputError(f"{table.source}: columns of different lengths ({shown})")
    queries = table.codes(picked["query"], "query id")
    texts = table.texts(picked["doc"], "document id")
    try:
        encode_ids(queries.names)
        docs = Ids.of_texts(texts)
    except InputError as error:
        raise InputError(f"{table.source}: {error}") from None
    values = table.numbers(picked[number])
    if number == "grade":
        refuse_fractions(values, table.source)
        table.refuse(
            trec.wrong_grades(values),
            lambda row: f"grade {values[row]:g} {trec.grade_problem(values[row])}",
        )

    def places(query: str, doc: str) -> list[str]:
        found = zip(table.labels(picked["query"], ""), table.labels(picked["doc"], ""), strict=True)
        return [table.place(row) for row, pair in enumerate(found) if pair == (query, doc)]

    names = table.labels(picked["subtopic"], "subtopic") if subtopics else None
    stretches = Stretches.of(*queries)
    return Rows(table.source, stretches, docs, values, places, WHAT[number], names)


def refuse_fractions(values: Any, name: str) -> None:
    """Refuse a run in the place of judgements: most of its numbers have decimals."""
    if np.count_nonzero(values % 1) > max(1, len(values) // 2):
        raise trec.swapped(name, "a run, not judgements")


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
    for query, doc, value in zip(queries, docs, values, strict=True):
        if isinstance(value, str | bool):  # a text such as "0.5" is no number in JSON
            raise InputError(
                f"{name}: query {query!r}, document {doc!r}: {value!r} is not a number"
            )
    columns = {"query": queries, "doc": docs, number: values}
    return Table(
        name, columns, lambda row: f"{name}: query {queries[row]!r}, document {docs[row]!r}", name
    )


def _once(name: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return a JSON object; raise an error for repeated names, of which json keeps the last."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [key for key, _ in pairs]
        twice = next(key for key in names if names.count(key) > 1)
        raise FormatError(
            name, f"the name {twice!r} appears twice in one JSON object: keep one of them"
        )
    return found


def refuse_duplicate(rows: Rows, query: str, doc: str, detail: str = "") -> None:
    """Raise an error for a document that appears twice for a query, with both places."""
    places = rows.places(query, doc)
    first = f" (first in {places[0]})" if len(places) > 1 else ""
    where = places[1] if len(places) > 1 else rows.source
    raise DuplicateError(where, query, doc, detail + first)


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
        elif ending in _ENDINGS:
            what.to_frame().write_csv(aside, separator="," if ending == ".csv" else "\t")
        else:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines(what))
        if compression in EXTENSIONS:
            aside.write_bytes(compress(aside.read_bytes(), compression))
