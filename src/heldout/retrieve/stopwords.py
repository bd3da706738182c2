"""Stop lists by name."""

from __future__ import annotations

from typing import Final

# The 33 words that Lucene's StandardAnalyzer left out by default before version 8. Short on
# purpose: longer lists remove words that some queries are about ("the who", "take that").
_ENGLISH: Final = (
    "a an and are as at be but by for if in into is it no not of on or such "
    "that the their then there these they this to was will with"
)

STOP_LISTS: Final = {"none": frozenset[str](), "english": frozenset(_ENGLISH.split())}
"""Stop lists by name."""
