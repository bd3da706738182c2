"""Ask the product for what `reference_entries.py` lists, through commands and public names only.

Each answer is a dictionary of paths and leaves: a number, a text, or a list of them. Columns of
integers and texts are one text, such as ``0*8 1*8``.
"""

from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from itertools import groupby
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import heldout
from reference_data import Draw
from reference_entries import (
    COMMANDS,
    DEFAULTS,
    EXPERIMENTS,
    FUSIONS,
    IGNORED,
    LABELS,
    LISTS,
    MEASURES,
    MODELS,
    NAMES,
    OPTIONS,
    ORDER,
    RENAMED,
    TABLES,
    WORDS,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

__all__ = ["OUT", "SECTIONS", "SEP", "Exact", "Leaves", "command", "only_chance"]

OUT: Final = Path("out")
"""Where commands and samples are written."""
SEP: Final = " > "
RESAMPLES: Final = 20
FIXED: Final = frozenset(("--folds-file", "holdout.toml", "numbers.toml"))
"""Words of a run whose splits do not depend on the seed."""

Leaves = dict[str, Any]
Unit = tuple[str, Any, Any]


class Exact(float):
    """A p-value of an exact test."""


# Commands ---------------------------------------------------------------------------------------


def command(name: str, seed: int | None = None) -> Leaves:
    """Return what a command prints, and its exit code."""
    given = COMMANDS[name]
    *before, last = (given,) if isinstance(given, str) else given
    for typed in before:
        run(typed)
    code, output = run(last if seed is None else with_seed(last, seed))
    answer = json.loads(output) if "--json" in last else {"output": output.splitlines()}
    return {"exit code": code, **flatten(answer)}


def with_seed(typed: str, seed: int) -> str:
    """Return a command with another seed, which is a field if there is an experiment file."""
    for word in typed.split():
        if word.endswith(".toml"):
            Path("seeded.toml").write_text(f"seed = {seed}\n{Path(word).read_text()}")
            return typed.replace(word, "seeded.toml")
    return f"{typed} --seed {seed}"


def only_chance(name: str) -> bool:
    """Whether the seed of a command decides about Monte Carlo numbers, and about nothing else."""
    given = COMMANDS[name]
    words = (given if isinstance(given, str) else given[-1]).split()
    fixed = words[0] == "run" and not FIXED.isdisjoint(words) and "--inner" not in words
    return fixed or words[0] in {"eval", "compare", "agree", "power"}


def run(typed: str) -> tuple[int, str]:
    """Run a command in this process and return its exit code and its output."""
    from heldout.cli import main

    words = [word.replace("\0", " ") for word in typed.replace("\\ ", "\0").split()]
    words = [OPTIONS.get(word, NAMES.get(word, word)) for word in words]
    written = [io.BytesIO(), io.BytesIO()]
    output, said = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in written)
    code: Any = 0
    with redirect_stdout(output), redirect_stderr(said):
        try:
            main([word for word in words if word])
        except SystemExit as stop:
            code = stop.code or 0
    texts = [stream.getvalue().decode() for stream in written]
    if code not in {0, 1}:
        raise RuntimeError(f"heldout {typed}: exit code {code}: {texts[1]}")
    return code, texts[0]


def flatten(value: Any, path: str = "") -> Leaves:
    """Return the numbers and texts of a JSON value by their paths."""
    if isinstance(value, dict):
        exact = value.get("method") == "exact"
        leaves: Leaves = {}
        for name, item in value.items():
            if name == "warnings":
                leaves |= flatten(sorted(one["code"] for one in item), at(path, "warning_codes"))
            elif not is_ignored(path, name) and not (name in WORDS and isinstance(item, str)):
                leaves |= flatten(Exact(item) if exact and name == "p" else item, at(path, name))
        return leaves
    if isinstance(value, list) and any(isinstance(item, list | dict) for item in value):
        names = labels(value)
        kept = {n: item for n, item in zip(names, value, strict=True) if not is_ignored(path, n)}
        leaves = {} if names[0] == "0" else {renamed(at(path, "[order]")): list(kept)}
        for name, item in kept.items():
            leaves |= flatten(item, at(path, name))
        return leaves
    return {renamed(path): plain(value)}


def at(path: str, name: str) -> str:
    return f"{path}{SEP}{name}" if path else name


def is_ignored(path: str, name: str) -> bool:
    return name in IGNORED or f"{path.rpartition(SEP)[2]}{SEP}{name}" in IGNORED


def labels(items: Sequence[Any]) -> list[str]:
    """Return names for the items of a list, by which a path stays the same if others go."""
    names = []
    for item in items:
        known = [f for f in LABELS if isinstance(item, dict) and all(name in item for name in f)]
        names.append("-".join(str(item[name]) for name in known[0]) if known else "")
    if isinstance(items[-1], dict) and names[-1] == "":
        names[-1] = next((name for name in items[-1] if name not in IGNORED), "")
    return names if len({*names, ""}) > len(names) else [str(n) for n in range(len(items))]


