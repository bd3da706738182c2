"""Write a collection to a folder in the format of BEIR, TREC, or a MeTA line corpus."""

from __future__ import annotations

import json
import os
import re
import shutil
from contextlib import contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from heldout.data.atomic import make_aside
from heldout.data.run_files import write_qrels
from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from heldout.data.collection import Collection
    from heldout.data.queries import Queries

__all__ = ["ExportFormat", "FolderExistsError", "export_collection", "write_beir", "write_folder"]

ExportFormat = Literal["beir", "trec", "lines"]

_NEWLINE, _RETURN, _BLANK = 10, 13, 32
_LABELS = {"description": ("desc", "Description"), "narrative": ("narr", "Narrative")}


class FolderExistsError(InputError):
    """A folder exists and should not be replaced."""


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
    if to not in get_args(ExportFormat):
        raise InputError(f"to={to!r}: expected one of {', '.join(get_args(ExportFormat))}")
    writers: dict[str, Callable[[Collection, Path], None]] = {
        "beir": write_beir,
        "trec": _write_trec,
        "lines": _write_lines,
    }
    with write_folder(Path(folder), force=force) as aside:
        writers[to](collection, aside)


@contextmanager
def write_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield a temporary folder beside `target`, and rename it when everything is written."""
    target = Path(os.path.abspath(target))  # noqa: PTH100 - a name is needed even for "."
    _refuse_target(target, force=force)
    temporary: list[Path] = []
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        aside = make_aside(target, Path.mkdir)
        temporary.append(aside)
        yield aside
        old = aside.with_suffix(".old")
        if target.exists():
            target.rename(old)
            temporary.append(old)
        try:
            aside.rename(target)
        except OSError:
            if target.exists():
                raise FolderExistsError(
                    f"{target} was created by another process meanwhile"
                ) from None
            if old.exists():
                old.rename(target)
            raise
    except OSError as error:
        raise InputError(f"{target}: cannot be written ({error.strerror or error})") from None
    finally:
        for path in temporary:
            with suppress(OSError):
                shutil.rmtree(path)


def _refuse_target(target: Path, *, force: bool) -> None:
    if target.exists() and not target.is_dir():
        raise InputError(f"{target} is a file: give the path of a folder")
    if not target.exists():
        return
    files = [one.name for one in target.rglob("*") if one.is_file()]
    if not files and not any(target.iterdir()):
        return
    if not force:
        raise FolderExistsError(
            f"{target} already exists: choose another folder, or overwrite it (force=True)"
        )
    strange = [name for name in files if not _is_exported(name)]
    if strange:
        raise InputError(
            f"{target} has files that were not written by an export ({', '.join(strange[:3])}) "
            "and is not replaced: remove it yourself, or choose another folder"
        )


def _is_exported(name: str) -> bool:
    known = {"corpus.jsonl", "queries.jsonl", "documents.trec", "topics.txt", "qrels.txt"}
    known |= {"line.toml", "config.toml", "fingerprint.txt", "split.json"}
    return name in known or name.endswith((".tsv", ".dat", "-queries.txt", "-qrels.txt"))


def _write(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(lines)


def _json_line(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _other_fields(queries: Queries) -> dict[str, tuple[str, ...]]:
    return {name: queries.fields[name] for name in _LABELS if name in queries.fields}


def write_beir(collection: Collection, folder: Path) -> None:
    """Write the files of BEIR into a folder."""
    documents = collection.documents.pairs()
    _write(
        folder / "corpus.jsonl",
        (_json_line({"_id": one, "title": "", "text": text}) for one, text in documents),
    )
    queries, others = collection.queries, _other_fields(collection.queries)
    _write(
        folder / "queries.jsonl",
        (
            _json_line(
                {
                    "_id": one,
                    "text": queries.texts[place],
                    **{name: texts[place] for name, texts in others.items()},
                }
            )
            for place, one in enumerate(queries.ids)
        ),
    )
    if len(collection.qrels):
        (folder / "qrels").mkdir()
        names = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
        frame = collection.qrels.to_frame().rename(names)
        frame.write_csv(folder / "qrels" / "test.tsv", separator="\t")


def _write_trec(collection: Collection, folder: Path) -> None:
    _write(folder / "documents.trec", map(_trec_document, collection.documents.pairs()))
    queries, others = collection.queries, _other_fields(collection.queries)
    _write(
        folder / "topics.txt",
        (
            _topic(one, queries.texts[place], {n: texts[place] for n, texts in others.items()})
            for place, one in enumerate(queries.ids)
        ),
    )
    if len(collection.qrels):
        write_qrels(collection.qrels, folder / "qrels.txt")


def _trec_document(pair: tuple[str, str]) -> str:
    one, text = pair
    _refuse_blanks(one, "document")
    number = escape(one, quote=False)
    body = escape(text, quote=False)
    return f"<DOC>\n<DOCNO>{number}</DOCNO>\n<TEXT>\n{body}\n</TEXT>\n</DOC>\n"


def _topic(one: str, text: str, others: dict[str, str]) -> str:
    _refuse_blanks(one, "query")
    parts = [f"<num> Number: {escape(one, quote=False)}", f"<title> {escape(text, quote=False)}"]
    for name, content in others.items():
        tag, label = _LABELS[name]
        parts.append(f"<{tag}> {label}:\n{escape(content, quote=False)}")
    return "<top>\n" + "\n\n".join(parts) + "\n\n</top>\n\n"


def _refuse_blanks(one: str, what: str) -> None:
    if re.search(r"\s", one):
        raise InputError(
            f"the {what} id {one!r} has white space, which TREC files do not allow: export to BEIR "
            "instead (to='beir')"
        )


def _write_lines(collection: Collection, folder: Path) -> None:
    name = re.sub(r"[^\w-]+", "-", collection.name).strip("-") or "collection"
    home = folder / name
    home.mkdir()
    with (home / f"{name}.dat").open("wb") as file:
        for batch in collection.documents.batches():
            file.write(_as_lines(batch.text, batch.offsets))
    _write_map(folder / "doc_map.tsv", collection.documents.ids)
    queries = collection.queries
    first = _first_number(queries.ids)
    start = 1 if first is None else first
    if first is None:
        _write_map(folder / "query_map.tsv", queries.ids, start)
    _write(home / f"{name}-queries.txt", (_one_line(text) + "\n" for text in queries.texts))
    rows = collection.judgements
    columns = (rows.queries + start, rows.documents, rows.grades)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    if len(rows):
        _write(home / f"{name}-qrels.txt", (f"{q} {d} {g}\n" for q, d, g in numbers))
    _write(home / "line.toml", ['type = "line-corpus"\n'])
    _write(folder / "config.toml", _config(name, start, judged=bool(len(rows))))


def _config(name: str, start: int, *, judged: bool) -> Iterator[str]:
    yield f'prefix = "."\ndataset = "{name}"\ncorpus = "line.toml"\nindex = "{name}-index"\n'
    if judged:
        yield f'query-judgements = "{name}/{name}-qrels.txt"\n'
    yield f'\n[query-runner]\nquery-path = "{name}/{name}-queries.txt"\nquery-id-start = {start}\n'


def _as_lines(text: Any, offsets: Any) -> bytes:
    """Return documents as lines; line breaks inside a document become spaces."""
    plain = np.where((text == _NEWLINE) | (text == _RETURN), np.uint8(_BLANK), text)
    lines: bytes = np.insert(plain, offsets[1:], _NEWLINE).tobytes()
    return lines


def _one_line(text: str) -> str:
    return re.sub(r"[\r\n]", " ", text)


def _write_map(path: Path, ids: Iterable[str], start: int = 0) -> None:
    """Write new and original ids; tabs, line ends and backslashes in ids are escaped as in JSON."""
    head = ["new\toriginal\n"]
    rows = (f"{number}\t{_plain(one)}\n" for number, one in enumerate(ids, start))
    _write(path, (line for part in (head, rows) for line in part))


def _plain(one: str) -> str:
    return json.dumps(one, ensure_ascii=False)[1:-1] if re.search(r"[\t\r\n\\]", one) else one


def _first_number(ids: tuple[str, ...]) -> int | None:
    """Return the number of the first query if the ids are consecutive integers, else None."""
    if not ids or not re.fullmatch(r"0|[1-9]\d{0,8}", ids[0]):
        return None
    first = int(ids[0])
    counted = all(one == str(number) for number, one in enumerate(ids, first))
    return first if counted else None
