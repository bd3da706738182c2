"""What a reader needs to repeat a result and to cite it: settings, versions, policies, methods."""

from __future__ import annotations

import platform
import re
from importlib.metadata import version
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from heldout import __version__
from heldout.errors import HeldoutError
from heldout.infer.results import alpha_of
from heldout.notes import count_of
from heldout.report.page.render import asset

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from heldout.experiment.results.results import Results
    from heldout.infer.comparison import Comparison

Pairs = list[tuple[str, str]]

MORE: Final = ("baseline", "inner", "depth", "method", "target_size", "replicates", "analyzer")
GRID: Final = 40  # settings that are listed one by one, if they do not form a grid


def plan_words(results: Results) -> str:
    """How the data were split, and where parameters were tuned."""
    settings = results.manifest["settings"]
    if not any(system["tuned"] for system in results.summary):
        return f"{settings['plan_in_words']}."
    plan = settings["plan"]
    inner = f", by {settings['inner']} inner folds" if settings.get("inner") else ""
    where = f"training side of each fold{inner}"
    if plan.get("queries", plan).get("validation"):
        where = "validation part of each split"
    return (
        f"{settings['plan_in_words']}. Parameters were tuned for {settings['tune_for']} on the "
        f"{where}, and never on the held-out side."
    )


def of_results(results: Results) -> Pairs:
    """The manifest of an experiment as names and values."""
    manifest, typed = results.manifest, results.timings.get("command")
    settings: Mapping[str, Any] = manifest["settings"]
    plan = f"{_plan(settings['plan'])}, {count_of(settings['splits'], 'split')}"
    level = f"{settings['level']:.0%} intervals, tests at {alpha_of(settings['level']):g}"
    pairs = [("command of the run", str(typed))] if typed else []
    pairs.append(_data(settings))
    pairs += [(f"system {system['name']}", _system(system)) for system in settings["systems"]]
    pairs += [
        ("held out", str(settings["by"])),
        ("plan", plan),
        ("tuned for", f"{settings['tune_for']}, rule {settings['rule']}"),
        ("seed", str(settings["seed"])),
        ("level", level),
    ]
    pairs += [(name.replace("_", " "), str(settings[name])) for name in MORE if settings.get(name)]
    if "machine" in settings:
        pairs.append(("judgements of a machine", _machine(settings["machine"])))
    pairs.append(("versions", _listed(manifest["versions"])))
    pairs += [
        (f"fingerprint of the {name}", str(value))
        for name, value in manifest["fingerprints"].items()
        if value
    ]
    pairs += [(f"policy: {name}", str(words)) for name, words in manifest["policies"].items()]
    return pairs + (signatures(results.measures) if results.task == "ranking" else [])


def of_comparisons(comparisons: Sequence[Comparison]) -> Pairs:
    """The settings of comparisons as names and values."""
    first, how = comparisons[0], comparisons[0].analysis
    libraries = ", ".join(f"{name} {version(name)}" for name in ("numpy", "scipy"))
    pairs = [
        ("data", first.scores.data),
        ("units", f"{len(first.scores.units):,}"),
        ("tests", f"{', '.join(how.tests)}; correction {how.correction or 'none'}"),
        ("alternative, level", f"{first.alternative}, {first.level:g}"),
        ("seed", str(how.seed)),
        ("baseline", first.baseline or "none: all pairs"),
        ("versions", f"heldout {__version__}, python {platform.python_version()}, {libraries}"),
    ]
    named = signatures([each.scores.measure for each in comparisons], known=True)
    return [pair for pair in [*pairs, *named] if pair[1]]


def signatures(measures: Iterable[str], *, known: bool = False) -> Pairs:
    """Every measure with all its parameters and its definition; `known` leaves out the others."""
    from heldout.measure.names import parse_measure
    from heldout.measure.ranking.evaluate import variants_in_words

    pairs = []
    for name in measures:
        try:
            measure = parse_measure(name, "ranking")
        except HeldoutError:
            words = "" if known else "a custom measure that is not defined here"
            pairs.append((f"measure {name}", words))
            continue
        inner = ", ".join(f"{key}={value!r}" for key, value in measure.params)
        cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
        words = [measure.definition.summary, *(line for _, line in variants_in_words([measure]))]
        pairs.append((f"measure {name}", f"{measure.family}({inner}){cutoff}: {' '.join(words)}"))
    return pairs


def _plan(plan: Mapping[str, Any]) -> str:
    """The fields of a plan, or of the two plans that it combines."""
    known = {
        name: _plan(value) if isinstance(value, dict) else value
        for name, value in plan.items()
        if name != "kind" and value is not None
    }
    return f"{plan['kind']} ({_listed(known)})" if known else str(plan["kind"])


