"""Measures as values: parsed from a name, compared field by field, printed back.

A name is ``Family(parameter=value, …)@cutoff``, for example ``nDCG(dcg='exp-log2')@10``; the
spellings of ir_measures, ranx and trec_eval are understood too (``MAP``, ``ndcg@10``,
``ndcg_cut_10``, ``P.5,10``). Nothing is evaluated on the way.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from heldout.errors import MeasureError
from heldout.measure.parameters import (
    NUMBER,
    NUMERAL,
    Gains,
    Value,
    fit_parameter,
    show_value,
    whole_number,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heldout.data.words import Floats

__all__ = ["Family", "Gains", "Measure", "Value", "family", "parse_measure", "parse_measures"]

Aggregate = Literal["mean", "sum", "gmean", "text"]
Cutoff = Literal["none", "optional", "rank", "recall"]

EXTERNAL = "ir_measures"
"""The family of all measures that the package of that name computes."""

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
    import heldout.measure.ranking.binary  # noqa: F401 - they register themselves

    return _families


def find_family(spelling: str) -> Family | None:
    """The family that goes by a name or an alias, in upper or lower case."""
    name = _canonical(spelling)
    return None if name is None else _families[name]


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
        shown = [f"{k}={show_value(v)}" for k, v in self.params if v != defaults.get(k)]
        inner = f"({', '.join(shown)})" if shown else ""
        if self.family == EXTERNAL:
            return str(self.options["name"])
        at = "" if self.cutoff is None else f"@{show_value(self.cutoff)}"
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
        """Set the given parameters where the family has them and they are at their default.

        A parameter that is None by default is left alone: RBP is graded unless its own name says
        ``rel``, whatever ``-l`` is.
        """
        defaults = dict(self.definition.defaults)
        fits = _settable(self.definition, changes)
        params = tuple(
            (k, fits[k] if k in fits and v == defaults[k] else v) for k, v in self.params
        )
        return Measure(self.family, self.cutoff, params)


def _settable(known: Family, wanted: Mapping[str, Value]) -> dict[str, Value]:
    """Of settings for all measures, those that a family has a default for."""
    own = dict(known.defaults)
    return {key: value for key, value in wanted.items() if own.get(key) is not None}


def make_measure(
    name: str,
    cutoff: float | None = None,
    given: Mapping[str, Value] | None = None,
    defaults: Mapping[str, Value] | None = None,
) -> Measure:
    """Make a measure of a known family, checking cutoff and parameters.

    Parameters
    ----------
    given
        Parameters that are set.
    defaults
        Values for parameters that the family has and that are not set.
    """
    known = families()[name]
    own = dict(known.defaults)
    given = {**_settable(known, defaults or {}), **(given or {})}
    for key, value in given.items():
        if key not in own:
            raise MeasureError(
                f"{name} has no parameter {key!r}; it has {', '.join(own) or 'none'}"
            )
        given[key] = fit_parameter(name, key, value, own[key])
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
        if not 0 <= cutoff <= 1:
            raise MeasureError(f"{known.name}@{cutoff:g}: a recall level is from 0 to 1")
        return float(cutoff)
    if not 1 <= cutoff <= GREATEST_CUTOFF or cutoff != int(cutoff):
        raise MeasureError(
            f"{known.name}@{cutoff:g}: a cutoff is a whole number from 1 on, "
            f"at most {GREATEST_CUTOFF:,}"
        )
    return int(cutoff)


GREATEST_CUTOFF = 10**9

_NAME = re.compile(rf"\s*([\w-]+)\s*(?:\((.*)\))?\s*(?:@\s*({NUMERAL})\s*)?", re.DOTALL)
# A bare value begins and ends with no blank: else a thousand blanks could be cut in a million ways.
_BARE = r"[^,'\"{}\s](?:[^,'\"{}]*[^,'\"{}\s])?"
_PARAM = re.compile(rf"\s*(\w+)\s*=\s*('[^']*'|\"[^\"]*\"|\{{[^}}]*\}}|{_BARE})\s*(?:,|$)")


def parse_measure(name: str | Measure) -> Measure:
    """Parse the name of one measure."""
    if isinstance(name, Measure):
        return name
    found = parse_measures([name])
    if len(found) != 1:
        raise MeasureError(f"{name!r} names {len(found)} measures, expected one")
    return found[0]


def parse_measures(
    names: str | Measure | Iterable[str | Measure], **defaults: Value
) -> list[Measure]:
    """Parse names, some of which may stand for several measures (``P.5,10``, ``official``).

    Parameters
    ----------
    names
        One or several; measures of ir_measures (``nDCG @ 10``) are taken too.
    defaults
        Parameters for all names that do not set them, e.g. ``rel=2``. A `Measure` is taken as it
        is: it has all its parameters set.
    """
    found: list[Measure] = []
    for name in listed_measures(names):
        if isinstance(name, Measure):
            found.append(name)
            continue
        for one in _split(_as_text(name)):
            found.extend(_parse(one, defaults))
    return list(dict.fromkeys(found))


def _as_text(name: object) -> str:
    """The name as text; measures of ir_measures (``nDCG @ 10``) print theirs."""
    if not isinstance(name, str) and not _is_of_ir_measures(name):
        raise MeasureError(f"{name!r} is not the name of a measure: give a text such as AP")
    return str(name)


def _is_of_ir_measures(given: object) -> bool:
    """Whether an object is a measure of ir_measures; that package is not imported for it."""
    return any(kind.__module__.split(".")[0] == "ir_measures" for kind in type(given).__mro__)


def listed_measures(given: Any) -> list[Any]:
    """Measures in a list, whether one or several were given."""
    if is_one_measure(given):
        return [given]
    if not isinstance(given, Iterable):
        raise MeasureError(f"{given!r} is not a measure: give a name such as nDCG@10, or a list")
    return list(given)


def is_one_measure(given: object) -> bool:
    """Whether this is a single measure or name, not several."""
    return isinstance(given, str | Measure) or _is_of_ir_measures(given)


def _split(name: str) -> list[str]:
    """Split ``"AP nDCG@10"`` at blanks and semicolons outside brackets."""
    parts, depth, current = [], 0, ""
    for character in name:
        depth += (character == "(") - (character == ")")
        if depth <= 0 and (character.isspace() or character == ";"):
            parts.append(current)
            current = ""
        else:
            current += character
    return [part for part in [*parts, current] if part] or [name]


def _parse(name: str, defaults: Mapping[str, Value]) -> list[Measure]:
    from heldout.measure.ranking.trec_names import (
        parse_trec_name,
        refuse_unsupported,
    )  # knows measures

    other = _ranx(name, defaults) or parse_trec_name(name, defaults)
    if other:
        return other
    match = _NAME.fullmatch(name)
    canonical = _canonical(match[1]) if match else None
    if match and canonical is not None:
        cutoff = float(match[3]) if match[3] else None
        return [make_measure(canonical, cutoff, _parse_params(name, match[2]), defaults)]
    known = re.match(r"\s*([\w-]+)", name)
    if known and _canonical(known[1]) is not None:
        raise MeasureError(
            f"cannot read {name!r}: a measure is written {known[1]}(parameter=value)@cutoff"
        )
    external = _external(name, defaults)
    if external:
        return external
    refuse_unsupported(name)
    raise MeasureError(_unknown(name))


def _canonical(spelling: str) -> str | None:
    """The family for a spelling; upper and lower case do not matter."""
    families()
    return spelling if spelling in _families else _aliases.get(spelling.lower())


def _ranx(name: str, defaults: Mapping[str, Value]) -> list[Measure]:
    """``rbp.95`` is RBP with p = 0.95, ``ndcg_burges`` is nDCG with exponential gains."""
    match = re.fullmatch(r"rbp(\.\d+)", name)
    if match:
        return [make_measure("RBP", None, {"p": float(match[1]), "rel": 1}, defaults)]
    match = re.fullmatch(r"n?dcg_burges(?:@(\d+))?", name)
    if match:
        family_name = "nDCG" if name.startswith("n") else "DCG"
        cutoff = float(match[1]) if match[1] else None
        return [make_measure(family_name, cutoff, {"dcg": "exp-log2"}, defaults)]
    return []


def _external(name: str, defaults: Mapping[str, Value]) -> list[Measure]:
    from heldout.measure.ranking.external import external_measure  # rarely needed

    found = external_measure(name)
    if found and defaults:
        raise MeasureError(
            f"{found} is computed by ir_measures, which does not know {', '.join(defaults)} as a "
            "setting for all measures: set it in the name, if the measure has it"
        )
    return [found] if found else []


def _parse_params(name: str, text: str | None) -> dict[str, Value]:
    params: dict[str, Value] = {}
    rest = (text or "").strip()
    while rest:
        match = _PARAM.match(rest)
        if not match:
            raise MeasureError(f"{name!r}: cannot read {rest!r}, expected parameter=value, …")
        if match[1] in params:
            raise MeasureError(f"{name!r}: {match[1]} is given twice")
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
    if not NUMBER.fullmatch(text):
        if re.fullmatch(r"[\w-]+", text):
            return text
        raise MeasureError(f"{name!r}: cannot read the value {text!r}")
    return whole_number(text, name) if re.fullmatch(r"[+-]?\d+", text) else float(text)


def _parse_gains(name: str, text: str) -> Gains:
    gains: dict[int, float] = {}
    for pair in filter(None, (part.strip() for part in text.split(","))):
        match = re.fullmatch(r"([+-]?\d+)\s*[:=]\s*(\S+)", pair)
        if not match or not NUMBER.fullmatch(match[2]):
            raise MeasureError(f"{name!r}: cannot read the gain {pair!r}, expected grade: gain")
        grade = whole_number(match[1], name)
        if grade in gains:
            raise MeasureError(f"{name!r}: grade {match[1]} has two gains")
        gains[grade] = float(match[2])
    return tuple(sorted(gains.items()))


def _unknown(name: str) -> str:
    import difflib  # only for a mistake

    from heldout.measure.ranking.trec_names import TREC_NAMES

    stem = re.split(r"[@(.]", name)[0]
    spellings = {known.lower(): known for known in [*_aliases, *TREC_NAMES]}
    spellings.update({known.lower(): known for known in _families})
    near = difflib.get_close_matches(stem.lower(), spellings, 4, 0.5)
    shown = list(dict.fromkeys(_aliases_name(spellings[one]) for one in near))
    hint = f"did you mean {' or '.join(shown)}?" if shown else "see heldout measures for a list"
    return f"unknown measure {name!r}: {hint}"


def _aliases_name(spelling: str) -> str:
    return _aliases.get(spelling, spelling)
