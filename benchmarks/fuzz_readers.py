"""Every reader of files, with small valid files that are then made wrong."""

from __future__ import annotations

import hashlib
import json
import warnings
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from fuzz_files import (
    AMOUNTS,
    BOTH,
    CLASS_LINES,
    CLASSES,
    CSV,
    DATA,
    DOCUMENTS,
    ESTIMATORS,
    EXPERIMENT,
    FOLDS,
    FOLDS_JSON,
    FOLDS_PLAIN,
    HYPOTHESES,
    LINES,
    LONG,
    MAP,
    META,
    NAMES,
    OF_DOCUMENTS,
    POSITIVE,
    QRELS,
    QRELS_JSON,
    QRELS_TABLE,
    QUERIES,
    REFERENCES,
    RUN,
    RUN_JSON,
    RUN_TABLE,
    SHARE_LINES,
    SHARES,
    TOPICS,
    TREC,
    TSV,
    VECTORS,
    WIDE,
)
from fuzz_mutate import random_json, with_other_values
from fuzz_reading import (
    use_collection,
    use_experiment,
    use_folds,
    use_index,
    use_journal,
    use_ledger,
    use_loosely,
    use_machine,
    use_map,
    use_names,
    use_predictions,
    use_qrels,
    use_queries,
    use_results,
    use_run,
    use_scores,
    use_segments,
    use_stop_words,
    use_vectors,
    use_wordnet,
)
from heldout.data.io.compression import compress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from random import Random

    Read = Callable[[Path], object]

__all__ = ["READERS", "Reader"]


@dataclass(frozen=True)
class Reader:
    """A reader, and what it is tried on.

    Parameters
    ----------
    files
        The files in the folder that it gets.
    read
        Reads the folder.
    variants
        By file, valid contents; these files are made wrong, one at a time.
    mend
        Puts checksums right again, so that what is behind them is reached.
    make
        Makes a file of random structure.
    """

    files: Mapping[str, bytes]
    read: Read
    variants: Mapping[str, tuple[bytes, ...]]
    mend: Callable[[bytes], bytes] | None = None
    make: Callable[[Random], bytes] | None = None


FIELDS = (
    *("collection", "source", "systems", "plan", "folds", "kind", "name", "model", "space"),
    *("measures", "seed", "by", "queries", "qrels", "_id", "text", "title", "references", "id"),
)  # fmt: skip


