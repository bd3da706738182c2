"""Names of text measures: parsed and printed back, ``BLEU(order=2, smooth='add-one')``."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from heldout.data.vectors import read_vectors
from heldout.errors import MeasureError
from heldout.measure.parameters import NUMBER, whole_number
from heldout.measure.text.base import TextMeasure
from heldout.measure.text.bleu import Bleu, ChrF, Ter
from heldout.measure.text.embeddings import Embedding
from heldout.measure.text.meteor import Meteor
from heldout.measure.text.overlap import KINDS, ExactMatch, Rouge, TokenF1
from heldout.measure.text.perplexity import Perplexity

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["parse_text_measure", "parse_text_measures", "text_measure_kinds"]

_MAKERS: Final[dict[str, tuple[type[TextMeasure], dict[str, Any]]]] = {
    "BLEU": (Bleu, {}),
    "sentBLEU": (Bleu, {"level": "sentence", "effective_order": True}),
    "chrF": (ChrF, {}),
    "chrF++": (ChrF, {"word_order": 2}),
    "TER": (Ter, {}),
    **{f"ROUGE-{kind}": (Rouge, {"kind": kind}) for kind in KINDS},
    "METEOR": (Meteor, {}),
    "ExactMatch": (ExactMatch, {}),
    "TokenF1": (TokenF1, {}),
    "Perplexity": (Perplexity, {}),
    "Embedding": (Embedding, {}),
}
"""The measure that a name stands for, and the parameters that the name fixes."""

_ALIASES: Final = {
    "em": "ExactMatch",
    "f1": "TokenF1",
    "ppl": "Perplexity",
    **{f"rouge{kind}".lower(): f"ROUGE-{kind}" for kind in KINDS},
    **{name.lower(): name for name in _MAKERS},
}
_SHOWN: Final = [*(name for name in _MAKERS if not re.search(r"-[3-9]$", name)), "ROUGE-3 …"]

_NAME: Final = re.compile(r"\s*([\w+-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
# A bare value begins and ends with no blank: else a thousand blanks could be cut in a million ways.
_BARE: Final = r"[^,'\"\s](?:[^,'\"]*[^,'\"\s])?"
_PARAM: Final = re.compile(rf"\s*(\w+)\s*=\s*('[^']*'|\"[^\"]*\"|{_BARE})\s*(?:,|$)")


def parse_text_measure(name: str | TextMeasure) -> TextMeasure:
    """Parse the name of a text measure.

    Parameters
    ----------
    name
        As ``BLEU``, ``sentBLEU``, ``BLEU(order=2, smooth='add-one')``, ``chrF++``, ``TER``,
        ``ROUGE-L(stem=True)``, ``METEOR``, ``ExactMatch``, ``TokenF1``, ``Perplexity`` or
        ``Embedding(vectors='FILE', kind='greedy')``; upper and lower case do not matter.

    Examples
    --------
    >>> str(parse_text_measure("rougeL")), str(parse_text_measure("bleu(order=2)"))
    ('ROUGE-L', 'BLEU(order=2)')
    """
    if isinstance(name, TextMeasure):
        return name
    name = str(name)  # whatever it is, what it is called is no such measure
    match = _NAME.fullmatch(name)
    known = _ALIASES.get(match[1].lower()) if match else None
    if match is None or known is None:
        raise MeasureError(f"unknown text measure {name!r}: there are {', '.join(_SHOWN)}")
    given = _parameters(name, match[2] or "")
    kind, fixed = _MAKERS[known]
    allowed = [one.name for one in fields(kind) if one.name not in fixed]
    for key in given:
        if key not in allowed:
            raise MeasureError(f"{known} has no parameter {key!r}; it has {', '.join(allowed)}")
    if isinstance(given.get("vectors"), str):
        given["vectors"] = read_vectors(given["vectors"])
    if known == "Embedding" and "vectors" not in given:
        given["vectors"] = None  # which it refuses with an example
    return kind(**given, **fixed)


def parse_text_measures(names: Iterable[str | TextMeasure]) -> tuple[TextMeasure, ...]:
    """Parse names, each measure once."""
    listed = [names] if isinstance(names, str | TextMeasure) else names
    found = tuple(dict.fromkeys(parse_text_measure(name) for name in listed))
    if not found:
        raise MeasureError("no measure was given")
    return found


def text_measure_kinds() -> dict[str, tuple[type[TextMeasure], dict[str, Any], tuple[str, ...]]]:
    """For each name its measure, the parameters that the name fixes, and other spellings."""
    return {
        name: (
            *_MAKERS[name],
            tuple(one for one, two in _ALIASES.items() if two == name and one != name.lower()),
        )
        for name in _MAKERS
    }


def _parameters(name: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    rest = text.strip()
    while rest:
        match = _PARAM.match(rest)
        if not match:
            raise MeasureError(f"{name!r}: cannot read {rest!r}, expected parameter=value, …")
        if match[1] in found:
            raise MeasureError(f"{name!r}: {match[1]} is given twice")
        found[match[1]] = _value(match[2], name)
        rest = rest[match.end() :]
    return found


def _value(text: str, name: str) -> Any:
    if text[0] in "'\"":
        return text[1:-1]
    if text in {"True", "False", "None"}:
        return {"True": True, "False": False, "None": None}[text]
    if NUMBER.fullmatch(text):
        return whole_number(text, name) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    return text
