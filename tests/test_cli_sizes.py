"""Sizes in bytes, as users write them."""

import pytest

from heldout.cli.index import parser
from heldout.errors import InputError

GB = 1 << 30
SIZES = {"1": 1, "2 KB": 2048, "1.5MiB": 3 << 19, "2g": 2 * GB, "0.5T": GB << 9}
NO_SIZES = ("", "much", "-1", "1e9", "5 X", "9999999TB", "9" * 400)


def test_sizes():
    for text, expected in SIZES.items():
        assert parser().read(["docs", f"--max-memory={text}"]).max_memory == expected
    for text in NO_SIZES:
        with pytest.raises(InputError, match="expected a size such as 500MB"):
            parser().read(["docs", f"--max-memory={text}"])
