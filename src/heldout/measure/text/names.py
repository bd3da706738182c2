"""Parse and print names of text measures, such as ``BLEU(order=2, smooth='add-one')``."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import MeasureError
from heldout.measure.syntax import read_arguments, read_value
from heldout.measure.text.bleu import Bleu, ChrF, Ter
from heldout.measure.text.embeddings import Embedding
from heldout.measure.text.meteor import Meteor
from heldout.measure.text.overlap import KINDS, ExactMatch, Rouge, TokenF1
from heldout.measure.text.perplexity import Perplexity
from heldout.measure.text.vectors import read_vectors

if TYPE_CHECKING:
    from heldout.measure.text.base import CorpusMeasure

__all__ = ["parse_text", "text_measure_kinds"]

_MAKERS: Final[dict[str, tuple[type[CorpusMeasure], dict[str, Any]]]] = {
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
"""The measure for a name, and the parameters that the name fixes."""

_ALIASES: Final = {
    "em": "ExactMatch",
    "f1": "TokenF1",
    "ppl": "Perplexity",
    **{f"rouge{kind}".lower(): f"ROUGE-{kind}" for kind in KINDS},
    **{name.lower(): name for name in _MAKERS},
}
_SHOWN: Final = [*(name for name in _MAKERS if not re.search(r"-[3-9]$", name)), "ROUGE-3 …"]

_NAME: Final = re.compile(r"\s*([\w+-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def text_family(name: str) -> str | None:
    """Return the canonical name of a measure; None if it is unknown."""
    stem = name.partition("(")[0].strip()
    return _ALIASES.get(stem.lower().replace("_", "-")) or (_sacrebleu(stem) or ("", {}))[0] or None


def _sacrebleu(stem: str) -> tuple[str, dict[str, Any]] | None:
    """Parse names of sacrebleu such as ``chrF2++``, which include beta."""
    match = re.fullmatch(r"chrf(\d)(\+\+)?", stem, re.IGNORECASE)
    return None if match is None else (f"chrF{match[2] or ''}", {"beta": int(match[1])})


def parse_text(name: object) -> CorpusMeasure:
    """Parse the name of a text measure.

    Parameters
    ----------
    name
        For example ``BLEU``, ``sentBLEU``, ``BLEU(order=2, smooth='add-one')``, ``chrF++``,
        ``TER``, ``ROUGE-L(stem=True)``, ``METEOR``, ``ExactMatch``, ``TokenF1``, ``Perplexity`` or
        ``Embedding(vectors='FILE', kind='greedy')``, ignoring case.

    Examples
    --------
    >>> str(parse_text("rougeL")), str(parse_text("bleu(order=2)"))
    ('ROUGE-L', 'BLEU(order=2)')
    """
    name = str(name)  # any other object is an unknown name
    match = _NAME.fullmatch(name)
    known = text_family(match[1]) if match else None
    if match is None or known is None:
        raise MeasureError(f"unknown text measure {name!r}: expected one of {', '.join(_SHOWN)}")
    given: dict[str, Any] = {
        key: read_value(name, text, bare=True)
        for key, text in read_arguments(name, match[2]).items()
    }
    kind, fixed = _MAKERS[known]
    given = {**(_sacrebleu(match[1]) or ("", {}))[1], **given}
    allowed = [one.name for one in fields(kind) if one.name not in fixed]
    for key in given:
        if key not in allowed:
            raise MeasureError(f"{known} has no parameter {key!r}; it has {', '.join(allowed)}")
    if isinstance(given.get("vectors"), str):
        given["vectors"] = read_vectors(given["vectors"])
    if known == "Embedding" and "vectors" not in given:
        given["vectors"] = None  # refused with an example
    return kind(**given, **fixed)


def text_measure_kinds() -> dict[str, tuple[type[CorpusMeasure], dict[str, Any], tuple[str, ...]]]:
    """Return, for each name, its measure, the parameters that the name fixes, and aliases."""
    return {
        name: (
            *_MAKERS[name],
            tuple(one for one, two in _ALIASES.items() if two == name and one != name.lower()),
        )
        for name in _MAKERS
    }
