"""Documents in files of any format: a format is a generator of records with id, text and place."""

from __future__ import annotations

import re
from html import escape, unescape
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from heldout.data.files import (
    blocks,
    decode_text,
    encoded,
    json_object,
    raw_lines,
    read_head,
    text_lines,
)
from heldout.data.frames import refuse_repeated
from heldout.data.tables import delimited_rows, parquet_rows
from heldout.errors import FormatError, InputError
from heldout.notes import named_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.documents import Record, Records
    from heldout.data.files import Reading

ID_NAMES: Final = ("_id", "id", "doc_id", "docno", "docid", "document_id")
TEXT_NAMES: Final = ("text", "contents", "content", "body", "passage")
EXPECTED: Final = (
    "expected a BEIR folder (corpus.jsonl), a MeTA folder or its config toml, TREC documents, JSON "
    "lines, CSV, TSV or Parquet of documents, a line corpus (.dat), irds:NAME, or pydocs"
)


def records_of(path: str) -> Records:
    """Return the reader of a file of documents, by its first bytes."""
    start = read_head(path)
    if not start:
        raise InputError(f"{path} is empty; {EXPECTED}")
    head = start.decode(errors="replace").lstrip()
    if start.startswith(b"PAR1"):
        return parquet_records
    if head.startswith("{"):
        return json_records
    if head.startswith("<") and re.search(r"<doc[\s>]", head, re.IGNORECASE):
        return trec_records
    if ".dat" in Path(path).suffixes:
        return line_records
    if separator_of(head):
        return table_records
    raise InputError(f"{path}: unrecognized format; {EXPECTED}")


# Lines: the line corpus of MeTA, in which the id is the line number from 0


def line_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the lines of a file; empty lines are empty documents."""
    for offset, number, raw in raw_lines(path, begin):
        text = raw.removesuffix(b"\r")
        if not (reading.is_utf8 and text.isascii()):
            text = decode_text(text, path, number, reading.encoding).encode()
        yield str(number - 1), text, offset, number


# JSON lines: one object per line, with an id, a text and optionally a title


def json_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the documents of a file of JSON lines (BEIR, Pyserini, ir_datasets)."""
    is_plain = reading.is_utf8 and reading.fields is None
    for offset, line, raw in raw_lines(path, begin):
        if not raw or raw.isspace():
            continue
        document = _plain_document(raw) if is_plain else None
        if document is None:
            where = f"{path}:{line}"
            text = decode_text(raw, path, line, reading.encoding)
            document = _document(json_object(text, path, line), reading.fields, where)
        yield *document, offset, line


def _plain_document(raw: bytes) -> tuple[str, bytes] | None:
    """Return id and text of a usual line, fast; None if the strict reader has to read it."""
    try:
        document = orjson.loads(raw)
        name = document["_id" if "_id" in document else "id"]
        text = document["text" if "text" in document else "contents"]
        title = document.get("title", "")
        if type(name) is type(text) is type(title) is str and name.isascii() and name.isprintable():
            joined = f"{title}\n{text}" if title and text else title or text
            return name.strip(), joined.encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return None


def _document(
    record: dict[str, Any], fields: Sequence[str] | None, where: str, *, in_table: bool = False
) -> tuple[str, bytes]:
    """Return id and text of a JSON object, which may lack a field, or of a row of a table."""
    doc_id = json_id(record, ID_NAMES, where)
    if fields is None:
        fields = ("title", needed(record, TEXT_NAMES, "text", where))
    else:
        fields = [name.lower() if in_table else name for name in fields]
        missing = [name for name in fields if name not in record]
        if missing and (in_table or len(missing) == len(fields)):
            names = " or ".join(map(repr, missing))
            raise FormatError(where, f"no field {names}: found {_keys(record)}")
    parts = [_json_text(record.get(name), name, where) for name in fields]
    return doc_id, encoded("\n".join(filter(None, parts)), where)


