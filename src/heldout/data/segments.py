"""Segments of text: references and system outputs, from parallel files or JSON lines."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.data.document_files import json_id, needed, pick
from heldout.data.files import decode_text, file_stem, json_object, open_source
from heldout.errors import Argument, FormatError, InputError
from heldout.notes import count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.words import Floats

    Path_ = str | os.PathLike[str]

ID_NAMES: Final = ("id", "_id", "segment", "unit", "qid")
HYPOTHESIS_NAMES: Final = ("hypothesis", "prediction", "output", "text")
REFERENCE_NAMES: Final = ("references", "reference", "targets", "target", "answers", "answer")
LOG_NAMES: Final = ("logprobs", "log_probs", "token_logprobs")
MOST: Final = sys.float_info.max


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
        if {len(self.texts), len(self.log_probs or self.ids)} != {len(self.ids)}:
            raise InputError(
                f"{self.name}: expected as many texts and log-probabilities as ids, got "
                f"{len(self.ids)} ids, {len(self.texts)} texts and {len(self.log_probs)} lists of "
                "log-probabilities"
            )
        if len(set(self.ids)) < len(self.ids):
            again = next(name for name, count in Counter(self.ids).items() if count > 1)
            raise InputError(f"{self.name}: two segments have the same id: {again}")

    @classmethod
    def of(cls, texts: Sequence[str | Sequence[str]], name: str = "system") -> Segments:
        """Make segments from texts, or from lists of texts, in order."""
        if isinstance(texts, str) or not isinstance(texts, Iterable):
            kind = "one text" if isinstance(texts, str) else type(texts).__name__
            raise InputError(f"{name}: expected a list of texts, got {kind}")
        several = tuple(
            (given,) if isinstance(given, str | None) else tuple(given) for given in texts
        )
        if not all(isinstance(text, str) for each in several for text in each):
            raise InputError(f"{name}: expected a text, or a list of texts, for each segment")
        return cls(name, tuple(str(number) for number in range(1, len(several) + 1)), several)

    @property
    def reference_count(self) -> str:
        """The number of texts per segment as in sacrebleu signatures: a number, or ``var``."""
        counts = {len(texts) for texts in self.texts}
        return str(counts.pop()) if len(counts) == 1 else "var"


class Texts(NamedTuple):
    """The texts of a system and their references: what measures of texts are computed from."""

    references: Segments
    system: Segments
    together: tuple[Segments, ...] = ()  # all systems of an evaluation, which are counted together
    counted: dict[Any, Any] | None = None  # counts of all of them, as long as the evaluation lasts
    weights: Floats | None = None

    @property
    def units(self) -> tuple[str, ...]:
        """The ids of the segments."""
        return self.references.ids


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
    return _read(path, name, HYPOTHESIS_NAMES)


def read_references(path: Path_, *more: Path_) -> Segments:
    """Read references, from one or more files.

    Parameters
    ----------
    path, more
        Files with one segment per line, the first reference of every segment in the first file and
        so on; or JSON lines with ``references`` (a list of any length) or ``reference`` and
        optionally ``id``.
    """
    references = _read(path, "references", REFERENCE_NAMES)
    for source in more:
        other = pair_segments(references, _read(source, "", REFERENCE_NAMES))
        pairs = zip(references.texts, other.texts, strict=True)
        references = replace(references, texts=tuple(first + rest for first, rest in pairs))
    return references


def read_own_references(path: Path_) -> Segments:
    """Read the references in JSON lines that also have the outputs of a system."""
    return _read(path, "references", REFERENCE_NAMES, only_json=True)


def pair_segments(references: Segments, system: Segments) -> Segments:
    """Return the segments of a system in the order of the references, by id or else by position."""
    place = system.source or system.name
    if not (references.has_ids and system.has_ids):
        if len(references.ids) != len(system.ids):
            raise InputError(
                f"{place} has {count_of(len(system.ids), 'segment')}, the references have "
                f"{len(references.ids):,}: without ids, segments are paired line by line"
            )
        return replace(system, ids=references.ids)
    rows = {segment: row for row, segment in enumerate(system.ids)}
    for what, wanted, there in (
        (f"{place} lacks", references.ids, rows),
        (f"the references lack segments of {place}:", system.ids, {*references.ids}),
    ):
        lacking = [segment for segment in wanted if segment not in there]
        if lacking:
            shown = named_few(lacking, len(lacking), 3)
            raise InputError(f"{what} {len(lacking):,} of {len(wanted):,} segments: {shown}")
    return replace(
        system,
        ids=references.ids,
        texts=tuple(system.texts[rows[segment]] for segment in references.ids),
        log_probs=tuple(
            system.log_probs[rows[segment]] for segment in references.ids if system.log_probs
        ),
    )


def _read(
    path: Path_, name: str | None, names: tuple[str, ...], *, only_json: bool = False
) -> Segments:
    source = open_source(path)
    # Only line feeds end a line, no other separators.
    text = decode_text(source.whole(), source.name)
    lines = text.removesuffix("\n").split("\n")
    name = name or file_stem(source.name)
    if re.match(r"\s*\{\s*\"", text):
        return _from_records(source.name, lines, name, names)
    if only_json:
        raise InputError(
            f"{source.name} has lines of text without references: give a file of references (",
            Argument("references", "FILE"),
            ")",
        )
    segments = Segments.of([line.removesuffix("\r") for line in lines], name)
    return replace(segments, source=source.name)


def _from_records(source: str, lines: list[str], name: str, names: tuple[str, ...]) -> Segments:
    """Make segments from JSON lines with texts in one of the `names`, and perhaps with ids."""
    ids: dict[str, int] = {}
    texts: list[tuple[str, ...]] = []
    logs: list[tuple[float, ...]] = []
    has_ids = False
    for line, text in enumerate(lines, 1):
        if not text.strip():
            continue
        where = f"{source}:{line}"
        record = json_object(text, source, line)
        has_id = pick(record, ID_NAMES) is not None
        key = pick(record, LOG_NAMES) if names is HYPOTHESIS_NAMES else None
        if ids and (has_id, key is not None) != (has_ids, bool(logs)):
            what = "an id" if has_id != has_ids else "log-probabilities"
            raise FormatError(
                where, f"some segments have {what}, others have none: give all or none"
            )
        has_ids = has_id
        segment = json_id(record, ID_NAMES, where) if has_id else str(len(ids) + 1)
        if segment in ids:
            first = f"first in line {ids[segment]}"
            raise FormatError(where, f"segment {segment} appears twice ({first})")
        ids[segment] = line
        if key is not None:
            logs.append(_log_probs(record[key], key, where))
        texts.append(
            ("",) if logs and pick(record, names) is None else _texts(record, names, where)
        )
    return Segments(name, tuple(ids), tuple(texts), tuple(logs), has_ids, source)


def _texts(record: dict[str, Any], names: tuple[str, ...], where: str) -> tuple[str, ...]:
    """Return the output of a system, or the references, of a segment."""
    name = needed(record, names, names[0], where)
    value = record[name]
    several = value if isinstance(value, list) and names is REFERENCE_NAMES else [value]
    if not several or not all(isinstance(text, str) for text in several):
        raise FormatError(where, f"{name!r} is {value!r}, expected text")
    return tuple(several)


def _log_probs(value: Any, name: str, where: str) -> tuple[float, ...]:
    several = value if isinstance(value, list) and value else [None]
    for number, logarithm in enumerate(several, 1):
        if type(logarithm) not in {int, float} or not -MOST <= logarithm <= 0:
            raise FormatError(
                where,
                f"{name!r}: token {number} has {logarithm!r}, expected a list of "
                "log-probabilities, which are at most 0; leave out tokens without one",
            )
    return tuple(map(float, several))


def as_references(given: Any) -> Segments | None:
    """Return references from `Segments`, a list of texts or of lists of texts, or a path."""
    return None if given is None else _as_segments(read_references, given)


def as_systems(given: Any) -> list[Segments]:
    """Return the texts of systems from `Segments`, paths, lists, or ``{system: any of these}``."""
    if isinstance(given, Mapping):
        return [_as_segments(read_hypotheses, system, str(name)) for name, system in given.items()]
    if isinstance(given, Segments | str | os.PathLike):
        return [_as_segments(read_hypotheses, given)]
    several = list(given)
    if several and all(isinstance(system, str) for system in several):
        return [Segments.of(several)]
    return [_as_segments(read_hypotheses, system) for system in several]


def _as_segments(read: Callable[..., Segments], given: Any, *name: str) -> Segments:
    if isinstance(given, Segments):
        return given
    if isinstance(given, str | os.PathLike):
        return read(given, *name)
    return Segments.of(given, *name)
