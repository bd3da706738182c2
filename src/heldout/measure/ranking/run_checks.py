"""Checks of runs whose scores may be misleading, and of their names."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.data.frames import is_nested
from heldout.measure.ranking.judged import join
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from heldout.data.ids import Ids
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.measure.ranking.evaluate import RunScores
    from heldout.measure.ranking.judged import Judged

__all__ = [
    "distinct_names",
    "lacks_most",
    "look_swapped",
    "ranking_digest",
    "run_warnings",
    "subtopic_warnings",
    "swap_warnings",
    "unshared_ids",
]

_SHOWN = 3


def unshared_ids(qrels: Qrels, run: Run, judged: Judged, depth: int | None) -> tuple[str, str]:
    """Return document ids of the run and of the judgements if none is in both; else empty strings.

    A document is shared if both sides have it for the same query. A depth may hide shared
    documents, so the whole run is checked before a warning is given.
    """
    if len(judged.query) or (depth is not None and len(join(qrels, run).query)):
        return "", ""
    return _some_ids(run.docs), _some_ids(qrels.docs)


def _some_ids(docs: Ids) -> str:
    return named_few((docs[row] for row in range(min(len(docs), _SHOWN))), len(docs), _SHOWN)


def ranking_digest(run: Run) -> int:
    """Return a number that is equal for runs that rank the same documents in the same order.

    Python's own hash of bytes is several times as fast as those of hashlib, and needs no OpenSSL.
    """
    docs = run.docs.hashes(0, len(run))
    return hash((run.queries, run.offsets.tobytes(), docs.tobytes()))


def lacks_most(run: RunScores) -> bool:
    """Return whether a run lacks more than half of the judged queries."""
    return 2 * int(run.present.sum()) < len(run.queries)


def run_warnings(
    runs: Sequence[RunScores], *, missing: str, every_gap: bool = False
) -> tuple[Note, ...]:
    """Return warnings about runs whose scores may be misleading, the most serious first.

    Parameters
    ----------
    runs
        The runs.
    missing
        How judged queries missing from a run are treated; only ``"zero"`` can mislead.
    every_gap
        Warn about each run that lacks a judged query, not only if it lacks more than half.
    """
    lacking = [run for run in runs if missing == "zero" and not run.present.all()]
    return (
        *(_strange(run) for run in runs if run.unshared[0]),
        *(_lacking(run) for run in lacking if lacks_most(run)),
        *(_lacking(run) for run in lacking if every_gap and not lacks_most(run)),
        *islice(_copies(runs), _SHOWN),
    )


def subtopic_warnings(qrels: Qrels | None) -> tuple[Note, ...]:
    """Return a warning if no query has more than one subtopic."""
    by_subtopic = None if qrels is None else qrels.subtopics
    if by_subtopic is None or len(np.unique(by_subtopic.subtopic)) > 1:
        return ()
    text = (
        f"all judgements are of one subtopic ({by_subtopic.names[0]}), so measures of diversity "
        "see none: check that the second column of the qrels is the subtopic"
    )
    return (Note("one-subtopic", text),)


def look_swapped(qrels: Any, runs: Sequence[Any]) -> bool:
    """Return whether dictionaries of judgements have floats only, and those of runs integers."""
    given = [one[1] if isinstance(one, tuple) and len(one) == 2 else one for one in runs]
    return _has_only(qrels, float) and all(_has_only(one, int) for one in given)


def _has_only(given: Any, kind: type) -> bool:
    return is_nested(given) and all(
        isinstance(number, kind) for inner in given.values() for number in inner.values()
    )


def swap_warnings(*, swapped: bool) -> tuple[Note, ...]:
    """Return a warning if judgements and runs look swapped."""
    text = (
        "the judgements are floats and the scores of the runs are integers: are the arguments "
        "swapped? Judgements come first, then runs"
    )
    return (Note("swapped", text),) if swapped else ()


def _strange(run: RunScores) -> Note:
    own, judged = run.unshared
    text = (
        f"{run.name} has none of the judged documents, so nothing in it counts as relevant: check "
        "that the run and the judgements use the same document ids "
        f"(the run has {own}; the judgements have {judged})"
    )
    return Note("no-common-document", text)


def _lacking(run: RunScores) -> Note:
    lacks = int((~run.present).sum())
    count = "counts" if lacks == 1 else "count"
    if not lacks_most(run):
        queries = count_of(lacks, "judged query", "judged queries")
        return Note("missing-zero", f"{run.name} lacks {queries}, which {count} 0")
    queries = count_of(len(run.queries), "judged query", "judged queries")
    share = f"{lacks:,} of the {queries}"
    text = f"{run.name} lacks {share}, which {count} 0: check that the run is complete"
    return Note("missing-zero", text)


def _copies(runs: Sequence[RunScores]) -> Iterator[Note]:
    first: dict[int, str] = {}
    for run in runs:
        if run.ranking is None:
            continue
        if run.ranking in first:
            text = (
                f"{first[run.ranking]} and {run.name} rank the same documents in the same order: "
                "check that one is not a copy of the other"
            )
            yield Note("same-ranking", text)
        first.setdefault(run.ranking, run.name)


def distinct_names(scores: list[RunScores], items: list[Any]) -> tuple[RunScores, ...]:
    """Give each run a distinct name: by tag, else by file, else with a number."""
    names = [one.name for one in scores]
    paths = (item for item in items if isinstance(item, str | os.PathLike))
    files = [os.path.basename(path) for path in paths]  # noqa: PTH119 (pathlib starts slowly)
    if len(set(names)) < len(names) and len(set(files)) == len(names):
        names = files
    taken: set[str] = set()
    result = []
    for one, name in zip(scores, names, strict=True):
        numbered, number = name, 1
        while numbered in taken or (number > 1 and numbered in names):
            number += 1
            numbered = f"{name} ({number})"
        taken.add(numbered)
        result.append(replace(one, name=numbered))
    return tuple(result)
