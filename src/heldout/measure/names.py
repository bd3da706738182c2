"""Measures as values: parsed from a name, compared field by field, printed back.

A name is ``Family(parameter=value, …)@cutoff``, for example ``nDCG(dcg='exp-log2')@10``; the
spellings of ir_measures, ranx and trec_eval are understood too (``MAP``, ``ndcg@10``,
``ndcg_cut_10``, ``P.5,10``). Nothing is evaluated on the way.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from heldout.errors import MeasureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from heldout.data.words import Floats

__all__ = ["Family", "Gains", "Measure", "Value", "family", "parse_measure", "parse_measures"]

Gains = tuple[tuple[int, float], ...]
"""A gain for each grade, in order of the grades."""

Value = bool | int | float | str | None | Gains
Aggregate = Literal["mean", "sum", "gmean", "text"]
Cutoff = Literal["none", "optional", "rank", "recall"]

JUDGED_ONLY = "judged_only"
"""The parameter that every family has: leave out retrieved documents without a judgement."""


class Family(NamedTuple):
    """What all measures of one name have in common.

    Parameters
    ----------
    name
        The canonical name.
    compute
        ``compute(judged, cutoff, **parameters)`` gives one number a query.
    defaults
        The parameters and their default values.
    cutoff
        ``none``, ``optional`` (a rank), ``rank`` (must be given) or ``recall`` (a share).
    aggregate
        How the numbers of the queries become one.
    bounds
        The least and the greatest value.
    higher_is_better
        The direction; None for mere counts.
    """

    name: str
    compute: Callable[..., Floats]
    defaults: tuple[tuple[str, Value], ...]
    cutoff: Cutoff = "optional"
    aggregate: Aggregate = "mean"
    bounds: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool | None = True
    integral: bool = False

    @property
    def summary(self) -> str:
        """The first line of the documentation."""
        return (self.compute.__doc__ or "").strip().partition("\n")[0]


_families: dict[str, Family] = {}
_aliases: dict[str, str] = {}


def family(
    name: str,
    *,
    aliases: Iterable[str] = (),
    cutoff: Cutoff = "optional",
    aggregate: Aggregate = "mean",
    bounds: tuple[float, float] = (0.0, 1.0),
    higher_is_better: bool | None = True,
    integral: bool = False,
) -> Callable[[Callable[..., Floats]], Callable[..., Floats]]:
    """Make a function over `Judged` a family of measures.

    Its keyword-only parameters, with their defaults, are the parameters of the measures.
    """

    def register(compute: Callable[..., Floats]) -> Callable[..., Floats]:
        own = getattr(compute, "__kwdefaults__", None) or {}
        defaults = (*own.items(), (JUDGED_ONLY, False))
        add_family(
            Family(name, compute, defaults, cutoff, aggregate, bounds, higher_is_better, integral),
            aliases,
        )
        return compute

    return register


def add_family(new: Family, aliases: Iterable[str] = ()) -> None:
    """Make a family known under its name and its aliases."""
    _families[new.name] = new
    _aliases[new.name.lower()] = new.name
    for alias in aliases:
        _aliases[alias.lower()] = new.name


def families() -> Mapping[str, Family]:
    """All families by canonical name."""
    import heldout.measure.ranking  # noqa: F401, PLC0415 - they register themselves

    return _families


def spellings(name: str) -> list[str]:
    """The other names under which a family is known."""
    return [alias for alias, known in _aliases.items() if known == name and alias != name.lower()]


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure, fully specified; hashable, and equal to another iff every field is equal.

    Parameters
    ----------
    family
        The canonical name of its family.
    cutoff
        A rank, a recall level, or None.
    params
        Every parameter of the family with its value, defaults included.

    Examples
    --------
    >>> parse_measure("ndcg_cut_10")
    Measure('nDCG@10')
    >>> parse_measure("P(rel=2)@5") == parse_measure("P@5")
    False
    >>> str(parse_measure("nDCG(dcg='exp', judged_only=False)@10"))
    "nDCG(dcg='exp-log2')@10"
    """

    family: str
    cutoff: int | float | None = None
    params: tuple[tuple[str, Value], ...] = field(default=())

    def __str__(self) -> str:
        defaults = dict(self.definition.defaults)
        shown = [f"{k}={_show(v)}" for k, v in self.params if v != defaults.get(k)]
        inner = f"({', '.join(shown)})" if shown else ""
        at = "" if self.cutoff is None else f"@{self.cutoff:g}"
        if isinstance(self.cutoff, int):
            at = f"@{self.cutoff}"
        return f"{self.family}{inner}{at}"

    def __repr__(self) -> str:
        return f"Measure({str(self)!r})"

    @property
    def definition(self) -> Family:
        """The family it belongs to."""
        return families()[self.family]

    @property
    def options(self) -> dict[str, Value]:
        """The parameters as a dictionary."""
        return dict(self.params)

    def with_defaults(self, **changes: Value) -> Measure:
        """Change those of the given parameters that the family has and that stand at default."""
        defaults = dict(self.definition.defaults)
        params = tuple(
            (k, changes[k] if k in changes and v == defaults[k] else v) for k, v in self.params
        )
        return Measure(self.family, self.cutoff, params)


