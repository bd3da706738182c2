"""trec_eval's names, parameters and groups of measures, and the order in which it prints.

``-m P.5,10`` is the measure P with cutoffs; a printed name is ``P_5``. Both are accepted, and
`trec_lines` returns the lines that trec_eval 10.0 prints for a list of ``-m`` arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from heldout.errors import MeasureError
from heldout.measure.base import definitions

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from heldout.measure.base import Measure, Value

Kind = Literal["plain", "ranks", "shares", "numbers", "pairs", "runid"]
_RANKS: Final = "5,10,15,20,30,100,200,500,1000"
_LEVELS: Final = ".0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1.0"


class _Entry(NamedTuple):
    """One row of trec_eval's table of measures."""

    family: str  # in heldout
    kind: Kind = "plain"  # of parameters: none, cutoffs, numbers, or name=number pairs
    default: str = ""  # cutoffs
    shown: Literal["both", "single", "final"] = "both"  # for single queries, for all, or both


# In the order in which trec_eval prints.
_TABLE: Final[dict[str, _Entry]] = {
    "runid": _Entry("", "runid", shown="final"),
    "num_q": _Entry("NumQ", shown="final"),
    "num_ret": _Entry("NumRet"),
    "num_rel": _Entry("NumRel"),
    "num_rel_ret": _Entry("NumRelRet"),
    "map": _Entry("AP"),
    "gm_map": _Entry("GMAP", shown="final"),
    "Rprec": _Entry("Rprec"),
    "bpref": _Entry("Bpref"),
    "recip_rank": _Entry("RR"),
    "iprec_at_recall": _Entry("IPrec", "shares", _LEVELS),
    "P": _Entry("P", "ranks", _RANKS),
    "relstring": _Entry("RelString", "numbers", shown="single"),
    "recall": _Entry("R", "ranks", _RANKS),
    "infAP": _Entry("infAP"),
    "gm_bpref": _Entry("gm_bpref", shown="final"),
    "Rprec_mult": _Entry("Rprec", "shares", ".2,.4,.6,.8,1.0,1.2,1.4,1.6,1.8,2.0"),
    "utility": _Entry("Utility", "numbers"),
    "11pt_avg": _Entry("IPrec11", "numbers"),
    "binG": _Entry("binG"),
    "G": _Entry("G", "pairs"),
    "dcg": _Entry("DCG", "pairs"),
    "ideal_dcg": _Entry("IDCG", "pairs"),
    "ndcg": _Entry("nDCG", "pairs"),
    "ndcg_rel": _Entry("nDCGrel", "pairs"),
    "Rndcg": _Entry("Rndcg", "pairs"),
    "ndcg_cut": _Entry("nDCG", "ranks", _RANKS),
    "map_cut": _Entry("AP", "ranks", _RANKS),
    "relative_P": _Entry("RelP", "ranks", _RANKS),
    "success": _Entry("Success", "ranks", "1,5,10"),
    "set_P": _Entry("SetP"),
    "set_relative_P": _Entry("SetRelP"),
    "set_recall": _Entry("SetR"),
    "set_map": _Entry("SetAP"),
    "set_F": _Entry("SetF", "numbers"),
    "num_nonrel_judged_ret": _Entry("NumNonrelJudgedRet"),
    "yaap": _Entry("SmoothAP"),
    "rbp": _Entry("RBP", "pairs"),
    "rbp_resid": _Entry("RBPResidual", "pairs"),
    "unj": _Entry("Unjudged", "ranks", "5,10,20"),
}

TREC_NAMES: Final = tuple(name for name in _TABLE if name != "runid")

