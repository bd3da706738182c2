"""What a reader needs to repeat a result: settings, grids, versions, fingerprints, policies."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, Final

from heldout.errors import HeldoutError
from heldout.infer.results import alpha_of
from heldout.notes import count_of
from heldout.report.ranking_results import validates
from heldout.report.tables import plain_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heldout.experiment.manifest import Manifest, SettingsRecord
    from heldout.experiment.results.results import Results

__all__ = ["command_pairs", "measure_signatures", "plan_line", "settings_pairs"]


def command_pairs(results: Results) -> tuple[tuple[str, str], ...]:
    """The command that produced the results, if it is known."""
    typed = results.timings.get("command")
    return (("command of the run", str(typed)),) if typed else ()


def plan_line(results: Results) -> str:
    """How the data were split, and how parameters were tuned, in one sentence."""
    settings = results.manifest["settings"]
    said = plain_text(settings["plan_in_words"])
    if not any(one["tuned"] for one in results.summary):
        return f"{said}."
    where = "validation part of each split"
    if not validates(settings):
        inner = f", by {settings['inner']} inner folds" if settings.get("inner") else ""
        where = f"training side of each fold{inner}"
    return (
        f"{said}. Parameters were tuned for {settings['tune_for']} on the {where}, and never on "
        "the held-out side."
    )


_MORE: Final = (
    "baseline",
    "inner",
    "depth",
    "method",
    "target_size",
    "replicates",
    "analyzer",
)
"""Settings that not all experiments have."""
GRID: Final = 40
"""Settings that are listed one by one, if they do not form a grid."""


def settings_pairs(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """The manifest of an experiment as names and values."""
    settings = manifest["settings"]
    pairs = [_data(settings)]
    pairs += [(f"system {one['name']}", _system(one)) for one in settings["systems"]]
    pairs += [
        ("held out", str(settings["by"])),
        ("plan", f"{_plan(settings['plan'])}, {count_of(settings['splits'], 'split')}"),
        ("tuned for", f"{settings['tune_for']}, rule {settings['rule']}"),
        ("seed", str(settings["seed"])),
        ("level", f"{settings['level']:.0%} intervals, tests at {alpha_of(settings['level']):g}"),
    ]
    pairs += [(name.replace("_", " "), str(settings[name])) for name in _MORE if settings.get(name)]
    if "machine" in settings:
        pairs.append(("judgements of a machine", _machine(settings["machine"])))
    pairs.append(("versions", _listed(manifest["versions"])))
    pairs += [
        (f"fingerprint of {_plain(name)}", str(value))
        for name, value in manifest["fingerprints"].items()
        if value
    ]
    pairs += [(f"policy: {name}", str(words)) for name, words in manifest["policies"].items()]
    return tuple(pairs)


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


def _plain(name: str) -> str:
    return {"collection": "the collection", "splits": "the splits", "index": "the index"}.get(
        name, f"the {name}"
    )


def _data(settings: SettingsRecord) -> tuple[str, str]:
    if "collection" in settings:
        own = settings["collection"]
        return "collection", (
            f"{own['name']}: {count_of(own['documents'], 'document')}, "
            f"{count_of(own['queries'], 'query', 'queries')}, "
            f"{count_of(own['judgements'], 'judgement')}"
        )
    data = settings["data"]
    classes = f", classes {', '.join(data['classes'])}" if data["classes"] else ""
    return "data", f"{data['name']}: {data['rows']:,} rows{classes}"


def _system(one: Mapping[str, Any]) -> str:
    """What a system is, its fixed parameters, and every setting that was tried."""
    made = one.get("estimator")
    kind = one.get("model") or one.get("function") or one.get("kind") or ""
    if isinstance(made, dict):
        kind = _estimator(made)
    points = one.get("points") or [{}]
    fixed = {
        name: value
        for name, value in points[0].items()
        if all(point.get(name) == value for point in points)
    }
    tuned = [{name: point[name] for name in point if name not in fixed} for point in points]
    return "; ".join(filter(None, (str(kind), _listed(fixed), _grid(tuned)))) or "no parameters"


def _estimator(made: dict[str, Any]) -> str:
    """The class of an estimator; of a pipeline its steps."""
    steps = (made.get("parameters") or {}).get("steps")
    name = str(made.get("class", "")).rpartition(".")[2]
    if not isinstance(steps, list):
        return str(made.get("class", ""))
    inner = [_estimator(one[1]).rpartition(".")[2] for one in steps if isinstance(one[1], dict)]
    return f"{name}({', '.join(inner)})"


def _grid(points: list[dict[str, Any]]) -> str:
    """All values of each parameter; settings that are not a full grid are listed.

    Examples
    --------
    >>> _grid([{"k1": 1, "b": 0.5}, {"k1": 2, "b": 0.5}])
    '2 settings tried: k1 = 1, 2; b = 0.5'
    >>> _grid([{"k1": 1, "b": 0.5}, {"k1": 2, "b": 0.7}])
    '2 settings tried: (k1=1, b=0.5), (k1=2, b=0.7)'
    """
    if len(points) < 2:
        return ""
    names = list(dict.fromkeys(name for point in points for name in point))
    values = {name: list(dict.fromkeys(_value(one.get(name)) for one in points)) for name in names}
    tried = {tuple(_value(point.get(name)) for name in names) for point in points}
    said = f"{count_of(len(points), 'setting')} tried"
    if tried == set(product(*values.values())):
        axes = (f"{name} = {', '.join(shown)}" for name, shown in values.items())
        return f"{said}: {'; '.join(axes)}"
    each = [", ".join(f"{key}={_value(one)}" for key, one in point.items()) for point in points]
    more = f", and {len(each) - GRID:,} more (see all settings)" if len(each) > GRID else ""
    return f"{said}: {', '.join(f'({one})' for one in each[:GRID])}{more}"


def _value(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(values: Any) -> str:
    if not isinstance(values, dict):
        return str(values)
    return ", ".join(f"{name} {_value(one)}" for name, one in values.items())


def measure_signatures(measures: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Every measure with all its parameters and its definition."""
    return tuple((f"measure {name}", _signature(name)) for name in measures)


def _signature(name: str) -> str:
    from heldout.measure.names import parse_measure
    from heldout.measure.ranking.evaluate import variants_in_words

    try:
        measure = parse_measure(name, "ranking")
    except HeldoutError:
        return "a custom measure that is not defined here"
    inner = ", ".join(f"{key}={value!r}" for key, value in measure.params)
    cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
    words = [measure.definition.summary, *(words for _, words in variants_in_words([measure]))]
    return f"{measure.family}({inner}){cutoff}: {' '.join(words)}"
