"""Judgements and runs from Python: objects, frames, dictionaries or paths."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from heldout.data.columns import is_frame, is_nested
from heldout.data.run import Qrels, Run
from heldout.errors import InputError

if TYPE_CHECKING:
    from heldout.data.columns import Frame

    PathLike = str | os.PathLike[str]
    QrelsLike = Qrels | Mapping[str, Mapping[str, int]] | Frame | PathLike | Iterable[Any]
    RunLike = Run | Mapping[str, Mapping[str, float]] | Frame | PathLike | Iterable[Any]
    Runs = RunLike | Iterable[RunLike] | Mapping[str, RunLike]

__all__ = ["as_qrels", "as_run", "as_runs"]

_QRELS = (
    "expected Qrels, {query: {document: grade}}, a pandas or Polars frame with columns such as "
    "query_id, doc_id, relevance, or the path of a file"
)
_RUN = (
    "expected a Run, {query: {document: score}}, a pandas or Polars frame with columns such as "
    "query_id, doc_id, score, or the path of a file"
)


def as_qrels(given: QrelsLike, *, subtopics: bool = False) -> Qrels:
    """Return qrels from any accepted form.

    Parameters
    ----------
    given
        Judgements in any form.
    subtopics
        Also read the subtopics of a file, a frame or records of ir_measures.
    """
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return Qrels.read(given, subtopics=subtopics)
    if is_frame(given):
        return Qrels.from_frame(given, subtopics=subtopics)
    rows = _records(given)
    if rows:
        queries, docs, judged = zip(*rows, strict=True)
        names = [one.iteration for one in judged] if subtopics else None
        return Qrels.from_columns(queries, docs, [one.relevance for one in judged], names)
    content = _content(given)
    if not is_nested(content):
        raise InputError(f"qrels: {_QRELS}, got {_kind(given)}")
    return Qrels.from_dict(content)


def as_run(given: Any, options: Mapping[str, Any] | None = None) -> Run:
    """Return a run from any accepted form.

    Parameters
    ----------
    given
        A run in any form, or a pair of a name and a run.
    options
        Options for reading or making it: ``ties``, ``single_precision``; for a file also others.
    """
    options = options or {}
    if isinstance(given, tuple) and len(given) == 2:
        return replace(as_run(given[1], options), name=str(given[0]))
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        from heldout.data.run_files import read_run  # circular import

        return read_run(given, **options)
    accepted = {key: options[key] for key in ("ties", "single_precision") if key in options}
    if is_frame(given):
        return Run.from_frame(given, **accepted)
    rows = _records(given)
    if rows:
        queries, docs, ranked = zip(*rows, strict=True)
        return Run.from_columns(queries, docs, [one.score for one in ranked], **accepted)
    content = _content(given)
    if not is_nested(content):
        raise InputError(f"run: {_RUN}, got {_kind(given)}")
    name = getattr(given, "name", None)
    return Run.from_dict(content, name if isinstance(name, str) else "run", **accepted)


def _content(given: Any) -> Any:
    """Return the content of a ranx object; anything else unchanged."""
    return given.to_dict() if callable(getattr(given, "to_dict", None)) else given


def _records(given: Any) -> list[tuple[str, str, Any]]:
    """Return query, document and record of each record of ir_measures; empty if there are none."""
    if isinstance(given, Mapping | str) or not isinstance(given, Iterable):
        return []
    rows = list(given)
    if not all(map(_is_record, rows)):
        return []
    return [(one.query_id, one.doc_id, one) for one in rows]


def _is_record(given: Any) -> bool:
    """Return whether this is a judgement or scored document of ir_measures, and not a frame."""
    return hasattr(given, "query_id") and hasattr(given, "doc_id") and not is_frame(given)


def as_runs(given: Any) -> list[Any]:
    """Return a list of inputs of `as_run`; ``{name: run}`` names the runs."""
    if isinstance(given, Run | str | os.PathLike) or is_frame(given):
        return [given]
    if isinstance(given, Mapping):
        named = given and all(_is_run(one) for one in given.values())
        return list(given.items()) if named else [given]
    if not isinstance(given, Iterable):
        raise InputError(f"run: {_RUN}, or a list of these, got {_kind(given)}")
    several = list(given)
    return [several] if several and _is_record(several[0]) else several


def _is_run(given: Any) -> bool:
    """Return whether this is a run in an accepted form; the ranked list of one query is not."""
    if isinstance(given, Run | str | os.PathLike | list | tuple | Iterator) or is_frame(given):
        return True
    content = _content(given)
    return bool(content) and is_nested(content)


def _kind(given: object) -> str:
    if given is None:
        return "None"
    if isinstance(given, Mapping):
        return "a mapping whose values are not mappings"
    return f"an object of type {type(given).__name__}"
