"""The ledger: every look at the same held-out data, and p-values adjusted for all of them.

A look is a comparison made on held-out data. Data that has been looked at often is no longer held
out: the ledger counts the looks, and adjusts their p-values by Holm's method, which is valid under
any dependence between them. It is a file of JSON lines, one for each look.
"""

from __future__ import annotations

import json
import math
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

PATIENCE: Final = 60.0  # seconds to wait for another writer
STORED: Final[dict[str, Any]] = {  # the fields of a line, and how they are read
    **dict.fromkeys(("fingerprint", "time", "measure", "test", "command"), str),
    "systems": lambda names: tuple(map(str, names)),
    "p": float,
    "effect": float,
    "n": int,
}


class Look(NamedTuple):
    """A comparison on held-out data; the last three fields are known once it is in a ledger."""

    fingerprint: str  # of the data, or their name
    systems: tuple[str, ...]
    measure: str
    test: str
    p: float
    effect: float
    n: int
    command: str
    time: str = ""
    look: int = 0  # its number among the looks at the same data, from 1
    holm: float = math.nan  # p, adjusted for all of them


def read_ledger(path: str | PathLike[str]) -> list[Look]:
    """Return all looks in their order, those at the same data together."""
    if not Path(path).is_file():
        why = "not a file, so not a ledger" if Path(path).exists() else "no such file"
        raise InputError(f"{path}: {why}")
    return _adjusted(_looks(path, Path(path).read_bytes()))


def record_looks(path: str | PathLike[str], looks: Iterable[Look]) -> list[Look]:
    """Append looks to a ledger, all or none of them, and return what it holds then.

    They are on the disk when this returns. A line has its end last: what remains of one whose
    writing failed is no JSON, and is reported, not counted.
    """
    from filelock import FileLock, Timeout

    check_ledger(path)
    time = datetime.now(UTC).isoformat(timespec="microseconds")
    new = [_checked(look._replace(time=time)) for look in looks]
    rows = [{name: getattr(look, name) for name in STORED} for look in new]
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    file = Path(path).resolve()  # one lock, whatever name a process knows the file by
    lock = Path(f"{file}.lock")
    try:
        with FileLock(lock, timeout=PATIENCE, fallback_to_soft=False):
            try:
                before = file.read_bytes() if file.exists() else b""
                known = _looks(path, before)
                _append(file, b"\n" + lines if before and not before.endswith(b"\n") else lines)
            finally:
                with suppress(OSError):  # removed while it is held: who waits for it makes another
                    lock.unlink()
    except Timeout:
        raise InputError(
            f"{path}: another process kept the ledger locked for {PATIENCE:.0f} s: try again"
        ) from None
    except OSError as error:
        raise InputError(
            f"{path}: the ledger cannot be written ({error.strerror}): choose another path"
        ) from error
    return _adjusted([*known, *new])


def check_ledger(path: str | PathLike[str]) -> None:
    """Refuse a path at which looks cannot be recorded, before a long computation."""
    file = Path(path).resolve()
    if not file.parent.is_dir():
        raise InputError(f"{path}: the folder of the ledger does not exist: create it first")
    if not all(os.access(place, os.W_OK) for place in (file.parent, file) if place.exists()):
        raise InputError(f"{path}: no permission to write the ledger there: choose another path")
    if file.exists():
        read_ledger(path)


def _append(file: Path, content: bytes) -> None:
    """Append to a file; it stays as it was if there is no room for all of it."""
    with file.open("ab") as opened:
        number, size = opened.fileno(), opened.tell()
        try:
            while content:  # once, unless the disk is full: then the next time says so
                content = content[os.write(number, content) :]
            os.fsync(number)
        except OSError:
            os.ftruncate(number, size)
            if not size:
                file.unlink()
            raise


def _looks(path: str | PathLike[str], content: bytes) -> list[Look]:
    looks = list[Look]()
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            row = json.loads(line)
            looks.append(_checked(Look(**{name: read(row[name]) for name, read in STORED.items()})))
        except (InputError, ValueError, TypeError, KeyError, OverflowError, RecursionError):
            raise InputError(
                f"{path}:{number}: not an evaluation in a ledger: choose another path, or delete "
                "the line if it is incomplete (its result was not shown)"
            ) from None
    return looks


def _checked(look: Look) -> Look:
    if not (0 <= look.p <= 1 and math.isfinite(look.effect) and look.systems):
        raise InputError(f"p={look.p}, difference={look.effect}: not to be kept in a ledger")
    return look


def _adjusted(looks: list[Look]) -> list[Look]:
    """Number the looks at the same data, and adjust their p-values by Holm (1979)."""
    from heldout.infer.corrections import adjust

    groups = dict[str, list[Look]]()
    for look in looks:
        groups.setdefault(look.fingerprint, []).append(look)
    adjusted = []
    for group in groups.values():
        holm = adjust([look.p for look in group], "holm").tolist()
        for number, (look, p) in enumerate(zip(group, holm, strict=True), start=1):
            adjusted.append(look._replace(look=number, holm=p))
    return adjusted
