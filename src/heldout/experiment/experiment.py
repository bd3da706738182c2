"""Experiment: the front door, from fields to results. A field is declared here, and nowhere else.

The Python signature, the experiment file, the options of ``heldout run`` and the table in the docs
come from the model. The command line reads it to write its help, so this module imports nothing
that is slow.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from inspect import cleandoc
from pathlib import Path
from textwrap import indent, wrap
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self, TypeAlias, TypeVar

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    model_validator,
)

from heldout.data.atomic import write_atomically
from heldout.errors import HeldoutError, InputError
from heldout.experiment.fields import FIELDS, By, Method
from heldout.experiment.problems import ExperimentError, Problems, faults
from heldout.tune import Rule  # noqa: TC001 - pydantic reads it

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.collection import Collection
    from heldout.experiment.manifest import Timings
    from heldout.experiment.prepare import Prepared
    from heldout.experiment.results.results import Results
    from heldout.measure.base import Measure
    from heldout.resample.plan import Plan
    from heldout.resample.two_way import Crossed
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

    FilePath = str | os.PathLike[str]
    GivenCollection = Collection | FilePath | Mapping[str, Any] | None
    GivenPlan: TypeAlias = Plan | Crossed | Mapping[str, Any] | None
    GivenMeasures = str | Measure | Sequence[str | Measure] | None
    GivenMeasure = str | Measure | None
    GivenIndex = Index | FilePath | None
    GivenAnalyzer = Analyzer | Mapping[str, Any] | None
else:  # they are checked where they are read
    GivenCollection = GivenPlan = GivenMeasures = GivenMeasure = GivenIndex = GivenAnalyzer = Any

Task = Literal["ranking", "classification", "regression"]
TuneOn = Literal["human", "machine"]

Model = TypeVar("Model", bound=BaseModel)
_MOST: Final = 100_000  # that of plans, too, whose module is slow to import


def _documented(model: type[Model]) -> type[Model]:
    """Describe the parameters in the docstring as the fields are declared."""
    before, examples, after = cleandoc(model.__doc__ or "").partition("Examples\n")
    described = "Parameters\n----------\n"
    for name, field in model.model_fields.items():
        words = wrap(str(field.description).replace("`", "``"), 92, break_on_hyphens=False)
        described += f"{name}\n" + indent("\n".join(words), " " * 4) + "\n"
    model.__doc__ = f"{before}{described}\n{examples}{after}"
    return model


def _declared(name: str) -> Any:
    """A field that is also an option of ``heldout run``."""
    return Field(default=FIELDS[name].default, description=FIELDS[name].description)


@_documented
class Experiment(BaseModel):
    """Tune systems on training data and evaluate them on held-out data.

    All mistakes in its fields are reported together, by `check` and by `run`.

    Examples
    --------
    >>> from heldout.data.collection import Collection
    >>> texts = {f"d{n}": f"word{n} common text" for n in range(8)}
    >>> small = Collection(
    ...     texts,
    ...     {f"q{n}": f"word{n} common" for n in range(8)},
    ...     {f"q{n}": {f"d{n}": 1} for n in range(8)},
    ... )
    >>> results = Experiment(
    ...     collection=small, systems="bm25(k1=0.5:2:4)", plan={"folds": 4}, measures=["RR"]
    ... ).run()
    >>> results.estimate("bm25")["value"]
    1.0

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> knn = KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}
    >>> data = load_iris(return_X_y=True)
    >>> results = Experiment(task="classification", data=data, systems={"k-NN": knn}).run()
    >>> [round(results.estimate(name)["value"], 2) for name in ("k-NN", "(majority class)")]
    [0.97, 0.33]
    """

    # Strict: a text is not a number. The types of Python objects are those that mypy checks.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    collection: GivenCollection = Field(
        default=None,
        description="name or path; a table has the options of `read_collection`: `source`, "
        "`queries`, `qrels`, `query_field`, `split`, `fields`, `encoding`; with judgements alone "
        "`qrels`",
    )
    systems: Any = Field(
        default=(),
        description="systems, such as `bm25(k1=0.5:3:6)`, or tables with `system` and `name`; in "
        "Python also `{name: system}`, see `System.of`. Estimators by name, each alone or with the "
        "values to try: `(estimator, {step__param: [values]})`; baselines are added",
    )
    data: Any = Field(
        default=None,
        description="rows for estimators: a table with `file`, `target`, and `text` or `features`; "
        "`id` and `groups` name columns, too. In Python also `(X, y)`, or a dictionary of `X`, "
        "`y`, `ids` and `groups`",
    )
    task: Task = Field(
        default="ranking", description="what systems do: rank, or predict classes or numbers"
    )
    by: By = _declared("by")
    plan: GivenPlan = Field(
        default=None,
        description="a plan such as `KFold(10)`, or a table of its fields with its `kind`: `kfold` "
        "(default; `folds`, `repeats`, `stratify`, `groups`), `holdout` (`test`, `validation`), "
        "`leave-one-out`, `bootstrap` (`replicates`, `side`), `given` (`folds`), `test-set` "
        '(`ids`), `chronological` (`order`, `test` or `cut`); a file is `{file = "groups.tsv"}`; '
        "with `by = both` two tables, `[plan.queries]` and `[plan.documents]`. Parameters are "
        "chosen on the validation part of a plan that has one. Default: 10 folds of queries, 5 of "
        "documents, 5 × 5 of both",
    )
    runs: Annotated[int, Field(ge=1, le=_MOST)] = Field(
        default=1, description="how often each split is used, each time with another seed"
    )
    measures: GivenMeasures = Field(
        default=None, description="measures to compute (default: nDCG@10, accuracy or MSE)"
    )
    tune_for: GivenMeasure = _declared("tune_for")
    seed: Annotated[int, Field(ge=0)] = _declared("seed")
    depth: Annotated[int, Field(ge=1)] = _declared("depth")
    keep_depth: Annotated[int, Field(ge=10)] = Field(
        default=10, description="documents of each held-out ranking that results keep"
    )
    rule: Rule = Field(
        default="best",
        description="choose the best setting, or the simplest within one standard error of it",
    )
    inner: Annotated[int, Field(ge=2)] | None = _declared("inner")
    method: Method = _declared("method")
    target_size: Annotated[int, Field(ge=1)] | None = _declared("target_size")
    replicates: Annotated[int, Field(ge=100, le=_MOST)] = Field(
        default=500, description="random parts that are left out for intervals for new documents"
    )
    level: float = _declared("level")
    baseline: str | None = _declared("baseline")
    index: GivenIndex = _declared("index")
    analyzer: GivenAnalyzer = Field(
        default=None,
        description="how text is turned into terms: a table with `stemmer`, `stop`, `lower`",
    )
    machine: Any = _declared("machine")
    tune_on: TuneOn = Field(default="human", description="judgements that parameters are tuned on")
    assume_random: bool = _declared("assume_random")

    _mistakes: tuple[tuple[str, str], ...] = ()
    _source: str = ""
    _text: str = ""
    _home: Path | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _keep_mistakes(cls, given: Any, make: ModelWrapValidatorHandler[Self]) -> Self:
        """Keep wrong values out, so that `check` reports them with what else is wrong."""
        try:
            return make(given)
        except ValidationError as error:
            wrong = faults(error, cls.model_fields)
            right = {name: value for name, value in given.items() if name not in wrong}
            experiment = make(right)
            experiment._mistakes = tuple(wrong.items())  # noqa: SLF001 - one of its own
            return experiment

    def __getstate__(self) -> dict[Any, Any]:
        """Return what is sent to a worker, which may have been started in another folder."""
        state = super().__getstate__()
        home = (self._home or Path()).absolute()
        return {**state, "__pydantic_private__": {**state["__pydantic_private__"], "_home": home}}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Experiment:
        """Read ``experiment.toml``, or a folder of results, to repeat the experiment.

        Relative paths start from the folder of the file, or from the field ``folder`` in it.
        """
        from heldout.data.files import parse_toml
        from heldout.experiment.results.files import EXPERIMENT

        place = Path(path)
        if place.is_dir():
            place /= EXPERIMENT
            if not place.is_file():
                raise InputError(
                    f"{path} cannot be repeated: no {EXPERIMENT} (results of experiments with "
                    "Python objects have none)"
                )
        try:
            fields, text = parse_toml(place.read_bytes(), str(place))
        except OSError as error:
            raise InputError(f"{place}: cannot be read ({error.strerror})") from None
        if "folder" in fields:  # in results, whose own folder is another one
            text = ""
        home = fields.pop("folder", "")
        if not isinstance(home, str):
            raise InputError(f"{place}: folder: expected a path, not {home!r}")
        experiment = cls.model_validate(fields)
        experiment._source, experiment._text = str(place), text  # noqa: SLF001 - its own
        experiment._home = place.parent / home  # noqa: SLF001
        return experiment

    @property
    def home(self) -> Path | None:
        """Where relative paths start, if it was read from a file; None: in the current folder."""
        return self._home

    def path_of(self, path: str | os.PathLike[str]) -> str:
        """Return a path of a field, seen from the folder of the experiment if it is there."""
        beside = None if self._home is None else self._home / path
        return os.fspath(path if beside is None or not os.path.exists(beside) else beside)

    def given(self) -> dict[str, Any]:
        """Return the fields that were given; one with its default value counts as not given."""
        from heldout.resample.plan import is_default

        declared = type(self).model_fields
        return {
            name: value for name, value in self if not is_default(value, declared[name].default)
        }

    def check(self) -> Prepared:
        """Check all fields before anything runs, and raise all mistakes at once."""
        from heldout.experiment.prepare import prepare  # slow to import

        problems = Problems()
        for name, message in self._mistakes:
            problems.add(name, message)
        prepared = prepare(self, problems)
        if prepared is None:
            raise ExperimentError(problems.found, self._source)
        return prepared

    def run(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        workers: int = 1,
        dask: Any = None,
        resume: bool = False,
        force: bool = False,
        progress: bool = False,
        command: str = "",
        on_message: Callable[[str], None] | None = None,
    ) -> Results:
        """Run the experiment.

        Parameters
        ----------
        folder
            Where results are written; only then can a killed run be resumed. None: nowhere.
        workers
            Processes for systems that are called or fitted (built-in models use threads). Results
            do not depend on it.
        dask
            A Dask cluster to use instead: ``tcp://HOST:PORT``, ``tls://HOST:PORT``, a scheduler
            file, or a ``distributed.Client``. Results do not depend on it.
        resume
            Continue a run that was interrupted; if it is complete, read its results.
        force
            Start from scratch, overwriting existing results.
        progress
            Show a progress bar on a terminal.
        command
            The command that was typed; it is stored with the timings, not with the results.
        on_message
            Called with a message if a cluster has no workers.
        """
        from heldout.experiment.manifest import experiment_key, make_manifest
        from heldout.experiment.results.files import resumable
        from heldout.experiment.work import open_work, refuse_other, results_folder
        from heldout.experiment.workers import check_workers, open_workers

        check_workers(workers, dask)  # before anything is read or built
        prepared = self.check()
        place, complete = None if folder is None else Path(folder), False
        with ExitStack() as stack:
            if place is not None:
                kept = results_folder(place, resume=resume, force=force)
                complete = stack.enter_context(kept)
            prepared = prepared.opened(None if complete else place)
            manifest = make_manifest(prepared)
            key = experiment_key(manifest)
            if place is not None and complete:
                from heldout.experiment.results.results import Results  # imports Polars

                results = Results.read(place)
                refuse_other(place, key, experiment_key(results.manifest))
                return results
            with (
                open_workers(prepared, workers, dask, on_message) as run,
                open_work(run, key, place, progress=progress) as work,
            ):
                engine: Any  # slow to import
                if prepared.experiment.task == "ranking":
                    from heldout.experiment import rankings as engine
                else:
                    from heldout.experiment import predictions as engine
                outcomes = engine.evaluate(prepared, work)
            timings: Timings = {"items": work.seconds, "total": sum(work.seconds.values())}
            timings |= {"command": command} if command else {}
            # Not earlier: with Polars, Ctrl-C does not end a system call in which a system waits.
            from heldout.experiment.results.summary import make_results

            results = make_results(prepared, outcomes, manifest, timings)
            if place is not None:
                with resumable():
                    self._store(place)
                    results.write(place)
        return results

    def _store(self, place: Path) -> None:
        """Store the fields with the results, unless they contain Python objects."""
        from heldout.data.files import toml_text
        from heldout.experiment.results.files import EXPERIMENT, flush

        home = (self._home or Path()).resolve()
        with suppress(ValueError):  # on another drive of Windows
            home = Path(os.path.relpath(home, place.resolve()))
        try:
            text = self._text or toml_text(self.given())
        except TypeError:
            (place / EXPERIMENT).unlink(missing_ok=True)
            return
        with write_atomically(place / EXPERIMENT) as aside:
            whole = toml_text({"folder": home.as_posix()}) + text
            aside.write_text(whole, encoding="utf-8", newline="\n")
            flush(aside)


def stored_collection(
    folder: str | os.PathLike[str], results: Results, name: str | None = None
) -> Collection | None:
    """Return the collection that results are of; None if its files are not there, or changed.

    One that is named must be this collection.
    """
    from heldout.data.collection_files import read_collection
    from heldout.experiment.given import CollectionTable
    from heldout.retrieve.index_files import is_index

    manifest = results.manifest
    if results.task != "ranking":
        return None
    wanted = manifest["fingerprints"]["collection"]
    if name is not None:
        collection = read_collection(name)
        if collection.fingerprint() != wanted:
            said = f"fingerprint {collection.fingerprint()[:16]}, expected {wanted[:16]}"
            what = f"not the collection of the experiment ({said})"
            raise InputError(what, argument="collection", value=name)
        return collection
    try:
        if manifest["settings"]["collection"]["name"].startswith("pydocs-"):
            collection = read_collection("pydocs")
        else:
            experiment = Experiment.read(folder)
            given = experiment.collection
            described = given if isinstance(given, Mapping) else {"source": given}
            table = CollectionTable.model_validate(described, context=experiment.path_of)
            if table.source is None or not Path(table.source).exists() or is_index(table.source):
                return None
            collection = table.read()
    except (HeldoutError, OSError, ValueError):
        return None  # moved, changed, or never there: a report has no texts then
    return collection if collection.fingerprint() == wanted else None
