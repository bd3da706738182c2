"""What the tests of data share."""

import bz2
import gzip
import lzma

import pytest
import zstandard


@pytest.fixture
def write(tmp_path):
    """Write a file, and return its path."""

    def to(name, content):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return to


@pytest.fixture(scope="session")
def packers():
    """What compresses bytes, by extension."""
    return {
        "gz": gzip.compress,
        "xz": lzma.compress,
        "bz2": bz2.compress,
        "zst": zstandard.ZstdCompressor().compress,
    }