def pick(record: dict[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of some names that an object has."""
    return next((name for name in names if name in record), None)


def needed(record: dict[str, Any], names: Sequence[str], what: str, where: str) -> str:
    """Return the first of some names that an object has; raise an error if it has none."""
    name = pick(record, names)
    if name is None:
        expected = f"expected one of {', '.join(names)}, found {_keys(record)}"
        raise FormatError(where, f"no {what}: {expected}")
    return name


def _keys(record: dict[str, Any]) -> str:
    return named_few(map(str, record), len(record), 10) or "an empty object"


def json_id(record: dict[str, Any], names: Sequence[str], where: str) -> str:
    """Return the id of an object: a string or an integer."""
    value = record[needed(record, names, "id", where)]
    if isinstance(value, str):
        return clean_id(value, where)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))  # pandas writes integers with gaps as floats
    raise FormatError(where, f"the id {value!r} is {type(value).__name__}, expected a text")


def clean_id(value: str, where: str) -> str:
    """Return an id without surrounding blanks; raise an error for one with a zero byte."""
    if b"\0" in encoded(value, where):
        raise FormatError(where, "the id has a zero byte: remove it")
    return value.strip()


def _json_text(value: Any, name: str, where: str) -> str:
    """Return a text; null is empty, and the texts of a list are joined by newlines."""
    if isinstance(value, list):
        return "\n".join(filter(None, (_json_text(item, name, where) for item in value)))
    if not isinstance(value, str | None):
        raise FormatError(where, f"the field {name!r} is {type(value).__name__}, expected a text")
    return value or ""


# Tables: CSV and TSV, read row by row, and Parquet, read in slices


def separator_of(head: str) -> str:
    """Return the separator by the first line: a tab, or a comma in a known header, or nothing."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    if "\t" in first:
        return "\t"
    cells = {cell.strip().strip('"').lower() for cell in first.split(",")}
    return "," if len(cells) > 1 and cells & {*ID_NAMES, "qid", "query_id", "query-id"} else ""


def text_rows(
    path: str, reading: Reading, ids: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name of each row of a CSV or TSV file."""
    numbered = text_lines(path, reading)
    begin, first = next(((line, text) for line, text in numbered if text.strip()), (1, ""))
    lines = (text for _, text in numbered)
    separator = separator_of(read_head(path).decode(errors="replace")) or ","
    names = [cell.strip().strip('"').lower() for cell in first.rstrip("\r\n").split(separator)]
    has_header = not set(names).isdisjoint(ids)
    rows = delimited_rows(chain([first], lines), path, separator, begin, quoted=has_header)
    if has_header:
        line, cells = next(rows)
        names = [cell.strip().lower() for cell in cells]
        refuse_repeated(names, f"{path}:{line}")
    else:  # as in MS MARCO, where quotation marks are ordinary characters
        names = ["id", "title", "text"] if len(names) == 3 else ["id", "text"]
    for line, cells in rows:
        if len(cells) != len(names):
            expected = f"{len(names)} ({named_few(names, len(names), 10)})"
            raise FormatError(f"{path}:{line}", f"{len(cells)} cells, expected {expected}")
        yield line, dict(zip(names, cells, strict=True))


def table_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the rows of a CSV or TSV file; cells may have line ends, so that none is read alone."""
    del begin
    for line, row in text_rows(path, reading, ID_NAMES):
        yield *_document(row, reading.fields, f"{path}:{line}", in_table=True), -1, line


def parquet_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the rows of a Parquet file from row `begin`."""
    for number, row in parquet_rows(path, begin):
        document = _document(row, reading.fields, f"{path}:{number}", in_table=True)
        yield *document, number - 1, number


# TREC documents: <DOC> elements in SGML or XML

_OPEN: Final = re.compile(rb"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSE: Final = re.compile(rb"</doc\s*>", re.IGNORECASE)
_DOCNO: Final = re.compile(r"<docno\s*>(.*?)</docno\s*>", re.IGNORECASE | re.DOTALL)
_ID: Final = re.compile(r"""<doc\s[^<>]*?\bid\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,31});")


def trec_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the ``<DOC>`` elements of a file; the id is in ``<DOCNO>`` or an attribute."""
    for raw, offset, line in _elements(path, begin):
        body = decode_text(raw, path, line, reading.encoding)
        match = _DOCNO.search(body)
        if match is not None:
            body = body[: match.start()] + body[match.end() :]
        else:
            match = _ID.match(body)
        if match is None:
            raise FormatError(f"{path}:{line}", "the document has no <DOCNO>")
        doc_id = clean_id(resolve_entities(match[1]), f"{path}:{line}")
        yield doc_id, markup_text(body, reading.fields).encode(), offset, line


def _elements(path: str, begin: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each ``<DOC>`` element with its offset in the file and its line."""
    held, offset, line = b"", begin, 1
    for block in blocks(path, begin):
        if not held:
            offset = block.offset
        held += block.raw
        place = 0
        while opened := _OPEN.search(held, place):
            closed = _CLOSE.search(held, opened.end())
            line += held.count(b"\n", place, opened.start())
            place = opened.start()
            if closed is None:
                break
            if _OPEN.search(held, opened.end(), closed.start()):
                raise FormatError(
                    f"{path}:{line}",
                    "</DOC> is missing: another <DOC> begins before the end of this one",
                )
            yield held[place : closed.end()], offset + place, line
            line += held.count(b"\n", place, closed.end())
            place = closed.end()
        else:
            # A tag may be split between blocks, but never a line.
            line += held.count(b"\n", place)
            place = len(held)
        held, offset = held[place:], offset + place
    if held:
        raise FormatError(f"{path}:{line}", "the document that begins here has no </DOC>")


def markup_text(body: str, fields: tuple[str, ...] | None = None) -> str:
    """Return the text of markup, without tags and comments; parts are joined by newlines."""
    body = COMMENT.sub("", _CDATA.sub(lambda match: escape(match[1]), body))
    if fields is not None:
        tags = map(re.escape, fields)
        elements = (re.findall(rf"(?is)<{tag}(?:\s[^<>]*)?>(.*?)</{tag}\s*>", body) for tag in tags)
        body = "<p>".join(chain.from_iterable(elements))
    parts = (part.strip("\r\n") for part in _TAG.split(body) if part.strip())
    return resolve_entities("\n".join(parts))


def resolve_entities(text: str) -> str:
    """Replace entities by characters; unknown ones are kept."""
    return _ENTITY.sub(lambda match: unescape(match[0]), text)