_COUNTS: Final = ("runid", "num_q", "num_ret", "num_rel", "num_rel_ret")
_SETS: Final = ("utility", "set_P", "set_recall", "set_relative_P", "set_map", "set_F")
_MAIN: Final = ("map", "gm_map", "Rprec", "bpref", "recip_rank", "iprec_at_recall", "P")
_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "official": (*_COUNTS, *_MAIN),
    "all_trec": tuple(name for name in _TABLE if name not in {"dcg", "ideal_dcg", "yaap"}),
    "set": (*_COUNTS, *_SETS),
}
_UNSUPPORTED: Final = re.compile(r"(all_)?prefs|prefs_\w+|qrels_jg|(map|P|Rprec_mult)_avgjg")
_PRINTED: Final = re.compile(r"(.+)_([0-9]+|[0-9]+\.[0-9]+)")


def refuse_unsupported(what: str) -> None:
    """Raise an error for measures and groups that only trec_eval has."""
    if _UNSUPPORTED.fullmatch(what.partition(".")[0]):
        raise MeasureError(
            f"{what} is not supported: heldout has all of trec_eval but preferences (prefs, "
            "qrels_prefs) and judgement groups (qrels_jg)"
        )


class TrecLine(NamedTuple):
    """One line of trec_eval's output: its label and its measure (None: the run's id)."""

    label: str
    measure: Measure | None
    single: bool
    final: bool


def trec_lines(names: list[str], rel: int = 1, docs: int = 0) -> list[TrecLine]:
    """Return the lines for trec_eval's ``-m`` arguments, in its order.

    Of several parameter lists for one measure the first is used, as in trec_eval.
    """
    wanted: dict[str, str] = {}
    for argument in names or ["official"]:
        name, dot, params = argument.partition(".")
        if dot and not params:
            raise MeasureError(f"{argument!r}: missing parameters after the dot")
        refuse_unsupported(argument)
        for member in _GROUPS.get(name, (name,)):
            if member not in _TABLE:
                raise MeasureError(
                    f"{argument!r} is not a measure of trec_eval: expected its spelling, one of "
                    f"{', '.join([*_GROUPS, *_TABLE])}"
                )
            wanted[member] = wanted.get(member) or (params if member == name else "")
    lines: list[TrecLine] = []
    for name, entry in _TABLE.items():
        if name in wanted:
            labelled: list[tuple[str, Any]] = [(name, None)]
            if name != "runid":
                labelled = _expand(name, wanted[name], {"rel": rel}, docs)
            shown = entry.shown != "final", entry.shown != "single"
            lines += [TrecLine(label, measure, *shown) for label, measure in labelled]
    return lines


def trec_spellings(family: str) -> list[str]:
    """Return the names that trec_eval has for a family; ``_K`` and ``_X`` are cutoffs."""
    ends = {"ranks": "_K", "shares": "_X"}
    return [f"{name}{ends.get(e.kind, '')}" for name, e in _TABLE.items() if e.family == family]


def is_trec_name(name: str) -> bool:
    """Return whether this is a name, a group, or a printed name of trec_eval."""
    stem, dot, params = name.partition(".")
    if name in _GROUPS or (stem in TREC_NAMES and bool(dot) == bool(params)):
        return True
    match = _PRINTED.fullmatch(name)
    return match is not None and match[1] in _TABLE and bool(_TABLE[match[1]].default)


def parse_trec_name(name: str, defaults: Mapping[str, Value] | None = None) -> list[Measure]:
    """Return the measures for such a name."""
    rest = defaults or {}
    if name in _GROUPS:
        members = [member for member in _GROUPS[name] if member not in {"runid", "relstring"}]
        return [measure for member in members for _, measure in _expand(member, "", rest)]
    stem, _, params = name.partition(".")
    if stem not in _TABLE:
        match = _PRINTED.fullmatch(name)
        assert match is not None  # noqa: S101 - `is_trec_name` was asked
        stem, params = match[1], match[2]
        if _TABLE[stem].kind == "ranks" and "." in params:
            raise MeasureError(f"{name}: a cutoff must be a positive integer")
    return [measure for _, measure in _expand(stem, params, rest)]


