"""The page of results: one file that works offline and in which every number can be traced."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run


def page(
    results: Any,
    *,
    title: str | None = None,
    headings: Sequence[str] = (),
    collection: Collection | Sequence[Collection | None] | None = None,
    ledger: str | None = None,
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
    made: Sequence[tuple[str, str]] = (),
) -> str:
    """The page of one or several results, comparisons or agreements.

    Comparisons in a row are one part, with a measure each; `runs` and `qrels` are what is behind
    them. A list of collections has one for each part. `headings` replace those of the parts, and
    `made` comes first in the provenance.
    """
    from heldout.report.page import units
    from heldout.report.page.content import part_of
    from heldout.report.page.provenance import bibliography
    from heldout.report.page.render import render

    several = results if isinstance(results, (list, tuple)) else [results]
    given: list[Any] = []
    for kind, group in groupby(several, key=lambda result: type(result).__name__):
        same = list(group)
        given += [same] if kind == "Comparison" else same
    every = collection if isinstance(collection, (list, tuple)) else [collection] * len(given)
    parts = []
    for of, own in zip(given, every, strict=True):
        part = part_of(of, texts=own and own.queries.to_dict(), ledger=ledger)
        if isinstance(of, list):
            part = part._replace(**units.of_comparisons(of, own, runs or {}, qrels))
        elif part.plan:
            part = part._replace(**units.of_results(of, own))
        parts.append(part)
    for number, heading in enumerate(headings):
        parts[number] = parts[number]._replace(heading=heading)
    asked = {part.question for part in parts}
    title = title or (asked.pop() if len(asked) == 1 else f"{len(parts)} experiments")
    keys = [key for part in parts for key in part.methods] + (["holm"] if ledger else [])
    return render(title, parts, made=made, bibtex=bibliography(keys))
