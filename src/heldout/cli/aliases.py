"""Commands and options of version 0.1 under their present names; a hint says so."""

from __future__ import annotations

import argparse
import sys
from typing import Any, Final, NamedTuple, NoReturn

__all__ = ["Modern", "hint", "modern"]

OPTIONS: Final[dict[str, dict[str, str]]] = {
    "eval": {"--per-query": "--per-unit"},
    "compare": {"--table": "--scores"},
    "power": {"--table": "--scores"},
    "run": {"--workers": "--jobs", "--estimator": "--method"},
    "split": {"--given": "--folds-file"},
    "index": {"--threads": "--jobs", "--memory": "--max-memory"},
    "study": {"--test": "--hold-out"},
}
"""Renamed options of each command."""


_PARTS: Final = {"show", "export", "-h", "--help"}
"""What ``collection`` does; with a collection alone it is shown."""


class Modern(NamedTuple):
    """A command line under present names.

    Parameters
    ----------
    arguments
        What was typed, translated.
    values
        Values to set in the parsed options, where no option can say them.
    """

    arguments: list[str]
    values: dict[str, Any]


def hint(old: str, new: str) -> None:
    """Say what something is called now."""
    sys.stderr.write(f"{old} is an old name of {new}\n")


def modern(arguments: list[str]) -> Modern:
    """Translate a command line of version 0.1; present ones stay as they are."""
    if not arguments:
        return Modern(arguments, {})
    command, *rest = arguments
    if any(one in {"-h", "--help"} for one in rest) and command in _COMMANDS:
        rest = ["--help"]
    if command in _COMMANDS:
        return _COMMANDS[command](rest)
    rest = _options(command, rest)
    if command == "split":
        rest = _assignments(rest)
    if command == "collection" and rest and rest[0] not in _PARTS:
        rest = ["show", *rest]
    return Modern([command, *rest], {})


def _options(command: str, rest: list[str]) -> list[str]:
    """Replace old names of options."""
    known, found = OPTIONS.get(command, {}), list[str]()
    for at, one in enumerate(rest):
        if one == "--":
            return [*found, *rest[at:]]
        name, equals, value = one.partition("=")
        if name in known:
            hint(f"{command} {name}", known[name])
            name = known[name]
        found.append(name + equals + value)
    return found


def _assignments(rest: list[str]) -> list[str]:
    """``split --table -o FILE`` is ``split --assignments FILE``."""
    if "--table" not in rest:
        return rest
    hint("split --table", "split --assignments FILE")
    rest = [one for one in rest if one != "--table"]
    for at, one in enumerate(rest):
        if one in {"-o", "--output"} and at + 1 < len(rest):
            return [*rest[:at], "--assignments", rest[at + 1], *rest[at + 2 :]]
    return [*rest, "--assignments", "-"]


def _plan(rest: list[str]) -> Modern:
    hint("heldout plan", "heldout power")
    return Modern(["power", *_options("power", rest)], {})


def _example(rest: list[str]) -> Modern:
    hint("heldout example", "heldout demo --files")
    return Modern(["demo", "--files", *rest], {})


def _score(rest: list[str]) -> Modern:
    """``score TASK FILE… --compare`` is ``compare --task TASK FILE…``; else it is ``eval``."""
    task = rest[0] if rest and not rest[0].startswith("-") else ""
    compared = "--compare" in rest
    command = "compare" if compared else "eval"
    hint(
        f"heldout score {task}".rstrip() + (" --compare" if compared else ""), f"heldout {command}"
    )
    if not task:
        return Modern([command, *rest], {})
    files = [one for one in rest[1:] if one != "--compare"]
    return Modern([command, "--task", task, *files], {})


def _tune(rest: list[str]) -> Modern:
    """``tune QRELS RUN…`` is ``run QRELS --system 'tuned=…'``."""
    hint("heldout tune QRELS RUNS", "heldout run QRELS --system 'NAME=RUNS'")
    if "--help" in rest:
        return Modern(["run", "--help"], {})
    parser = _tune_parser()
    options, others = parser.parse_known_args(rest)
    if options.output is not None:
        parser.error(
            "-o FILE: heldout run keeps results in a folder (-o FOLDER); redirect its output"
        )
    runs = [*options.runs, *(one for one in others if not one.startswith("-"))]
    words = [one for one in others if one.startswith("-")]
    for name, value in vars(options).items():
        if name.startswith("-") and value is not None:
            words += [name, *(value if isinstance(value, list) else [value])]
    systems: list[Any] = [*options.system, *([{"name": "tuned", "runs": runs}] if runs else [])]
    values = {"system": systems} if systems else {}
    return Modern(["run", options.qrels, *words, *_tune_plan(options)], values)


def _tune_parser() -> argparse.ArgumentParser:
    """What ``tune`` took; options that ``run`` has under the same name have it for their dest."""
    parser = _Parser("heldout tune", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("qrels")
    add("runs", nargs="*")
    add("--system", action="append", default=[])
    add("--plan", choices=("kfold", "loo", "bootstrap", "given"))
    add("--repeats")
    add("--stratify")
    add("--against", action="extend", nargs="+", dest="--against")
    for name in ("-b", "-m", "--folds", "--folds-file", "--seed", "--rule"):
        add(name, dest=name)
    for name in ("--level", "--alpha", "--scores"):
        add(name, dest=name)
    add("-o", "--output")
    return parser


def _tune_plan(options: argparse.Namespace) -> list[str]:
    words = ["--stratify", "relevance"] if options.stratify is not None else []
    if options.plan == "bootstrap":
        return [*words, "--bootstrap", options.repeats or "200"]
    if options.plan == "loo":
        words.append("--leave-one-out")
    return words if options.repeats is None else [*words, "--repeats", options.repeats]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see heldout run --help)\n")


_COMMANDS: Final = {"plan": _plan, "example": _example, "score": _score, "tune": _tune}
