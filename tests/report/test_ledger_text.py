"""A ledger as text."""

import pytest

from heldout.infer.ledger import Look
from heldout.report.ledger import ledger_tables, ledger_text
from heldout.report.table import write_tables


def look(number, first, second, data="abc"):
    time = "2026-11-17T07:08:00.355429+00:00"
    systems, numbers = (first, second), (0.01, 0.1, 30)
    return Look(data, systems, "nDCG@10", "t", *numbers, "heldout", time, number, 0.02)


LONG = "a-system-with-a-very-long-name-indeed"


@pytest.mark.parametrize("names", [("a", "b"), ("a", LONG), (LONG, LONG + "-2")])
def test_a_terminal_of_80_columns_has_room(names):
    text = ledger_text([look(1, *names), look(2, *names)], width=80)
    table = [line for line in text.splitlines() if line.startswith(("#", "1", "2"))]
    assert len(table) == 3
    assert max(map(len, table)) <= 80
    assert " - " in table[1]
    assert "Data abc: 2 evaluations" in text


def test_data_sets_have_tables_of_their_own_and_no_microseconds():
    rows = [look(1, "a", "b"), look(1, "a", "b", "other")]
    text = ledger_text(rows)
    assert text.count("#  date") == 2
    written = write_tables(ledger_tables(rows), "tsv")
    assert "355429" not in text + written
    assert "2026-11-17T07:08:00+00:00" in written


def test_an_empty_ledger_says_so():
    assert ledger_text([]) == "No evaluations.\n"
