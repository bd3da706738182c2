"""The fields of an experiment and of its tables, with their types; pydantic checks them.

There is one class for each table of a file or parameter of a call. All mistakes are added to
`Problems` at once; correct tables are returned with types.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
)

from heldout.errors import HeldoutError, InputError
from heldout.experiment.documents.methods import Method  # noqa: TC001 - pydantic reads it
from heldout.infer.results import check_level
from heldout.resample.plan import MOST_REPEATS
from heldout.retrieve.analyze import STOP_LISTS, Analyzer
from heldout.tune.choice import Rule  # noqa: TC001 - the same

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from heldout.data.collection import Collection
    from heldout.experiment.problems import Problems

__all__ = [
    "AnalyzerTable",
    "ArrayData",
    "By",
    "CollectionTable",
    "EstimatorTable",
    "ExperimentFields",
    "FileData",
    "PredictionFields",
    "RankingFields",
    "SystemTable",
    "Table",
    "TuneOn",
    "checked",
]


class Table(BaseModel):
    """Named values; unknown names are refused, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


T = TypeVar("T", bound=Table)


def _level(value: float) -> float:
    try:
        return check_level(value, name="")
    except HeldoutError as error:
        raise ValueError(str(error)) from None


def _as_text(value: object) -> object:
    return os.fspath(value) if isinstance(value, os.PathLike) else value


