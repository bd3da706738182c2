"""Measured runs, and checks of those whose scores may be misleading."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

import numpy as np

from heldout.data.frames import is_nested
from heldout.data.ids import Ids, respell
from heldout.errors import InputError
from heldout.measure.names import parse_measure
from heldout.measure.ranking.judged import join
from heldout.notes import Note, count_of, named_few

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from heldout.data.qrels import Qrels, Subtopics
    from heldout.data.run import Run
    from heldout.data.words import Flags
    from heldout.measure.base import Means, Measure

SHOWN: Final = 3


class ScoredRun(NamedTuple):
    """The values of one run, without its ranked lists: those of many runs would fill the memory."""

    name: str
    units: tuple[str, ...]  # the queries that count
    values: tuple[Means, ...]  # one per measure
    present: Flags  # whether the run has each of the judged queries
    judged: Means  # share of its first 10 documents that have a judgement
    unjudged: int  # queries of the run without judgements, which are ignored
    ties: str
    unshared: tuple[str, str] = ("", "")  # ids of both sides if no document is in both
    digest: int | None = None  # of the ranking, to find copies

    @property
    def lacks(self) -> int:
        """The number of judged queries that the run lacks."""
        return int((~self.present).sum())

    @property
    def lacks_most(self) -> bool:
        """Whether these are more than half."""
        return 2 * self.lacks > len(self.present)


def score_run(
    qrels: Qrels, run: Run, measures: Iterable[Measure], depth: int | None = None
) -> ScoredRun:
    """Measure a run, with ids as the judgements write them, 10.0 or 10."""
    run = replace(run, queries=tuple(respell(run.queries, qrels.queries)))
    docs = respell(run.docs, qrels.docs)
    run = run if docs is run.docs else replace(run, docs=Ids.of(docs))
    judged = join(qrels, run, depth)
    if not judged.present.any():
        raise InputError(
            f"run {run.name} and the qrels have no query in common: the run has "
            f"{_some(run.queries)}, the qrels have {_some(qrels.queries)}"
        )
    wanted = (*measures, parse_measure("Judged@10", "ranking"))
    *values, share = (cast("Means", measure.units(judged)) for measure in wanted)
    unjudged = len(run.queries) - int(judged.present.sum())
    scored = ScoredRun(
        run.name, qrels.queries, tuple(values), judged.present, share, unjudged, run.ties
    )
    # A depth may hide documents that both have, so the whole run is checked before a warning.
    if len(judged.query) or (depth is not None and len(join(qrels, run).query)):
        return scored
    return scored._replace(unshared=(_some(run.docs), _some(qrels.docs)))


def _some(ids: Sequence[str] | Ids) -> str:
    return named_few((ids[row] for row in range(min(len(ids), SHOWN))), len(ids), SHOWN)


def ranking_digest(run: Run) -> int:
    """Return a number that is equal for runs that rank the same documents in the same order.

    Python's own hash of bytes is several times as fast as those of hashlib, and needs no OpenSSL.
    """
    docs = run.docs.hashes(0, len(run))
    return hash((run.queries, run.offsets.tobytes(), docs.tobytes()))


def run_notes(runs: Sequence[ScoredRun], missing: str = "zero") -> list[Note]:
    """Return warnings about runs whose scores may be misleading, the most serious first."""
    strange = [
        f"{run.name} has none of the judged documents, so nothing in it counts as relevant: check "
        "that the run and the judgements use the same document ids "
        f"(the run has {run.unshared[0]}; the judgements have {run.unshared[1]})"
        for run in runs
        if run.unshared[0]
    ]
    return [
        *(Note("no-common-document", text) for text in strange),
        *(lacking_note(run) for run in runs if missing == "zero" and run.lacks_most),
        *islice(_copies(runs), SHOWN),
    ]


def lacking_note(run: ScoredRun) -> Note:
    """Return a warning about judged queries that a run lacks, which count 0."""
    queries, advice = count_of(run.lacks, "judged query", "judged queries"), ""
    if run.lacks_most:
        every = count_of(len(run.present), "judged query", "judged queries")
        queries, advice = f"{run.lacks:,} of the {every}", ": check that the run is complete"
    count = "counts" if run.lacks == 1 else "count"
    return Note("missing-zero", f"{run.name} lacks {queries}, which {count} 0{advice}")


def _copies(runs: Sequence[ScoredRun]) -> Iterator[Note]:
    first: dict[int, str] = {}
    for run in runs:
        if run.digest is not None and first.setdefault(run.digest, run.name) != run.name:
            text = (
                f"{first[run.digest]} and {run.name} rank the same documents in the same order: "
                "check that one is not a copy of the other"
            )
            yield Note("same-ranking", text)


def input_notes(given: Any, runs: Sequence[Any], subtopics: Subtopics | None) -> list[Note]:
    """Return warnings about judgements that look like runs, and about those of one subtopic."""
    notes = []
    lists = [run[1] if isinstance(run, tuple) and len(run) == 2 else run for run in runs]
    if _has_only(float, given) and all(_has_only(int, run) for run in lists):
        text = (
            "the judgements are floats and the scores of the runs are integers: are the arguments "
            "swapped? Judgements come first, then runs"
        )
        notes.append(Note("swapped", text))
    if subtopics is not None and len(np.unique(subtopics.subtopic)) == 1:
        text = (
            f"all judgements are of one subtopic ({subtopics.names[0]}), so measures of diversity "
            "see none: check that the second column of the qrels is the subtopic"
        )
        notes.append(Note("one-subtopic", text))
    return notes


def _has_only(kind: type, given: Any) -> bool:
    """Return whether this is a dictionary of dictionaries with numbers of one type."""
    return is_nested(given) and all(
        isinstance(number, kind) for inner in given.values() for number in inner.values()
    )


def distinct_names(names: list[str], items: Sequence[Any]) -> list[str]:
    """Return a distinct name for each run: its tag, else its file, else with a number."""
    paths = (item for item in items if isinstance(item, str | os.PathLike))
    files = [os.path.basename(path) for path in paths]  # noqa: PTH119 (pathlib starts slowly)
    if len(set(names)) < len(names) and len(set(files)) == len(names):
        names = files
    distinct: list[str] = []
    for name in names:
        numbered, number = name, 1
        while numbered in distinct or (number > 1 and numbered in names):
            number += 1
            numbered = f"{name} ({number})"
        distinct.append(numbered)
    return distinct
