"""Judgements by subtopic: several grades for a document, one for each aspect of the query.

The TREC Web tracks write the subtopic into the second column of the qrels. `Qrels` keep one row per
document; `Subtopics` hold the grades behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from heldout.errors import DuplicateError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.run import Qrels
    from heldout.data.words import Ints

__all__ = ["SUBTOPIC_NAMES", "Subtopics", "judgement_columns", "merge_subtopics", "take_subtopics"]

SUBTOPIC_NAMES = ("subtopic", "subtopic_id", "iteration", "intent", "aspect")
"""Usual names of a column of subtopics."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Subtopics:
    """The grades of documents by subtopic, sorted by row of the qrels and by subtopic.

    Parameters
    ----------
    row
        The row of the qrels (a query and a document) that each grade belongs to.
    subtopic
        The number of its subtopic in `names`.
    grade
        The grade of the document for the subtopic.
    names
        The names of subtopics; queries share them.
    """

    row: Ints
    subtopic: Ints
    grade: Ints
    names: tuple[str, ...]

    def fingerprint(self, order: Ints) -> bytes:
        """Return all grades as bytes; `order` is an order of the rows that all copies share."""
        place = np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        sorted_names = np.argsort(np.argsort(self.names, kind="stable"), kind="stable")
        columns = (place[self.row], sorted_names[self.subtopic], self.grade)
        table = np.stack([column[np.lexsort(columns[1::-1])] for column in columns])
        return table.tobytes() + "\0".join(sorted(self.names)).encode()


def merge_subtopics(
    qrels: Qrels, repeated: list[tuple[int, int]], names: Sequence[str]
) -> tuple[Ints, Ints, Subtopics, int]:
    """Merge rows of one document into one, which keeps its highest grade.

    Parameters
    ----------
    qrels
        Judgements, one row per document and subtopic.
    repeated
        Pairs of rows (the first, a later one) with the same query and document.
    names
        The subtopic of each row.

    Returns
    -------
    tuple
        The rows that stay, their grades, the grades by subtopic, and the number of judgements that
        were repeated with the same grade.
    """
    first = np.arange(len(qrels))
    for earlier, later in repeated:
        first[later] = earlier
    keep = np.flatnonzero(first == np.arange(len(qrels)))
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    code = np.fromiter(map(numbers.__getitem__, names), np.int64, len(names))
    order = np.lexsort((code, first))
    row, code, grade = np.searchsorted(keep, first[order]), code[order], qrels.grades[order]
    again = np.zeros(len(row), np.bool_)
    again[1:] = (row[1:] == row[:-1]) & (code[1:] == code[:-1])
    for place in np.flatnonzero(again & (grade != np.roll(grade, 1)))[:1].tolist():
        number = int(keep[row[place]])
        query = qrels.queries[int(np.searchsorted(qrels.offsets, number, "right")) - 1]
        detail = (
            f" and subtopic {names[int(order[place])]} with grades {grade[place - 1]} and "
            f"{grade[place]}"
        )
        raise DuplicateError("the qrels", query, qrels.docs[number], detail)
    row, code, grade = row[~again], code[~again], grade[~again]
    highest = qrels.grades[keep]
    np.maximum.at(highest, row, grade)
    return keep, highest, Subtopics(row, code, grade, tuple(numbers)), int(again.sum())


def take_subtopics(subtopics: Subtopics | None, rows: Ints) -> Subtopics | None:
    """Return the grades that belong to some rows of the qrels, in ascending order."""
    if subtopics is None or not len(rows):
        return None
    place = np.minimum(np.searchsorted(rows, subtopics.row), len(rows) - 1)
    kept = rows[place] == subtopics.row
    return Subtopics(place[kept], subtopics.subtopic[kept], subtopics.grade[kept], subtopics.names)


def judgement_columns(qrels: Qrels) -> dict[str, Any]:
    """Return the columns of qrels: query, doc, grade, and subtopic if there are any."""
    owner = qrels.query_of_row()
    docs = qrels.docs.tolist()
    by_subtopic = qrels.subtopics
    if by_subtopic is None:
        queries = [qrels.queries[number] for number in owner.tolist()]
        return {"query": queries, "doc": docs, "grade": qrels.grades}
    rows = by_subtopic.row
    return {
        "query": [qrels.queries[number] for number in owner[rows].tolist()],
        "doc": [docs[row] for row in rows.tolist()],
        "grade": by_subtopic.grade,
        "subtopic": [by_subtopic.names[code] for code in by_subtopic.subtopic.tolist()],
    }
