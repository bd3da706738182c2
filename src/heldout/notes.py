"""Notes: what was noticed about data, a plan or a result, as data.

A note is made where a condition is noticed, and travels with the object that it is about. Its code
names the paragraph of docs/warnings.md that explains it. Only people read its text: no code of
heldout looks into it, so that it can be reworded freely.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CODES", "Code", "Note", "Severity", "as_note", "distinct", "note_texts"]

Severity = Literal["warning", "info"]
"""A warning says what could mislead about the numbers; an info says what was done or found."""

Code = Literal[
    # data
    "empty-documents",
    "empty-queries",
    "no-judgements",
    "unknown-queries",
    "absent-documents",
    "unjudged-queries",
    "split",
    "other-splits",
    "replaced",
    "repeated-judgements",
    "zeros",
    "no-cache",
    "missing-packages",
    "no-words",
    # predictions and texts
    "no-predictions",
    "wrong-classes",
    "no-column",
    "other-units",
    "different-tokens",
    "no-vectors",
    # splits
    "small-strata",
    "empty-test",
    "empty-train",
    "twins",
    "duplicates",
    "unseen-class",
    # tuning
    "at-an-end",
    "never-held-out",
    "no-value",
    "left-out",
    "inner-folds",
    "lists-kept",
    "failed-fits",
    "uneven-tuning",
    "tuned-one",
    "fit-warning",
    # units
    "no-common-document",
    "few-units",
    "missing-zero",
    "same-ranking",
    "missing-left-out",
    "many-ties",
    "constant-difference",
    "judged-apart",
    "grouped",
    "runs",
    "crossing-groups",
    "undefined-fold",
    "shared-training",
    # tests and intervals
    "one-tail",
    "bootstrap-shift",
    "other-hypothesis",
    "folds-independent",
    "shared-choices",
    "nothing-to-correct",
    "own-test",
    "unadjusted-intervals",
    "ranks-not-means",
    "many-measures",
    "stepwise",
    "unequal-variances",
    "few-resampled",
    "many-pairs",
    "no-letters",
    "disagreement",
    "not-compared",
    # machine judgements
    "random-sample",
    "unlike-queries",
    "few-human-queries",
    "machine-incomplete",
    "machine-favours",
    # plans and gates
    "small-pilot",
    "few-differ",
    # execution and pages
    "little-memory",
    "no-chart",
]
"""The short names of all notes; docs/warnings.md has a paragraph for each."""

CODES: Final[frozenset[str]] = frozenset(get_args(Code))


@dataclass(frozen=True, slots=True)
class Note:
    """Something that was noticed.

    Parameters
    ----------
    code
        Its short name, for programs and to look it up; empty for a note of a user's own, and for
        those in results of heldout 0.1, which kept the text alone.
    text
        A clause for people, without a full stop.
    severity
        ``warning`` or ``info``.
    count
        How many units, documents or the like it is about; None where nothing is counted.
    """

    code: Code | Literal[""]
    text: str
    severity: Severity = "warning"
    count: int | None = None

    def __post_init__(self) -> None:
        if self.code and self.code not in CODES:
            raise ValueError(f"unknown code of a note: {self.code!r}")
        if self.severity not in get_args(Severity):
            raise ValueError(f"severity of a note: {self.severity!r} is not warning or info")

    def __str__(self) -> str:
        return self.text

    @property
    def label(self) -> str:
        """What it is called where it is shown: ``warning`` or ``note``."""
        return "warning" if self.severity == "warning" else "note"

    @property
    def tag(self) -> str:
        """The code in brackets with a blank before it; empty without a code."""
        return f" [{self.code}]" if self.code else ""

    def line(self) -> str:
        """A sentence for people, with the code to look it up by.

        Examples
        --------
        >>> Note("few-units", "only 5 units: little can be shown").line()
        'Warning: only 5 units: little can be shown. [few-units]'
        >>> Note("split", "the split is test; the others are train", "info").line()
        'Note: the split is test; the others are train. [split]'
        """
        return f"{self.label.capitalize()}: {self.text}.{self.tag}"

    def of(self, name: str) -> Note:
        """The same note with the name of what it is about in front."""
        return replace(self, text=f"{name}: {self.text}")

    def to_dict(self) -> dict[str, str]:
        """Code, text and severity, as results keep them."""
        return {"code": self.code, "text": self.text, "severity": self.severity}

    def counted(self) -> dict[str, Any]:
        """Kind, count and message, as the JSON about collections and splits has them."""
        return {"kind": self.code, "count": self.count, "message": self.text}


def as_note(given: Note | str | dict[str, Any]) -> Note:
    """Make a note of what is one, of a text, or of what results have kept.

    A text has no code; nor has a note whose code is not known, which another version has written.

    Examples
    --------
    >>> as_note("the second half was judged later")
    Note(code='', text='the second half was judged later', severity='warning', count=None)
    """
    if isinstance(given, Note):
        return given
    if isinstance(given, dict):
        code: Any = given["code"] if given["code"] in CODES else ""
        return Note(code, given["text"], given["severity"])
    return Note("", str(given))


def note_texts(notes: Iterable[Note]) -> dict[str, list[str]]:
    """Texts and codes side by side, as the JSON of results has them."""
    found = list(notes)
    return {
        "warnings": [note.text for note in found],
        "warning_codes": [note.code for note in found],
    }


def distinct(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Each note once, in the order of their first appearance."""
    return tuple(dict.fromkeys(notes))