def renamed(path: str) -> str:
    for now, frozen in RENAMED.items():
        path = re.sub(now, frozen, path)
    return path


def plain(value: Any) -> Any:
    """Return a number or a text as JSON has it."""
    if value is None or isinstance(value, bool | str | Exact):
        return value
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    kind = type(value).__name__
    if kind.startswith(("int", "uint")):
        return int(value)
    if kind.startswith("float"):
        return float(value) if abs(value) < float("inf") else str(float(value))
    return "undefined"


# Measures ---------------------------------------------------------------------------------------


def measure(name: str) -> Leaves:
    """Return the value of a measure, of each unit, and of 20 samples of the units."""
    data, _, which = name.partition(": ")
    task, truth, predictions, _ = MEASURES[data]
    units = read_units(task, truth, predictions)
    value, values = evaluated(task, units, which)
    draw = Draw(len(data))
    samples = []
    for _ in range(RESAMPLES):
        counts = [draw.below(3) for _ in units]
        drawn = [
            (f"{unit}~{number}", *sides)
            for (unit, *sides), count in zip(units, counts, strict=True)
            for number in range(count)
        ]
        samples.append(evaluated(task, drawn, which)[0])
    return {"value": plain(value), "units": plain(values), "samples": plain(samples)}


@cache
def read_units(task: str, truth: str, predictions: str) -> list[Unit]:
    """Return the id of each unit, and what files of the truth and the predictions say of it."""
    sides = [Path(name).read_text().splitlines() if name else [] for name in (truth, predictions)]
    if task == "ranking":
        rows = [[line.partition(" ") for line in side] for side in sides]
        queries = sorted({query for query, *_ in rows[0]})
        judged, ranked = ({q: [r[2] for r in side if r[0] == q] for q in queries} for side in rows)
        return [(query, judged[query], ranked[query]) for query in queries]
    if task == "text":
        references = sides[0] or [""] * len(sides[1])
        both = zip(references, sides[1], strict=True)
        return [(f"s{number}", *pair) for number, pair in enumerate(both)]
    header, *lines = sides[1]
    return [(line.partition(",")[0], header, line.partition(",")[2]) for line in lines]


def evaluated(task: Any, units: Sequence[Unit], measure: str) -> tuple[Any, list[Any] | None]:
    """Write files of some units, and return the value of a measure and those of the units."""
    truth, predictions = OUT / "truth.txt", OUT / "predicted.csv"
    if task == "ranking":
        for number, path in enumerate((truth, predictions), 1):
            path.write_text("".join(f"{unit[0]} {row}\n" for unit in units for row in unit[number]))
        if not predictions.stat().st_size:
            return "nothing", None
    elif task == "text":
        truth.write_text("".join(f"{reference}\n" for _, reference, _ in units))
        predictions.write_text("".join(f"{text}\n" for *_, text in units))
        if units[0][2].startswith("{"):
            records = [{**json.loads(text), "id": unit} for unit, _, text in units]
            predictions = predictions.with_suffix(".jsonl")
            predictions.write_text("".join(json.dumps(record) + "\n" for record in records))
    else:
        rows = [units[0][1], *(f"{unit},{row}" for unit, _, row in units)]
        predictions.write_text("\n".join(rows) + "\n")
    given = (
        truth if task == "ranking" or (task == "text" and predictions.suffix == ".csv") else None
    )
    try:
        found = heldout.evaluate(given, [predictions], NAMES.get(measure, measure), task=task)
        value = found.value()
    except heldout.HeldoutError:
        return "refused", None
    try:
        return value, list(found.per_unit())
    except heldout.HeldoutError:
        return value, None  # a score that is no mean


# Experiments and lists --------------------------------------------------------------------------


def experiment(name: str) -> Leaves:
    """Return values, choices, means of all points, splits and held-out lists of an experiment."""
    results = experiment_of(EXPERIMENTS[name]).run()
    leaves: Leaves = {}
    for table, keys in TABLES.items():
        for label, columns in grouped(getattr(results, table), keys):
            for column, cells in columns.items():
                leaves[renamed(SEP.join((table, label, column)))] = run_lengths(cells)
    return leaves | lists(getattr(results, LISTS))


def experiment_of(given: Mapping[str, Any]) -> heldout.Experiment:
    fields = {**DEFAULTS[given.get("task", "ranking")], **given}
    search, systems = fields.pop("search", None), fields["systems"]
    if search and isinstance(systems, dict):
        fields["systems"] = {name: {**system, **search} for name, system in systems.items()}
    elif search:
        fields["systems"] = [heldout.System.of(system, **search) for system in systems]
    return heldout.Experiment(**{NAMES.get(name, name): value for name, value in fields.items()})


