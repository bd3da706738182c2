"""Whether a folder of results holds what an experiment writes; edited by hand, it may not.

What is always there is looked at once, when it is read, so that no table and no page stumbles over
it later.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

__all__ = ["check_results"]

Number = Annotated[float, Field(gt=-1e300, lt=1e300, allow_inf_nan=False)]
Share = Annotated[float, Field(gt=0, lt=1)]
Count = Annotated[int, Field(ge=0, lt=2**62)]
T = TypeVar("T")


class Written(BaseModel):
    """Named values of a file; there may be more of them than are checked."""

    model_config = ConfigDict(strict=True)


class WrittenNote(Written):
    """A note; heldout 0.1 has written its text alone."""

    code: str
    text: str
    severity: Literal["warning", "info"]


class Fingerprints(Written):
    """Of the data and the splits."""

    splits: str


class Manifest(Written):
    """``manifest.json``; its settings are checked by the task."""

    settings: dict[str, Any]
    fingerprints: Fingerprints
    versions: dict[str, Any]
    policies: dict[str, Any]
    notes: list[str | WrittenNote]


class Described(Written):
    """A system in the settings."""

    name: str
    points: list[dict[str, Any]]


class WrittenSettings(Written):
    """The settings of experiments of any task."""

    task: str
    plan: str
    plan_seed: Count | None
    splits: Count
    measures: Annotated[list[str], Field(min_length=1)]
    tune_for: str
    seed: Count
    rule: str
    inner: Count | None
    level: Share
    baseline: str | None
    systems: list[Described]


class CollectionSizes(Written):
    """A collection in the settings."""

    name: str
    documents: Count
    queries: Count
    judgements: Count


class WrittenRankings(WrittenSettings):
    """The settings of an experiment with systems that rank."""

    by: Literal["query", "document", "both"]
    collection: CollectionSizes
    depth: Count
    estimator: str
    target_size: Count | None
    replicates: Count
    analyzer: str | None


class DataSizes(Written):
    """The rows in the settings."""

    name: str
    rows: Count
    groups: Count | None
    classes: list[str]


class WrittenPredictions(WrittenSettings):
    """The settings of an experiment with estimators."""

    by: Literal["instance"]
    data: DataSizes
    test_share: Number


class WrittenEstimate(Written):
    """An estimate of any task."""

    measure: str
    value: Number | None
    low: Number | None
    high: Number | None
    level: Share
    interval: str


class RankingEstimate(WrittenEstimate):
    """An estimate for rankings."""

    n_queries: Count
    left_out: Count
    estimator: str
    estimand: str
    train: Number | None
    optimism: Number | None
    target_size: Count | None


class PredictionEstimate(WrittenEstimate):
    """An estimate for predictions."""

    reason: str
    spread: Number | None


class Choice(Written):
    """Parameters, and how often they were chosen."""

    parameters: dict[str, Any]
    times: Count


class Edge(Written):
    """A value at the end of its grid."""

    name: str
    value: Number
    folds: Count
    shipped: bool


class Difference(Written):
    """A difference between systems on new documents."""

    system: str
    measure: str
    difference: Number
    low: Number
    high: Number


class WrittenSpread(Written):
    """What tuning in query folds adds to the variance of a difference."""

    system: str
    measure: str
    units: Annotated[float, Field(ge=0, lt=1e300)]
    choices: Annotated[float, Field(ge=0, lt=1e300)]


class WrittenSystem(Written):
    """A system in ``summary.json``."""

    name: str
    points: Count
    tuned: bool
    chosen: list[Choice]
    ship: dict[str, Any]
    ship_number: Count
    edges: list[Edge]
    differences: list[Difference] = []
    choices: list[WrittenSpread] | None = None


class RankingSystem(WrittenSystem):
    """A system that ranks."""

    estimates: list[RankingEstimate]


class PredictionSystem(WrittenSystem):
    """An estimator or a baseline."""

    estimates: list[PredictionEstimate]
    notes: list[str | WrittenNote]
    baseline: bool


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
    _as(Manifest, manifest, place, "manifest.json")
    ranking = manifest["settings"].get("task") == "ranking"
    known = "collection" if ranking else "data"
    _as(dict[str, Any], manifest["fingerprints"], place, "manifest.json")
    if not isinstance(manifest["fingerprints"].get(known), str):
        _refuse(place, "manifest.json", [known])
    kind = WrittenRankings if ranking else WrittenPredictions
    settings: WrittenSettings = _as(kind, manifest["settings"], place, "manifest.json")
    _check_summary(place, summary, settings, ranking=ranking)
    _check_tables(place, summary, manifest["settings"], tables, ranking=ranking)


def _as(kind: type[T], value: Any, place: str, file: str) -> T:
    """A value with types; refused if it is not of this kind."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        wrong = [".".join(map(str, one["loc"])) or "(not a table)" for one in error.errors()]
        _refuse(place, file, list(dict.fromkeys(wrong)))
        raise


def _check_summary(place: str, summary: Any, settings: WrittenSettings, *, ranking: bool) -> None:
    if not isinstance(summary, list) or not summary:
        raise InputError(f"{place}: summary.json has no systems: was it edited? Run it again")
    kind = RankingSystem if ranking else PredictionSystem
    tried = {one.name for one in settings.systems if one.points}
    for one in summary:
        found: Any = _as(kind, one, place, "summary.json")
        if [each.measure for each in found.estimates] != settings.measures:
            _refuse(place, "summary.json", ["estimates"])
        if found.tuned and found.name not in tried:  # the settings do not say what was tried
            _refuse(place, "manifest.json", ["systems"])
    names = [one["name"] for one in summary]
    if len(set(names)) < len(names) or settings.baseline not in (None, *names):
        _refuse(place, "summary.json", ["name"])


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
