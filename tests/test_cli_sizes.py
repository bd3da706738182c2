"""Sizes in bytes, as users write them."""

from argparse import ArgumentTypeError

import pytest

from heldout.cli.options import size

GB = 1 << 30


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", 1), ("2 KB", 2048), ("1.5MiB", 3 << 19), ("2g", 2 * GB), ("0.5T", GB << 9)],
)
def test_sizes(text, expected):
    assert size(text) == expected


@pytest.mark.parametrize("text", ["", "much", "-1", "1e9", "5 X", "9999999TB", "9" * 400])
def test_no_sizes(text):
    with pytest.raises(ArgumentTypeError, match="is not a size"):
        size(text)
