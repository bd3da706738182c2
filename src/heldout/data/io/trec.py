"""TREC runs (query Q0 document rank score tag) and qrels (query iteration document grade)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from heldout.data.columns import Stretches, grade_problem, wrong_grades
from heldout.data.ids import SHORT, IdColumn, ShortIds, id_column
from heldout.data.io.scan import BadLine, split_fields
from heldout.data.notes import count_of
from heldout.data.parallel import stream_threads
from heldout.data.subtopics import judgement_columns
from heldout.data.words import Floats, Ints, Words, field_words, parse_decimals
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from heldout.data.io.source import Piece, Source
    from heldout.data.run import Qrels, Run

__all__ = [
    "Rows",
    "qrels_lines",
    "read_qrels_rows",
    "read_run_rows",
    "read_subtopics",
    "run_lines",
    "run_tag",
]

RUN_LINE: Final = "6: query Q0 document rank score tag"
QRELS_LINE: Final = {
    3: "3 as in the first line: query document grade",
    4: "4: query iteration document grade",
}
_MANY = 1 << 30
_SHORTEST_LINE = 6
_HEAD = 1 << 16
# Pieces from which on threads pay: in smaller files they mostly wait for the interpreter lock.
_SEVERAL = 4
# What C's strtod accepts: decimal or hexadecimal, no thousands separators, no words. Digits before
# and after the point match in one way only: otherwise long numbers would take quadratic time.
_NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_GRADE = re.compile(rb"[+-]?\d+(\.0*)?")
_BLANK = r"[\x00-\x20]"
_HEX = rb"[+-]?0[xX][0-9a-fA-F]+(\.[0-9a-fA-F]*)?([pP][+-]?\d+)?"


class Rows(NamedTuple):
    """The good lines of a file as columns, and the bad lines."""

    queries: Stretches
    docs: IdColumn
    values: Floats
    bad: list[BadLine]


class _Part(NamedTuple):
    """The content of one piece of the file."""

    starts: list[int]
    names: list[str]
    docs: list[Words] | list[str]
    values: Floats
    bad: list[BadLine]


class _Growing:
    """Columns that grow, in memory that the system assigns only when it is filled."""

    __slots__ = ("_capacity", "_values", "_words", "long", "size")

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._values = np.empty(capacity)
        self._words: list[Words] = []
        self.long: list[str] | None = None
        self.size = 0

    def add(self, part: _Part) -> None:
        """Append the rows of a piece."""
        begin, self.size = self.size, self.size + len(part.values)
        self._values[begin : self.size] = part.values
        words = [doc for doc in part.docs if not isinstance(doc, str)]
        if self.long is None and len(words) < len(part.docs):
            self.long = self._short(begin).tolist() if begin else []
        if self.long is not None:
            more = part.docs if not words else ShortIds(tuple(words)).tolist()
            self.long.extend(one for one in more if isinstance(one, str))
            return
        for number, word in enumerate(words):
            if number == len(self._words):
                self._words.append(np.zeros(self._capacity, np.uint64))
            self._words[number][begin : self.size] = word

    def _short(self, size: int) -> ShortIds:
        return ShortIds(tuple(word[:size] for word in self._words))

    def docs(self) -> IdColumn:
        """Return the documents."""
        if self.long is not None or not self._words:
            return id_column(self.long or [])
        return self._short(self.size)

    def values(self) -> Floats:
        """Return the numbers."""
        return self._values[: self.size]


def read_run_rows(source: Source) -> Rows:
    """Read the lines of a run; ranks and columns after the tag are not used."""
    return _read(source, (0, 2, 4), (6, _MANY), RUN_LINE, "score")


def read_subtopics(source: Source) -> list[str]:
    """Read the second column of a qrels file, for the same lines as `read_qrels_rows`."""
    if len(_first_fields(source)) == 3:
        raise InputError(
            f"{source.name} has no subtopics: expected lines of 4: query subtopic document grade"
        )
    return _read(source, (0, 1, 3), (4, 4), QRELS_LINE[4], "grade").docs.tolist()


def read_qrels_rows(source: Source) -> Rows:
    """Read the lines of a qrels file of three or four columns."""
    columns = len(_first_fields(source))
    wanted = (0, 1, 2) if columns == 3 else (0, 2, 3)
    columns = columns if columns in QRELS_LINE else 4
    return _read(source, wanted, (columns, columns), QRELS_LINE[columns], "grade")


def run_tag(source: Source) -> str:
    """Return the tag in the last line with six fields, as trec_eval does."""
    tail = source.read(max(source.begin, source.size - 65536), source.size)
    lines = (line.split() for line in reversed(tail.split(b"\n")))
    whole = (line for line in lines if len(line) > 5 and not line[0].startswith(b"#"))
    return next((line[5].decode(errors="replace") for line in whole), "run")


def _first_fields(source: Source) -> list[bytes]:
    """Return the fields of the first line that is neither empty nor a comment."""
    size = _HEAD
    while True:
        head = source.head(size)
        lines = head.split(b"\n")
        if len(head) == size:  # the last line may be incomplete
            lines.pop()
        for line in lines:
            if line.strip() and not line.lstrip().startswith(b"#"):
                return line.split()
        if size >= source.size:
            return []
        size *= 16


def looks_like_run(source: Source) -> bool:
    """Return whether the first line is that of a run: six fields, with rank and score."""
    fields = _first_fields(source)
    return len(fields) > 5 and fields[3].isdigit() and np.isfinite(_number(fields[4]))


def looks_like_qrels(source: Source) -> bool:
    """Return whether the first line is a judgement: four fields, the last of which is a grade.

    A truncated line of a run may have four fields, too, but the second is ``Q0``.
    """
    fields = _first_fields(source)
    return len(fields) == 4 and fields[1] != b"Q0" and _GRADE.fullmatch(fields[3]) is not None


def _read(
    source: Source,
    wanted: tuple[int, int, int],
    columns: tuple[int, int],
    expected: str,
    what: str,
) -> Rows:
    def read_part(span: tuple[int, int]) -> _Part:
        piece = source.piece(span)
        fields = split_fields(source, piece, wanted, columns, expected)
        starts, ends = fields.starts, fields.ends
        values, bad = _numbers(piece, starts[2], ends[2], what)
        if bad:
            keep = np.isfinite(values)
            starts, ends, values = starts[:, keep], ends[:, keep], values[keep]
        firsts, names = _query_stretches(piece, starts[0], ends[0])
        docs = _documents(piece, starts[1], ends[1])
        return _Part(firsts, names, docs, values, fields.bad + bad)

    column = _Growing(source.size // _SHORTEST_LINE + 1)
    firsts: list[int] = []
    names: list[str] = []
    bad: list[BadLine] = []
    pieces = source.pieces()
    for part in stream_threads(read_part, pieces, 1 if len(pieces) < _SEVERAL else None):
        begin = column.size
        column.add(part)
        bad.extend(part.bad)
        goes_on = bool(names) and part.names[:1] == names[-1:]
        firsts.extend(begin + first for first in part.starts[goes_on:])
        names.extend(part.names[goes_on:])
    stretches = Stretches(np.array(firsts, np.int64), names, column.size)
    bad.sort(key=lambda line: line.offset)
    return Rows(stretches, column.docs(), column.values(), bad)


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


def _documents(piece: Piece, starts: Ints, ends: Ints) -> list[Words] | list[str]:
    lengths = ends - starts
    if int(lengths.max(initial=0)) <= SHORT:
        return field_words(piece.data, starts, lengths)
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return [piece.data[a:z].tobytes().decode() for a, z in spans]


def _numbers(piece: Piece, starts: Ints, ends: Ints, what: str) -> tuple[Floats, list[BadLine]]:
    """Parse numbers as trec_eval does; others are NaN and reported as bad lines."""
    values, hard = parse_decimals(piece.data, starts, ends)
    for row in np.flatnonzero(hard).tolist():
        raw = piece.data[starts[row] : ends[row]].tobytes()
        values[row] = np.nan if what == "grade" and not _GRADE.fullmatch(raw) else _number(raw)
    wrong = ~np.isfinite(values) if hard.any() else np.zeros(len(values), np.bool_)
    if what == "grade":
        wrong |= wrong_grades(values)
    bad = []
    for row in np.flatnonzero(wrong).tolist():
        raw = piece.data[starts[row] : ends[row]].tobytes()
        bad.append(BadLine(piece.offset + int(starts[row]), _complaint(raw, what)))
        values[row] = np.nan
    return values, bad


def _complaint(raw: bytes, what: str) -> str:
    shown = raw[:40].decode(errors="replace")
    value = _number(raw)
    if np.isfinite(value):
        return f"{what} {shown!r} {grade_problem(value)}"
    named = shown.lower().lstrip("+-") in {"nan", "inf", "infinity"}
    return f"{what} {shown!r} is not a {'finite ' if named or not np.isnan(value) else ''}number"


def _number(raw: bytes) -> float:
    if _NUMBER.fullmatch(raw):
        return float(raw)
    if re.fullmatch(_HEX, raw):
        try:
            return float.fromhex(raw.decode())
        except OverflowError:
            return float("inf")
    return float("nan")


def refuse_bad(source: Source, bad: list[BadLine]) -> None:
    """Raise an error that names the first bad line and counts the others, if there are any."""
    if bad:
        more = f" (and {count_of(len(bad) - 1, 'more bad line')})" if len(bad) > 1 else ""
        raise FormatError(source.place(bad[0].offset), bad[0].reason + more)


def run_as_qrels(name: str) -> InputError:
    """Return the error for a run that was given in the place of judgements."""
    return InputError(
        f"{name} looks like a run, not judgements: are the arguments swapped? Judgements come "
        "first, then runs"
    )


def qrels_as_run(name: str) -> InputError:
    """Return the error for judgements that were given in the place of a run."""
    return InputError(
        f"{name} looks like judgements, not a run: are the arguments swapped? Judgements come "
        "first, then runs"
    )


def refuse_empty(source: Source, rows: Rows, expected: str) -> None:
    """Raise an error if there are no good lines."""
    if not len(rows.values):
        raise InputError(f"{source.name} has no rows: expected lines of {expected}")


def lines_with(source: Source, query: str, doc: str) -> list[int]:
    """Return the numbers of the lines with a query and a document; slow, for messages."""
    lines = source.read(source.begin, source.size).split(b"\n")
    wanted, document = query.encode(), doc.encode()
    found = []
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if fields[:1] == [wanted] and document in fields[1:3]:
            found.append(number)
    return found


def _refuse_unwritable(ids: Iterable[str], what: str) -> None:
    blank = re.compile(_BLANK)
    for one in ids:
        if not one or blank.search(one) or (what == "query" and one.startswith("#")):
            raise InputError(
                f"{what} id {one!r} is not allowed in a TREC file, where white space separates "
                "fields and # begins a comment: write .csv, .json or .parquet instead"
            )


def run_lines(run: Run) -> Iterator[str]:
    """Yield the lines of a run file; scores have all digits needed to read them back exactly."""
    docs, scores = run.docs.tolist(), run.scores.tolist()
    _refuse_unwritable(run.queries, "query")
    _refuse_unwritable(docs, "document")
    tag = re.sub(_BLANK, "_", run.name) or "run"
    for number, query in enumerate(run.queries):
        begin, end = int(run.offsets[number]), int(run.offsets[number + 1])
        for row in range(begin, end):
            yield f"{query} Q0 {docs[row]} {row - begin + 1} {scores[row]!r} {tag}\n"


def qrels_lines(qrels: Qrels) -> Iterator[str]:
    """Yield the lines of a qrels file."""
    columns = judgement_columns(qrels)
    subtopics = columns.get("subtopic", ["0"] * len(qrels))
    _refuse_unwritable(qrels.queries, "query")
    for what, ids in (("document", columns["doc"]), ("subtopic", subtopics)):
        _refuse_unwritable(dict.fromkeys(map(str, ids)), what)
    rows = zip(columns["query"], subtopics, columns["doc"], columns["grade"], strict=True)
    for query, subtopic, doc, grade in rows:
        yield f"{query} {subtopic} {doc} {grade}\n"
