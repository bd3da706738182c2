"""trec_eval's names, parameters and groups of measures, and the order in which it prints.

``-m P.5,10`` is the measure P with cutoffs; a printed name is ``P_5``. Both are accepted, and
`trec_lines` returns the lines that trec_eval 10.0 prints for a list of ``-m`` arguments.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from heldout.errors import MeasureError
from heldout.measure.ranking.names import RankingMeasure, make_measure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from heldout.measure.ranking.names import Value

__all__ = [
    "TREC_NAMES",
    "TrecLine",
    "parse_trec_name",
    "refuse_unsupported",
    "trec_lines",
    "trec_spellings",
]

Kind = Literal["plain", "ranks", "shares", "numbers", "pairs", "runid"]
_RANKS: Final = "5,10,15,20,30,100,200,500,1000"
_LEVELS: Final = ".0,.1,.2,.3,.4,.5,.6,.7,.8,.9,1.0"


class _Entry(NamedTuple):
    """One row of trec_eval's table of measures.

    Parameters
    ----------
    family
        The family in heldout.
    kind
        Kind of its parameters: none, cutoffs (ranks or shares, one value each), numbers,
        or ``name=number`` pairs.
    default
        The default cutoffs.
    shown
        Whether it is printed for single queries, for all queries, or for both.
    """

    family: str
    kind: Kind = "plain"
    default: str = ""
    shown: Literal["both", "single", "final"] = "both"


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
    measure: RankingMeasure | None
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
        members = _GROUPS.get(name, (name,))
        for member in members:
            if member not in _TABLE:
                raise MeasureError(
                    f"{argument!r} is not a measure of trec_eval: expected its spelling, one of "
                    f"{', '.join([*_GROUPS, *_TABLE])}"
                )
            wanted[member] = wanted.get(member) or (params if member == name else "")
    lines: list[TrecLine] = []
    for name, entry in _TABLE.items():
        if name not in wanted:
            continue
        single, final = entry.shown != "final", entry.shown != "single"
        if entry.kind == "runid":
            lines.append(TrecLine(name, None, single, final))
            continue
        for label, measure in _expand(name, entry, wanted[name], docs):
            lines.append(TrecLine(label, measure.with_defaults(rel=rel), single, final))
    return lines


def trec_spellings(family: str) -> list[str]:
    """Return the names that trec_eval has for a family; ``_K`` and ``_X`` are cutoffs."""
    cutoff = {"ranks": "_K", "shares": "_X"}
    return [
        f"{name}{cutoff.get(entry.kind, '')}"
        for name, entry in _TABLE.items()
        if entry.family == family
    ]


def parse_trec_name(name: str, defaults: Mapping[str, Value] | None = None) -> list[RankingMeasure]:
    """Return the measures for a name or group of trec_eval; empty if it is not one."""
    return [measure.with_defaults(**(defaults or {})) for measure in _trec_measures(name)]


def _trec_measures(name: str) -> list[RankingMeasure]:
    if name in _GROUPS:
        members = [one for one in _GROUPS[name] if _TABLE[one].family and one != "relstring"]
        return [m for one in members for _, m in _expand(one, _TABLE[one], "")]
    stem, dot, params = name.partition(".")
    if stem in _TABLE and stem != "runid" and bool(dot) == bool(params):
        return [measure for _, measure in _expand(stem, _TABLE[stem], params)]
    match = re.fullmatch(r"(.+)_([0-9]+|[0-9]+\.[0-9]+)", name)
    if match and match[1] in _TABLE and _TABLE[match[1]].kind in {"ranks", "shares"}:
        if _TABLE[match[1]].kind == "ranks" and "." in match[2]:
            raise MeasureError(f"{name}: a cutoff must be a positive integer")
        return [measure for _, measure in _expand(match[1], _TABLE[match[1]], match[2])]
    return []


def _expand(
    name: str, entry: _Entry, params: str, docs: int = 0
) -> list[tuple[str, RankingMeasure]]:
    """Return labels and measures for one name with its parameters."""
    if entry.kind == "plain":
        if params:
            raise MeasureError(f"{name} takes no parameters (got {params!r})")
        return [(name, make_measure(entry.family))]
    if entry.kind == "ranks":
        ranks = sorted(_whole(name, part) for part in (params or entry.default).split(","))
        _refuse_repeated(name, ranks)
        return [(f"{name}_{rank}", make_measure(entry.family, rank)) for rank in ranks]
    if entry.kind == "shares":
        shares = sorted(_number(name, part) for part in (params or entry.default).split(","))
        _refuse_repeated(name, shares)
        if name == "Rprec_mult":
            return [(f"{name}_{s:.2f}", make_measure("Rprec", None, {"times": s})) for s in shares]
        return [(f"{name}_{share:.2f}", make_measure(entry.family, share)) for share in shares]
    label = f"{name}_{params}" if params else name
    if entry.kind == "numbers":
        return [(label, _with_numbers(name, entry, params, docs))]
    return [(label, _with_pairs(name, entry, params))]


def _with_numbers(name: str, entry: _Entry, params: str, docs: int) -> RankingMeasure:
    numbers = [_number(name, part) for part in params.split(",")] if params else []
    if name == "relstring":
        return make_measure(entry.family, max(int(numbers[0]), 1) if numbers else None)
    if name == "set_F":
        return make_measure(entry.family, None, {"beta": numbers[0] if numbers else 1.0})
    if name == "11pt_avg":
        return make_measure(entry.family, None, {"levels": params} if params else {})
    if numbers and len(numbers) != 4:
        raise MeasureError(f"utility takes four numbers (got {params!r}), e.g. utility.1,-1,0,0")
    coefficients = dict(zip("abcd", numbers or (1.0, -1.0, 0.0, 0.0), strict=True))
    return make_measure(entry.family, None, {**coefficients, "docs": docs})


def _with_pairs(name: str, entry: _Entry, params: str) -> RankingMeasure:
    given: dict[str, Value] = {}
    gains: dict[int, float] = {}
    pairs = [pair.partition("=") for pair in params.split(",") if pair]
    for key, equals, value in pairs:
        if not equals:
            raise MeasureError(f"{name}.{params}: expected pairs such as 1=3,2=9")
        if [other for other, _, _ in pairs].count(key) > 1:
            raise MeasureError(f"{name}.{params}: {key} is given twice")
        if key == "p" and entry.family.startswith("RBP"):
            given["p"] = _number(name, value)
        else:
            gains[_grade(name, key)] = _gain(name, key, value)
    if len(given) + len(gains) < len(pairs):  # 1 and 01
        raise MeasureError(f"{name}.{params}: a grade is given twice")
    if entry.family == "RBPResidual":
        return make_measure(entry.family, None, {"p": given.get("p", 0.9), "complete": False})
    if entry.family == "RBP":
        given = {"p": given.get("p", 0.9), "normalise": "query"}
    if gains:
        given["gains"] = tuple(sorted(gains.items()))
    return make_measure(entry.family, None, given)


def _refuse_repeated(name: str, cutoffs: list[int] | list[float]) -> None:
    if len(set(cutoffs)) < len(cutoffs):
        raise MeasureError(f"{name}: duplicate cutoff ({', '.join(map(str, cutoffs))})")


def _number(name: str, text: str) -> float:
    if not re.fullmatch(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,2})?", text):
        raise MeasureError(f"{name}: {text!r} is not a number")
    return float(text)


def _grade(name: str, text: str) -> int:
    if not re.fullmatch(r"\+?[0-9]{1,9}", text):
        raise MeasureError(f"{name}: {text!r} is not a grade (a non-negative integer)")
    return int(text)


def _gain(name: str, grade: str, text: str) -> float:
    gain = _number(name, text)
    if gain < 0:
        raise MeasureError(f"{name}: grade {grade} has a negative gain ({text}); give 0 or more")
    return gain


def _whole(name: str, text: str) -> int:
    """Return a cutoff; trec_eval truncates ``23.4`` to 23."""
    match = re.fullmatch(r"([0-9]{1,9})(\.[0-9]*)?", text)
    if not match or not int(match[1]):
        raise MeasureError(f"{name}: cutoff {text!r} is not a positive integer")
    return int(match[1])
