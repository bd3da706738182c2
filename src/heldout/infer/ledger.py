"""The ledger: every look at the same held-out data, kept in one small SQLite file.

Data that has been looked at often is no longer held out. The ledger counts the looks and gives
p-values over their whole history.
"""

from __future__ import annotations

import json
import math
import sqlite3
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from heldout.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from os import PathLike

__all__ = ["AdjustedLook", "Ledger", "LedgerSummary", "Look", "lord_levels"]

APPLICATION: Final = 0x48454C44
"""SQLite's application id of a ledger: HELD."""

SCHEMA: Final = 1
"""Version of the table below; a reader refuses what is newer than itself."""

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


class Look(NamedTuple):
    """One comparison that was made on some held-out data.

    Parameters
    ----------
    fingerprint
        Of the data.
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


class LedgerSummary(NamedTuple):
    """How much some held-out data has been used.

    Parameters
    ----------
    looks
        Comparisons made.
    systems, measures
        Different systems and measures among them.
    first, last
        Times of the first and the last look, empty without looks.
    """

    looks: int
    systems: int
    measures: int
    first: str
    last: str


class AdjustedLook(NamedTuple):
    """A look judged within the history of all looks at the same data.

    Parameters
    ----------
    look
        The look.
    holm
        Its p-value adjusted by Holm over all looks up to now; valid however the looks depend on
        each other.
    level
        The level that LORD++ allowed this look when it was made.
    discovery
        Whether its p was at most that level.
    """

    look: Look
    holm: float
    level: float
    discovery: bool


class Ledger:
    """A ledger file, made when it is not there yet.

    Every call opens the file, does one transaction and closes it, so that several processes may
    write at once and nothing is left open; ``with`` may be used but is not needed.

    Parameters
    ----------
    path
        The file.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> ledger = Ledger(folder.name + "/ledger.sqlite")
    >>> ledger.record(
    ...     "abc", systems=["A", "B"], measure="AP", test="t", p=0.03, effect=0.02, n=50, command=""
    ... )
    1
    >>> ledger.summary("abc").looks
    1
    >>> folder.cleanup()
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise InputError(f"{path}: the folder for the ledger does not exist: make it first")
        with self._open() as connection:
            ready = self._is_ready(connection)
        if not ready:
            with self._open(write=True) as connection:
                self._prepare(connection)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        """Nothing is held open between calls."""

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
        """Write down a look.

        Parameters
        ----------
        fingerprint
            Of the data looked at.
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
        _check_record(fingerprint, systems, p, effect)
        names = json.dumps([str(system) for system in systems], ensure_ascii=False)
        with self._open(write=True) as connection:
            # The transaction holds the write lock: no other writer can take the same number.
            query = "SELECT COALESCE(MAX(look), 0) + 1 FROM looks WHERE fingerprint = ?"
            look = int(connection.execute(query, (fingerprint,)).fetchone()[0])
            now = datetime.now(UTC).isoformat(timespec="microseconds")
            row = (fingerprint, look, now, names, measure, test, float(p), float(effect), int(n))
            connection.execute(
                f"INSERT INTO looks ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608 - a constant
                (*row, command),
            )
        return look

    def fingerprints(self) -> list[str]:
        """All data that was looked at, that looked at first coming first."""
        query = "SELECT fingerprint FROM looks WHERE look = 1 ORDER BY time, rowid"
        with self._open() as connection:
            return [str(row[0]) for row in connection.execute(query)]

    def looks(self, fingerprint: str) -> list[Look]:
        """All looks at this data, in order."""
        query = f"SELECT {COLUMNS} FROM looks WHERE fingerprint = ? ORDER BY look"  # noqa: S608 - a constant
        with self._open() as connection:
            rows = connection.execute(query, (fingerprint,)).fetchall()
        return [Look._make((*row[:3], tuple(json.loads(row[3])), *row[4:])) for row in rows]

    def summary(self, fingerprint: str) -> LedgerSummary:
        """How often, with how many systems and measures, this data has been looked at."""
        looks = self.looks(fingerprint)
        systems = {system for look in looks for system in look.systems}
        measures = {look.measure for look in looks}
        first, last = (looks[0].time, looks[-1].time) if looks else ("", "")
        return LedgerSummary(len(looks), len(systems), len(measures), first, last)

    def adjusted(self, fingerprint: str, *, alpha: float = 0.05) -> list[AdjustedLook]:
        """All looks at this data, judged within their whole history.

        Holm's p-values hold however the looks depend on each other, but grow as looks are added.
        LORD++ decides each look once, when it is made, at a level that depends on the earlier
        looks only; its false discovery rate is proved for independent p-values, which looks at
        the same data are not quite: take it as a budget, and Holm as the claim.

        Parameters
        ----------
        fingerprint
            Of the data.
        alpha
            The false discovery rate wanted.

        Returns
        -------
        list of AdjustedLook
            In the order of the looks.

        References
        ----------
        Holm (1979). A simple sequentially rejective multiple test procedure. Scandinavian
        Journal of Statistics 6. Ramdas, Yang, Wainwright & Jordan (2017). Online control of the
        false discovery rate with decaying memory. NeurIPS 30.
        """
        from heldout.infer.multiplicity import adjust  # writing needs no NumPy

        looks = self.looks(fingerprint)
        if not looks:
            return []
        p_values = [look.p for look in looks]
        levels = lord_levels(p_values, alpha=alpha)
        return [
            AdjustedLook(look, float(holm), level, look.p <= level)
            for look, holm, level in zip(looks, adjust(p_values, "holm"), levels, strict=True)
        ]

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """One transaction; what SQLite complains about becomes one sentence."""
        connection = None
        try:
            connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
            connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
            yield connection
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise InputError(_explain(self.path, error)) from error
        finally:
            if connection is not None:
                connection.close()  # rolls back what was not committed

    def _prepare(self, connection: sqlite3.Connection) -> None:
        """Make the table in a new file, unless another writer was faster."""
        if not self._is_ready(connection):
            connection.execute(TABLE)
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {SCHEMA}")

    def _is_ready(self, connection: sqlite3.Connection) -> bool:
        """Whether the file is a ledger already; False if new, refused if something else."""
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
            raise InputError(
                f"{self.path}: an SQLite file, but not a ledger: give another path for the ledger"
            )
        if version > SCHEMA:
            raise InputError(
                f"{self.path}: a ledger of version {version}, but only {SCHEMA} is known here: "
                "install a newer heldout"
            )
        return True


def _number(connection: sqlite3.Connection, query: str) -> int:
    row: tuple[Any, ...] = connection.execute(query).fetchone()
    return int(row[0])


def _check_record(fingerprint: str, systems: Sequence[str], p: float, effect: float) -> None:
    if not fingerprint:
        raise InputError("fingerprint: empty, so that no data is named: give the data's own")
    if isinstance(systems, str) or not systems:
        raise InputError(f"systems={systems!r}: expected a list of one or more names")
    if not 0.0 <= p <= 1.0:
        raise InputError(f"p={p}: expected a p-value between 0 and 1")
    if not math.isfinite(effect):
        raise InputError(f"effect={effect}: expected a finite difference")


def _explain(path: Path, error: sqlite3.Error) -> str:
    """What to do about an error of SQLite."""
    text = str(error)
    if "not a database" in text:
        return f"{path}: not a ledger (not an SQLite file): give another path for the ledger"
    if "readonly" in text or "unable to open" in text:
        return f"{path}: the ledger cannot be written there ({text}): give a path that can be"
    if "locked" in text:
        return f"{path}: another program kept the ledger locked for {PATIENCE:.0f} s: try again"
    return f"{path}: the ledger cannot be used ({text}): restore it or give another path"


def lord_levels(
    p_values: Sequence[float], *, alpha: float = 0.05, initial: float | None = None
) -> list[float]:
    """Test levels of LORD++ for p-values in the order they came.

    Parameters
    ----------
    p_values
        In order.
    alpha
        The false discovery rate wanted.
    initial
        The wealth before the first discovery, at most alpha; alpha / 2 by default.

    Returns
    -------
    list of float
        One level a p-value; it is a discovery when it is at most its level. A level depends on
        earlier p-values only.

    References
    ----------
    Ramdas, Yang, Wainwright & Jordan (2017). Online control of the false discovery rate with
    decaying memory. NeurIPS 30. Javanmard & Montanari (2018). Online rules for control of false
    discovery rate and false discovery exceedance. Annals of Statistics 46(2), equation 31 (the
    sequence that spends the wealth).
    """
    if not 0.0 < alpha < 1.0:
        raise InputError(f"alpha={alpha}: expected between 0 and 1")
    wealth = alpha / 2.0 if initial is None else initial
    if not 0.0 < wealth <= alpha:
        raise InputError(f"initial={wealth}: expected more than 0 and at most alpha ({alpha})")
    levels: list[float] = []
    discoveries: list[int] = []
    for time, p in enumerate(p_values, start=1):
        level = wealth * _spend(time)
        for number, found in enumerate(discoveries):
            # The first discovery gives back what the initial wealth had not already lent.
            level += (alpha - wealth if number == 0 else alpha) * _spend(time - found)
        levels.append(level)
        if p <= level:
            discoveries.append(time)
    return levels


def _spend(time: int) -> float:
    """The share of the wealth spent on the time-th test; the shares sum to 1."""
    return 0.07720838 * math.log(max(time, 2)) / (time * math.exp(math.sqrt(math.log(time))))
