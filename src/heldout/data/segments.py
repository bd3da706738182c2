"""Segments of text: references and system outputs, from parallel files or JSON lines."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from heldout.data.document_files import json_id, pick
from heldout.data.files import decode_text, file_stem, json_object, open_source
from heldout.data.notes import named_few
from heldout.errors import FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.files import Source

    Path_ = str | os.PathLike[str]

__all__ = [
    "Segments",
    "pair_segments",
    "read_hypotheses",
    "read_own_references",
    "read_references",
]

ID_NAMES: Final = ("id", "_id", "segment", "unit", "qid")
HYPOTHESIS_NAMES: Final = ("hypothesis", "prediction", "output", "text")
REFERENCE_NAMES: Final = ("references", "reference", "targets", "target", "answers", "answer")
LOG_NAMES: Final = ("logprobs", "log_probs", "token_logprobs")
MOST: Final = sys.float_info.max
SHOWN: Final = 3
"""The largest number of ids named in a message."""


@dataclass(frozen=True, slots=True)
class Segments:
    """Texts of segments, in the order of the file.

    Parameters
    ----------
    name
        The name of a system, or ``references``.
    ids
        One id per segment; line numbers from 1 for a file without ids.
    texts
        The texts of each segment: one from a system, one or more references.
    log_probs
        The log-probabilities of the tokens of each segment; empty if there are none.
    has_ids
        Whether the ids were given; otherwise segments are paired by position.
    source
        The file, for messages; empty if there is none.

    Examples
    --------
    >>> Segments("A", ("1", "2"), (("a cat",), ("two cats",))).texts[1]
    ('two cats',)
    """

    name: str
    ids: tuple[str, ...]
    texts: tuple[tuple[str, ...], ...]
    log_probs: tuple[tuple[float, ...], ...] = ()
    has_ids: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        wrong = {len(self.ids)} != {len(self.texts)}
        if wrong or (self.log_probs and len(self.log_probs) != len(self.ids)):
            raise InputError(
                f"{self.name}: expected as many texts and log-probabilities as ids, got "
                f"{len(self.ids)} ids, {len(self.texts)} texts and {len(self.log_probs)} lists of "
                "log-probabilities"
            )
        if len(set(self.ids)) < len(self.ids):
            seen: set[str] = set()
            again = next(one for one in self.ids if one in seen or seen.add(one))  # type: ignore[func-returns-value]
            raise InputError(f"{self.name}: two segments have the same id: {again}")

    @classmethod
    def of(cls, texts: Sequence[str | Sequence[str]], name: str = "system") -> Segments:
        """Make segments from texts, or from lists of texts, in order.

        Examples
        --------
        >>> Segments.of(["a cat", ["two cats", "2 cats"]]).texts
        (('a cat',), ('two cats', '2 cats'))
        """
        if isinstance(texts, str):
            raise InputError(f"{name}: expected a list of texts, got one text")
        several = tuple((one,) if isinstance(one, str) else tuple(one) for one in texts)
        return cls(name, tuple(str(at) for at in range(1, len(several) + 1)), several)

    @property
    def place(self) -> str:
        """The file or name, for messages."""
        return self.source or self.name

    @property
    def reference_count(self) -> str:
        """The number of texts per segment as in sacrebleu signatures: a number, or ``var``."""
        counts = {len(texts) for texts in self.texts}
        return str(counts.pop()) if len(counts) == 1 else "var"

    def select(self, ids: Sequence[str]) -> Segments:
        """Return these segments, in this order."""
        places = {one: at for at, one in enumerate(self.ids)}
        rows = [places[one] for one in ids]
        logs = tuple(self.log_probs[row] for row in rows) if self.log_probs else ()
        texts = tuple(self.texts[row] for row in rows)
        return replace(self, ids=tuple(ids), texts=texts, log_probs=logs)


def read_hypotheses(path: Path_, name: str | None = None) -> Segments:
    """Read the outputs of a system.

    Parameters
    ----------
    path
        One segment per line, or JSON lines with ``hypothesis`` (or ``prediction``, ``output``,
        ``text``) and optionally ``id`` and ``logprobs``; compressed or not; ``-`` is standard
        input.
    name
        The name of the system (default: the name of the file without extensions).
    """
    source = open_source(path)
    shown = name or file_stem(source.name)
    if not _is_json(source):
        return replace(Segments.of(_lines(source), shown), source=source.name)
    return _from_records(source, shown, "hypothesis")


def read_references(path: Path_, *more: Path_) -> Segments:
    """Read references from parallel files or from JSON lines.

    Parameters
    ----------
    path, more
        Files with one segment per line, the first reference of every segment in the first file and
        so on; or one file of JSON lines with ``references`` (a list of any length) or ``reference``
        and optionally ``id``.
    """
    sources = [open_source(one) for one in (path, *more)]
    as_json = [_is_json(one) for one in sources]
    if not any(as_json):
        return Segments.of(_parallel(sources), "references")
    if len(sources) > 1:
        raise InputError(
            f"{sources[as_json.index(True)].name} has JSON lines with all references of a segment: "
            "give this file alone"
        )
    return _from_records(sources[0], "references", "references")


def read_own_references(path: Path_) -> Segments:
    """Read the references in JSON lines that also have the outputs of a system."""
    source = open_source(path)
    if not _is_json(source):
        raise InputError(
            f"{source.name} has lines of text without references: give files of references"
        )
    return _from_records(source, "references", "references")


def pair_segments(references: Segments, system: Segments) -> Segments:
    """Return the segments of a system in the order of the references.

    Segments are paired by id if both sides have ids, else by position; both sides must then have
    equal numbers of segments.
    """
    if not (references.has_ids and system.has_ids):
        if len(references.ids) != len(system.ids):
            noun = "segment" if len(system.ids) == 1 else "segments"
            raise InputError(
                f"{system.place} has {len(system.ids):,} {noun}, the references have "
                f"{len(references.ids):,}: without ids, segments are paired line by line"
            )
        return replace(system, ids=references.ids)
    _refuse_unpaired(f"{system.place} lacks", references.ids, system.ids)
    _refuse_unpaired(f"the references lack segments of {system.place}:", system.ids, references.ids)
    return system.select(references.ids)


def _refuse_unpaired(what: str, wanted: tuple[str, ...], found: tuple[str, ...]) -> None:
    there = set(found)
    lacking = [one for one in wanted if one not in there]
    if lacking:
        shown = ", ".join(lacking[:SHOWN]) + (", …" if len(lacking) > SHOWN else "")
        raise InputError(f"{what} {len(lacking):,} of {len(wanted):,} segments: {shown}")


def _lines(source: Source) -> list[str]:
    """Return the lines of a text. Only line feeds end a line, no other separators."""
    rows = decode_text(source.whole(), source.name).split("\n")
    if not rows[-1]:
        rows.pop()
    if not rows:
        raise InputError(f"{source.name} has no lines")
    return [row.removesuffix("\r") for row in rows]


def _is_json(source: Source) -> bool:
    """Return whether the first line that is not empty is a JSON object."""
    head = source.head().decode(errors="replace").lstrip()
    return bool(re.match(r"\{\s*\"", head))


def _parallel(sources: list[Source]) -> list[tuple[str, ...]]:
    files = [_lines(one) for one in sources]
    for source, lines in zip(sources, files, strict=True):
        if len(lines) != len(files[0]):
            raise InputError(
                f"{source.name} has {len(lines):,} lines, {sources[0].name} has "
                f"{len(files[0]):,}: parallel references need one line per segment"
            )
    return list(zip(*files, strict=True))


def _from_records(source: Source, name: str, what: str) -> Segments:
    """Read JSON lines with texts (`what` is hypothesis or references), and perhaps with ids."""
    ids: dict[str, int] = {}
    texts: list[tuple[str, ...]] = []
    logs: list[tuple[float, ...] | None] = []
    has_ids = False
    for line, text in enumerate(_lines(source), 1):
        if not text.strip():
            continue
        where = f"{source.name}:{line}"
        found = json_object(text, source.name, line)
        has_id = pick(found, ID_NAMES) is not None
        if ids and has_id != has_ids:
            problem = "an id, but earlier lines have none" if has_id else "no id, but others have"
            raise FormatError(where, f"the segment has {problem}: give ids to all, or to none")
        has_ids = has_id
        one = json_id(found, ID_NAMES, where) if has_id else str(len(ids) + 1)
        if one in ids:
            raise FormatError(where, f"segment {one} appears twice (first in line {ids[one]})")
        ids[one] = line
        key = pick(found, LOG_NAMES) if what == "hypothesis" else None
        logs.append(None if key is None else _log_probs(found[key], key, where))
        texts.append(_texts(found, what, where, optional=key is not None))
    if None in logs and any(logs):
        line = list(ids.values())[logs.index(None)]
        raise FormatError(
            f"{source.name}:{line}", "no log-probabilities, but other lines have them"
        )
    kept = tuple(one for one in logs if one is not None)
    return Segments(name, tuple(ids), tuple(texts), kept, has_ids, source.name)


def _texts(found: dict[str, Any], what: str, where: str, *, optional: bool) -> tuple[str, ...]:
    """Return the output of a system, or the references, of a segment."""
    names = HYPOTHESIS_NAMES if what == "hypothesis" else REFERENCE_NAMES
    name = pick(found, names)
    if name is None and optional:
        return ("",)
    if name is None:
        lacking = "text" if what == "hypothesis" else "reference"
        there = named_few(map(str, found), len(found), 10) or "an empty object"
        raise FormatError(where, f"no {lacking}: expected one of {', '.join(names)}, found {there}")
    value = found[name]
    several = value if isinstance(value, list) and what != "hypothesis" else [value]
    if not several:
        raise FormatError(where, "no reference: the list is empty")
    for text in several:
        if not isinstance(text, str):
            raise FormatError(where, f"{name!r} is {text!r}, expected a text")
    return tuple(several)


def _log_probs(value: Any, name: str, where: str) -> tuple[float, ...]:
    if not isinstance(value, list) or not value:
        raise FormatError(where, f"{name!r}: expected a list with one number per token")
    for at, one in enumerate(value, 1):
        number = isinstance(one, int | float) and not isinstance(one, bool)
        if not number or one > 0 or not one >= -MOST:
            raise FormatError(
                where,
                f"{name!r}: token {at} has {one!r}, expected a log-probability, which is at most "
                "0; leave out tokens without one",
            )
    return tuple(map(float, value))


def as_references(given: Any) -> Segments | None:
    """Return references from `Segments`, a list of texts or of lists of texts, or a path."""
    if given is None or isinstance(given, Segments):
        return given
    return read_references(given) if _is_path(given) else Segments.of(list(given))


def as_systems(given: Any) -> list[Segments]:
    """Return the texts of systems from `Segments`, paths, lists, or ``{system: any of these}``."""
    if isinstance(given, Mapping):
        return [_written(one, str(name)) for name, one in given.items()]
    if isinstance(given, Segments) or _is_path(given):
        return [_written(given)]
    several = list(given)
    if several and all(isinstance(one, str) for one in several):
        return [_written(several)]
    return [_written(one) for one in several]


def _written(given: Any, name: str | None = None) -> Segments:
    if isinstance(given, Segments):
        return given
    if _is_path(given):
        return read_hypotheses(given, name)
    return Segments.of(list(given), name or "system")


def _is_path(given: object) -> bool:
    return isinstance(given, str | os.PathLike)