def grouped(frame: Any, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    """Yield groups of the rows of a frame: their name, and their other columns, in `ORDER`."""
    order = [name for name in ORDER if name in frame.columns]
    rows = sorted(
        frame.to_dicts(),
        key=lambda row: [(row[n] is None, 0 if row[n] is None else row[n]) for n in order],
    )
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault("/".join(str(row[key]) for key in keys), []).append(row)
    for label, members in groups.items():
        columns = {n: [row[n] for row in members] for n in frame.columns if n not in keys}
        yield label, {n: cells for n, cells in columns.items() if any(c is not None for c in cells)}


def run_lengths(cells: Sequence[Any]) -> Any:
    """Return texts and integers as one text, such as ``0*8 1*8``, and other cells as they are."""
    if any(isinstance(cell, float) for cell in cells):
        return plain(list(cells))
    runs = [(cell, len(list(same))) for cell, same in groupby(map(shown, cells))]
    return " ".join(cell if times == 1 else f"{cell}*{times}" for cell, times in runs)


def shown(cell: Any) -> str:
    """Return a cell as text; parameters as ``b=0.5,k1=2``, however they are written."""
    if isinstance(cell, str) and cell.startswith("{"):
        cell = json.loads(cell)
    if isinstance(cell, dict):
        return ",".join(f"{name}={shown(cell[name])}" for name in sorted(cell)) or "-"
    return f"{cell:.12g}" if isinstance(cell, float) else str(cell) or "-"


def lists(frame: Any) -> Leaves:
    """Return held-out lists: documents as one text per query, and a sum of the scores of each."""
    leaves: Leaves = {}
    if "document" not in frame.columns:
        for label, columns in grouped(frame, ("system",)):
            for column in ("unit", "prediction"):
                leaves[renamed(SEP.join(("lists", label, column)))] = run_lengths(columns[column])
        return leaves
    for label, columns in grouped(frame, ("system", "repeat", "fold", "other", "run")):
        path = renamed(SEP.join(("lists", label)))
        rows = zip(columns["unit"], columns["document"], columns["score"], strict=True)
        for query, items in groupby(rows, key=lambda row: row[0]):
            ranked = list(items)
            leaves[at(path, query)] = " ".join(document for _, document, _ in ranked)
            total = fsum(score / rank for rank, (*_, score) in enumerate(ranked, 1))
            leaves.setdefault(at(path, "scores"), []).append(total)
    return leaves


def ranked_list(name: str) -> Leaves:
    """Return the documents and scores of a search, a fusion, or folds of documents."""
    kind, _, which = name.partition(": ")
    if kind == "search":
        queries = heldout.read_collection("small").queries
        found = heldout.search(built_index(), queries, NAMES.get(which, which), k=20)
    elif kind == "fuse":
        runs = [heldout.read_run("A.run"), heldout.read_run("C.run")]
        found = heldout.fuse(runs, depth=20, **FUSIONS[which])
    elif kind == "vectors":
        documents, queries_too = (heldout.read_embeddings(f"{s}.npy") for s in ("docs", "queries"))
        found = heldout.rank_vectors(documents, queries_too, metric=which, k=15)  # type: ignore[arg-type]
    else:
        fields = {"systems": [which], "by": "document", "measures": ["AP"], "keep_depth": 20}
        frame = getattr(experiment_of(fields).run(), LISTS)
        return scored(
            {
                query: dict(zip(columns["document"], columns["score"], strict=True))
                for query, columns in grouped(frame, ("unit",))
            }
        )
    return scored(found.to_dict())


@cache
def built_index() -> heldout.Index:
    return heldout.Index.build(heldout.read_collection("small"))


def scored(ranked: Mapping[str, Mapping[str, float]]) -> Leaves:
    leaves: Leaves = {}
    for query, scores in ranked.items():
        leaves[at(query, "documents")] = " ".join(scores)
        leaves[at(query, "scores")] = plain(list(scores.values()))
    return leaves


SECTIONS: Final[Mapping[str, tuple[Callable[[str], Leaves], Sequence[str]]]] = {
    "commands": (command, tuple(COMMANDS)),
    "measures": (
        measure,
        [f"{data}: {name}" for data, (*_, names) in MEASURES.items() for name in names],
    ),
    "experiments": (experiment, tuple(EXPERIMENTS)),
    "lists": (
        ranked_list,
        [
            *(f"{kind}: {model}" for kind in ("search", "folds") for model in MODELS),
            *(f"fuse: {how}" for how in FUSIONS),
            *("vectors: cosine", "vectors: ip"),
        ],
    ),
}
"""The frozen files: what computes an entry, and the names of all entries."""
