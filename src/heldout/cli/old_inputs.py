"""What ``eval`` and ``compare`` are given: judgements and runs, predictions, or texts."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from heldout.cli.files import is_file
from heldout.cli.old_help import group
from heldout.errors import InputError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Mapping

__all__ = [
    "FILES",
    "USAGE",
    "add_prediction_options",
    "add_text_options",
    "given_task",
    "judgements_and_runs",
    "read_predictions",
    "refuse_given",
]

USAGE: Final = (
    "QRELS RUN [RUN ...]\nPREDICTIONS [PREDICTIONS ...]\n--references FILE TEXT [TEXT ...]"
)

FILES: Final = """\
Runs and judgements are TREC files, CSV or TSV with a header, JSON or Parquet, also compressed
(.gz .xz .bz2 .zst); - is standard input. Files of predictions (CSV, TSV, Parquet, JSON lines) are
recognised by their columns: unit, truth, and prediction or scores (prob_CLASS or score_CLASS for
each class; probability or score for the positive one of two); optional: system, fold, repeat,
group, weight. Texts have one segment per line, or are JSON lines.
"""
"""What the files are; part of the help."""

_TASKS: Final = ("ranking", "classification", "regression", "text")


def add_prediction_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for files of predictions."""
    add = group(parser, "predictions").add_argument
    add("--task", choices=_TASKS, help="what the files hold (default: recognised by content)")
    add("--positive", metavar="CLASS", help="positive class of two (default: the last)")


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options for texts."""
    add = group(parser, "texts").add_argument
    add("-r", "--references", action="append", metavar="FILE", help="references (repeat for more)")


def given_task(options: argparse.Namespace) -> str:
    """Return what the files hold: ``ranking``, ``classification``, ``regression`` or ``text``."""
    if getattr(options, "references", None):
        if options.task not in (None, "text"):
            raise InputError(f"--references is for texts, not for --task {options.task}")
        return "text"
    if options.task is not None:
        return str(options.task)
    if not options.files or "-" in options.files or not is_file(options.files[0]):
        return "ranking"  # a pipe can be read only once
    # Four fields with a grade are a judgement: what detects predictions is slow to import.
    with suppress(OSError), open(options.files[0], "rb") as file:  # noqa: PTH123
        fields = file.readline(4096).split()
        if len(fields) == 4 and fields[3].isdigit() and b"," not in b"".join(fields):
            return "ranking"
    from heldout.data.prediction_files import detect_task

    return detect_task(options.files) or "ranking"


def judgements_and_runs(options: argparse.Namespace) -> tuple[str, list[str]]:
    """Return the file of judgements and the runs."""
    if len(options.files) < 2:
        raise InputError(
            f"{options.files[0]}: expected judgements and at least one run (or predictions, or "
            "--references and texts): see --help"
        )
    qrels, *runs = options.files
    return qrels, runs


def refuse_given(options: argparse.Namespace, names: Mapping[str, Any], what: str) -> None:
    """Refuse options that have no effect here.

    Parameters
    ----------
    names
        Names of parsed options, with their defaults.
    what
        What they are for, such as ``runs``.
    """
    for name, default in names.items():
        given = getattr(options, name, default)
        if given != default or type(given) is not type(default):
            raise InputError(f"--{name.replace('_', '-')} is for {what}")


def read_predictions(
    task: str,
    options: argparse.Namespace,
    progress: Callable[[int, int], None] | None = None,
) -> list[Any]:
    """Return the predictions of all files, one object per system."""
    from heldout.cli.files import refuse_same_file
    from heldout.data.prediction_files import read_class_predictions, read_number_predictions

    refuse_same_file(options.files)
    read: Callable[[str], list[Any]]
    if task == "regression":
        refuse_given(options, {"positive": None}, "classes, and these are numbers")
        read = read_number_predictions
    else:
        threshold = getattr(options, "threshold", None)  # of eval alone
        read = partial(read_class_predictions, positive=options.positive, threshold=threshold)
    found: list[Any] = []
    for done, path in enumerate(options.files, 1):
        found += read(path)
        if progress:
            progress(done, len(options.files))
    return found
