"""Where the shared real data stand; tests that need them skip when they are absent."""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2].parent / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the shared data (shared/data beside the repository) are not here")
    return SHARED