def _as_tuple(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def _as_texts(value: object) -> object:
    several = value if isinstance(value, list | tuple) else [value]
    return tuple(map(_as_text, several))


def _stop_words(value: object) -> str | tuple[str, ...]:
    if isinstance(value, list | tuple) and all(isinstance(one, str) for one in value):
        return tuple(value)
    if not isinstance(value, str):
        raise ValueError(f"expected a text or a list of texts, not {value!r}")  # noqa: TRY004
    return value


StopWords = Annotated[str | tuple[str, ...], PlainValidator(_stop_words)]
FilePath = Annotated[str, BeforeValidator(_as_text)]
FilePaths = Annotated[tuple[str, ...], BeforeValidator(_as_texts)]
Texts = Annotated[tuple[str, ...], BeforeValidator(_as_tuple)]
Seed = Annotated[int, Field(ge=0)]
Folds = Annotated[int, Field(ge=2)]
Count = Annotated[int, Field(ge=1)]
By = Literal["query", "document", "both"]
TuneOn = Literal["human", "machine"]


class ExperimentFields(Table):
    """The fields of experiments of any task; see `heldout.Experiment`."""

    task: str = "ranking"
    systems: Any = ()
    plan: Any = None
    runs: Annotated[int, Field(ge=1, le=MOST_REPEATS)] = 1
    measures: Any = None
    tune_for: Any = None
    seed: Seed = 0
    rule: Rule = "best"
    baseline: str | None = None
    level: Annotated[float, AfterValidator(_level)] = 0.95


class RankingFields(ExperimentFields):
    """An experiment with systems that rank documents."""

    collection: Any = None
    by: By = "query"
    depth: Count = 1000
    keep_depth: Annotated[int, Field(ge=10)] = 10
    inner: Folds | None = None
    method: Method = "pooled"
    target_size: Count | None = None
    replicates: Annotated[int, Field(ge=100, le=MOST_REPEATS)] = 500
    index: Any = None
    analyzer: Any = None
    machine: Any = None
    tune_on: TuneOn = "human"
    assume_random: bool = False


class PredictionFields(ExperimentFields):
    """An experiment with scikit-learn estimators."""

    data: Any = None
    inner: Folds = 5


class CollectionTable(Table):
    """A collection in files; see `heldout.read_collection`. Run files need only judgements."""

    source: FilePath | None = None
    queries: FilePath | None = None
    qrels: FilePaths | None = None
    fields: Texts | None = None
    query_field: str = "title"
    split: str | None = None
    encoding: str = "utf-8"
    name: str | None = None
    intersection: bool = False

    def moved(self, move: Callable[[str], str]) -> CollectionTable:
        """Return the table with other paths."""
        changed = {
            "source": None if self.source is None else move(self.source),
            "queries": None if self.queries is None else move(self.queries),
            "qrels": None if self.qrels is None else tuple(map(move, self.qrels)),
        }
        return self.model_copy(update=changed)

    def read(self) -> Collection:
        """Read the collection, or take the documents of an index."""
        from pathlib import Path

        from heldout.data.collection_files import read_collection
        from heldout.retrieve.index import Index, IndexedDocuments
        from heldout.retrieve.index_files import is_index

        if self.source is None:
            raise InputError("the collection has no source")
        indexed = IndexedDocuments(Index.open(self.source)) if is_index(self.source) else None
        return read_collection(
            self.source if indexed is None else indexed,
            encoding=self.encoding,
            queries=self.queries,
            qrels=self.qrels,
            fields=self.fields,
            query_field=self.query_field,
            split=self.split,
            name=self.name or (None if indexed is None else Path(self.source).stem),
        )


class AnalyzerTable(Table):
    """How text is turned into terms; see `heldout.Analyzer`."""

    stemmer: str | None = None
    stop: StopWords = "none"
    lower: bool = True

    def analyzer(self, move: Callable[[str], str]) -> Analyzer:
        """Make the analyzer.

        Parameters
        ----------
        move
            Finds the file of stop words.
        """
        named = isinstance(self.stop, str) and self.stop not in STOP_LISTS
        return Analyzer(
            lower=self.lower,
            stop=move(self.stop) if named and isinstance(self.stop, str) else self.stop,
            stemmer=self.stemmer,
        )


class SystemTable(Table):
    """A system that ranks, as a text such as ``bm25(k1=0.5:3:6)``."""

    system: str
    name: Annotated[str, Field(pattern=r"\S")] | None = None
    search: Literal["grid", "random", "optuna"] | None = None
    trials: Count | None = None


class EstimatorTable(Table):
    """A scikit-learn estimator, or several that make a pipeline."""

    name: str | None = None
    estimator: Any = None
    parameters: dict[str, object] = {}
    space: Any = {}
    search: Literal["grid", "random", "optuna"] | None = None
    trials: Count | None = None


class FileData(Table):
    """Rows in a file, by the names of its columns."""

    file: str
    target: str
    text: str | None = None
    features: Annotated[list[str], Field(min_length=1)] | None = None
    id: str | None = None
    groups: str | None = None
    name: str | None = None


class ArrayData(Table):
    """Rows in arrays."""

    X: Any
    y: Any
    ids: Any = None
    groups: Any = None
    name: str = "data"


def checked(
    kind: type[T], given: Mapping[str, object], problems: Problems, under: str = ""
) -> T | None:
    """Return a table with types; mistakes are added to `problems`.

    Parameters
    ----------
    kind
        What it must be.
    given
        What it is.
    under
        The prefix of the names of its values, such as ``plan.``.

    Returns
    -------
    Table
        Without the wrong values, so that more mistakes can be found; None if a required value is
        missing.
    """
    table = dict(given)
    problems.unknown(table, tuple(kind.model_fields), under)
    known = {name: value for name, value in table.items() if name in kind.model_fields}
    try:
        return kind.model_validate(known)
    except ValidationError as error:
        wrong: dict[int | str, Any] = {}
        for one in error.errors(include_url=False):
            wrong.setdefault(one["loc"][0], one)
        for name, one in wrong.items():
            problems.add(f"{under}{name}", _words(one))
            known.pop(str(name), None)
    try:
        return kind.model_validate(known)
    except ValidationError:  # a value is missing, which has been reported
        return None


_EXPECTED: Final = {
    "int_type": "an integer",
    "int_from_float": "an integer",
    "float_type": "a number",
    "finite_number": "a finite number",
    "string_type": "a text",
    "tuple_type": "a list",
    "string_pattern_mismatch": "a text that is not blank",
    "bool_type": "true or false",
    "list_type": "a list",
    "too_short": "a list that is not empty",
    "dict_type": "names with values",
}


def _words(error: Any) -> str:
    """Return what is wrong with a value, and what is expected."""
    kind, value, context = error["type"], error["input"], error.get("ctx", {})
    if kind == "missing":
        return "is missing"
    if kind == "value_error":
        return str(context["error"])
    if kind == "literal_error":
        there = context["expected"].replace("'", "").replace(" or ", ", ")
        return f"unknown {error['loc'][0]} {value!r}: expected one of {there}"
    if kind == "greater_than_equal":
        return f"expected at least {context['ge']}, not {value!r}"
    if kind == "less_than_equal":
        return f"expected at most {context['le']:,}, not {value!r}"
    place = "".join(f"[{part!r}]" for part in error["loc"][1:])
    expected = f"expected {_EXPECTED.get(kind, error['msg'])}, not {value!r}"
    return f"{place}: {expected}" if place else expected
