"""Sizes in bytes, as users write them."""

import pytest

from heldout.data.sizes import parse_size
from heldout.errors import InputError

GB = 1 << 30


@pytest.mark.parametrize(
    ("text", "size"),
    [("1", 1), ("2 KB", 2048), ("1.5MiB", 3 << 19), ("2g", 2 * GB), ("0.5T", GB << 9)],
)
def test_sizes(text, size):
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "much", "-1", "1e9", "5 X", "9999999TB", "9" * 400])
def test_no_sizes(text):
    with pytest.raises(InputError, match="is not a size"):
        parse_size(text)
