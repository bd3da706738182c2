"""Documents in files of any format: a format is a generator of records with id, text and place.

Files are read when they are needed, record by record; only ids and offsets are held.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from html import escape, unescape
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import numpy as np
import orjson

from heldout.data.documents import BATCH, Documents, TextBatch, TextDigest, empty_note
from heldout.data.files import (
    Reading,
    blocks,
    encoded,
    is_compressed,
    json_object,
    read_head,
    text_lines,
)
from heldout.data.frames import refuse_repeated
from heldout.data.ids import Ids
from heldout.data.notes import named_few
from heldout.data.paths import place_among
from heldout.data.tables import delimited_rows, parquet_rows
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from heldout.data.words import Ints
    from heldout.notes import Note

ID_NAMES: Final = ("_id", "id", "doc_id", "docno", "docid", "document_id")
TEXT_NAMES: Final = ("text", "contents", "content", "body", "passage")


Record: TypeAlias = tuple[str, bytes, int, int]
"""Id, text in UTF-8, offset from which it can be read alone (-1: it cannot), and line or row."""

Records: TypeAlias = Callable[[str, int, Reading], Iterator[Record]]
"""Yields the documents of a file from byte 0, or from the offset of a record."""


class FileDocuments(Documents):
    """Documents in one file or several, in this order."""

    def __init__(self, files: Sequence[str], reading: Reading, records: Records) -> None:
        self._files = tuple(files)
        self._reading = reading
        self._records = records

    @cached_property
    def ids(self) -> Ids:  # type: ignore[override]
        """All ids in collection order; the files are read on first use."""
        columns, digest, offsets = [], TextDigest(), []
        for batch, starts in self._stream(BATCH):
            columns.append(Ids.of(batch.ids))
            digest.add(batch)
            offsets.append(starts)
        ids = Ids.stack(columns)
        twice = ids.first_duplicate()
        if twice is not None:
            first, again = map(self.place, twice)
            raise FormatError(
                again,
                f"the document id {ids[twice[1]]!r} appears twice (first at {first}): keep one of "
                "them",
            )
        self._offsets: Ints = np.concatenate(offsets)
        self._digest = digest.hexdigest()
        return ids

    @cached_property
    def notes(self) -> tuple[Note, ...]:  # type: ignore[override]
        """What is unusual in them; set by `_stream`, for whatever purpose they are read first."""
        for _ in self._stream(BATCH):
            pass
        return self.notes

    def size_hint(self) -> int:
        """Return the number of documents; 0 if the files have not been read yet."""
        return len(self.ids) if "ids" in vars(self) else 0

    def digest(self) -> str:
        """Return the SHA-256 of ids, lengths and texts."""
        self.ids  # noqa: B018 - reads the files
        return super().digest()

    def batches(self, size: int = BATCH) -> Iterator[TextBatch]:
        """Return all documents, in batches of about `size` bytes of text at most."""
        return (batch for batch, _ in self._stream(size))

    def _stream(self, size: int) -> Iterator[tuple[TextBatch, Ints]]:
        """Yield batches and the offsets of their records; afterwards the notes are known."""
        ids: list[str] = []
        texts: list[bytes] = []
        offsets: list[int] = []
        held = done = empty = 0
        firsts, places = [], []
        for path in self._files:
            firsts.append(done + len(ids))
            for one, text, offset, line in self._records(path, 0, self._reading):
                length = len(text)
                if held + length > size and ids:
                    yield TextBatch.of(done, ids, texts), np.array(offsets, np.int64)
                    done += len(ids)
                    ids, texts, offsets, held = [], [], [], 0
                if not one:
                    raise FormatError(self._where(path, line), "the document has an empty id")
                if length < 64 and not text.strip():  # a long text of blanks is implausible
                    empty += 1
                    if empty <= 5:
                        places.append(place_among(self._where(path, line), self._files))
                ids.append(one)
                texts.append(text)
                offsets.append(offset)
                held += length
        total = done + len(ids)
        if not total:
            raise InputError(f"{', '.join(self._files)}: no documents found")
        fields = self._reading.fields
        if fields is not None and empty == total:
            raise InputError(
                f"{self._files[0]}: no document has text in the fields {', '.join(fields)}"
            )
        self._first = np.array(firsts, np.int64)
        self.notes = empty_note(empty, places)
        yield TextBatch.of(done, ids, texts), np.array(offsets, np.int64)

    def text(self, number: int) -> str:
        """Return the text of one document."""
        self._check(number)
        offset = int(self._offsets[number])
        path = self._files[int(np.searchsorted(self._first, number, "right")) - 1]
        if offset < 0 or is_compressed(path):
            record = self._nth(number)[1]
        else:
            record = next(self._records(path, offset, self._reading))
        return record[1].decode()

    def place(self, number: int) -> str:
        """Return ``file:line`` of a document, found by reading the files again; for messages."""
        path, (*_, line) = self._nth(number)
        return self._where(path, line)

    def _where(self, path: str, line: int) -> str:
        return f"{path}{', row ' if self._records is parquet_records else ':'}{line}"

    def _nth(self, number: int) -> tuple[str, Record]:
        records = (
            (path, record)
            for path in self._files
            for record in self._records(path, 0, self._reading)
        )
        found = next(islice(records, number, None), None)
        if found is None:
            raise InputError(f"{self._files[-1]} changed while it was read: read it again")
        return found


def records_of(path: str, expected: str) -> Records:
    """Return the reader of a file of documents, by its first bytes; `expected` is for messages."""
    start = read_head(path)
    if not start:
        raise InputError(f"{path} is empty; {expected}")
    head = start.decode(errors="replace").lstrip()
    if start.startswith(b"PAR1"):
        return parquet_records
    if head.startswith("{"):
        return json_records
    if re.search(r"<doc[\s>]", head, re.IGNORECASE) and head.startswith("<"):
        return trec_records
    if ".dat" in Path(path).suffixes:
        return line_records
    if separator_of(head) is not None:
        return table_records
    raise InputError(f"{path}: unrecognized format; {expected}")


def joined_text(parts: Sequence[str]) -> str:
    r"""Return the fields of a document that are not empty as lines of one text.

    Examples
    --------
    >>> joined_text(["A title", "", "a text"])
    'A title\na text'
    """
    return "\n".join(part for part in parts if part)


# Lines: the line corpus of MeTA, in which the id is the line number from 0


def line_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the lines of a file; empty lines are empty documents."""
    for offset, number, raw in raw_lines(path, begin):
        text = raw.removesuffix(b"\r")
        if not (reading.is_utf8 and text.isascii()):
            text = reading.decode(text, lambda _, line=number: f"{path}:{line}").encode()  # type: ignore[misc]
        yield str(number - 1), text, offset, number


