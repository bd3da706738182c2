"""The ledger: what it keeps, who may write, and what it makes of the history."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.errors import InputError
from heldout.infer.ledger import Entry, Ledger, check_ledger, lord_levels
from heldout.infer.ledger_file import APPLICATION, SCHEMA

LOOK = {"measure": "AP", "test": "t", "effect": 0.02, "n": 50, "command": "heldout compare"}

# The example of the R package onlineFDR (Robertson et al. 2019), LORD(sample.df, random=FALSE),
# alpha .05 and an initial wealth of a tenth of it.
P_VALUES = [2.9e-8, 0.06743, 0.01514, 0.08174, 0.00171, 3.6e-5, 0.79149, 0.27201, 0.28295]
P_VALUES += [7.59e-8, 0.69274, 0.30443, 0.00136, 0.72342, 0.54757]
LEVELS = [0.0002675839, 0.0024664457, 0.0005732818, 0.0004872805, 0.0004059066]
LEVELS += [0.0003447286, 0.0029745013, 0.0008450114, 0.0007305648, 0.0006243143]
LEVELS += [0.0032185913, 0.0010617227, 0.0009256825, 0.0008019657, 0.0007059610]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ledger.sqlite"


class TestKeeping:
    def test_record_and_read(self, path):
        with Ledger(path) as ledger:
            assert ledger.record("x", systems=["A", "B"], p=0.03, **LOOK) == 1
            assert ledger.record("x", systems=["A", "Ç"], p=0.5, **LOOK) == 2
            assert ledger.record("y", systems=["A"], p=0.1, **LOOK | {"measure": "P@10"}) == 1
        assert Ledger(path).fingerprints() == ["x", "y"]
        looks = Ledger(path).looks("x")
        assert [look.look for look in looks] == [1, 2]
        assert looks[1].systems == ("A", "Ç")
        assert looks[0][4:] == ("AP", "t", 0.03, 0.02, 50, "heldout compare")
        now = datetime.now(UTC)
        assert now - timedelta(minutes=1) < datetime.fromisoformat(looks[0].time) <= now
        assert looks[0].time.endswith("+00:00")

    def test_summary(self, path):
        ledger = Ledger(path)
        assert ledger.summary("x") == (0, 0, 0, "", "")
        ledger.record("x", systems=["A", "B"], p=0.03, **LOOK)
        ledger.record("x", systems=["A", "C"], p=0.03, **LOOK | {"measure": "P@10"})
        assert ledger.summary("x")[:3] == (2, 3, 2)
        assert ledger.adjusted("y") == []

    def test_several_looks_or_none(self, path):
        ledger = Ledger(path)
        good = Entry("x", ["A", "B"], "AP", "t", 0.5, 0.1, 9, "")
        assert ledger.record_all([good, good._replace(fingerprint="y"), good]) == [1, 1, 2]
        with pytest.raises(InputError, match="p=2"):
            ledger.record_all([good, good._replace(p=2.0)])
        assert ledger.record_all([]) == []
        assert ledger.summary("x").looks == 2

    def test_schema_is_stored(self, path):
        Ledger(path)
        connection = sqlite3.connect(path)
        stored = [
            connection.execute(f"PRAGMA {x}").fetchone()[0]
            for x in ("application_id", "user_version")
        ]
        connection.close()
        assert stored == [APPLICATION, SCHEMA]


WRITER = """
import sys
from heldout.infer.ledger import Ledger
ledger = Ledger(sys.argv[1])
for at in range(20):
    ledger.record("x", systems=[sys.argv[2], str(at)], measure="AP", test="t", p=0.5, effect=0.0,
                  n=9, command="")