def make_measure(
    name: str, cutoff: float | None = None, given: Mapping[str, Value] | None = None
) -> Measure:
    """Make a measure of a known family, checking cutoff and parameters."""
    known = families()[name]
    given = dict(given or {})
    defaults = dict(known.defaults)
    for key, value in given.items():
        if key not in defaults:
            raise MeasureError(
                f"{name} has no parameter {key!r}; it has {', '.join(defaults) or 'none'}"
            )
        given[key] = _fit(name, key, value, defaults[key])
    params = tuple((key, given.get(key, default)) for key, default in known.defaults)
    return Measure(name, _check_cutoff(known, cutoff), params)


def _check_cutoff(known: Family, cutoff: float | None) -> int | float | None:
    if cutoff is None:
        if known.cutoff in {"rank", "recall"}:
            example = "10" if known.cutoff == "rank" else "0.1"
            raise MeasureError(f"{known.name} needs a cutoff, for example {known.name}@{example}")
        return None
    if known.cutoff == "none":
        raise MeasureError(f"{known.name} takes no cutoff (got @{cutoff:g})")
    if known.cutoff == "recall":
        return float(cutoff)
    if cutoff != int(cutoff) or cutoff < 1:
        raise MeasureError(f"{known.name}@{cutoff:g}: a cutoff is a whole number from 1 on")
    return int(cutoff)


_CHOICES: dict[str, dict[str, str]] = {
    "dcg": {
        "log2": "log2",
        "trec": "log2",
        "exp-log2": "exp-log2",
        "exp": "exp-log2",
        "burges": "exp-log2",
        "classic": "classic",
        "jarvelin": "classic",
    },
    "ties": {"order": "order", "average": "average"},
    "normalise": {"all": "all", "query": "query"},
}


def _fit(name: str, key: str, value: Value, default: Value) -> Value:
    """Bring a parameter to the kind that it must have."""
    choices = _CHOICES.get(key)
    if choices is not None:
        if str(value) in choices:
            return choices[str(value)]
        expected = "one of " + ", ".join(dict.fromkeys(choices.values()))
    elif key == "gains":
        if value is None or isinstance(value, tuple):
            return value
        expected = "for example {0: 0, 1: 1, 2: 3}"
    elif isinstance(default, bool | str):
        if isinstance(value, type(default)):
            return value
        expected = "True or False" if isinstance(default, bool) else "text in quotes"
    else:
        fitted = _fit_number(value, default)
        if fitted is not None or (value is None and default is None):
            return fitted
        expected = "a number" if isinstance(default, float) else "a whole number"
    raise MeasureError(f"{name}: {key}={_show(value)}, expected {expected}")


