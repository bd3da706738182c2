"""The measures of ``-m``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["by_subtopic", "given_measures"]


def given_measures(names: Sequence[str] | None, task: str) -> list[Any]:
    """Return the measures of ``-m``, those of ``file.py:name`` loaded.

    Parameters
    ----------
    names
        As they were given; None if they were not.
    task
        What they measure.
    """
    found: list[Any] = []
    for name in names or ():
        if ".py:" in name:
            from heldout.experiment.given import load_measure  # seldom needed

            found.append(load_measure(name, task))
        else:
            found.append(name)
    return found


def by_subtopic(names: Sequence[str] | None) -> bool:
    """Return whether a measure of ``-m`` needs judgements by subtopic."""
    from heldout.measure.names import parse_measures
    from heldout.measure.ranking.evaluate import needs_subtopics

    known = [name for name in names or () if ".py:" not in name]
    return needs_subtopics(parse_measures(known, "ranking"))
