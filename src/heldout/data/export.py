"""Write a collection to a folder in the format of BEIR, TREC, or a MeTA line corpus."""

from __future__ import annotations

import json
import re
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Literal

import numpy as np

from heldout.data.atomic import write_folder
from heldout.errors import Argument, InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from heldout.data.collection import Collection
    from heldout.data.queries import Queries

ExportFormat = Literal["beir", "trec", "lines"]

DOC_MAP = "doc_map.tsv"
QUERY_MAP = "query_map.tsv"
MAP_HEAD = "new\toriginal"
_LABELS = {"description": "<desc> Description", "narrative": "<narr> Narrative"}


def export_collection(
    collection: Collection,
    folder: str | os.PathLike[str],
    to: ExportFormat = "beir",
    *,
    force: bool = False,
) -> None:
    """Write a collection to a folder, which appears only when it is complete.

    Parameters
    ----------
    to
        ``beir``: corpus.jsonl, queries.jsonl, qrels/test.tsv; ``trec``: documents.trec, topics.txt,
        qrels.txt; ``lines``: a MeTA line corpus with its config. A line corpus numbers documents by
        line: ``doc_map.tsv`` maps the numbers to the original ids, ``query_map.tsv`` those of the
        queries; line breaks inside a text become spaces.
    force
        Replace the folder if it exists and holds nothing but an earlier export.
    """
    writers = {"beir": _write_beir, "trec": _write_trec, "lines": _write_lines}
    if to not in writers:
        raise InputError(f"expected one of {', '.join(writers)}", argument="to", value=to)
    with new_export(folder, force=force) as aside:
        writers[to](collection, aside)


_EXPORTED = re.compile(
    r"(corpus|queries)\.jsonl|documents\.trec|(topics|qrels)\.txt|(line|config)\.toml|"
    r"split\.json|.*(\.tsv|\.dat|-queries\.txt|-qrels\.txt)"
)


def new_export(folder: str | os.PathLike[str], *, force: bool) -> AbstractContextManager[Path]:
    """Return a folder that becomes `folder`, if nothing but an earlier export is there."""

    def check(target: Path) -> None:
        if not target.is_dir():
            raise InputError(f"{target} is a file: give the path of a folder")
        if any(target.iterdir()) and not force:
            raise InputError(
                f"{target} already exists: choose another folder, or overwrite it (",
                Argument("force", "True"),
                ")",
            )
        files = [file.name for file in target.rglob("*") if file.is_file()]
        strange = [name for name in files if not _EXPORTED.fullmatch(name)]
        if strange:
            raise InputError(
                f"{target} has files that were not written by an export ({', '.join(strange[:3])}) "
                "and is not replaced: remove it yourself, or choose another folder"
            )

    return write_folder(folder, check)


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _topics(queries: Queries) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Yield id, text, and description and narrative, if there are any, of each query."""
    others = {name: queries.fields[name] for name in _LABELS if name in queries.fields}
    for place, (query, text) in enumerate(queries.pairs()):
        yield query, text, {name: column[place] for name, column in others.items()}


def _write_beir(collection: Collection, folder: Path) -> None:
    """Write the files of BEIR into a folder."""

    def line(**record: str) -> str:
        return json.dumps(record, ensure_ascii=False) + "\n"

    documents = collection.documents.pairs()
    _write(folder / "corpus.jsonl", (line(_id=doc, title="", text=text) for doc, text in documents))
    topics = _topics(collection.queries)
    lines = (line(_id=query, text=text, **rest) for query, text, rest in topics)
    _write(folder / "queries.jsonl", lines)
    if len(collection.qrels):
        (folder / "qrels").mkdir()
        names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
        frame = collection.qrels.to_frame().rename(names)
        frame.write_csv(folder / "qrels" / "test.tsv", separator="\t")


def _write_trec(collection: Collection, folder: Path) -> None:
    _write(
        folder / "documents.trec",
        (
            f"<DOC>\n<DOCNO>{_trec_id(doc, 'document')}</DOCNO>\n<TEXT>\n"
            f"{escape(text, quote=False)}\n</TEXT>\n</DOC>\n"
            for doc, text in collection.documents.pairs()
        ),
    )
    topics = []
    for query, text, others in _topics(collection.queries):
        number = _trec_id(query, "query")
        parts = [f"<num> Number: {number}", f"<title> {escape(text, quote=False)}"]
        parts += [f"{_LABELS[name]}:\n{escape(others[name], quote=False)}" for name in others]
        topics.append("<top>\n" + "\n\n".join(parts) + "\n\n</top>\n\n")
    _write(folder / "topics.txt", topics)
    if len(collection.qrels):
        collection.qrels.write(folder / "qrels.txt")


def _trec_id(name: str, what: str) -> str:
    if re.search(r"\s", name):
        raise InputError(
            f"the {what} id {name!r} has white space, which TREC files do not allow: export to "
            "BEIR instead (",
            Argument("to", "'beir'"),
            ")",
        )
    return escape(name, quote=False)


def _write_lines(collection: Collection, folder: Path) -> None:
    name = re.sub(r"[^\w-]+", "-", collection.name).strip("-") or "collection"
    home = folder / name
    home.mkdir()
    with (home / f"{name}.dat").open("wb") as file:
        for batch in collection.documents.batches():
            # Line breaks inside a document become spaces.
            plain = np.where(np.isin(batch.text, (10, 13)), np.uint8(32), batch.text)
            file.write(np.insert(plain, batch.offsets[1:], 10).tobytes())
    ids = collection.documents.ids
    write_map(folder / DOC_MAP, map(str, range(len(ids))), ids)
    asked = collection.queries.ids
    numbered = re.fullmatch(r"0|[1-9]\d{0,8}", asked[0]) if asked else None
    start = int(asked[0]) if numbered else 1
    numbers = [str(number) for number in range(start, start + len(asked))]
    if numbers != list(asked):
        start, numbers = 1, [str(number) for number in range(1, len(asked) + 1)]
        write_map(folder / QUERY_MAP, numbers, asked)
    texts = collection.queries.texts
    _write(home / f"{name}-queries.txt", (re.sub(r"[\r\n]", " ", text) + "\n" for text in texts))
    config = f'prefix = "."\ndataset = "{name}"\ncorpus = "line.toml"\nindex = "{name}-index"\n'
    rows = collection.judgements
    if len(rows):
        columns = (rows.queries + start, rows.documents, rows.grades)
        lines = zip(*(column.tolist() for column in columns), strict=True)
        _write(home / f"{name}-qrels.txt", (f"{q} {d} {g}\n" for q, d, g in lines))
        config += f'query-judgements = "{name}/{name}-qrels.txt"\n'
    config += f'\n[query-runner]\nquery-path = "{name}/{name}-queries.txt"\n'
    _write(home / "line.toml", ['type = "line-corpus"\n'])
    _write(folder / "config.toml", [config, f"query-id-start = {start}\n"])


def write_map(path: Path, new: Iterable[str], original: Iterable[str]) -> None:
    """Write new and original ids; tabs, line ends and backslashes in ids are escaped as in JSON."""

    def plain(name: str) -> str:
        is_plain = re.search(r"[\t\r\n\\]", name) is None
        return name if is_plain else json.dumps(name, ensure_ascii=False)[1:-1]

    pairs = zip(new, original, strict=True)
    _write(path, chain([f"{MAP_HEAD}\n"], (f"{plain(a)}\t{plain(b)}\n" for a, b in pairs)))
