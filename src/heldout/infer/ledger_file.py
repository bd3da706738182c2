"""The file of a ledger: looks at held-out data in SQLite.

The adjusted p-values of the looks are in `heldout.infer.ledger`.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from os import PathLike

__all__ = ["Entry", "LedgerFile", "Look", "check_ledger"]

APPLICATION: Final = 0x48454C44
"""SQLite's application id of a ledger: HELD."""

SCHEMA: Final = 1
"""Version of the table below; newer versions are refused."""

PATIENCE: Final = 60.0
"""Seconds to wait for another writer."""

TABLE: Final = """
CREATE TABLE looks (
    fingerprint TEXT NOT NULL,
    look INTEGER NOT NULL,
    time TEXT NOT NULL,
    systems TEXT NOT NULL,
    measure TEXT NOT NULL,
    test TEXT NOT NULL,
    p REAL NOT NULL,
    effect REAL NOT NULL,
    n INTEGER NOT NULL,
    command TEXT NOT NULL,
    PRIMARY KEY (fingerprint, look)
)
"""

COLUMNS: Final = "fingerprint, look, time, systems, measure, test, p, effect, n, command"


class Entry(NamedTuple):
    """A comparison to record.

    Parameters
    ----------
    fingerprint
        Fingerprint or name of the data.
    systems
        Names of the systems compared, at least one.
    measure, test
        What was compared and how.
    p, effect, n
        The p-value, the difference and the number of units.
    command
        The command or call that made it.
    """

    fingerprint: str
    systems: Sequence[str]
    measure: str
    test: str
    p: float
    effect: float
    n: int
    command: str


class Look(NamedTuple):
    """A recorded comparison on some held-out data.

    Parameters
    ----------
    fingerprint
        Fingerprint or name of the data.
    look
        Its number among the looks at this data, from 1.
    time
        When, in UTC, as ISO 8601 text.
    systems
        Names of the systems compared.
    measure, test
        What was compared and how.
    p, effect, n
        The p-value, the difference, the number of units.
    command
        The command or call that made it.
    """

    fingerprint: str
    look: int
    time: str
    systems: tuple[str, ...]
    measure: str
    test: str
    p: float
    effect: float
    n: int
    command: str


class LedgerFile:
    """A file of looks, created if it does not exist.

    Every call opens the file, does one transaction and closes it, so that several processes may
    write at once and nothing is left open.

    Parameters
    ----------
    path
        The file.
    make
        Whether to create the file; if not, a missing or empty file is refused.
    """

    def __init__(self, path: str | PathLike[str], *, make: bool = True) -> None:
        self.path = Path(path)
        if not make and not self.path.is_file():
            missing = "a directory, not a ledger" if self.path.is_dir() else "no such file"
            raise InputError(f"{path}: {missing}")
        _check_folder(self.path)
        new = not self.path.exists()
        with _transaction(self.path) as connection:
            ready = _is_ready(self.path, connection)
        if not ready and not make:
            raise InputError(f"{path}: not a ledger (an empty file)")
        if not ready:
            try:
                with _transaction(self.path, write=True) as connection:
                    _prepare(self.path, connection)
            except InputError as error:
                # The disk is full. A locked file belongs to another process, which will fill it.
                if new and "locked" not in str(error) and not self.path.stat().st_size:
                    self.path.unlink()
                raise

    def record(
        self,
        fingerprint: str,
        *,
        systems: Sequence[str],
        measure: str,
        test: str,
        p: float,
        effect: float,
        n: int,
        command: str,
    ) -> int:
        """Record a look.

        Parameters
        ----------
        fingerprint
            Fingerprint or name of the data.
        systems
            Names of the systems compared, at least one.
        measure, test
            What was compared and how.
        p, effect, n
            The p-value, the difference and the number of units.
        command
            The command or call that made it.

        Returns
        -------
        int
            The number of the look among those at this data, from 1.
        """
        entry = Entry(fingerprint, systems, measure, test, p, effect, n, command)
        return self.record_all([entry])[0]

    def record_all(self, entries: Iterable[Entry]) -> list[int]:
        """Record several looks, or none of them if one is invalid.

        Returns
        -------
        list of int
            The number of each look among those at its data, from 1.
        """
        checked = [_checked(entry) for entry in entries]
        query = "SELECT COALESCE(MAX(look), 0) + 1 FROM looks WHERE fingerprint = ?"
        numbers: list[int] = []
        # The transaction has the write lock: no other writer can use the same number.
        with _transaction(self.path, write=True) as connection:
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            for entry in checked:
                look = int(connection.execute(query, (entry.fingerprint,)).fetchone()[0])
                names = json.dumps([str(system) for system in entry.systems], ensure_ascii=False)
                row = (entry.fingerprint, look, now, names, *entry[2:])
                connection.execute(
                    f"INSERT INTO looks ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
                    row,
                )
                numbers.append(look)
        return numbers

    def fingerprints(self) -> list[str]:
        """Return the fingerprints of all data, in the order of the first look."""
        query = "SELECT fingerprint FROM looks WHERE look = 1 ORDER BY time, rowid"
        with _transaction(self.path) as connection:
            return [str(row[0]) for row in connection.execute(query)]

    def looks(self, fingerprint: str) -> list[Look]:
        """Return all looks at this data, in order."""
        query = f"SELECT {COLUMNS} FROM looks WHERE fingerprint = ? ORDER BY look"  # noqa: S608 - a constant
        with _transaction(self.path) as connection:
            rows = connection.execute(query, (fingerprint,)).fetchall()
        return [_look(self.path, row) for row in rows]