def _frame_bytes(frame: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return buffer.getvalue()


_KINDS: tuple[Any, ...] = (
    *(pl.String, pl.Float64, pl.Int32, pl.Boolean, pl.Binary, pl.Date, pl.Null, pl.UInt64),
    *(pl.List(pl.Int8), pl.Struct({"a": pl.Int8}), pl.Categorical, pl.Decimal(10, 2), pl.Time),
    pl.Float32,
)


def _random_frame(names: tuple[str, ...], random: Random) -> bytes:
    """A Parquet file with columns of any type, and names that a reader knows."""
    columns = []
    rows = random.choice((0, 1, 3))
    for name in random.sample(names, random.randrange(1, len(names) + 1)):
        kind = random.choice(_KINDS)
        cells: list[Any] = [random.choice((None, 0, 1, 2)) for _ in range(rows)]
        if kind in (pl.String, pl.Categorical):
            cells = [random.choice((None, "", "a", "d1", "1", "\0", "nan")) for _ in range(rows)]
        elif kind == pl.Binary:
            cells = [random.choice((None, b"", b"\xff")) for _ in range(rows)]
        elif kind in (pl.Float64, pl.Float32):
            cells = [random.choice((None, 0.5, float("nan"), 1e30)) for _ in range(rows)]
        elif isinstance(kind, pl.List):
            cells = [random.choice((None, [], [1])) for _ in range(rows)]
        elif isinstance(kind, pl.Struct):
            cells = [{"a": 1}] * rows
        columns.append(pl.Series(name, cells, strict=False).cast(kind, strict=False)
                       if kind in (pl.Boolean, pl.Date, pl.Time, pl.Null)
                       else pl.Series(name, cells, kind, strict=False))  # fmt: skip
    return _frame_bytes(pl.DataFrame(columns))


def _json_lines(random: Random) -> bytes:
    rows = (random_json(random, FIELDS) for _ in range(random.randrange(1, 4)))
    return "\n".join(json.dumps(row) for row in rows).encode()


def _mended_journal(content: bytes) -> bytes:
    lines = []
    for line in content.split(b"\n"):
        text = line[33:]
        checksum = hashlib.blake2b(text, digest_size=16).hexdigest().encode()
        lines.append(checksum + b" " + text if text else line)
    return b"\n".join(lines)


def _wordnet() -> dict[str, bytes]:
    files: dict[str, bytes] = {}
    for name in ("noun", "verb", "adj", "adv"):
        head = b"  1 WordNet 3.0 Copyright 2006\n"
        line = b"%08d 05 n 02 cat 0 true_cat 0 001 @ 00000000 n 0000 | feline\n" % len(head)
        files[f"data.{name}"] = head + line
        files[f"index.{name}"] = head + b"cat n 1 1 @ 1 1 %08d\n" % len(head)
        files[f"{name}.exc"] = b"ran run\ncats cat\n"
    return files


def _npz() -> bytes:
    buffer = BytesIO()
    np.savez(buffer, words=np.array(["cat", "dog"]), vectors=np.array([[0.5, 1], [1, 0]]))
    return buffer.getvalue()


def _made(build: Callable[[Path], object], name: str = "x") -> bytes:
    with TemporaryDirectory() as home:
        build(Path(home) / name)
        return (Path(home) / name).read_bytes()


def _ledger(path: Path) -> None:
    from heldout.infer.ledger import Ledger

    ledger = Ledger(path)
    for p in (0.01, 0.5):
        ledger.record(
            "abc", systems=["A", "B"], measure="AP", test="t", p=p, effect=0.1, n=9, command="c"
        )


def _random_ledger(random: Random) -> bytes:
    """Rows of any type: SQLite keeps what it is given."""
    import sqlite3

    with TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as home:  # noqa: S108
        path = Path(home) / "x"
        _ledger(path)
        cells = (None, 0, -1, 2**62, 1.5, 1e308, "", "a", "[", '["A"]', "{}", "3", b"\xff", "1e999")
        connection = sqlite3.connect(path)
        names = ("time", "systems", "measure", "test", "p", "effect", "n", "command", "look")
        try:
            with connection:
                name = random.choice(names)
                connection.execute(f"UPDATE OR IGNORE looks SET {name} = ?",  # noqa: S608
                                   (random.choice(cells),))  # fmt: skip
        except sqlite3.Error:
            pass
        finally:
            connection.close()
        return path.read_bytes()


def _index(path: Path, **settings: Any) -> None:
    from heldout.retrieve.analyze import Analyzer
    from heldout.retrieve.index import Index

    texts = {"d1": "red apples", "d2": "green apples, green pears", "d3": "red plums and pears"}
    Index.build(texts, Analyzer(**settings), path=path, threads=1)


def _journal(path: Path) -> None:
    from heldout.experiment.execution.journal import Journal

    with Journal(path) as journal:
        journal.add({"key": "a", "values": np.array([0.1, np.nan]), "n": 1})
        journal.add({"key": "b", "text": "x", "x": [float("inf"), {"y": np.arange(3)}]})


def _folder(home: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in sorted(home.iterdir()) if one.is_file()}


def _ranking_results() -> dict[str, bytes]:
    from heldout import Collection
    from heldout.experiment.experiment import Experiment

    texts = {f"d{n}": f"word{n} common text" for n in range(6)}
    queries = {f"q{n}": f"word{n} common" for n in range(6)}
    small = Collection(texts, queries, {f"q{n}": {f"d{n}": 1} for n in range(6)})
    with TemporaryDirectory() as home:
        Experiment(
            collection=small, systems=["bm25(k1=0.5:2:2)", "tf-idf"], plan={"folds": 3},
            measures=["RR", "AP"],
        ).run(home)  # fmt: skip
        return _folder(Path(home))


def _estimator_results() -> dict[str, bytes]:
    from heldout.experiment.experiment import Experiment

    with TemporaryDirectory() as home:
        (Path(home) / "data.csv").write_bytes(DATA)
        (Path(home) / "experiment.toml").write_bytes(ESTIMATORS)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Experiment.read(Path(home) / "experiment.toml").run(Path(home) / "results")
        return _folder(Path(home) / "results")


def _single(read: Read, *variants: bytes, **more: Any) -> Reader:
    return Reader({"x": variants[0]}, read, {"x": variants}, **more)


def _any_of(
    files: dict[str, bytes], read: Read, *, wrong: Iterable[str] = (), **more: Any
) -> Reader:
    """A folder in which any of its files, or of some of them, is wrong."""
    return Reader(files, read, {name: (files[name],) for name in wrong or files}, **more)


def _documents(variants: tuple[bytes, ...], read: Read | None = None, **more: Any) -> Reader:
    files = {"x": variants[0], "queries.jsonl": QUERIES, "qrels.txt": QRELS}
    with_both = partial(use_collection, "x", queries="queries.jsonl", qrels="qrels.txt")
    return Reader(files, read or with_both, {"x": variants}, **more)


def _table(content: bytes) -> bytes:
    return _frame_bytes(pl.read_csv(BytesIO(content)))


def _packed_runs() -> Reader:
    return _single(use_run, *(compress(RUN, ending) for ending in (".gz", ".xz", ".bz2", ".zst")))


def _meta() -> Reader:
    files = {
        "config.toml": META,
        "x/line.toml": b'type = "line-corpus"\n',
        "x/x.dat": b"red apples\ngreen pears\n",
        "x/x-queries.txt": b"red fruit\ngreen\n",
        "x/x-qrels.txt": b"1 0 1\n2 1 1\n",
    }
    return _any_of(files, partial(use_collection, "."))


def _beir() -> Reader:
    files = {"corpus.jsonl": DOCUMENTS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS_TABLE}
    return _any_of({**files, "qrels/train.tsv": QRELS_TABLE}, partial(use_collection, "."))


def _trec() -> Reader:
    files = {"docs.sgml": TREC, "topics.txt": TOPICS, "qrels.txt": QRELS}
    return _any_of(files, partial(use_collection, "."))


def _experiments() -> Reader:
    files = {"docs.jsonl": DOCUMENTS, "data.csv": DATA, "one.run": RUN, "queries.jsonl": QUERIES}
    files |= {"qrels.txt": QRELS, "experiment.toml": EXPERIMENT}
    variants = (EXPERIMENT, ESTIMATORS, OF_DOCUMENTS, BOTH)

    def make(random: Random) -> bytes:
        return with_other_values(random, random.choice(variants))

    return Reader(files, use_experiment, {"experiment.toml": variants}, make=make)


def _indexes() -> Reader:
    stemmed = partial(_index, stemmer="english", stop=("a",))
    return _single(use_index, _made(_index), _made(stemmed))


_JSON = ("manifest.json", "summary.json", "timings.json")
_TABLES = ("values.parquet", "folds.parquet", "surface.parquet", "lists.parquet")
_PREDICTED = ("unit", "truth", "prediction", "prob_a", "fold", "weight", "score")
_PLACED = ("system", "repeat", "fold", "other", "run", "unit", "measure", "value", "parameters")

READERS: dict[str, tuple[int, Callable[[], Reader]]] = {
    "runs, TREC": (70, lambda: _single(use_run, RUN)),
    "runs, CSV and TSV": (
        15, lambda: _single(use_run, RUN_TABLE, RUN_TABLE.replace(b",", b"\t"))
    ),
    "runs, JSON": (40, lambda: _single(use_run, RUN_JSON, make=_json_lines)),
    "runs, Parquet": (
        10, lambda: _single(
            use_run, _table(RUN_TABLE),
            make=partial(_random_frame, ("query_id", "doc_id", "score", "qid", "relevance")),
        ),
    ),
    "runs, packed": (40, _packed_runs),
    "qrels, TREC": (70, lambda: _single(use_qrels, QRELS, b"q1 d1 1\nq2 d2 0\n")),
    "qrels, tables and JSON": (20, lambda: _single(use_qrels, QRELS_TABLE, QRELS_JSON)),
    "machine judgements": (20, lambda: _single(use_machine, SHARES, SHARE_LINES)),
    "collections, MeTA": (15, _meta),
    "collections, TREC": (15, _trec),
    "collections, BEIR": (15, _beir),
    "collections, JSON lines": (
        20, lambda: _documents(
            (DOCUMENTS, compress(DOCUMENTS, ".gz"), compress(DOCUMENTS, ".zst")), make=_json_lines
        ),
    ),
    "collections, CSV and TSV": (20, lambda: _documents((CSV, TSV, compress(CSV, ".xz")))),
    "collections, Parquet": (
        5, lambda: _documents(
            (_table(CSV),), make=partial(_random_frame, ("id", "text", "title", "_id"))
        ),
    ),
    "collections, other encodings": (
        20, lambda: _documents((DOCUMENTS, TREC, CSV, TSV), use_loosely)
    ),
    "queries, topics": (
        60, lambda: _single(use_queries, TOPICS, QUERIES, TSV, LINES, CSV)
    ),
    "score tables": (
        50, lambda: _single(
            use_scores, WIDE, LONG, _table(WIDE),
            make=partial(_random_frame, ("unit", "A", "system", "value")),
        ),
    ),
    "predictions": (
        50, lambda: _single(
            use_predictions, CLASSES, CLASS_LINES, POSITIVE, AMOUNTS, _table(CLASSES),
            make=partial(_random_frame, _PREDICTED),
        ),
    ),
    "segments of text": (
        80, lambda: _single(use_segments, LINES, HYPOTHESES, REFERENCES, make=_json_lines)
    ),
    "vectors, text": (80, lambda: _single(partial(use_vectors, "x"), VECTORS, VECTORS[4:])),
    "vectors, npz": (
        50, lambda: _any_of({"x.npz": _npz()}, partial(use_vectors, "x.npz"))
    ),
    "folds, groups, ids": (
        80, lambda: _single(use_folds, FOLDS, FOLDS_JSON, FOLDS_PLAIN, make=_json_lines)
    ),
    "maps of ids": (50, lambda: _single(use_map, MAP)),
    "names of measures, models, grids": (20, lambda: _single(use_names, NAMES)),
    "stop words": (20, lambda: _single(use_stop_words, b"the # a\nof\n")),
    "WordNet": (30, lambda: _any_of(_wordnet(), use_wordnet)),
    "experiments, TOML": (20, _experiments),
    "ledger, SQLite": (
        10, lambda: _single(use_ledger, _made(_ledger), make=_random_ledger)
    ),
    "index files": (20, _indexes),
    "journals": (50, lambda: _single(use_journal, _made(_journal))),
    "journals, checksums mended": (
        80, lambda: _single(use_journal, _made(_journal), mend=_mended_journal)
    ),
    "results, JSON": (10, lambda: _any_of(_ranking_results(), use_results, wrong=_JSON)),
    "results, Parquet": (
        5, lambda: _any_of(
            _ranking_results(), use_results, wrong=_TABLES, make=partial(_random_frame, _PLACED)
        ),
    ),
    "results of estimators": (5, lambda: _any_of(_estimator_results(), use_results)),
}  # fmt: skip
"""By what is read: parts of all cases, and what makes the reader (some need an experiment)."""