def _fit_number(value: Value, default: Value) -> int | float | None:
    """The value as the kind of number that the default is; None if it is no such number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    if isinstance(default, float):
        return float(value)
    return int(value) if value == int(value) else None


def _show(value: object) -> str:
    if isinstance(value, tuple):
        return "{" + ", ".join(f"{grade}: {gain:g}" for grade, gain in value) + "}"
    if isinstance(value, float):
        return f"{value:g}" if float(f"{value:g}") == value else repr(value)
    return repr(value)


_NAME = re.compile(r"\s*([^\W\d][\w-]*)\s*(?:\((.*)\))?\s*(?:@\s*(\d+\.?\d*|\.\d+)\s*)?", re.DOTALL)
_PARAM = re.compile(r"\s*(\w+)\s*=\s*('[^']*'|\"[^\"]*\"|\{[^}]*\}|[^,'\"{}]+?)\s*(?:,|$)")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def parse_measure(name: str | Measure) -> Measure:
    """Parse the name of one measure."""
    if isinstance(name, Measure):
        return name
    found = parse_measures([name])
    if len(found) != 1:
        raise MeasureError(f"{name!r} names {len(found)} measures, expected one")
    return found[0]


def parse_measures(names: Iterable[str | Measure], **defaults: Value) -> list[Measure]:
    """Parse names, some of which may stand for several measures (``P.5,10``, ``official``).

    Parameters
    ----------
    defaults
        Parameters for all measures that have them and do not set them, e.g. ``rel=2``.
    """
    found: list[Measure] = []
    for name in names:
        if isinstance(name, Measure):
            found.append(name)
            continue
        for one in _split(name):
            found.extend(measure.with_defaults(**defaults) for measure in _parse(one))
    return list(dict.fromkeys(found))


def _split(name: str) -> list[str]:
    """Split ``"AP nDCG@10"`` at blanks and semicolons outside brackets."""
    return re.findall(r"(?:[^\s;(]|\([^)]*\))+", name) or [name]


def _parse(name: str) -> list[Measure]:
    from heldout.measure.trec_names import parse_trec_name  # noqa: PLC0415 - knows measures

    exact = parse_trec_name(name)
    if exact:
        return exact
    match = _NAME.fullmatch(name)
    if match:
        canonical = _canonical(match[1])
        if canonical is not None:
            cutoff = float(match[3]) if match[3] else None
            return [make_measure(canonical, cutoff, _parse_params(name, match[2]))]
    known = re.match(r"\s*([^\W\d][\w-]*)\s*[(@]", name)
    if known and _canonical(known[1]) is not None:
        raise MeasureError(
            f"cannot read {name!r}: a measure is written {known[1]}(parameter=value)@cutoff"
        )
    other = _ranx(name) or _external(name)
    if other:
        return other
    raise MeasureError(_unknown(name))


def _canonical(spelling: str) -> str | None:
    """The family for a spelling; upper and lower case do not matter."""
    families()
    return spelling if spelling in _families else _aliases.get(spelling.lower())


def _ranx(name: str) -> list[Measure]:
    """``rbp.95`` is RBP with p = 0.95."""
    match = re.fullmatch(r"rbp(\.\d+)", name)
    return [make_measure("RBP", None, {"p": float(match[1]), "rel": 1})] if match else []


def _external(name: str) -> list[Measure]:
    from heldout.measure.external import external_measure  # noqa: PLC0415 - rarely needed

    found = external_measure(name)
    return [found] if found else []


def _parse_params(name: str, text: str | None) -> dict[str, Value]:
    params: dict[str, Value] = {}
    rest = (text or "").strip()
    while rest:
        match = _PARAM.match(rest)
        if not match:
            raise MeasureError(f"{name!r}: cannot read {rest!r}, expected parameter=value, …")
        params[match[1]] = _parse_value(name, match[2])
        rest = rest[match.end() :]
    return params


def _parse_value(name: str, text: str) -> Value:
    if text[0] in "'\"":
        return text[1:-1]
    if text[0] == "{":
        return _parse_gains(name, text[1:-1])
    if text in {"True", "False", "None"}:
        return {"True": True, "False": False, "None": None}[text]
    if not _NUMBER.fullmatch(text):
        if re.fullmatch(r"[\w-]+", text):
            return text
        raise MeasureError(f"{name!r}: cannot read the value {text!r}")
    return int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _parse_gains(name: str, text: str) -> Gains:
    gains: dict[int, float] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([+-]?\d+)\s*[:=]\s*(\S+)", pair)
        if not match or not _NUMBER.fullmatch(match[2]):
            raise MeasureError(f"{name!r}: cannot read the gain {pair!r}, expected grade: gain")
        gains[int(match[1])] = float(match[2])
    return tuple(sorted(gains.items()))


def _unknown(name: str) -> str:
    import difflib  # noqa: PLC0415 - only for a mistake

    from heldout.measure.trec_names import TREC_NAMES  # noqa: PLC0415

    stem = re.split(r"[@(.]", name)[0]
    spellings = {known.lower(): known for known in [*_aliases, *TREC_NAMES]}
    spellings.update({known.lower(): known for known in _families})
    near = difflib.get_close_matches(stem.lower(), spellings, 4, 0.5)
    shown = list(dict.fromkeys(_aliases_name(spellings[one]) for one in near))
    hint = f"did you mean {' or '.join(shown)}?" if shown else "see heldout measures for a list"
    return f"unknown measure {name!r}: {hint}"


def _aliases_name(spelling: str) -> str:
    return _aliases.get(spelling, spelling)