"""


def test_several_writers_at_once(path):
    # The file is not there yet: making it is part of the race.
    writers = [
        subprocess.Popen(  # noqa: S603 - the text above
            [sys.executable, "-c", WRITER, str(path), f"writer {at}"]
        )
        for at in range(5)
    ]
    assert [writer.wait(timeout=300) for writer in writers] == [0] * 5
    looks = Ledger(path).looks("x")
    assert [look.look for look in looks] == list(range(1, 101))
    assert {look.systems for look in looks} == {
        (f"writer {at}", str(row)) for at in range(5) for row in range(20)
    }


class TestAdjusting:
    def test_holm_over_the_history(self, path):
        # R: p.adjust(c(.01, .02, .03, .04, .05), "holm").
        ledger = Ledger(path)
        for p in (0.01, 0.02, 0.03, 0.04, 0.05):
            ledger.record("x", systems=["A", "B"], p=p, **LOOK)
        rows = ledger.adjusted("x")
        assert [row.holm for row in rows] == pytest.approx([0.05, 0.08, 0.09, 0.09, 0.09])
        assert [row.level for row in rows] == lord_levels([0.01, 0.02, 0.03, 0.04, 0.05])
        assert not any(row.discovery for row in rows)

    def test_discoveries(self, path):
        ledger = Ledger(path)
        for p in (1e-6, 0.3, 1e-5):
            ledger.record("x", systems=["A", "B"], p=p, **LOOK)
        assert [row.discovery for row in ledger.adjusted("x")] == [True, False, True]

    def test_lord_of_onlinefdr(self):
        assert lord_levels(P_VALUES, initial=0.005) == pytest.approx(LEVELS, abs=5e-11)

    @given(st.lists(st.floats(0, 1), max_size=30), st.floats(0, 1))
    def test_a_level_depends_on_earlier_looks_only(self, p_values, following):
        assert lord_levels([*p_values, following])[: len(p_values)] == lord_levels(p_values)

    @given(st.lists(st.sampled_from([0.0, 1e-4, 0.5]), min_size=1, max_size=60))
    def test_the_estimated_rate_stays_below_alpha(self, p_values):
        # Ramdas et al. (2017): the sum of levels over the number of discoveries.
        levels = lord_levels(p_values, level=0.9)
        found = 0
        for at, (p, level) in enumerate(zip(p_values, levels, strict=True), start=1):
            found += p <= level
            assert sum(levels[:at]) <= 0.1 * max(found, 1) + 1e-12

    def test_errors(self):
        with pytest.raises(InputError, match="level=2"):
            lord_levels([0.1], level=2)
        with pytest.raises(InputError, match=r"initial=0\.5"):
            lord_levels([0.1], initial=0.5)


class TestChecking:
    def test_nothing_is_made_or_changed(self, path):
        check_ledger(path)
        assert not path.exists()
        path.touch()
        check_ledger(path)
        assert path.read_bytes() == b""
        Ledger(path).record("x", systems=["A"], p=0.5, **LOOK)
        before = path.read_bytes()
        check_ledger(path)
        assert path.read_bytes() == before

    def test_what_cannot_be_a_ledger_is_refused(self, tmp_path):
        (tmp_path / "text").write_text("query,score\n" * 500)
        for wrong in (tmp_path, tmp_path / "none" / "l.sqlite", tmp_path / "text"):
            with pytest.raises(InputError, match=re.escape(str(wrong))):
                check_ledger(wrong)

    def test_a_read_only_ledger_is_refused(self, path, monkeypatch):
        Ledger(path)
        connect = sqlite3.connect

        def read_only(file, **options):
            return connect(f"file:{file}?mode=ro", uri=True, **options)

        monkeypatch.setattr(sqlite3, "connect", read_only)
        with pytest.raises(InputError, match="cannot be written there"):
            check_ledger(path)

    def test_a_ledger_to_be_read_is_not_made(self, path):
        with pytest.raises(InputError, match="no such file"):
            Ledger(path, make=False)
        path.touch()
        with pytest.raises(InputError, match="an empty file"):
            Ledger(path, make=False)
        assert path.read_bytes() == b""

    def test_names_that_sqlite_takes_for_something_else(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        Ledger(":memory:").record("x", systems=["A"], p=0.5, **LOOK)
        assert Ledger(":memory:").summary("x").looks == 1


class TestBadFiles:
    def test_not_sqlite(self, path):
        path.write_text("query,score\n" * 500)
        with pytest.raises(InputError, match="not an SQLite file"):
            Ledger(path)
        assert path.read_text().startswith("query")

    def test_another_database(self, path):
        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE notes (text)")
        connection.close()
        with pytest.raises(InputError, match="an SQLite file, but not a ledger"):
            Ledger(path)

    def test_damaged(self, path):
        ledger = Ledger(path)
        connection = sqlite3.connect(path)
        connection.execute("DROP TABLE looks")
        connection.close()
        with pytest.raises(InputError, match=r"cannot be used \(no such table: looks\)"):
            ledger.looks("x")

    def test_newer_schema(self, path):
        Ledger(path)
        connection = sqlite3.connect(path)
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
        connection.close()
        with pytest.raises(InputError, match="install a newer heldout"):
            Ledger(path)

    def test_no_folder(self, tmp_path):
        with pytest.raises(InputError, match="create it first"):
            Ledger(tmp_path / "none" / "ledger.sqlite")

    def test_a_folder(self, tmp_path):
        with pytest.raises(InputError, match="cannot be written there"):
            Ledger(tmp_path)

    @pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root writes everywhere"
    )
    def test_read_only_folder(self, tmp_path):
        tmp_path.chmod(0o500)
        with pytest.raises(InputError, match="no permission to write the ledger there"):
            Ledger(tmp_path / "ledger.sqlite")

    def test_read_only_ledger(self, path, monkeypatch):
        Ledger(path).record("x", systems=["A"], p=0.5, **LOOK)
        connect = sqlite3.connect

        def read_only(file, **options):
            return connect(f"file:{file}?mode=ro", uri=True, **options)

        monkeypatch.setattr(sqlite3, "connect", read_only)
        ledger = Ledger(path)
        assert ledger.summary("x").looks == 1
        with pytest.raises(InputError, match="cannot be written there"):
            ledger.record("x", systems=["A"], p=0.5, **LOOK)

    def test_locked(self, path, monkeypatch):
        ledger = Ledger(path)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        monkeypatch.setattr("heldout.infer.ledger_file.PATIENCE", 0.01)
        with pytest.raises(InputError, match="kept the ledger locked"):
            ledger.record("x", systems=["A"], p=0.5, **LOOK)
        holder.close()


@pytest.mark.parametrize(
    "wrong",
    [{"p": 1.5}, {"p": float("nan")}, {"systems": []}, {"systems": "AB"}, {"effect": float("inf")}],
)
def test_bad_records(path, wrong):
    record = {"systems": ["A"], "p": 0.5} | LOOK | wrong
    with pytest.raises(InputError):
        Ledger(path).record("x", **record)
    with pytest.raises(InputError, match="fingerprint"):
        Ledger(path).record("", systems=["A"], p=0.5, **LOOK)
    assert Ledger(path).looks("x") == []
