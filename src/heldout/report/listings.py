"""What there is to choose from, and what files hold: measures, models, methods, indexes, splits.

In formulas of rankings, rel_i is 1 if the document at rank i is relevant, else 0; g_i its gain; n
the number of documents retrieved, R of relevant ones, r of relevant ones retrieved, P(i) the
precision at rank i; ideal lists are marked with *. In predictions, y is the truth, p the
prediction; TP, FP, FN and TN are counts of one class against the others.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from heldout.notes import count_of
from heldout.report.table import Table, note_lines, paragraphs, printable, text_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from heldout.data.collection import Collection
    from heldout.measure.base import Definition
    from heldout.resample.describe import Description
    from heldout.retrieve.index import Index

    Records = list[dict[str, Any]]

# ---- measures, models and fusion methods: a text for people, and records for programs ------------

CUTOFFS: Final = {"none": "", "optional": "[@k]", "rank": "@k", "recall": "@recall"}
EXAMPLES: Final = {"class": "NAME", "undefined": "0", "vectors": "FILE"}  # if the default is None
INPUTS: Final = {
    "ranking": "judgements and a run",
    "classification": "true and predicted classes",
    "regression": "true and predicted numbers",
    "text": "references and texts",
}


def listed_measures(names: Sequence[str] = ()) -> Records:
    """All measures, or those that go by some names, with or without parameters and a cutoff."""
    from heldout.measure.base import TASKS, definitions

    wanted = [definition for name in names for definition in _named(name)]
    rankings, *others = ([*definitions(task).values()] for task in TASKS)
    rankings.sort(key=lambda definition: definition.name.lower())
    known = chain(rankings, *others)
    return [_listed(definition) for definition in known if not names or definition in wanted]


def measures_text(names: Sequence[str] = ()) -> str:
    """One line per measure, under its kind of input; those that are named with their formula."""
    if names:
        return "".join(_details(measure) for measure in listed_measures(names))
    groups: dict[str, list[list[str]]] = {}
    for measure in listed_measures():
        also = f" Also: {', '.join(measure['also'])}." if measure["also"] else ""
        row = [f"{measure['name']}{_cutoff(measure)}", f"{_sentence(measure)}{also}"]
        title = f"{measure['task'].capitalize()}, from {measure['input']}"
        groups.setdefault(title, []).append(row)
    tables = [Table(["measure", ""], rows, title, left=2) for title, rows in groups.items()]
    more = "heldout list measures NAME shows parameters and the formula.\n"
    return "\n".join([*map(text_table, tables), more])


def models() -> tuple[str, Records]:
    """The models with parameters, defaults and conventions."""
    from heldout.retrieve.models import model_table

    return _listing(model_table(), ("name", "parameters", "score"), CONVENTIONS)


def methods() -> tuple[str, Records]:
    """What the fusion methods need and compute, and what they do about missing documents."""
    from heldout.retrieve.fuse import METHODS

    rows = []
    for name, method in METHODS.items():
        needs = ", ".join(["scores" if method.uses_scores else "ranks", *method.parameters])
        rows.append((name, needs, method.summary, method.policy))
    return _listing(rows, ("name", "needs", "score", "missing"), NORMALISATIONS)


def _listing(rows: Sequence[Sequence[str]], head: Sequence[str], below: str) -> tuple[str, Records]:
    records = [dict(zip(head, row, strict=True)) for row in rows]
    return f"{text_table(Table(head, rows, left=len(head)))}\n{below}", records


def _named(name: str) -> list[Definition]:
    from heldout.measure.names import parse_measures, plain, spelled
    from heldout.measure.ranking.trec_names import is_trec_name

    if known := spelled().get(plain(name.partition("(")[0].partition("@")[0])):
        return known
    task = "ranking" if is_trec_name(name) else None
    return [measure.definition for measure in parse_measures([name], task)]


def _listed(definition: Definition) -> dict[str, Any]:
    """A measure in words, made from its definition."""
    from heldout.measure.base import show_value
    from heldout.measure.ranking.trec_names import trec_spellings

    name, task, needs = definition.name, definition.task, definition.needs
    spellings = [*(trec_spellings(name) if task == "ranking" else ()), *definition.aliases]
    others: dict[str, str] = {}
    for spelling in spellings:
        if spelling.lower() not in {form.lower() for form in (name, f"{name}_K", f"{name}_X")}:
            others.setdefault(spelling.lower(), spelling)
    inputs = {
        "ranking": "judgements by subtopic, and a run",
        "classification": f"true classes and {needs}",
    }
    record = {
        "name": name,
        "task": task,
        "summary": definition.summary.replace("`", "") or "a function of yours, not described",
        "higher_is_better": definition.higher_is_better,
        "also": list(others.values()),
        "input": inputs.get(task, needs) if needs else INPUTS[task],
        "formula": definition.formula,
    }
    if task == "ranking":
        defaults = {parameter.name: parameter.default for parameter in definition.parameters}
        return record | {"parameters": defaults, "cutoff": definition.cutoff}
    settings = []
    for parameter in definition.parameters:
        default = EXAMPLES.get(parameter.name)
        if parameter.default is not None:
            default = show_value(parameter.default)
        setting = parameter.name if default is None else f"{parameter.name}={default}"
        choices = " | ".join(parameter.choices) if task == "classification" else ""
        settings.append(choices or setting)
    better = definition.higher_is_better is not False
    return record | {"settings": ", ".join(settings), "higher_is_better": better}


def _cutoff(measure: dict[str, Any]) -> str:
    return CUTOFFS[measure.get("cutoff", "none")]


def _sentence(measure: dict[str, Any]) -> str:
    lower = measure["higher_is_better"] is False
    return f"{measure['summary']}{' Lower is better.' if lower else ''}"


def _details(measure: dict[str, Any]) -> str:
    defaults = measure.get("parameters", {}).items()
    settings = measure.get("settings") or ", ".join(f"{key}={value!r}" for key, value in defaults)
    about = {name: measure[name] for name in ("formula", "input")}
    about["also"] = ", ".join(measure["also"])
    lines = [f"{measure['name']}({settings}){_cutoff(measure)}", f"    {_sentence(measure)}"]
    return paragraphs([*lines, *(f"    {name}: {text}" for name, text in about.items() if text)])


NORMALISATIONS: Final = """\
Scores are normalised per query first (norm): minmax (s - min) / (max - min), max s / max, sum
(s - min) / sum of s - min, zscore (s - mean) / standard deviation, rank 1 - (rank - 1) / n, none.
With zscore a document that a run lacks counts as an average one. Of equal fused scores the greater
document id comes first.
"""

CONVENTIONS: Final = """\
M documents with average length avdl; word w occurs in df documents, cf times in total, and c times
in document d with |d| words. A score is a sum over the words of the query, each multiplied by its
count in the query, or by (k3+1)c/(k3+c) if k3 is given (not for query likelihood). Logarithms are
natural. lambda is the weight of the DOCUMENT, 1 − lambda that of the collection (MeTA and Lucene
have it the other way round). Only documents with a word of the query are ranked; ties are broken by
document id, descending.
"""

# ---- what is in an index or a collection ---------------------------------------------------------


def index_record(index: Index, size: int) -> dict[str, Any]:
    """Sizes, analyzer and fingerprint of an index; `size` is in bytes."""
    return {
        "documents": index.n_documents,
        "total_length": index.total_length,
        "mean_length": round(index.total_length / max(index.n_documents, 1), 1),
        "terms": index.n_terms,
        "postings": index.n_postings,
        "bytes": size,
        "analyzer": index.analyzer.signature(),
        "of_documents": index.documents_digest,
        "fingerprint": index.fingerprint,
    }


def collection_record(collection: Collection) -> dict[str, Any]:
    """Sizes, lengths, judgements and notes of a collection; its documents are read once."""
    import numpy as np

    grades, times = np.unique(collection.qrels.grades, return_counts=True)
    return {
        "name": collection.name,
        "documents": len(collection.documents),
        "document_words": _spread(collection.documents.word_counts()),
        "queries": len(collection.queries),
        "query_words": _spread([len(text.split()) for text in collection.queries.texts]),
        "judgements": len(collection.qrels),
        "judged_queries": len(collection.qrels.queries),
        "judged_per_query": _spread(np.diff(collection.qrels.offsets)),
        "grades": dict(zip(map(str, grades.tolist()), times.tolist(), strict=True)),
        "fingerprint": collection.fingerprint(),
        "notes": [note.to_dict() for note in collection.notes],
    }


def record_text(record: dict[str, Any]) -> str:
    """A record of an index or a collection line by line; notes are printed elsewhere."""
    width = max(map(len, record)) + 2
    lines = (
        f"{name.replace('_', ' '):{width}}{_value(value)}"
        for name, value in record.items()
        if name != "notes"
    )
    return paragraphs(map(printable, lines))


def _spread(values: Any) -> dict[str, float] | None:
    """Minimum, quartiles, maximum and sum; None of nothing."""
    import numpy as np

    if not len(values):
        return None
    names = ("least", "lower", "median", "upper", "most", "total")
    quartiles = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    ends = int(np.min(values)), int(np.max(values))
    return dict(zip(names, (ends[0], *quartiles, ends[1], int(np.sum(values))), strict=True))


def _value(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_value(number)}" for name, number in value.items())
    return f"{value:,}" if isinstance(value, int | float) else str(value or "none")


# ---- splits --------------------------------------------------------------------------------------

SHOWN: Final = 20  # splits that are listed
HEADINGS: Final = {
    "key": "split",
    "train": "train",
    "test": "test",
    "validation": "validation",
    "documents_train": "docs train",
    "documents_test": "docs test",
    "relevant_least": "relevant: min",
    "relevant_median": "median",
    "relevant_most": "max",
    "without_test": "none: test",
    "without_train": "train",
    "pro10": "Pro10",
}
LEGEND: Final = (
    "relevant: relevant documents per query in the test side; none: queries without any; Pro10: "
    "mean of min(10, relevant) / 10."
)


def splits_text(
    description: Description, *, full: bool = False, width: int | None = None, quiet: bool = False
) -> str:
    """How the units were split, a table of splits (`full`: all), and what was checked."""
    (table,) = splits_tables(description)
    more = 0 if full else max(description.count - SHOWN, 0)
    shown = Table(table.head, table.cells[:SHOWN] if more else table.cells)
    units = {"query": "queries", "instance": "rows"}.get(description.unit, f"{description.unit}s")
    summary = f"{printable(description.summary)}; {description.units:,} {units}."
    lines = [LEGEND] if "Pro10" in table.head else []
    lines += [f"Check: {_check(description)}.", *([] if quiet else note_lines(description.notes))]
    lines += [f"Advice: {description.advice}.", f"Fingerprint: {description.fingerprint}"]
    rest = f"… and {more:,} more\n" if more else ""
    table_text = f"{text_table(shown, width)}{rest}"
    return f"{paragraphs([summary], width)}\n{table_text}\n{paragraphs(lines, width)}"


def splits_tables(description: Description) -> list[Table]:
    """One row per split that was inspected, with what is known of any."""
    rows = [[_cell(getattr(row, name)) for name in HEADINGS] for row in description.rows]
    return [Table(list(HEADINGS.values()), rows).without_empty()]


def _check(description: Description) -> str:
    parts = ["no unit is on both sides of a split"]
    if description.overlapping:
        parts = [f"{count_of(description.overlapping, 'split')} with a unit on both sides"]
    units = {
        "never held out": description.never_held_out,
        "held out more than once in a repeat": description.often_held_out,
    }
    parts += [f"{count_of(count, 'unit')} {what}" for what, count in units.items() if count]
    return "; ".join(parts)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.2f}" if value % 1 else f"{value:.0f}"
    return "—" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
