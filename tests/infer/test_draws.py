"""Draws with replacement: equal seeds give equal sums, whatever way they are added."""

import numpy as np
import pytest

from heldout.infer.draws import DRAWN_BLOCK, drawn_sums


def drawn_one_by_one(columns, replicates, seed):
    """Sums of single units, for tables without tuples: a column and a step at a time."""
    units, found = len(columns[0]), []
    for block, start in enumerate(range(0, replicates, DRAWN_BLOCK)):
        count = min(DRAWN_BLOCK, replicates - start)
        source = np.random.SFC64(np.random.SeedSequence([seed, block]))
        sums = [np.zeros(count) for _ in columns]
        for _ in range(units):
            words = source.random_raw(-(-count // 2)).view(np.uint32)[:count].astype(np.uint64)
            place = (words * np.uint64(units) >> np.uint64(32)).astype(np.intp)
            for at, column in enumerate(columns):
                sums[at] += column[place]
        found.append(np.column_stack(sums))
    return np.concatenate(found)


@pytest.mark.parametrize(
    ("units", "width", "replicates"),
    [(400, 1, 300), (500, 2, 101), (700, 9, 250), (400, 3, 13_000)],
)
def test_sums_are_those_of_adding_column_by_column(units, width, replicates):
    columns = list(np.random.default_rng(units).normal(size=(width, units)))
    found = [np.column_stack(one) for one in drawn_sums(columns, replicates, 5)]
    assert np.concatenate(found).tolist() == drawn_one_by_one(columns, replicates, 5).tolist()
