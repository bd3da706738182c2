"""Random samples of queries."""

import numpy as np
import pytest
from heldout.resample.sample import draw_sample

from heldout.errors import InputError


def test_samples_are_uniform_and_depend_on_ids_and_seed_alone():
    ids = [f"q{number}" for number in range(10)]
    assert draw_sample(ids, 4, 7) == draw_sample(ids[::-1], 4, 7)
    counts = np.zeros(10)
    for seed in range(2000):
        counts[[ids.index(one) for one in draw_sample(ids, 3, seed)]] += 1
    # Expected 600 each; the standard deviation is 20.
    assert np.abs(counts - 600).max() < 80
    with pytest.raises(InputError, match="from 1 to 10"):
        draw_sample(ids, 11)
