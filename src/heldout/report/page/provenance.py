"""What a reader needs to repeat a result and to cite it: settings, versions, policies, methods."""

from __future__ import annotations

import platform
import re
from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Final

from heldout import __version__
from heldout.errors import HeldoutError
from heldout.report.page.render import asset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison

    Pairs = list[tuple[str, str]]

SAME: Final = {"bootstrap-shift": "bootstrap", "dcg": "ndcg"}


def of_results(results: Results) -> Pairs:
    """The manifest of an experiment as names and values."""
    manifest: Mapping[str, Any] = results.manifest
    settings = {"command of the run": results.timings.get("command"), **manifest["settings"]}
    systems = {f"system {each['name']}": _system(each) for each in settings.pop("systems")}
    versions = {"versions": manifest["versions"]}
    digests = {f"fingerprint of the {name}": own for name, own in manifest["fingerprints"].items()}
    policies = {f"policy: {name}": words for name, words in manifest["policies"].items()}
    measures = _signatures(results.measures) if results.task == "ranking" else {}
    return _pairs(settings | systems | versions | digests | policies | measures)


def of_comparisons(comparisons: Sequence[Comparison]) -> Pairs:
    """The settings of comparisons as names and values."""
    scores, how = comparisons[0].scores, comparisons[0].analysis._replace(asked=None, why="")
    given = {"data": scores.data, "units": len(scores.units), **how._asdict()}
    versions = {name: version(name) for name in ("numpy", "scipy")}
    versions = {"heldout": __version__, "python": platform.python_version(), **versions}
    measures = _signatures([each.scores.measure for each in comparisons])
    return _pairs({**given, "versions": versions, **measures})


def _pairs(settings: Mapping[str, Any]) -> Pairs:
    """Names and values, without those that are not set."""
    return [(name, words) for name, value in settings.items() if (words := _words(value))]


def _signatures(measures: Iterable[str]) -> dict[str, str]:
    """Every known measure with all its parameters and its definition."""
    from heldout.measure.names import parse_measure
    from heldout.measure.ranking.evaluate import variants_in_words

    signatures = {}
    for name in measures:
        with suppress(HeldoutError):  # scores may have a name of the user's own
            measure = parse_measure(name, "ranking")
            inner = ", ".join(f"{key}={value!r}" for key, value in measure.params)
            cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
            variants = " ".join(line for _, line in variants_in_words([measure]))
            words = f"{measure.definition.summary} {variants}"
            signatures[f"measure {name}"] = f"{measure.family}({inner}){cutoff}: {words}"
    return signatures


def _words(value: Any) -> str:
    """A value of the manifest; records are named values, and what was not set is left out."""
    if isinstance(value, dict):
        parts = {name: _words(part) for name, part in value.items() if part is not None}
        return ", ".join(f"{name} {part}" for name, part in parts.items() if part)
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    return "" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _system(system: Mapping[str, Any]) -> str:
    """What a system is, how many settings of it were tried, and the values of each parameter."""
    kinds = ("model", "fusion", "function", "object", "transformer")
    kind = next((system[name] for name in kinds if name in system), "")
    if "estimator" in system:
        kind = system["estimator"].get("class", "")
    points = system.get("points") or [{}]
    axes = [f"{len(points)} settings tried"] if len(points) > 1 else []
    for name in dict.fromkeys(name for point in points for name in point):
        values = dict.fromkeys(_words(point.get(name)) for point in points)
        axes.append(f"{name} = {', '.join(values)}")
    return "; ".join(filter(None, [kind, *axes]))


def bibliography(keys: Iterable[str]) -> str:
    """The software, then every known method, as BibTeX."""
    entries = asset("citations.bib").replace("VERSION", __version__).strip().split("\n\n")
    known = {re.findall(r"{(.*?),", entry)[0]: f"{entry}\n" for entry in entries}
    wanted = dict.fromkeys(SAME.get(key, key) for key in ("heldout", *keys))
    return "\n".join(known[key] for key in wanted if key in known)


def methods(
    comparisons: Iterable[Comparison], measures: Iterable[str], models: Iterable[str] = ()
) -> list[str]:
    """Keys of tests, corrections, intervals, measures and models; some of them have a paper."""
    keys = [re.split(r"[(@]", name)[0].lower() for name in measures]
    keys += [model.partition("-")[0] for model in models]
    for comparison in comparisons:
        keys += [*comparison.analysis.tests, comparison.analysis.correction]
        estimates = [claim.difference for claim in comparison.claims]
        estimates += [system.mean for system in comparison.systems]
        words = " ".join({estimate.method for estimate in estimates}).lower()
        keys += [key for key in ("wilson", "bootstrap", "delong") if key in words]
    return keys
