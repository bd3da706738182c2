"""Whether a folder of results holds what an experiment writes; edited by hand, it may not.

What is always there is looked at once, when it is read, so that no table and no page stumbles over
it later.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import polars as pl

    Check = Callable[[Any], bool]
    Fields = Mapping[str, Check]

__all__ = ["check_results"]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _flag(value: Any) -> bool:
    return isinstance(value, bool)


def _number(value: Any) -> bool:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return -1e300 < value < 1e300 and math.isfinite(value)


def _share(value: Any) -> bool:
    return _number(value) and 0 < value < 1


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**62


def _table(value: Any) -> bool:
    return isinstance(value, dict)


def _maybe(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _each(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _with(fields: Fields) -> Check:
    return lambda value: not _wrong(fields, value)


def _wrong(fields: Fields, value: Any) -> list[str]:
    """The names of the fields that are not what they must be."""
    if not isinstance(value, dict):
        return ["(not a table)"]
    return [name for name, check in fields.items() if name not in value or not check(value[name])]


_NOTE: Final[Fields] = {
    "code": _text,
    "text": _text,
    "severity": lambda value: value in ("warning", "info"),
}


def _note(value: Any) -> bool:
    """A note; heldout 0.1 has written its text alone."""
    return _text(value) or not _wrong(_NOTE, value)


_DESCRIBED: Final[Fields] = {"name": _text, "points": _each(_table)}
_SETTINGS: Final[Fields] = {
    "task": _text,
    "by": lambda value: value in ("query", "document", "both", "instance"),
    "plan": _text,
    "plan_seed": _maybe(_count),
    "splits": _count,
    "measures": lambda value: _each(_text)(value) and bool(value),
    "tune_for": _text,
    "seed": _count,
    "rule": _text,
    "inner": _maybe(_count),
    "alpha": _share,
    "baseline": _maybe(_text),
    "systems": _each(_with(_DESCRIBED)),
}
_COLLECTION: Final[Fields] = {
    "name": _text, "documents": _count, "queries": _count, "judgements": _count,
}  # fmt: skip
_RANKING: Final[Fields] = {
    **_SETTINGS,
    "by": lambda value: value in ("query", "document", "both"),
    "collection": _with(_COLLECTION),
    "depth": _count,
    "estimator": _text,
    "target_size": _maybe(_count),
    "replicates": _count,
    "analyzer": _maybe(_text),
}
_DATA: Final[Fields] = {
    "name": _text, "rows": _count, "groups": _maybe(_count), "classes": _each(_text),
}  # fmt: skip
_ESTIMATORS: Final[Fields] = {**_SETTINGS, "data": _with(_DATA), "test_share": _number}
_PRINTS: Final[Fields] = {"splits": _text}
_CHOICE: Final[Fields] = {"parameters": _table, "times": _count}
_EDGE: Final[Fields] = {"name": _text, "value": _number, "folds": _count, "shipped": _flag}
_ESTIMATE: Final[Fields] = {
    "measure": _text,
    "value": _maybe(_number),
    "low": _maybe(_number),
    "high": _maybe(_number),
    "level": _share,
    "interval": _text,
}
_OF_RANKING: Final[Fields] = {
    **_ESTIMATE,
    "n_queries": _count,
    "left_out": _count,
    "estimator": _text,
    "estimand": _text,
    "train": _maybe(_number),
    "optimism": _maybe(_number),
    "target_size": _maybe(_count),
}
_OF_ESTIMATOR: Final[Fields] = {**_ESTIMATE, "reason": _text, "spread": _maybe(_number)}
_SYSTEM: Final[Fields] = {
    "name": _text,
    "points": _count,
    "tuned": _flag,
    "chosen": _each(_with(_CHOICE)),
    "ship": _table,
    "ship_number": _count,
    "edges": _each(_with(_EDGE)),
}
_DIFFERENCE: Final[Fields] = {
    "system": _text, "measure": _text, "difference": _number, "low": _number, "high": _number,
}  # fmt: skip


def check_results(
    place: str, manifest: Any, summary: Any, tables: Mapping[str, pl.DataFrame]
) -> None:
    """Refuse what no experiment has written.

    Parameters
    ----------
    place
        The folder, for messages.
    manifest, summary
        What is in their files.
    tables
        The tables by name.
    """
    outer: Fields = {
        "settings": _table, "fingerprints": _with(_PRINTS), "versions": _table,
        "policies": _table, "notes": _each(_note),
    }  # fmt: skip
    _refuse(place, "manifest.json", _wrong(outer, manifest))
    settings = manifest["settings"]
    ranking = settings.get("task") == "ranking"
    _refuse(place, "manifest.json", _wrong(_RANKING if ranking else _ESTIMATORS, settings))
    known = "collection" if ranking else "data"
    _refuse(place, "manifest.json", _wrong({known: _text}, manifest["fingerprints"]))
    _check_summary(place, summary, settings, ranking=ranking)
    _check_tuned(place, summary, settings)
    _check_tables(place, summary, settings, tables, ranking=ranking)


def _check_summary(place: str, summary: Any, settings: Any, *, ranking: bool) -> None:
    if not isinstance(summary, list) or not summary:
        raise InputError(f"{place}: summary.json has no systems: was it edited? Run it again")
    estimate = _OF_RANKING if ranking else _OF_ESTIMATOR
    own: Fields = {**_SYSTEM, "estimates": _each(_with(estimate))}
    if not ranking:
        own = {**own, "notes": _each(_note), "baseline": _flag}
    for one in summary:
        _refuse(place, "summary.json", _wrong(own, one))
        measured = [found["measure"] for found in one["estimates"]]
        if measured != settings["measures"] or not _each(_with(_DIFFERENCE))(
            one.get("differences", [])
        ):
            _refuse(place, "summary.json", ["estimates"])
    names = [one["name"] for one in summary]
    if len(set(names)) < len(names) or settings["baseline"] not in (None, *names):
        _refuse(place, "summary.json", ["name"])


def _check_tuned(place: str, summary: Any, settings: Any) -> None:
    """Refuse settings that do not say what was tried for a system that was tuned."""
    tried = {one["name"] for one in settings["systems"] if one["points"]}
    if any(one["tuned"] and one["name"] not in tried for one in summary):
        _refuse(place, "manifest.json", ["systems"])


def _check_tables(
    place: str, summary: Any, settings: Any, tables: Mapping[str, pl.DataFrame], *, ranking: bool
) -> None:
    import polars as pl

    from heldout.experiment.split_table import split_columns
    from heldout.experiment.tables import place_columns

    whole = {"system": pl.String, **place_columns()}
    if not ranking:
        whole.pop("other")
    choice = {"number": pl.Int32, "parameters": pl.String}
    lists: dict[str, Any] = {"unit": pl.String}
    if ranking:
        lists |= {"rank": pl.Int32, "document": pl.String, "score": pl.Float64}
    else:
        classes = settings["data"]["classes"]
        kind = pl.String if classes else pl.Float64
        scores = pl.Struct(dict.fromkeys(classes, pl.Float64)) if classes else pl.List(pl.Float64)
        lists |= {"truth": kind, "prediction": kind, "scores": scores, "probabilities": pl.Boolean}
    wanted: dict[str, dict[str, Any]] = {
        "values": {**whole, "unit": pl.String, "measure": pl.String, "value": pl.Float64,
                   "parameters": pl.String},
        "folds": {**whole, **choice, "train": pl.Float64, "held_out": pl.Float64,
                  "edges": pl.String},
        "surface": {**whole, **choice, "mean": pl.Float64},
        "held_out": {**whole, **lists},
    }  # fmt: skip
    names = [one["name"] for one in summary]
    schema = tables["splits"].schema
    wrong = [column for column, kind in split_columns().items() if schema.get(column) != kind]
    _refuse(place, "the table splits", wrong)
    for name, columns in wanted.items():
        schema = tables[name].schema
        wrong = [column for column, kind in columns.items() if schema.get(column) != kind]
        _refuse(place, f"the table {name}", wrong)
        known = tables[name]["system"].is_in(names)
        if not known.fill_null(value=False).all():
            _refuse(place, f"the table {name}", ["system"])
        if name in ("folds", "values") and not _readable(tables[name]["parameters"]):
            _refuse(place, f"the table {name}", ["parameters"])
    filled = ("unit", "measure", "value") if ranking else ("measure",)
    missing = [column for column in filled if tables["values"][column].has_nulls()]
    if ranking and not tables["values"]["value"].is_finite().all():
        missing.append("value")
    _refuse(place, "the table values", missing)


def _readable(parameters: pl.Series) -> bool:
    """Whether parameters are objects in JSON, or missing."""
    try:
        return all(isinstance(json.loads(one), dict) for one in parameters.drop_nulls().unique())
    except (ValueError, RecursionError):
        return False


def _refuse(place: str, file: str, wrong: list[str]) -> None:
    if wrong:
        raise InputError(
            f"{place}: {file} is not as an experiment writes it ({', '.join(wrong[:5])}): was it "
            "edited, or written by another version? Run the experiment again"
        )
