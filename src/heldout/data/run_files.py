"""Read and write runs and judgements in any supported format."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from heldout.data.columns import QRELS_COLUMNS, RUN_COLUMNS
from heldout.data.io import trec
from heldout.data.io.compression import EXTENSIONS, compress
from heldout.data.io.source import open_source
from heldout.data.notes import named_few
from heldout.data.run import Qrels, Run
from heldout.data.subtopics import SUBTOPIC_NAMES, judgement_columns
from heldout.errors import DuplicateError, FormatError, InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.data.io.source import Source
    from heldout.data.run import TiePolicy

    Path_ = str | os.PathLike[str]

__all__ = [
    "Format",
    "read_qrels",
    "read_run",
    "write_qrels",
    "write_run",
]

Format = Literal["trec", "csv", "tsv", "json", "parquet"]
_ENDINGS = (".csv", ".tsv", ".json", ".parquet")
_HEADER_WORDS = frozenset(
    spelling
    for columns in (RUN_COLUMNS, QRELS_COLUMNS)
    for spellings in columns.values()
    for spelling in spellings
)


def detect_format(source: Source) -> Format:
    """Return the format by the first bytes: file names may be wrong or missing (standard input)."""
    head = source.head()
    if head.startswith(b"PAR1"):
        return "parquet"
    if re.match(rb"\s*\{\s*[\"}]", head):
        return "json"
    first = _first_line(head)
    for mark, name in (("\t", "tsv"), (",", "csv")):
        cells = [cell.strip().strip('"').lower() for cell in first.split(mark)]
        if len(cells) >= 2 and len(_HEADER_WORDS.intersection(cells)) >= 2:
            return name  # type: ignore[return-value]
    return "trec"


def read_run(
    path: Path_,
    *,
    name: str | None = None,
    ties: TiePolicy = "docid-desc",
    single_precision: bool = False,
) -> Run:
    """Read a run.

    Parameters
    ----------
    path
        A TREC run, a CSV or TSV table with a header, a JSON object ``{query: {document: score}}``
        or a Parquet table; gzip, xz, bzip2 and zstd are decompressed; ``-`` is standard input. Ids
        lose surrounding white space, and a whole number in a column of floats (integers with gaps
        in pandas) is read without its decimal.
    name
        The name of the run (default: its tag, or else the name of the file).
    ties
        How documents with equal scores are ordered.
    single_precision
        Store scores as 32-bit floats, as trec_eval 9 and pytrec_eval do.
    """
    source = open_source(path)
    kind = detect_format(source)
    if kind != "trec":
        from heldout.data.io.run_table import read_run_table

        queries, docs, scores = read_run_table(source, kind, RUN_COLUMNS)
        run_name = name or _stem(source.name)
        with _located(source, ""):
            return Run.from_columns(
                queries, docs, scores, run_name, ties=ties, single_precision=single_precision
            )
    rows = trec.read_run_rows(source)
    if not len(rows.values):
        if trec.looks_like_qrels(source):
            raise trec.qrels_as_run(source.name)
        _refuse_other_table(source, RUN_COLUMNS)
    trec.refuse_bad(source, rows.bad)
    trec.refuse_empty(source, rows, trec.RUN_LINE)
    with _located(source, "trec"):
        return Run.assemble(
            name or trec.run_tag(source),
            rows.queries,
            rows.docs,
            rows.values,
            ties=ties,
            single_precision=single_precision,
        )


def read_qrels(
    path: Path_,
    *more: Path_,
    subtopics: bool = False,
) -> Qrels:
    """Read one qrels file, or join several.

    Parameters
    ----------
    path, more
        TREC qrels of three or four columns, CSV or TSV tables with a header (BEIR), JSON objects
        ``{query: {document: grade}}`` or Parquet tables, compressed or not; ``-`` is standard
        input.
    subtopics
        Read the second column of TREC qrels, or the column ``subtopic`` of a table, as subtopics;
        needed for measures of diversity, such as alpha_nDCG@20. By default it is ignored.
    """
    parts = [_read_one_qrels(one, subtopics=subtopics) for one in (path, *more)]
    if len(parts) == 1:
        return parts[0]
    columns = [judgement_columns(part) for part in parts]

    def column(role: str) -> list[Any]:
        return [cell for one in columns for cell in one[role]]

    names = column("subtopic") if subtopics else None
    joined = Qrels.from_columns(column("query"), column("doc"), column("grade"), names)
    return replace(joined, repeated=joined.repeated + sum(part.repeated for part in parts))


def _read_one_qrels(path: Path_, *, subtopics: bool) -> Qrels:
    source = open_source(path)
    kind = detect_format(source)
    if kind != "trec":
        from heldout.data.io.run_table import read_run_table

        known = {**QRELS_COLUMNS, "subtopic": SUBTOPIC_NAMES} if subtopics else QRELS_COLUMNS
        columns = read_run_table(source, kind, known)
        with _located(source, ""):
            return Qrels.from_columns(*columns)
    rows = trec.read_qrels_rows(source)
    if not len(rows.values):
        if trec.looks_like_run(source):
            raise trec.run_as_qrels(source.name)
        _refuse_other_table(source, QRELS_COLUMNS)
    trec.refuse_bad(source, rows.bad)
    trec.refuse_empty(source, rows, trec.QRELS_LINE[4])
    names = trec.read_subtopics(source) if subtopics else None
    with _located(source, "trec"):
        return Qrels.assemble(rows.queries, rows.docs, rows.values.astype(np.int64), names)


def _refuse_other_table(source: Source, known: dict[str, tuple[str, ...]]) -> None:
    """Raise an error for a table that lacks needed columns; it is not a TREC file."""
    first = _first_line(source.head())
    mark = max("\t,;", key=first.count)
    cells = [cell.strip().strip('"') for cell in first.split(mark)]
    named = _HEADER_WORDS.intersection(cell.lower() for cell in cells)
    if len(cells) < 2 or (not named and (mark == "\t" or len(first.split()) > 2)):
        return
    needed = ", ".join(f"{role} ({' or '.join(names[:2])})" for role, names in known.items())
    how = "; separate them with commas or tabs" if mark == ";" else ""
    found = named_few(cells, len(cells), 10)
    raise InputError(f"{source.name}: expected columns for {needed}, found {found}{how}")


def _first_line(head: bytes) -> str:
    """Return the first line that is neither empty nor a comment."""
    lines = (line for line in head.decode(errors="replace").splitlines() if line.strip())
    return next((line for line in lines if not line.lstrip().startswith("#")), "")


@contextmanager
def _located(source: Source, kind: str) -> Iterator[None]:
    """Add the file, and in a TREC file the lines, to errors about its content."""
    try:
        yield
    except DuplicateError as error:
        lines = trec.lines_with(source, error.query, error.doc) if kind == "trec" else []
        if len(lines) < 2:
            raise InputError(f"{source.name}: {error}") from None
        text = f"{error} (first in line {lines[0]})"
        raise FormatError(f"{source.name}:{lines[1]}", text) from None
    except FormatError:
        raise
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from None


def _stem(name: str) -> str:
    """Return the name of a file without folders and without extensions of known formats."""
    base = os.path.basename(name)  # noqa: PTH119 - pathlib is slow to import
    endings = r"(\.(run|trec|txt|csv|tsv|json|parquet|qrels|gz|xz|bz2|zst))+$"
    return re.sub(endings, "", base, flags=re.IGNORECASE) or base


def write_run(run: Run, path: Path_, kind: str | None = None) -> None:
    """Write a run; the extension sets the format (``.csv``, ``.tsv``, ``.json``, ``.parquet``).

    Parameters
    ----------
    kind
        ``trec``, ``csv``, ``tsv``, ``json`` or ``parquet`` (default: by the extension).
    """
    _write(run, path, trec.run_lines, kind)


def write_qrels(qrels: Qrels, path: Path_) -> None:
    """Write qrels; the extension sets the format (``.csv``, ``.tsv``, ``.json``, ``.parquet``)."""
    _write(qrels, path, trec.qrels_lines)


def _write(
    what: Any, path: Path_, lines: Callable[[Any], Iterator[str]], kind: str | None = None
) -> None:
    from pathlib import Path

    from heldout.data.atomic import write_atomically

    compression = Path(path).suffix.lower()
    ending = Path(path).with_suffix("").suffix.lower() if compression in EXTENSIONS else compression
    if kind is not None:
        ending = f".{kind}"
    with write_atomically(path) as aside:
        if ending in _ENDINGS:
            from heldout.data.io.run_table import write_run_table

            write_run_table(what, aside, ending)
        else:
            with aside.open("w", encoding="utf-8", newline="\n") as file:
                file.writelines(lines(what))
        if compression in EXTENSIONS:
            aside.write_bytes(compress(aside.read_bytes(), compression))
