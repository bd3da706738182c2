"""Judgements and runs in whatever form they are given: objects, frames, dictionaries, paths."""

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


def as_qrels(given: QrelsLike) -> Qrels:
    """Judgements of what was given."""
    if isinstance(given, Qrels):
        return given
    if isinstance(given, str | os.PathLike):
        return Qrels.read(given)
    if is_frame(given):
        return Qrels.from_frame(given)
    rows = _records(given)
    if rows:
        queries, docs, judged = zip(*rows, strict=True)
        return Qrels.from_columns(queries, docs, [one.relevance for one in judged])
    content = _content(given)
    if not is_nested(content):
        raise InputError(f"qrels: {_kind(given)} was given; {_QRELS}")
    return Qrels.from_dict(content)


def as_run(given: Any, options: Mapping[str, Any] | None = None) -> Run:
    """A run of what was given.

    Parameters
    ----------
    given
        A run in any form, or a pair of a name and a run.
    options
        How it is read or made: ``ties``, ``single_precision``; of a file also others.
    """
    options = options or {}
    if isinstance(given, tuple) and len(given) == 2:
        return replace(as_run(given[1], options), name=str(given[0]))
    if isinstance(given, Run):
        return given
    if isinstance(given, str | os.PathLike):
        from heldout.data.run_files import read_run  # files make runs

        return read_run(given, **options)
    making = {key: options[key] for key in ("ties", "single_precision") if key in options}
    if is_frame(given):
        return Run.from_frame(given, **making)
    rows = _records(given)
    if rows:
        queries, docs, ranked = zip(*rows, strict=True)
        return Run.from_columns(queries, docs, [one.score for one in ranked], **making)
    content = _content(given)
    if not is_nested(content):
        raise InputError(f"run: {_kind(given)} was given; {_RUN}")
    name = getattr(given, "name", None)
    return Run.from_dict(content, name if isinstance(name, str) else "run", **making)


def _content(given: Any) -> Any:
    """What an object of ranx holds; everything else as it is."""
    return given.to_dict() if callable(getattr(given, "to_dict", None)) else given


def _records(given: Any) -> list[tuple[str, str, Any]]:
    """Query, document and record of each judgement or scored document, as ir_measures has them."""
    if isinstance(given, Mapping | str) or not isinstance(given, Iterable):
        return []
    rows = list(given)
    if not all(map(_is_record, rows)):
        return []
    return [(one.query_id, one.doc_id, one) for one in rows]


def _is_record(given: Any) -> bool:
    """Whether this is one judgement or one scored document; a frame has columns of such names."""
    return hasattr(given, "query_id") and hasattr(given, "doc_id") and not is_frame(given)


def as_runs(given: Any) -> list[Any]:
    """What `as_run` takes, one for each run; ``{name: run}`` gives them new names."""
    if isinstance(given, Run | str | os.PathLike) or is_frame(given):
        return [given]
    if isinstance(given, Mapping):
        named = given and all(_is_run(one) for one in given.values())
        return list(given.items()) if named else [given]
    if not isinstance(given, Iterable):
        raise InputError(f"run: {_kind(given)} was given; {_RUN}; or several in a list")
    several = list(given)
    return [several] if several and _is_record(several[0]) else several


def _is_run(given: Any) -> bool:
    """Whether this is a run in one of its forms; the ranked list of one query is none."""
    if isinstance(given, Run | str | os.PathLike | list | tuple | Iterator) or is_frame(given):
        return True
    content = _content(given)
    return bool(content) and is_nested(content)


def _kind(given: object) -> str:
    if given is None:
        return "nothing"
    if isinstance(given, Mapping):
        return "a mapping whose values are not mappings"
    return f"an object of type {type(given).__name__}"
