"""Where every number comes from: settings, versions, fingerprints, policies, signatures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.data.notes import count_of
from heldout.errors import HeldoutError
from heldout.infer.levels import alpha_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from heldout.experiment.manifest import Manifest, SettingsRecord
    from heldout.experiment.results import Results

__all__ = ["command_pairs", "measure_signatures", "settings_pairs"]


def command_pairs(results: Results) -> tuple[tuple[str, str], ...]:
    """What was typed to make the results, if it is known."""
    typed = results.timings.get("command")
    return (("command of the run", str(typed)),) if typed else ()


def settings_pairs(manifest: Manifest) -> tuple[tuple[str, str], ...]:
    """The manifest of an experiment, as names and values."""
    settings = manifest["settings"]
    pairs = [_data(settings)]
    pairs += [(f"system {one['name']}", _system(one)) for one in settings["systems"]]
    pairs += [
        ("plan", _plan(settings)),
        ("held out", str(settings["by"])),
        ("parameters chosen by", f"{settings['tune_for']}, rule {settings['rule']}"),
        ("seed", str(settings["seed"])),
        ("level", f"{settings['level']:.0%} intervals, tests at {alpha_of(settings['level']):g}"),
    ]
    if settings.get("analyzer"):
        pairs.append(("analyzer", str(settings["analyzer"])))
    pairs.append(("versions", _listed(manifest["versions"])))
    pairs += [
        (f"fingerprint of {_plain(name)}", str(value))
        for name, value in manifest["fingerprints"].items()
        if value
    ]
    pairs += [(f"policy: {name}", str(words)) for name, words in manifest["policies"].items()]
    return tuple(pairs)


def _plan(settings: SettingsRecord) -> str:
    seed = "" if settings["plan_seed"] is None else f", seed {settings['plan_seed']}"
    return f"{settings['plan']}, {count_of(settings['splits'], 'split')}{seed}"


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
    tried = len(one.get("points") or ()) or 1
    kind = one.get("model") or one.get("function") or one.get("kind") or ""
    fixed = _listed(one.get("parameters") or {})
    parts = [str(kind), fixed, f"{tried:,} values tried" if tried > 1 else ""]
    return ", ".join(part for part in parts if part) or "no parameters"


def _listed(values: Any) -> str:
    if not isinstance(values, dict):
        return str(values)
    return ", ".join(f"{name} {one}" for name, one in values.items())


def measure_signatures(measures: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Every measure with all its parameters, and what it is."""
    return tuple((f"measure {name}", _signature(name)) for name in measures)


def _signature(name: str) -> str:
    from heldout.measure.parse import parse_measure
    from heldout.measure.ranking.policies import variants_in_words

    try:
        measure = parse_measure(name, "ranking")
    except HeldoutError:
        return "a measure that is not known here"
    inner = ", ".join(f"{key}={value!r}" for key, value in measure.params)
    cutoff = "" if measure.cutoff is None else f"@{measure.cutoff}"
    words = [measure.definition.summary, *(words for _, words in variants_in_words([measure]))]
    return f"{measure.family}({inner}){cutoff}: {' '.join(words)}"
