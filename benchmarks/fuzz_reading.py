"""What is done with files in a folder: each function reads them as a command would, and uses them.

Documents are streamed, indexes searched, results compared: reading alone would leave the later half
of the mistakes unseen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from heldout.errors import HeldoutError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def use_run(folder: Path) -> object:
    from heldout import read_run

    run = read_run(folder / "x")
    return run.to_dict(), read_run(folder / "x", skip_bad_lines=True)


def use_qrels(folder: Path) -> object:
    from heldout import read_qrels

    qrels = read_qrels(folder / "x")
    return qrels.to_dict(), qrels.fingerprint()


def use_machine(folder: Path) -> object:
    from heldout.data.machine_judgements import read_machine

    return [qrels.to_dict() for qrels in read_machine(folder / "x").graded]


def use_collection(source: str, folder: Path, **options: Any) -> object:
    from heldout import read_collection

    found = read_collection(folder / source, **{k: folder / v for k, v in options.items()})
    for number in range(min(3, len(found.documents))):
        found.documents.text(number)
    return found.fingerprint(), [batch.ids for batch in found.documents.batches()], found.notes


def use_loosely(folder: Path) -> object:
    from heldout import read_collection

    return read_collection(
        folder / "x", queries=folder / "queries.jsonl", encoding="cp1252", errors="replace"
    )  # fmt: skip


def use_queries(folder: Path) -> object:
    from heldout.data.io.blocks import Reading
    from heldout.data.io.query_files import read_queries

    return read_queries(str(folder / "x"), Reading(), first_line=1)


def use_scores(folder: Path) -> object:
    from heldout import read_scores

    return read_scores(folder / "x")


def use_predictions(folder: Path) -> object:
    from heldout import read_class_predictions, read_number_predictions
    from heldout.data.prediction_task import _is_predictions

    _is_predictions(folder / "x")
    try:
        return read_class_predictions(folder / "x")
    except HeldoutError:
        return read_number_predictions(folder / "x")


def use_segments(folder: Path) -> object:
    from heldout import read_hypotheses, read_references
    from heldout.data.segments import read_own_references

    found: list[object] = []
    for read in (read_hypotheses, read_references, read_own_references):
        try:
            found.append(read(folder / "x"))
        except HeldoutError as error:
            found.append(error)
    return found


def use_vectors(name: str, folder: Path) -> object:
    from heldout.data.vectors import read_vectors

    return read_vectors(folder / name).known(["cat", "dog", "new york"])


def use_folds(folder: Path) -> object:
    from heldout.resample.fold_files import read_id_lines
    from heldout.resample.given import GivenFolds

    read_id_lines(folder / "x")
    return GivenFolds(folder / "x").splits(["q1", "q2"])


def use_map(folder: Path) -> object:
    from heldout.resample.id_maps import read_map

    return read_map(folder / "x")


def use_names(folder: Path) -> object:
    """Names that stand in configs and arguments; every line by itself."""
    from heldout.measure.parse import parse_measures
    from heldout.measure.ranking.trec_names import trec_lines
    from heldout.retrieve.models import parse_model
    from heldout.tune.space import parse_axis

    found: list[object] = []
    parsers: tuple[Callable[[str], object], ...] = (
        *(parse_model, parse_axis, lambda one: parse_measures([one])),
        *(lambda one: trec_lines([one], 1, 0),
          lambda one: parse_measures([one], "classification")),
    )  # fmt: skip
    for line in (folder / "x").read_bytes().decode(errors="replace").split("\n"):
        for parse in parsers:
            try:
                found.append(parse(line))
            except HeldoutError as error:
                found.append(error)
    return found


def use_stop_words(folder: Path) -> object:
    from heldout.retrieve.analyze import Analyzer

    return Analyzer(stop=str(folder / "x")).analyze("the cat")


def use_experiment(folder: Path) -> object:
    from heldout.experiment.experiment import Experiment

    return Experiment.read(folder / "experiment.toml").check()


def use_ledger(folder: Path) -> object:
    from heldout.infer.ledger import Ledger

    ledger = Ledger(folder / "x", make=False)
    return [(ledger.adjusted(one), ledger.summary(one)) for one in ledger.fingerprints()]


def use_index(folder: Path) -> object:
    from heldout.retrieve.index import Index
    from heldout.retrieve.search import search

    index = Index.open(folder / "x")
    found = search(index, {"q1": "red apples", "q2": "green pears plums and"}, k=3).to_dict()
    return found, list(index.terms), list(index.document_ids), index.verify()  # type: ignore[func-returns-value]


def use_index_folder(folder: Path) -> object:
    from heldout.retrieve.search import search
    from heldout.retrieve.shards import open_index

    index = open_index(folder)
    queries = {"q1": "red apples", "q2": "green pears plums and", "q3": "kiwi"}
    found = search(index, queries, k=3).to_dict(), search(index, queries, "ql-dirichlet", k=9)
    return found, list(index.document_ids), index.verify()


def use_journal(folder: Path) -> object:
    from heldout.experiment.execution.journal import Journal

    with Journal(folder / "x") as journal:
        return journal.records


def use_wordnet(folder: Path) -> object:
    from heldout.measure.text.wordnet import WordNetFiles

    found = WordNetFiles(folder)
    return found.version, [found.synonyms(one) for one in ("cats", "dog", "ran", "")]
