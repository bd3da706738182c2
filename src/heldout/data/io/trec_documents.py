"""TREC documents: ``<DOC>`` elements in SGML or XML files."""

from __future__ import annotations

import re
from html import escape, unescape
from typing import TYPE_CHECKING

from heldout.data.files import blocks
from heldout.data.io.records import Record, RecordDocuments
from heldout.errors import FormatError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["TrecDocuments", "markup_text", "resolve_entities", "without_comments"]

_OPEN = re.compile(rb"<doc(?:\s[^<>]*)?>", re.IGNORECASE)
_CLOSE = re.compile(rb"</doc\s*>", re.IGNORECASE)
_DOCNO = re.compile(r"<docno\s*>", re.IGNORECASE)
_END_DOCNO = re.compile(r"</docno\s*>", re.IGNORECASE)
_ID = re.compile(r"""^<doc\s[^<>]*?\bid\s*=\s*["']?([^"'\s<>]+)""", re.IGNORECASE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<[!?][^<>]*>")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]\w{0,31});")


class TrecDocuments(RecordDocuments):
    """The ``<DOC>`` elements of files.

    The id is the text of ``<DOCNO>``, or else the attribute ``id`` of ``<DOC>``. The text is all
    other text, or the text inside the elements in `fields`; tags and comments are removed and
    entities resolved. Parts between tags are joined by newlines.
    """

    __slots__ = ()

    def records(self, path: str, begin: int) -> Iterator[Record]:
        """Yield the documents of a file from byte `begin`."""
        for raw, offset, line in _elements(path, begin):
            where = _Where(path, line, raw)
            body = self._reading.decode(raw, where)
            opening = body.index(">") + 1
            one, body = _take_id(body[:opening], body[opening : body.rindex("<")], str(where))
            yield Record(one, markup_text(body, self._reading.fields).encode(), offset, line)


class _Where:
    """Computes the place of a byte in an element when it is needed."""

    def __init__(self, path: str, line: int, raw: bytes) -> None:
        self._path, self._line, self._raw = path, line, raw

    def __call__(self, at: int) -> str:
        line = self._line + self._raw.count(b"\n", 0, at)
        return f"{self._path}:{line}"

    def __str__(self) -> str:
        return f"{self._path}:{self._line}"


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
            inner = _OPEN.search(held, opened.end(), closed.start())
            if inner is not None:
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


def _take_id(tag: str, body: str, where: str) -> tuple[str, str]:
    found = _DOCNO.search(body)
    end = _END_DOCNO.search(body, found.end()) if found is not None else None
    if found is not None and end is not None:
        one = resolve_entities(body[found.end() : end.start()]).strip()
        body = body[: found.start()] + body[end.end() :]
    else:
        named = _ID.match(tag)
        if named is None:
            raise FormatError(where, "the document has no <DOCNO>")
        one = resolve_entities(named[1])
    if "\0" in one:
        raise FormatError(where, "the id has a zero byte: remove it")
    return one, body


def markup_text(body: str, fields: tuple[str, ...] | None = None) -> str:
    r"""Return the text of markup.

    Examples
    --------
    >>> markup_text("<H>AT&amp;T</H> <TEXT>a < b <!-- not this --></TEXT>").split("\n")
    ['AT&T', 'a < b ']
    >>> markup_text("<H>one</H><T>two</T>", ("T",))
    'two'
    """
    if "<![CDATA[" in body:
        body = _closed(_CDATA, "]]>", lambda found: escape(found[1]), body)
    body = without_comments(body)
    if fields is not None:
        body = "<p>".join(part for name in fields for part in _elements_of(name, body))
    stretches = (part.strip("\r\n") for part in _TAG.split(body) if part.strip())
    return resolve_entities("\n".join(stretches))


def without_comments(body: str) -> str:
    """Return markup without its comments; a comment that is not closed is text."""
    return _closed(_COMMENT, "-->", lambda _: "", body) if "<!--" in body else body


def _closed(
    pattern: re.Pattern[str], end: str, instead: Callable[[re.Match[str]], str], body: str
) -> str:
    """Replace closed matches; nothing is searched after the last end, to avoid quadratic time."""
    head, last, tail = body.rpartition(end)
    return pattern.sub(instead, head + last) + tail if last else body


def _elements_of(name: str, body: str) -> Iterator[str]:
    """Yield the content of the elements with a name."""
    tag = re.escape(name)
    begin = re.compile(rf"<{tag}(?:\s[^<>]*)?>", re.IGNORECASE)
    end = re.compile(rf"</{tag}\s*>", re.IGNORECASE)
    at = 0
    while (opened := begin.search(body, at)) and (closed := end.search(body, opened.end())):
        yield body[opened.end() : closed.start()]
        at = closed.end()


def resolve_entities(text: str) -> str:
    """Replace entities by characters; unknown ones are kept."""
    return _ENTITY.sub(lambda found: unescape(found[0]), text) if "&" in text else text
