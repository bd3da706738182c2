"""``experiment.toml``: its fields, and the line of each."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from heldout.data.io.toml import parse_toml
from heldout.errors import InputError

if TYPE_CHECKING:
    import os
    from collections.abc import Callable

__all__ = ["lines_of_keys", "place_in", "read_fields"]

_HEADER = re.compile(r"\s*(\[\[?)([^\]]+)\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"\s*([\w.-]+)\s*=")


def read_fields(path: str | os.PathLike[str]) -> tuple[dict[str, object], str]:
    """Return the fields of an experiment, and the text of its file."""
    given = Path(path)
    try:
        content = given.read_bytes()
    except OSError as error:
        raise InputError(f"{given}: cannot be read ({error.strerror})") from None
    return parse_toml(content, str(given))


def lines_of_keys(text: str) -> dict[str, int]:
    r"""Return the line of each key and table, by its name such as ``systems[1].space.k1``.

    tomllib does not give lines, so keys at the beginning of a line are searched. A key inside an
    inline table has the line of the table.

    Examples
    --------
    >>> lines_of_keys('seed = 1\n[[systems]]\nname = "a"\n[systems.space]\nk1 = [1, 2]\n')
    ... # doctest: +NORMALIZE_WHITESPACE
    {'seed': 1, 'systems[0]': 2, 'systems[0].name': 3, 'systems[0].space': 4,
     'systems[0].space.k1': 5}
    """
    lines: dict[str, int] = {}
    counts: dict[str, int] = {}
    under = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _HEADER.match(line)
        if header is not None and "=" not in header[2]:
            under = _table_name(header[2].replace(" ", ""), header[1] == "[[", counts)
            lines.setdefault(under, number)
            continue
        key = _KEY.match(line)
        if key is not None:
            lines.setdefault(f"{under}.{key[1]}" if under else key[1], number)
    return lines


def _table_name(name: str, several: bool, counts: dict[str, int]) -> str:
    """Return the name of a table, with the number of its list entry."""
    if several:
        counts[name] = counts.get(name, -1) + 1
    first, dot, rest = name.partition(".")
    if first in counts:
        return f"{first}[{counts[first]}]{dot}{rest}"
    return name


def place_in(text: str) -> Callable[[str], str]:
    """Return a function that says where a value is: ``line 7, plan.folds``."""
    lines = lines_of_keys(text)

    def place(name: str) -> str:
        known = name
        while known and known not in lines:  # the line of the enclosing value
            known = re.sub(r"(\.[^.\[\]]+|\[\d+\]|^[^.\[\]]+)$", "", known)
        shown = re.sub(r"\[\d+\]", "", name)  # the line says which entry it is
        return f"line {lines[known]}, {shown}" if known else name

    return place
