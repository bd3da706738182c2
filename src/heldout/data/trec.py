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

from heldout.data.files import decode_text
from heldout.data.ids import SHORT, Ids
from heldout.data.parallel import run_threads
from heldout.data.words import (
    PADDING,
    Bytes,
    Flags,
    Floats,
    Ints,
    field_words,
    number_of,
    parse_decimals,
)
from heldout.errors import FormatError, InputError
from heldout.notes import count_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    from heldout.data.files import Source

GREATEST_GRADE: Final = 2**31  # as in trec_eval
SWAPPED: Final = "are the arguments swapped? Judgements come first, then runs"

# Pieces from which on threads pay: in smaller files they mostly wait for the interpreter lock.
_SEVERAL: Final = 4
_BLANK: Final = r"[\x00-\x20]"
_NEWLINE, _SPACE, _HASH, _TAB, _RETURN = 10, 32, 35, 9, 13

_BadLines = list[tuple[int, str]]  # offsets and reasons


class Rows(NamedTuple):
    """What a run or judgements are made from."""

    source: str  # the name of the file or object in messages
    queries: list[str]  # in the order of their first appearance
    codes: NDArray[np.integer]  # the number of the query of each row
    docs: Ids
    values: Floats
    places: Callable[[str, str], list[str]]  # of a query and a document; slow, for messages
    name: str = "run"  # of the system
    subtopics: list[str] | None = None


class _Form(NamedTuple):
    """What the lines of a file have to be."""

    number: str  # score or grade
    fields: tuple[int, ...]  # of query, document and number, and of the subtopic if it is wanted
    fewest: int  # fields of a line
    most: int
    expected: str


_RUN: Final = _Form("score", (0, 2, 4), 6, 1 << 30, "6: query Q0 document rank score tag")
_THREE: Final = _Form("grade", (0, 1, 2), 3, 3, "3 as in the first line: query document grade")
_FOUR: Final = _Form("grade", (0, 2, 3), 4, 4, "4: query iteration document grade")


def wrong_grades(values: Floats) -> Flags:
    """Return which values are not grades: integers that are not too large."""
    wrong: Flags = ~(np.abs(values) <= GREATEST_GRADE) | (values != np.rint(values))
    return wrong


def grade_problem(value: float) -> str:
    """Say why a number is not a grade."""
    return "is too large" if GREATEST_GRADE < abs(value) < np.inf else "is not an integer"


# Reading


def read_run(source: Source) -> Rows:
    """Read a run; ranks and columns after the tag are not used."""
    rows = _read(source, _RUN)
    # The tag in the last line with six fields, as in trec_eval.
    tail = source.read(max(0, source.size - 65536), source.size)
    lines = (line.split() for line in reversed(tail.split(b"\n")))
    whole = (line for line in lines if len(line) > 5 and not line[0].startswith(b"#"))
    tag = next((line[5].decode(errors="replace") for line in whole), "run")
    return rows._replace(name=tag)


def read_qrels(source: Source, *, subtopics: bool = False) -> Rows:
    """Read qrels of three or four columns; the second of four may be a subtopic."""
    form = _THREE if len(source.first_line().split()) == 3 else _FOUR
    if not subtopics:
        return _read(source, form)
    if form is _THREE:
        raise InputError(
            f"{source.name} has no subtopics: expected lines of 4: query subtopic document grade"
        )
    return _read(source, _FOUR._replace(fields=(0, 2, 3, 1)))


def _read(source: Source, form: _Form) -> Rows:
    """Read query, document and number of all lines; the first bad line is an error."""

    def read_piece(span: tuple[int, int]) -> tuple[Any, ...]:
        data = source.piece(span)
        starts, ends, unfit = _split(source, data, span[0], form)
        values, bad = _numbers(data, starts[2], ends[2], form.number)
        queries, docs, *topics = (
            _ids(data, starts[row], ends[row]) for row in range(len(starts)) if row != 2
        )
        firsts = queries.changes()
        counts = np.diff(firsts, append=len(queries))
        bad = [(span[0] + offset, reason) for offset, reason in unfit + bad]
        return queries.take(firsts).tolist(), counts, docs, values, topics, bad

    spans = source.spans()
    parts = run_threads(read_piece, spans, 1 if len(spans) < _SEVERAL else None)
    names, counts, docs, values, topics, bad = zip(*parts, strict=True)
    size = sum(map(len, values))
    wrong = sorted(line for lines in bad for line in lines)
    if wrong:
        more = f" (and {count_of(len(wrong) - 1, 'more bad line')})" if len(wrong) > 1 else ""
        if not size:
            more = f". No line is as expected: {SWAPPED}. A table needs a header: query_id,doc_id,…"
        offset, reason = wrong[0]
        raise FormatError(source.place(offset), reason + more)
    if not size:
        raise InputError(f"{source.name} has no rows: expected lines of {form.expected}")
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(name, len(numbers)) for part in names for name in part]

    def places(query: str, doc: str) -> list[str]:
        lines = (line.split() for line in source.whole().split(b"\n"))
        first, second = form.fields[:2]
        return [
            f"{source.name}:{number}"
            for number, fields in enumerate(lines, 1)
            if len(fields) > second
            and (fields[first], fields[second]) == (query.encode(), doc.encode())
        ]

    return Rows(
        source.name,
        list(numbers),
        np.repeat(np.array(codes, np.int32), np.concatenate(counts)),
        Ids.stack(docs),
        np.concatenate(values),
        places,
        subtopics=[name for part in topics for name in part[0].tolist()] if topics[0] else None,
    )