def _expand(
    name: str, params: str, defaults: Mapping[str, Value], docs: int = 0
) -> list[tuple[str, Measure]]:
    """Return labels and measures for one name with its parameters."""
    make = definitions("ranking")[_TABLE[name].family].make
    settings = _settings(name, params, docs)
    return [(label, make(given, defaults, cutoff)) for label, given, cutoff in settings]


def _settings(
    name: str, params: str, docs: int
) -> Iterator[tuple[str, dict[str, Value], float | None]]:
    """Yield labels, parameters and cutoffs."""
    kind, label = _TABLE[name].kind, f"{name}_{params}" if params else name
    if kind in {"ranks", "shares"}:
        read = _rank if kind == "ranks" else _number
        cutoffs = sorted(read(name, part) for part in (params or _TABLE[name].default).split(","))
        if len(set(cutoffs)) < len(cutoffs):
            raise MeasureError(f"{name}: duplicate cutoff ({', '.join(map(str, cutoffs))})")
        for cutoff in cutoffs:
            shown = f"{name}_{cutoff if kind == 'ranks' else f'{cutoff:.2f}'}"
            is_multiple = name == "Rprec_mult"
            yield shown, {"times": cutoff} if is_multiple else {}, None if is_multiple else cutoff
    elif kind == "plain" and params:
        raise MeasureError(f"{name} takes no parameters (got {params!r})")
    elif name == "relstring":
        depth = max(int(_number(name, params.split(",", maxsplit=1)[0])), 1) if params else None
        yield label, {}, depth
    else:
        yield label, _pairs(name, params) if kind == "pairs" else _numbers(name, params, docs), None


def _numbers(name: str, params: str, docs: int) -> dict[str, Value]:
    numbers = [_number(name, part) for part in params.split(",")] if params else []
    if name == "set_F" and numbers:
        return {"beta": numbers[0]}
    if name == "11pt_avg" and numbers:
        return {"levels": params}
    if name != "utility":
        return {}
    if numbers and len(numbers) != 4:
        raise MeasureError(f"utility takes four numbers (got {params!r}), e.g. utility.1,-1,0,0")
    return {**dict(zip("abcd", numbers, strict=False)), "docs": docs}


def _pairs(name: str, params: str) -> dict[str, Value]:
    given: dict[str, Value] = {"p": 0.9} if name.startswith("rbp") else {}
    gains: dict[int, float] = {}
    pairs = [pair.partition("=") for pair in params.split(",") if pair]
    for key, equals, value in pairs:
        if not equals:
            raise MeasureError(f"{name}.{params}: expected pairs such as 1=3,2=9")
        if [other for other, _, _ in pairs].count(key) > 1:
            raise MeasureError(f"{name}.{params}: {key} is given twice")
        if key == "p" and "p" in given:
            given["p"] = _number(name, value)
        elif not re.fullmatch(r"\+?[0-9]{1,9}", key):
            raise MeasureError(f"{name}: {key!r} is not a grade (a non-negative integer)")
        elif int(key) in gains:  # 1 and 01
            raise MeasureError(f"{name}.{params}: a grade is given twice")
        else:
            gains[int(key)] = _number(name, value)
            if gains[int(key)] < 0:
                raise MeasureError(
                    f"{name}: grade {key} has a negative gain ({value}); give 0 or more"
                )
    if name == "rbp_resid":
        return {**given, "complete": False}
    if name == "rbp":
        given["normalise"] = "query"
    return {**given, "gains": tuple(sorted(gains.items()))} if gains else given


def _number(name: str, text: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", text):
        raise MeasureError(f"{name}: {text!r} is not a number")
    return float(text)


def _rank(name: str, text: str) -> int:
    """Return a cutoff; trec_eval truncates ``23.4`` to 23."""
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]*)?", text)
    if not match or not int(match[1]):
        raise MeasureError(f"{name}: cutoff {text!r} is not a positive integer")
    return int(match[1])
