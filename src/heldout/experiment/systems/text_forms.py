"""Parts of texts that describe systems: ``vectors(…)``, ``rerank(…)``, ``folds/{fold}.run``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["FOLD_RUNS", "RerankText", "parse_rerank", "parse_vectors", "split_outside_brackets"]

FOLD_RUNS: Final = re.compile(r"(?:([^=(){}/]+)=)?([^(){}]*\{\w*\}[^()]*)(?:\((.*)\))?", re.DOTALL)
"""A name, a path with a field such as ``{fold}``, and parameters."""
_PARAMETER: Final = re.compile(r"\s*([^\W\d]\w*)\s*=")


class RerankText(NamedTuple):
    """What is in the brackets of ``rerank(first=bm25, function=rank.py:f, depth=100)``."""

    first: str
    function: str
    parameters: str


def parse_rerank(text: str) -> RerankText:
    """Return the first stage, the function, and the parameters.

    Examples
    --------
    >>> parse_rerank("first=bm25(k1=0.9, b=0.4), depth=50,100, function=rank.py:f")
    RerankText(first='bm25(k1=0.9, b=0.4)', function='rank.py:f', parameters='depth=50,100')
    """
    named: dict[str, str] = {}
    for part in split_outside_brackets(text):
        match = _PARAMETER.match(part)
        if match is None:
            raise InputError(
                f"rerank: {part.strip()!r} is not a parameter: write "
                "rerank(first=bm25, function=file.py:name, depth=100)"
            )
        if match[1] in named:
            raise InputError(f"rerank: {match[1]} is given twice")
        named[match[1]] = part[match.end() :].strip()
    for needed in ("first", "function"):
        if not named.get(needed):
            raise InputError(
                f"rerank needs {needed}: write rerank(first=bm25, function=file.py:name, depth=100)"
            )
    first, function = named.pop("first"), named.pop("function")
    parameters = ", ".join(f"{name}={value}" for name, value in named.items())
    return RerankText(first, function, parameters)


def split_outside_brackets(text: str) -> Iterator[str]:
    """Yield the parameters of a text; a comma inside brackets, or in a list, does not end one."""
    depth = begin = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and not depth and _PARAMETER.match(text, at + 1):
            yield text[begin:at]
            begin = at + 1
    if text[begin:].strip():
        yield text[begin:]


def parse_vectors(text: str) -> tuple[str, str, str]:
    """Return the two files of ``vectors(docs.npy, queries.npy, metric=ip)``, and the parameters.

    Examples
    --------
    >>> parse_vectors("docs.npy, queries.npy, metric=ip")
    ('docs.npy', 'queries.npy', 'metric=ip')
    """
    files, parameters = [], text.strip()
    while parameters and not _PARAMETER.match(parameters):
        first, _, parameters = (part.strip() for part in parameters.partition(","))
        files.append(first)
    if len(files) != 2 or not all(files):
        raise InputError(
            f"vectors needs two files, got {len(files)}: write "
            "vectors(docs.npy, queries.npy, metric=cosine)"
        )
    return files[0], files[1], parameters