def _ids(data: Bytes, starts: Ints, ends: Ints) -> Ids:
    lengths = ends - starts
    if int(lengths.max(initial=0)) <= SHORT:
        return Ids(tuple(field_words(data, starts, lengths)))
    spans = zip(starts.tolist(), ends.tolist(), strict=True)
    return Ids.of(data[a:z].tobytes().decode() for a, z in spans)


def _numbers(data: Bytes, starts: Ints, ends: Ints, what: str) -> tuple[Floats, _BadLines]:
    """Parse numbers as trec_eval does; others are reported as bad lines."""
    values, hard = parse_decimals(data, starts, ends)

    def text(row: int) -> str:
        return data[starts[row] : ends[row]].tobytes().decode()

    def problem(row: int) -> str:
        value, shown = number_of(text(row)), text(row)[:40]
        if np.isfinite(value):
            return f"{what} {shown!r} {grade_problem(value)}"
        return f"{what} {shown!r} is not a {'finite ' if np.isinf(value) else ''}number"

    for row in np.flatnonzero(hard).tolist():  # grades are plain digits
        values[row] = number_of(text(row)) if what == "score" else np.nan
    wrong = ~np.isfinite(values) if hard.any() else np.zeros(len(values), np.bool_)
    if what == "grade":
        wrong |= wrong_grades(values)
    return values, [(int(starts[row]), problem(row)) for row in np.flatnonzero(wrong).tolist()]


# Splitting lines


def _split(source: Source, data: Bytes, begin: int, form: _Form) -> tuple[Ints, Ints, _BadLines]:
    """Return where the wanted fields begin and end, one row per field, and lines that do not fit.

    The lines begin at byte `begin` of the text.
    """
    text = data[:-PADDING]
    blank = text <= _SPACE
    places = np.flatnonzero(blank)
    marks = text[places]
    control = (marks < _SPACE) & (marks - np.uint8(_TAB) > _RETURN - _TAB)
    try:
        is_text = int(text.max()) < 128 or bool(text.tobytes().decode())
    except UnicodeDecodeError:
        is_text = False
    if control.any() or not is_text:
        decode_text(source.whole(), source.name)  # says where it is not UTF-8
        place = int(places[np.argmax(control)])
        raise FormatError(
            source.place(begin + place),
            f"not a text file (byte 0x{text[place]:02x}): "
            "expected lines of fields separated by white space",
        )
    returns = places[marks == _RETURN]
    lone = returns[text[returns + 1] > _SPACE]
    if len(lone):  # whatever follows the tag of a run is not used: other lines would be lost
        raise FormatError(
            source.place(begin + int(lone[0])),
            "a carriage return alone ends a line: convert the file, as with tr '\\r' '\\n'",
        )
    fields = _split_regular(text, places, marks, form)
    return _split_ragged(text, blank, form) if fields is None else (*fields, [])


def _split_regular(
    text: Bytes, places: Ints, marks: Bytes, form: _Form
) -> tuple[Ints, Ints] | None:
    """Split lines that all have as few fields as possible with one separator between them."""
    columns = form.fewest
    if len(places) % columns or places[0] == 0 or (places[1:] - places[:-1] == 1).any():
        return None
    line_end = marks == _NEWLINE
    lines = len(places) // columns
    if np.count_nonzero(line_end) != lines or not line_end[columns - 1 :: columns].all():
        return None
    before = [np.append(-1, places[columns - 1 : -1 : columns])]  # the first field of each line
    before += [places[field - 1 :: columns] for field in form.fields[1:]]
    starts = np.array(before)
    starts += 1
    ends = np.array([places[field::columns] for field in form.fields])
    return None if (text[starts[0]] == _HASH).any() else (starts, ends)


def _split_ragged(text: Bytes, blank: Flags, form: _Form) -> tuple[Ints, Ints, _BadLines]:
    """Split any lines; empty lines and comments are skipped, others must have the form."""
    edges = np.flatnonzero(blank[1:] != blank[:-1]) + 1
    if not blank[0]:
        edges = np.concatenate(([0], edges))
    starts, ends = edges[0::2], edges[1::2]
    newlines = np.flatnonzero(text == _NEWLINE)
    counts = np.bincount(np.searchsorted(newlines, starts), minlength=len(newlines))
    first = np.cumsum(counts) - counts
    filled = np.flatnonzero(counts)
    filled = filled[text[starts[first[filled]]] != _HASH]
    fits = (counts[filled] >= form.fewest) & (counts[filled] <= form.most)
    bad = [
        (int(starts[first[line]]), f"{counts[line]} fields, expected {form.expected}")
        for line in filled[~fits].tolist()
    ]
    fields = np.array(form.fields)[:, None] + first[filled[fits]]
    return starts[fields], ends[fields], bad


# Writing


def _refuse_unwritable(ids: Iterable[str], what: str) -> None:
    blank = re.compile(_BLANK)
    for name in ids:
        if not name or blank.search(name) or (what == "query" and name.startswith("#")):
            raise InputError(
                f"{what} id {name!r} is not allowed in a TREC file, where white space separates "
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
    queries, docs, grades, *more = qrels.columns().values()
    subtopics = more[0] if more else ["0"] * len(docs)
    for what, ids in (("query", queries), ("document", docs), ("subtopic", subtopics)):
        _refuse_unwritable(dict.fromkeys(ids), what)
    for query, subtopic, doc, grade in zip(queries, subtopics, docs, grades, strict=True):
        yield f"{query} {subtopic} {doc} {grade}\n"