def check_ledger(path: str | PathLike[str]) -> None:
    """Refuse a path at which looks cannot be recorded, without creating or changing a file.

    For callers that check this before a long computation.
    """
    target = Path(path)
    _check_folder(target)
    if not target.exists():
        return
    with _transaction(target, write=True) as connection:
        _is_ready(target, connection)
        # SQLite reports a read-only file on the first write, not when it opens the file.
        connection.execute("CREATE TABLE attempt (one)")
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")


def _check_folder(path: Path) -> None:
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder of the ledger does not exist: create it first")
    if not path.exists() and not os.access(path.parent, os.W_OK):
        raise InputError(f"{path}: no permission to write the ledger there: choose another path")


@contextmanager
def _transaction(path: Path, *, write: bool = False) -> Iterator[sqlite3.Connection]:
    """Open a transaction; errors of SQLite become an `InputError`."""
    connection = None
    try:
        # The absolute path: SQLite gives names such as :memory: a special meaning.
        connection = sqlite3.connect(path.absolute(), timeout=PATIENCE, isolation_level=None)
        connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        yield connection
        connection.execute("COMMIT")
    except (sqlite3.Error, UnicodeDecodeError) as error:  # text in it may be invalid
        raise InputError(_explain(path, error)) from error
    finally:
        if connection is not None:
            connection.close()  # rolls back what was not committed


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    """Create the table in a new file, unless another writer just did."""
    if not _is_ready(path, connection):
        connection.execute(TABLE)
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {SCHEMA}")


def _is_ready(path: Path, connection: sqlite3.Connection) -> bool:
    """Return whether the file is a ledger; False if it is new; refuse other files."""
    application, version, tables = (
        _number(connection, query)
        for query in (
            "PRAGMA application_id",
            "PRAGMA user_version",
            "SELECT COUNT(*) FROM sqlite_master",
        )
    )
    if (application, version, tables) == (0, 0, 0):
        return False
    if application != APPLICATION:
        raise InputError(f"{path}: an SQLite file, but not a ledger: choose another path")
    if version > SCHEMA:
        raise InputError(
            f"{path}: a ledger of version {version}, newer than version {SCHEMA} of this heldout: "
            "install a newer heldout"
        )
    return True


def _number(connection: sqlite3.Connection, query: str) -> int:
    row: tuple[Any, ...] = connection.execute(query).fetchone()
    return int(row[0])


def _checked(entry: Entry) -> Entry:
    """Return the entry with plain numbers, as SQLite needs them."""
    if not entry.fingerprint:
        raise InputError("fingerprint: empty; give a fingerprint or a name of the data")
    if isinstance(entry.systems, str) or not entry.systems:
        raise InputError(f"systems={entry.systems!r}: expected a list of one or more names")
    if not 0.0 <= entry.p <= 1.0:
        raise InputError(f"p={entry.p}: expected a p-value between 0 and 1")
    if not math.isfinite(entry.effect):
        raise InputError(f"effect={entry.effect}: expected a finite difference")
    return entry._replace(p=float(entry.p), effect=float(entry.effect), n=int(entry.n))


def _look(path: Path, row: tuple[Any, ...]) -> Look:
    """Return a row as a look, checked: SQLite does not enforce the types of columns."""
    try:
        systems = json.loads(row[3])
        look = Look._make((*row[:3], tuple(systems), *row[4:]))
        texts = (look.fingerprint, look.time, *systems, look.measure, look.test, look.command)
        numbers = (look.p, look.effect, look.look, look.n)
        right = (
            isinstance(systems, list)
            and all(isinstance(one, str) for one in texts)
            and all(isinstance(one, int | float) and math.isfinite(one) for one in numbers)
            and 0 <= look.p <= 1
        )
    except (ValueError, TypeError, RecursionError):
        right = False
    if not right:
        raise InputError(
            f"{path}: look {row[1]!r} at {row[0]!r} is damaged: restore the ledger, or use another"
        )
    return look


def _explain(path: Path, error: Exception) -> str:
    """Return a message for an error of SQLite."""
    text = str(error)
    if "not a database" in text:
        return f"{path}: not a ledger (not an SQLite file): choose another path"
    if "readonly" in text or "unable to open" in text:
        return f"{path}: the ledger cannot be written there ({text}): choose another path"
    if "locked" in text:
        return f"{path}: another process kept the ledger locked for {PATIENCE:.0f} s: try again"
    return f"{path}: the ledger cannot be used ({text}): restore it or choose another path"
