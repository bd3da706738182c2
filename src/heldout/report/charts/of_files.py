"""Charts of files: results, tables of scores, predictions, studies."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.collection import Collection
    from heldout.data.scores import Scores
    from heldout.experiment.results.results import Results
    from heldout.report.charts.named import NamedChart

__all__ = ["NEEDS", "charts_of_path", "check_name", "chosen_chart"]

_SCORES: Final = "scores of two systems (results, or a table of scores)"
_ESTIMATES: Final = "a tuned system (results of heldout run -o)"
_CLASSES: Final = "classes with scores (results of classifiers, or a file of predictions)"
NEEDS: Final = {
    "forest": "results or a table of scores",
    "pairs": _SCORES,
    "query-differences": _SCORES,
    "heatmap": _SCORES,
    "null": "two systems compared by the randomization test (units, not folds)",
    "critical-difference": "three or more systems",
    "tuning": _ESTIMATES,
    "optimism": _ESTIMATES,
    "roc": _CLASSES,
    "precision-recall": _CLASSES,
    "calibration": "class probabilities (results of classifiers, or a file of predictions)",
    "bias": "the output of heldout study bias --json -o FILE",
    "bias-means": "the folder written by heldout study bias --figures",
    "bias-queries": "the folder written by heldout study bias --figures",
    "grade-confusion": "the output of heldout agree --json -o FILE",
    "score-agreement": "the output of heldout agree --runs RUN RUN --json -o FILE",
}
"""The input that each chart needs."""


def charts_of_path(
    path: str,
    *more: str,
    measure: str | None = None,
    collection: str | None = None,
    higher_is_better: bool = True,
    positive: str | None = None,
    verify: bool = True,
) -> tuple[NamedChart, ...]:
    """Return all charts of a file or folder.

    Parameters
    ----------
    path, *more
        A folder of ``heldout run -o`` or ``heldout study bias --figures``; a table of scores; a
        file of predictions, or several; JSON of ``heldout study``.
    measure
        Of results: which; of a table: which, or what to call its scores.
    collection
        Of results: the name of the collection, for the texts of the queries. The embedded one is
        found automatically.
    higher_is_better
        Of a table of scores, as `heldout.read_scores` has it.
    positive
        Of predictions: the positive class.
    verify
        Refuse results whose files were changed after the experiment.
    """
    for given in (path, *more):
        if not Path(given).exists():
            raise InputError(
                f"{given} does not exist; expected results of heldout run -o, or a file"
            )
    if more:
        return _of_predictions([path, *more], _task([path, *more]), positive)
    place = Path(path)
    if place.is_dir():
        from heldout.experiment.results.results import Results
        from heldout.report.charts.of_results import charts_of

        if (place / "means.csv").is_file() and (place / "queries.csv").is_file():
            return _of_figures(place, measure)
        results = Results.read(place, verify=verify)
        return charts_of(results, collection=_at_hand(place, results, collection), measure=measure)
    if place.suffix.lower() == ".json":
        return _of_study(place)
    task = _task([path])
    if task:
        return _of_predictions([path], task, positive)
    from heldout.data.scores import read_scores

    scores = read_scores(path, measure, higher_is_better=higher_is_better)
    return _of_scores(scores)


def _at_hand(place: Path, results: Results, given: str | None) -> Collection | None:
    """The collection that was evaluated, if it is named, or unchanged where it was."""
    from heldout.data.collection_files import read_collection
    from heldout.experiment.experiment import stored_collection

    if results.manifest["settings"]["task"] != "ranking":
        return None
    if given is None:
        return stored_collection(place, results)
    found = read_collection(given)
    if found.fingerprint() == results.manifest["fingerprints"]["collection"]:
        return found
    raise InputError(f"{given}: not the collection that was evaluated (different fingerprint)")


def _of_scores(scores: Scores) -> tuple[NamedChart, ...]:
    from heldout.infer.compare import compare
    from heldout.report.charts.of_comparison import charts_of_comparison

    return charts_of_comparison(compare(scores), unit="unit")


def _task(paths: Sequence[str]) -> str:
    from heldout.data.prediction_files import detect_task

    files = [path for path in paths if Path(path).is_file()]
    return detect_task(files) if len(files) == len(paths) else ""


def _of_predictions(
    paths: Sequence[str], task: str, positive: str | None
) -> tuple[NamedChart, ...]:
    from heldout.data.prediction_files import read_class_predictions
    from heldout.data.predictions import one_set_of_classes
    from heldout.report.charts.of_predictions import charts_of_predictions

    if not task:
        raise InputError(f"{' '.join(paths)}: one folder or table, or several files of predictions")
    if task != "classification":
        raise InputError(
            f"{paths[0]}: there is no chart of predicted numbers; make a table of their errors"
        )
    read = [one for path in paths for one in read_class_predictions(path, positive=positive)]
    several = one_set_of_classes(read)
    return charts_of_predictions(several, positive=positive)


def _of_study(place: Path) -> tuple[NamedChart, ...]:
    from heldout.experiment.studies.bias import BiasRow
    from heldout.report.charts.of_study import charts_of_biases

    try:
        content = json.loads(place.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{place}: cannot be read as JSON ({error})") from None
    try:
        if isinstance(content, dict) and "judges" in content:
            from heldout.report.charts.of_agreement import charts_of_agreement

            return charts_of_agreement(content)
        fields = BiasRow.__dataclass_fields__
        rows = [BiasRow(**{name: one[name] for name in fields if name in one}) for one in content]
        first = content[0]
        sizes = (
            f"{first['sample_size']:,} training documents, {first['target_size']:,} new ones, "
            f"{first['draws']} draws"
        )
        return charts_of_biases(rows, measure=first["measure"], sizes=sizes)
    except (KeyError, TypeError, IndexError, ValueError):
        raise InputError(f"{place}: not the JSON of heldout study bias or heldout agree") from None


def _of_figures(place: Path, measure: str | None) -> tuple[NamedChart, ...]:
    import polars as pl

    from heldout.report.charts.of_study import charts_of_figures

    try:
        means = pl.read_csv(place / "means.csv")
        queries = pl.read_csv(place / "queries.csv", schema_overrides={"query": pl.String})
        ids = queries["query"].unique(maintain_order=True).to_list()
        numbers = pl.Series("number", [ids.index(one) for one in queries["query"].to_list()])
        rows = queries.with_columns(numbers).select(
            "set", "number", "estimator", "estimate", "truth", "pro10"
        )
        columns = means.select("draw", "set", "estimator", "estimate", "truth")
    except (OSError, pl.exceptions.PolarsError) as error:
        raise InputError(f"{place}: not the figures of heldout study bias ({error})") from None
    return charts_of_figures(columns.rows(), rows.rows(), measure=measure or "score", ids=ids)


def chosen_chart(
    name: str, make: Callable[[], tuple[NamedChart, ...]], what: str = "these results"
) -> NamedChart:
    """Return the chart with a name, or raise an error that lists the available ones.

    Parameters
    ----------
    name
        Its key.
    make
        Makes all charts.
    what
        Their source, in words.
    """
    check_name(name)
    found = {one.key: one for one in make()}
    if name in found:
        return found[name]
    needs = NEEDS[_family(name)]
    raise InputError(f"{what}: no chart {name}, which needs {needs}; available: {', '.join(found)}")


def _family(name: str) -> str:
    """The name without a number: ``tuning-2`` is the second of ``tuning``."""
    return re.sub(r"-\d+$", "", name)


def check_name(name: str) -> None:
    """Raise an error for an unknown name."""
    if _family(name) in NEEDS:
        return
    from difflib import get_close_matches

    near = get_close_matches(name, NEEDS, n=1)
    hint = f"did you mean {near[0]}? " if near else ""
    raise InputError(f"unknown chart {name!r}: {hint}available: {', '.join(NEEDS)}")