def raw_lines(path: str, begin: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Yield offset, number and bytes of each line; a newline at the end of a file ends no line."""
    for block in blocks(path, begin):
        offset = block.offset
        lines = block.raw.split(b"\n")
        if not lines[-1]:
            lines.pop()
        for number, raw in enumerate(lines, block.line):
            yield offset, number, raw
            offset += len(raw) + 1


# JSON lines: one object per line, with an id, a text and optionally a title


def json_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the documents of a file of JSON lines (BEIR, Pyserini, ir_datasets)."""
    is_plain = reading.is_utf8 and reading.fields is None
    for offset, line, raw in raw_lines(path, begin):
        if not raw or raw.isspace():
            continue
        found = _plain_document(raw) if is_plain else None
        if found is None:
            where = f"{path}:{line}"
            text = reading.decode(raw, lambda _, where=where: where)  # type: ignore[misc]
            found = _document(json_object(text, path, line), reading.fields, where)
        yield *found, offset, line


def _plain_document(raw: bytes) -> tuple[str, bytes] | None:
    """Return id and text of a usual line; None if the strict reader has to read it.

    This is faster than the strict reader, which returns the same and reports errors.
    """
    try:
        found = orjson.loads(raw)
        one = found["_id" if "_id" in found else "id"]
        text = found["text" if "text" in found else "contents"]
        title = found.get("title", "")
        if type(one) is type(text) is type(title) is str and one.isascii() and one.isprintable():
            joined = f"{title}\n{text}" if title and text else title or text
            return one.strip(), joined.encode()
    except (ValueError, LookupError, TypeError, AttributeError):
        pass
    return None


def _document(
    found: dict[str, Any], fields: Sequence[str] | None, where: str, *, in_table: bool = False
) -> tuple[str, bytes]:
    """Return id and text of a JSON object, which may lack a field, or of a row of a table."""
    one = json_id(found, ID_NAMES, where)
    if fields is None:
        name = pick(found, TEXT_NAMES)
        if name is None:
            names = ", ".join(TEXT_NAMES)
            raise FormatError(where, f"no text: expected one of {names}, found {_keys(found)}")
        fields = ("title", name)
    else:
        missing = [name for name in fields if name not in found]
        if missing and (in_table or len(missing) == len(fields)):
            names = f"{'column' if in_table else 'field'} {' or '.join(map(repr, missing))}"
            raise FormatError(where, f"no {names}: found {_keys(found)}")
    text = joined_text([json_text(found.get(name), name, where) for name in fields])
    return one, encoded(text, where)


def pick(found: dict[str, Any], names: Sequence[str]) -> str | None:
    """Return the first of some names that an object has."""
    return next((name for name in names if name in found), None)


def json_id(found: dict[str, Any], names: Sequence[str], where: str) -> str:
    """Return the id of an object: a string or a whole number."""
    name = pick(found, names)
    if name is None:
        raise FormatError(where, f"no id: expected one of {', '.join(names)}, found {_keys(found)}")
    value = found[name]
    if isinstance(value, str):
        return checked_id(value, where)
    if isinstance(value, int | float) and not isinstance(value, bool) and value == value // 1:
        return str(int(value))  # pandas writes integers with gaps as floats
    raise FormatError(where, f"the id {value!r} is {type(value).__name__}, expected a text")


def checked_id(value: str, where: str) -> str:
    """Return an id without surrounding blanks; raise an error for one that is no text."""
    if "\0" in value:
        raise FormatError(where, "the id has a zero byte: remove it")
    if not value.isascii() and any(0xD800 <= ord(character) < 0xE000 for character in value):
        raise FormatError(where, f"the id {value!r} is not valid Unicode")
    return value.strip()


def json_text(value: Any, name: str, where: str) -> str:
    """Return a text; null is empty, and the texts of a list are joined by newlines."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list):
        return joined_text([json_text(one, name, where) for one in value])
    raise FormatError(where, f"the field {name!r} is {type(value).__name__}, expected a text")


def _keys(found: dict[str, Any]) -> str:
    return named_few(map(str, found), len(found), 10) or "an empty object"


# Tables: CSV and TSV, read row by row, and Parquet, read in slices


def separator_of(head: str) -> str | None:
    """Return the separator of a table by its first line: a tab, or a comma in a known header."""
    first = next((line for line in head.splitlines() if line.strip()), "")
    if "\t" in first:
        return "\t"
    cells = {cell.strip().strip('"').lower() for cell in first.split(",")}
    return "," if len(cells) > 1 and cells & {*ID_NAMES, "qid", "query_id", "query-id"} else None


def text_rows(
    path: str, separator: str, reading: Reading, ids: Sequence[str]
) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield line number and cells by column name of each row of a CSV or TSV file.

    Without a header the columns are the id, a title if there are three columns, and the text;
    quotation marks are then ordinary characters (MS MARCO).
    """
    lines = (line for _, line in text_lines(path, reading))
    first = next(lines, "")
    names = [cell.strip().strip('"').lower() for cell in first.rstrip("\r\n").split(separator)]
    has_header = not set(names).isdisjoint(ids)
    rows = delimited_rows(chain([first], lines), path, separator, quoted=has_header)
    if has_header:
        line, cells = next(rows)
        names = [cell.strip().lower() for cell in cells]
        refuse_repeated(names, f"{path}:{line}")
    else:
        names = ["id", "title", "text"] if len(names) == 3 else ["id", "text"]
    for line, cells in rows:
        if len(cells) != len(names):
            raise FormatError(
                f"{path}:{line}",
                f"{len(cells)} cells, expected {len(names)} ({named_few(names, len(names), 10)})",
            )
        yield line, dict(zip(names, cells, strict=True))


def table_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the rows of a CSV or TSV file; cells may have line ends, so that none is read alone."""
    del begin
    separator = separator_of(read_head(path).decode(errors="replace")) or ","
    for line, row in text_rows(path, separator, reading, ID_NAMES):
        yield *_document(row, _lower(reading), f"{path}:{line}", in_table=True), -1, line


def parquet_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the rows of a Parquet file from row `begin`."""
    for number, row in parquet_rows(path, begin):
        found = _document(row, _lower(reading), f"{path}, row {number}", in_table=True)
        yield *found, number - 1, number


def _lower(reading: Reading) -> list[str] | None:
    return None if reading.fields is None else [name.lower() for name in reading.fields]


# TREC documents: <DOC> elements in SGML or XML

_OPEN: Final = re.compile(rb"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSE: Final = re.compile(rb"</doc\s*>", re.IGNORECASE)
_DOCNO: Final = re.compile(r"<docno\s*>(.*?)</docno\s*>", re.IGNORECASE | re.DOTALL)
_ID: Final = re.compile(r"""<doc\s[^<>]*?\bid\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_COMMENT: Final = re.compile(r"<!--.*?-->", re.DOTALL)
_CDATA: Final = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_TAG: Final = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,31});")


def trec_records(path: str, begin: int, reading: Reading) -> Iterator[Record]:
    """Yield the ``<DOC>`` elements of a file.

    The id is the text of ``<DOCNO>``, or else the attribute ``id`` of ``<DOC>``. The text is all
    other text, or the text inside the elements in `reading.fields`.
    """
    for raw, offset, line in _elements(path, begin):

        def where(at: int, raw: bytes = raw, line: int = line) -> str:
            line += raw.count(b"\n", 0, at)
            return f"{path}:{line}"

        body = reading.decode(raw, where)
        found = _DOCNO.search(body)
        if found is not None:
            body = body[: found.start()] + body[found.end() :]
        else:
            found = _ID.match(body)
        if found is None:
            raise FormatError(where(0), "the document has no <DOCNO>")
        one = checked_id(resolve_entities(found[1]), where(0))
        yield one, markup_text(body, reading.fields).encode(), offset, line


def _elements(path: str, begin: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield each ``<DOC>`` element with its offset in the file and its line."""
    held, offset, line = b"", begin, 1
    for block in blocks(path, begin):
        if not held:
            offset = block.offset
        held += block.raw
        at = 0
        while opened := _OPEN.search(held, at):
            closed = _CLOSE.search(held, opened.end())
            line += held.count(b"\n", at, opened.start())
            at = opened.start()
            if closed is None:
                break
            if _OPEN.search(held, opened.end(), closed.start()):
                raise FormatError(
                    f"{path}:{line}",
                    "</DOC> is missing: another <DOC> begins before the end of this one",
                )
            yield held[at : closed.end()], offset + at, line
            line += held.count(b"\n", at, closed.end())
            at = closed.end()
        else:
            # A tag may be split between blocks, but never a line.
            line += held.count(b"\n", at)
            at = len(held)
        held, offset = held[at:], offset + at
    if held:
        raise FormatError(f"{path}:{line}", "the document that begins here has no </DOC>")


def markup_text(body: str, fields: tuple[str, ...] | None = None) -> str:
    r"""Return the text of markup, without tags and comments; parts are joined by newlines.

    Examples
    --------
    >>> markup_text("<H>AT&amp;T</H> <TEXT>a < b <!-- not this --></TEXT>").split("\n")
    ['AT&T', 'a < b ']
    >>> markup_text("<H>one</H><T>two</T>", ("T",))
    'two'
    """
    if "<![CDATA[" in body:
        body = _CDATA.sub(lambda found: escape(found[1]), body)
    body = without_comments(body)
    if fields is not None:
        found = [
            re.findall(rf"(?is)<{tag}(?:\s[^<>]*)?>(.*?)</{tag}\s*>", body)
            for tag in map(re.escape, fields)
        ]
        body = "<p>".join(chain.from_iterable(found))
    parts = (part.strip("\r\n") for part in _TAG.split(body) if part.strip())
    return resolve_entities("\n".join(parts))


def without_comments(body: str) -> str:
    """Return markup without its comments; a comment that is not closed is text."""
    return _COMMENT.sub("", body) if "<!--" in body else body


def resolve_entities(text: str) -> str:
    """Replace entities by characters; unknown ones are kept."""
    return _ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text
