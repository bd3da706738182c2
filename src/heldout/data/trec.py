"""TREC runs (query Q0 document rank score tag) and qrels (query iteration document grade).

Lines are split many at once. If all lines of a piece have the same number of fields with single
separators, the positions of the separators are those of the fields. Any other piece (tabs and
spaces mixed, CRLF, comments, empty or wrong lines) is split by a slower function with the same
result.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from heldout.data.files import UTF16, looks_like_utf16
from heldout.data.frames import USUAL_NAMES, find_column
from heldout.data.ids import SHORT, Ids
from heldout.data.notes import count_of, named_few
from heldout.data.parallel import run_threads
from heldout.data.rows import Rows, Stretches
from heldout.data.words import Bytes, Flags, Floats, Ints, field_words, parse_decimals
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heldout.data.files import Piece, Source

RUN_LINE: Final = "6: query Q0 document rank score tag"
QRELS_LINE: Final = {
    3: "3 as in the first line: query document grade",
    4: "4: query iteration document grade",
}
GREATEST_GRADE: Final = 2**31
"""The largest grade, as trec_eval has it."""

_MANY: Final = 1 << 30
# Pieces from which on threads pay: in smaller files they mostly wait for the interpreter lock.
_SEVERAL: Final = 4
# What C's strtod accepts: decimal or hexadecimal, no thousands separators, no words. Digits before
# and after the point match in one way only: otherwise long numbers would take quadratic time.
_NUMBER: Final = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_HEX: Final = re.compile(rb"[+-]?0[xX][0-9a-fA-F]+(\.[0-9a-fA-F]*)?([pP][+-]?\d+)?")
_GRADE: Final = re.compile(rb"[+-]?\d+(\.0*)?")
_BLANK: Final = r"[\x00-\x20]"
_NEWLINE, _SPACE, _HASH, _TAB, _RETURN = 10, 32, 35, 9, 13


def wrong_grades(values: Floats) -> Flags:
    """Return which values are not grades: integers that are not too large."""
    wrong: Flags = ~(np.abs(values) <= GREATEST_GRADE) | (values != np.rint(values))
    return wrong


def grade_problem(value: float) -> str:
    """Say why a number is not a grade.

    Examples
    --------
    >>> grade_problem(0.5), grade_problem(1e12)
    ('is not an integer', 'is too large')
    """
    return "is too large" if GREATEST_GRADE < abs(value) < np.inf else "is not an integer"


# Reading


def read_run(source: Source) -> Rows:
    """Read a run; ranks and columns after the tag are not used."""
    rows = _read(source, (0, 2, 4), (6, _MANY), RUN_LINE, "score")
    return rows._replace(name=_tag(source))


def read_qrels(source: Source, *, subtopics: bool = False) -> Rows:
    """Read qrels of three or four columns; the second of four may be a subtopic."""
    columns = len(_first_fields(source))
    wanted = (0, 1, 2) if columns == 3 else (0, 2, 3)
    columns = columns if columns in QRELS_LINE else 4
    rows = _read(source, wanted, (columns, columns), QRELS_LINE[columns], "grade")
    if not subtopics:
        return rows
    if columns == 3:
        raise InputError(
            f"{source.name} has no subtopics: expected lines of 4: query subtopic document grade"
        )
    second = _read(source, (0, 1, 3), (4, 4), QRELS_LINE[4], "grade").docs
    return rows._replace(subtopics=second.tolist())


def _tag(source: Source) -> str:
    """Return the tag in the last line with six fields, as trec_eval does."""
    tail = source.read(max(source.begin, source.size - 65536), source.size)
    lines = (line.split() for line in reversed(tail.split(b"\n")))
    whole = (line for line in lines if len(line) > 5 and not line[0].startswith(b"#"))
    return next((line[5].decode(errors="replace") for line in whole), "run")


def _first_fields(source: Source) -> list[bytes]:
    """Return the fields of the first line that is neither empty nor a comment."""
    for span in source.spans():
        for line in source.read(*span).split(b"\n"):
            if line.strip() and not line.lstrip().startswith(b"#"):
                return line.split()
    return []


def _refuse_other(source: Source, number: str) -> None:
    """Say what a file is that has no line of the expected form: swapped, or a table."""
    fields = _first_fields(source)
    is_run = len(fields) > 5 and fields[3].isdigit() and np.isfinite(_number(fields[4]))
    # A truncated line of a run may have four fields, too, but the second is Q0.
    is_qrels = len(fields) == 4 and fields[1] != b"Q0" and _GRADE.fullmatch(fields[3])
    if is_run and number == "grade":
        raise swapped(source.name, "a run, not judgements")
    if is_qrels and number == "score":
        raise swapped(source.name, "judgements, not a run")
    first, mark, cells = header_cells(source.head())
    is_named = any(find_column(cells, role) for role in ("query", "doc", number))
    is_line = mark == "\t" or len(first.split()) > 2
    if len(cells) > 1 and (is_named or not is_line):
        roles = ("query", "doc", number)
        needed = ", ".join(f"{role} ({' or '.join(USUAL_NAMES[role][:2])})" for role in roles)
        found = named_few(cells, len(cells), 10)
        raise InputError(f"{source.name}: expected columns for {needed}, found {found}")


def header_cells(head: bytes) -> tuple[str, str, list[str]]:
    """Return the first line, and its separator and cells if it were the header of a table."""
    lines = (line for line in head.decode(errors="replace").splitlines() if line.strip())
    first = next((line for line in lines if not line.lstrip().startswith("#")), "")
    mark = max("\t,;", key=first.count)
    return first, mark, [cell.strip().strip('"') for cell in first.split(mark)]


def swapped(name: str, looks_like: str) -> InputError:
    """Return the error for a run in the place of judgements, or the other way round."""
    return InputError(
        f"{name} looks like {looks_like}: are the arguments swapped? Judgements come first, then "
        "runs"
    )


class _Part(NamedTuple):
    """The content of one piece of the file."""

    starts: list[int]
    names: list[str]
    docs: Ids
    values: Floats
    bad: list[_BadLine]


class _BadLine(NamedTuple):
    offset: int
    reason: str


def _read(
    source: Source,
    wanted: tuple[int, int, int],
    columns: tuple[int, int],
    expected: str,
    what: str,
) -> Rows:
    """Read query, document and number of all lines; the first bad lines are an error."""

    def read_part(span: tuple[int, int]) -> _Part:
        piece = source.piece(span)
        starts, ends, unfit = _split(source, piece, wanted, columns, expected)
        values, bad = _numbers(piece, starts[2], ends[2], what)
        firsts, names = _query_stretches(piece, starts[0], ends[0])
        docs = _documents(piece, starts[1], ends[1])
        return _Part(firsts, names, docs, values, unfit + bad)

    spans = source.spans()
    parts = run_threads(read_part, spans, 1 if len(spans) < _SEVERAL else None)
    firsts: list[int] = []
    names: list[str] = []
    size = 0
    for part in parts:
        goes_on = bool(names) and part.names[:1] == names[-1:]
        firsts.extend(size + first for first in part.starts[goes_on:])
        names.extend(part.names[goes_on:])
        size += len(part.values)
    bad = [line for part in parts for line in part.bad]
    if not size:
        _refuse_other(source, what)
    if bad:
        more = f" (and {count_of(len(bad) - 1, 'more bad line')})" if len(bad) > 1 else ""
        first = min(bad)
        raise FormatError(source.place(first.offset), first.reason + more)
    if not size:
        raise InputError(f"{source.name} has no rows: expected lines of {expected}")
    stretches = Stretches(np.array(firsts, np.int64), names, size)
    docs = Ids.stack([part.docs for part in parts])
    values = np.concatenate([part.values for part in parts])

    def places(query: str, doc: str) -> list[str]:
        pair = (query.encode(), doc.encode())
        lines = (line.split() for line in source.whole().split(b"\n"))
        last = max(wanted[:2])
        return [
            f"{source.name}:{number}"
            for number, fields in enumerate(lines, 1)
            if len(fields) > last and (fields[wanted[0]], fields[wanted[1]]) == pair
        ]

    return Rows(source.name, stretches, docs, values, places)


def _query_stretches(piece: Piece, starts: Ints, ends: Ints) -> tuple[list[int], list[str]]:
    """Return the rows where the query changes, and the new queries."""
    if not len(starts):
        return [], []
    firsts = _changes(piece, starts, ends)
    spans = zip(starts[firsts].tolist(), ends[firsts].tolist(), strict=True)
    return firsts.tolist(), [piece.data[a:z].tobytes().decode() for a, z in spans]


def _changes(piece: Piece, starts: Ints, ends: Ints) -> Ints:
    """Return the rows whose first field differs from that of the row before."""
    changes = np.zeros(len(starts), np.bool_)
    changes[0] = True
    lengths = ends - starts
    changes[1:] = lengths[1:] != lengths[:-1]
    # Long fields are compared separately: as words, all rows would need the memory of the longest.
    for word in field_words(piece.data, starts, np.minimum(lengths, SHORT)):
        changes[1:] |= word[1:] != word[:-1]
    for row in np.flatnonzero(~changes & (lengths > SHORT)).tolist():
        before = piece.data[starts[row - 1] : ends[row - 1]]
        changes[row] = not np.array_equal(piece.data[starts[row] : ends[row]], before)
    return np.flatnonzero(changes)


def _documents(piece: Piece, starts: Ints, ends: Ints) -> Ids:
    lengths = ends - starts
    if int(lengths.max(initial=0)) <= SHORT:
        return Ids(tuple(field_words(piece.data, starts, lengths)))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return Ids.of(piece.data[a:z].tobytes().decode() for a, z in spans)


def _numbers(piece: Piece, starts: Ints, ends: Ints, what: str) -> tuple[Floats, list[_BadLine]]:
    """Parse numbers as trec_eval does; others are reported as bad lines."""
    values, hard = parse_decimals(piece.data, starts, ends)

    def raw(row: int) -> bytes:
        return piece.data[starts[row] : ends[row]].tobytes()

    for row in np.flatnonzero(hard).tolist():
        is_number = what == "score" or _GRADE.fullmatch(raw(row))
        values[row] = _number(raw(row)) if is_number else np.nan
    wrong = ~np.isfinite(values) if hard.any() else np.zeros(len(values), np.bool_)
    if what == "grade":
        wrong |= wrong_grades(values)
    return values, [
        _BadLine(piece.offset + int(starts[row]), _number_problem(raw(row), what))
        for row in np.flatnonzero(wrong).tolist()
    ]


def _number_problem(raw: bytes, what: str) -> str:
    shown = raw[:40].decode(errors="replace")
    value = _number(raw)
    if np.isfinite(value):
        return f"{what} {shown!r} {grade_problem(value)}"
    named = shown.lower().lstrip("+-") in {"nan", "inf", "infinity"}
    return f"{what} {shown!r} is not a {'finite ' if named or not np.isnan(value) else ''}number"


def _number(raw: bytes) -> float:
    if _NUMBER.fullmatch(raw):
        return float(raw)
    if _HEX.fullmatch(raw):
        try:
            return float.fromhex(raw.decode())
        except OverflowError:
            return float("inf")
    return float("nan")


# Splitting lines


def _split(
    source: Source,
    piece: Piece,
    wanted: tuple[int, ...],
    columns: tuple[int, int],
    expected: str,
) -> tuple[Ints, Ints, list[_BadLine]]:
    """Return where the wanted fields begin and end, one row per field, and lines that do not fit.

    `columns` are the lowest and highest number of fields of a good line.
    """
    text = piece.data[: piece.size]
    blank = text <= _SPACE
    places = np.flatnonzero(blank)
    marks = text[places]
    _check_text(source, piece, places, marks)
    found = _split_regular(text, places, marks, columns[0], wanted)
    if found is not None:
        return *found, []
    return _split_ragged(piece, blank, wanted, columns, expected)


def _check_text(source: Source, piece: Piece, places: Ints, marks: Bytes) -> None:
    """Raise an error for control characters and for anything that is not UTF-8."""
    control = (marks < _SPACE) & (marks - np.uint8(_TAB) > _RETURN - _TAB)
    if control.any():
        if looks_like_utf16(source.head(64)):
            raise FormatError(f"{source.name}:1", UTF16)
        at = int(places[np.argmax(control)])
        raise FormatError(
            source.place(piece.offset + at),
            f"not a text file (byte 0x{piece.data[at]:02x}): "
            "expected lines of fields separated by white space",
        )
    text = piece.data[: piece.size]
    if int(text.max()) >= 128:
        try:
            text.tobytes().decode()
        except UnicodeDecodeError as error:
            raise FormatError(
                source.place(piece.offset + error.start),
                f"byte 0x{text[error.start]:02x} is not UTF-8: convert the file, "
                "for example with iconv -f latin1 -t utf-8",
            ) from None


def _split_regular(
    text: Bytes, places: Ints, marks: Bytes, columns: int, wanted: tuple[int, ...]
) -> tuple[Ints, Ints] | None:
    """Split lines that all have `columns` fields with one separator between them."""
    if len(places) % columns or places[0] == 0 or (places[1:] - places[:-1] == 1).any():
        return None
    line_end = marks == _NEWLINE
    lines = len(places) // columns
    if np.count_nonzero(line_end) != lines or not line_end[columns - 1 :: columns].all():
        return None
    starts = np.empty((len(wanted), lines), np.int64)
    ends = np.empty((len(wanted), lines), np.int64)
    for row, field in enumerate(wanted):
        ends[row] = places[field::columns]
        if field:
            np.add(places[field - 1 :: columns], 1, out=starts[row])
        else:
            starts[row, 0] = 0
            np.add(places[columns - 1 : -1 : columns], 1, out=starts[row, 1:])
    first = starts[wanted.index(0)]
    return None if (text[first] == _HASH).any() else (starts, ends)


def _split_ragged(
    piece: Piece,
    blank: Flags,
    wanted: tuple[int, ...],
    columns: tuple[int, int],
    expected: str,
) -> tuple[Ints, Ints, list[_BadLine]]:
    """Split any lines; empty lines and comments are skipped, others must fit `columns`."""
    text = piece.data[: piece.size]
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if not blank[0]:
        edges = np.concatenate(([0], edges))
    starts, ends = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(text == _NEWLINE)
    counts = np.bincount(np.searchsorted(newlines, starts), minlength=len(newlines))
    first = np.cumsum(counts) - counts
    filled = np.flatnonzero(counts)
    filled = filled[text[starts[first[filled]]] != _HASH]
    fits = (counts[filled] >= columns[0]) & (counts[filled] <= columns[1])
    bad = [
        _BadLine(
            piece.offset + int(starts[first[line]]), f"{counts[line]} fields, expected {expected}"
        )
        for line in filled[~fits].tolist()
    ]
    fields = np.array(wanted)[:, None] + first[filled[fits]]
    return starts[fields], ends[fields], bad


# Writing


def _refuse_unwritable(ids: Iterable[str], what: str) -> None:
    blank = re.compile(_BLANK)
    for one in ids:
        if not one or blank.search(one) or (what == "query" and one.startswith("#")):
            raise InputError(
                f"{what} id {one!r} is not allowed in a TREC file, where white space separates "
                "fields and # begins a comment: write .csv, .json or .parquet instead"
            )


def run_lines(run: Any) -> Iterator[str]:
    """Yield the lines of a run file; scores have all digits needed to read them back exactly."""
    docs, scores = run.docs.tolist(), run.scores.tolist()
    _refuse_unwritable(run.queries, "query")
    _refuse_unwritable(docs, "document")
    tag = re.sub(_BLANK, "_", run.name) or "run"
    for number, query in enumerate(run.queries):
        begin, end = int(run.offsets[number]), int(run.offsets[number + 1])
        for row in range(begin, end):
            yield f"{query} Q0 {docs[row]} {row - begin + 1} {scores[row]!r} {tag}\n"


def qrels_lines(qrels: Any) -> Iterator[str]:
    """Yield the lines of a qrels file."""
    columns = qrels.columns()
    subtopics = columns.get("subtopic", ["0"] * len(qrels))
    _refuse_unwritable(qrels.queries, "query")
    for what, ids in (("document", columns["doc"]), ("subtopic", subtopics)):
        _refuse_unwritable(dict.fromkeys(map(str, ids)), what)
    rows = zip(columns["query"], subtopics, columns["doc"], columns["grade"], strict=True)
    for query, subtopic, doc, grade in rows:
        yield f"{query} {subtopic} {doc} {grade}\n"
