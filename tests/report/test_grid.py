"""Tables of many rows are those that Rich draws, without waiting for it."""

from __future__ import annotations

import pytest

from heldout.report import grid
from heldout.report.grid import Grid, grids_text

ROWS = [
    [
        f"s{at} - t{at * at}",
        f"{at / 7:+.4f}",
        "wide 漢字" if at == 3 else "é",
        "" if at % 5 else "x",
    ]
    for at in range(60)
]
HEAD = ["pair", "Δ", "interval of Δ", "p"]


def drawn_by_rich(grids, *, terminal):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(grid, "MANY_ROWS", 10**9)
        return grids_text(grids, "table", terminal=terminal)


@pytest.mark.parametrize("terminal", [False, True])
@pytest.mark.parametrize("width", ["200", "60", "40", "24", "12"])
@pytest.mark.parametrize(
    "rows",
    [
        ROWS,
        [[*row[:3], "  blank before and behind  "] for row in ROWS],
        [[*row[:3], "a long cell of several words"] for row in ROWS],
        [[row[0], "control \x07 and \u2028", *row[2:]] for row in ROWS],
    ],
)
def test_many_rows_are_drawn_as_rich_draws_them(monkeypatch, terminal, width, rows):
    monkeypatch.setenv("COLUMNS", width)
    monkeypatch.setenv("TERM", "xterm-256color")
    grids = [Grid(HEAD, rows, "a title"), Grid(HEAD, rows[:3], texts=2), Grid(HEAD, rows, texts=2)]
    assert grids_text(grids, "table", terminal=terminal) == drawn_by_rich(grids, terminal=terminal)