def _machine(machine: Mapping[str, Any]) -> str:
    sample = "" if machine["assume_random"] else ", not confirmed"
    return (
        f"{machine['name'] or 'given as an object'}: "
        f"{count_of(machine['queries'], 'query', 'queries')}, "
        f"{count_of(machine['judgements'], 'judgement')}; {machine['human_queries']:,} queries "
        f"have human judgements (a random sample{sample}); tuned on {machine['tune_on']} "
        "judgements"
    )


def _data(settings: Mapping[str, Any]) -> tuple[str, str]:
    if "collection" not in settings:
        data = settings["data"]
        classes = f", classes {', '.join(data['classes'])}" if data["classes"] else ""
        return "data", f"{data['name']}: {data['rows']:,} rows{classes}"
    own = settings["collection"]
    return "collection", (
        f"{own['name']}: {count_of(own['documents'], 'document')}, "
        f"{count_of(own['queries'], 'query', 'queries')}, "
        f"{count_of(own['judgements'], 'judgement')}"
    )


def _system(system: Mapping[str, Any]) -> str:
    """What a system is, its fixed parameters, and every setting that was tried."""
    made, points = system.get("estimator"), system.get("points") or [{}]
    kind = system.get("model") or system.get("function") or system.get("kind") or ""
    if isinstance(made, dict):
        kind = _estimator(made)
    fixed = {
        name: value
        for name, value in points[0].items()
        if all(point.get(name) == value for point in points)
    }
    tuned = [{name: point[name] for name in point if name not in fixed} for point in points]
    return "; ".join(filter(None, (str(kind), _listed(fixed), _grid(tuned)))) or "no parameters"


def _estimator(made: Mapping[str, Any]) -> str:
    """The class of an estimator; of a pipeline its steps."""
    name = str(made.get("class", ""))
    steps = (made.get("parameters") or {}).get("steps")
    if not isinstance(steps, list):
        return name
    inner = [_estimator(step[1]).rpartition(".")[2] for step in steps if isinstance(step[1], dict)]
    return f"{name.rpartition('.')[2]}({', '.join(inner)})"


def _grid(points: list[dict[str, Any]]) -> str:
    """All values of each parameter; settings that are not a full grid are listed.

    >>> _grid([{"k1": 1, "b": 0.5}, {"k1": 2, "b": 0.5}])
    '2 settings tried: k1 = 1, 2; b = 0.5'
    >>> _grid([{"k1": 1, "b": 0.5}, {"k1": 2, "b": 0.7}])
    '2 settings tried: (k1=1, b=0.5), (k1=2, b=0.7)'
    """
    if len(points) < 2:
        return ""
    names = list(dict.fromkeys(name for point in points for name in point))
    values = {
        name: list(dict.fromkeys(_value(point.get(name)) for point in points)) for name in names
    }
    tried = {tuple(_value(point.get(name)) for name in names) for point in points}
    if tried == set(product(*values.values())):
        shown = "; ".join(f"{name} = {', '.join(axis)}" for name, axis in values.items())
    else:
        each = [", ".join(f"{key}={_value(point[key])}" for key in point) for point in points]
        more = f", and {len(each) - GRID:,} more (see all settings)" if len(each) > GRID else ""
        shown = ", ".join(f"({point})" for point in each[:GRID]) + more
    return f"{count_of(len(points), 'setting')} tried: {shown}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {_value(value)}" for name, value in values.items())


# ---- citations -----------------------------------------------------------------------------------

SAME: Final = {"bootstrap-shift": "bootstrap", "percentile": "bootstrap", "bca": "bootstrap"}
MEASURES: Final = {"nDCG": "ndcg", "DCG": "ndcg", "Bpref": "bpref", "RBP": "rbp", "ERR": "err"}
SOFTWARE: Final = f"""\
@software{{heldout,
  title = {{heldout: evaluation, resampling and significance for search and text systems}},
  version = {{{__version__}}}
}}
"""


def bibliography(keys: Iterable[str]) -> str:
    """The software, then every known method, as BibTeX."""
    entries = asset("citations.bib").strip().split("\n\n")
    known = {entry[entry.index("{") + 1 : entry.index(",")]: f"{entry}\n" for entry in entries}
    wanted = dict.fromkeys(SAME.get(key, key) for key in keys)
    return "\n".join([SOFTWARE, *(known[key] for key in wanted if key in known)])


def methods(
    comparisons: Iterable[Comparison],
    measures: Iterable[str] = (),
    models: Iterable[str] = (),
) -> list[str]:
    """Keys of the tests, corrections, intervals, measures and models that have their own paper."""
    keys = [MEASURES.get(re.split(r"[(@]", name)[0], "") for name in measures]
    keys += [model.partition("-")[0] for model in models]
    for comparison in comparisons:
        keys += [*comparison.analysis.tests, comparison.analysis.correction]
        intervals = [claim.difference.method for claim in comparison.claims]
        intervals += [system.mean.method for system in comparison.systems]
        words = " ".join(dict.fromkeys(intervals)).lower()
        keys += [key for key in ("wilson", "bootstrap", "delong") if key in words]
    return [key for key in keys if key]
