"""The page of results: one file that works offline and in which every number can be traced."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.data.run import Run
    from heldout.experiment.results.results import Results
    from heldout.report.page.content import Part


def page(
    results: Any,
    *,
    title: str | None = None,
    headings: Sequence[str] = (),
    collection: Collection | None = None,
    ledger: str | None = None,
    runs: Mapping[str, Run] | None = None,
    qrels: Qrels | None = None,
    provenance: Sequence[tuple[str, str]] = (),
    made: Sequence[tuple[str, str]] = (),
) -> str:
    """The page of results, comparisons or agreement, of one or of several.

    Comparisons in a row are one part, with a measure each; `runs` and `qrels` are the lists behind
    them. `headings` replace those of the parts; `provenance` comes first in the first part, and
    `made` is about the page itself, such as its command.
    """
    from heldout.report.page.provenance import bibliography
    from heldout.report.page.render import render

    given = list(results) if isinstance(results, (list, tuple)) else [results]
    context = {"collection": collection, "ledger": ledger, "runs": runs, "qrels": qrels}
    parts = list(_parts(given, context))
    parts = [
        part._replace(heading=heading) for part, heading in zip(parts, headings or [part.heading for part in parts], strict=True)
    ]
    parts[0] = parts[0]._replace(provenance=[*provenance, *parts[0].provenance])
    bibtex = bibliography(key for part in parts for key in part.methods)
    return render(title or _title(given), parts, made=made, bibtex=bibtex)


def _parts(given: Sequence[Any], context: Mapping[str, Any]) -> Iterator[Part]:
    from heldout.infer.comparison import Comparison
    from heldout.report.page import content

    for several, group in groupby(given, lambda each: isinstance(each, Comparison)):
        if several:
            yield content.part_of_comparisons(list(group), **context)
            continue
        for each in group:
            if type(each).__name__ == "Agreement":
                yield content.part_of_agreement(each)
            else:
                own = {name: context[name] for name in ("collection", "ledger")}
                yield content.part_of_results(each, **own)


def _title(given: Sequence[Any]) -> str:
    """What was asked, if it was the same everywhere."""
    from heldout.infer.comparison import Comparison
    from heldout.report.answers import question
    from heldout.report.standing import standing

    if type(given[0]).__name__ == "Agreement":
        return "Do machine judgements agree with human ones?"
    if isinstance(given[0], Comparison):
        return question(standing(given[0]))
    names = {_data_name(results) for results in given}
    data = names.pop() if len(names) == 1 else ""
    questions = set()
    for results in given:
        board = standing(results)
        added = {system["name"] for system in results.summary if system.get("baseline")}
        rows = tuple(row for row in board.rows if row.name not in added)  # nobody asked for those
        questions.add(question(board._replace(rows=rows), data))
    if len(questions) == 1:
        return questions.pop()
    return f"{len(given)} experiments{f' on {data}' if data else ''}"


def _data_name(results: Results) -> str:
    """The data, as a title calls them; empty if nobody has named them."""
    settings: Any = results.manifest["settings"]
    name = str(settings["collection" if settings["task"] == "ranking" else "data"]["name"])
    if name.startswith("pydocs-"):
        return "pydocs"
    return "" if name in {"data", "collection"} else name
