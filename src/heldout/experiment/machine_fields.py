"""Check the fields of an experiment about judgements of a machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from heldout.experiment.documents.rank_table import needed_depth

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from heldout.data.collection import Collection
    from heldout.data.qrels import Qrels
    from heldout.experiment.problems import Problems
    from heldout.experiment.schema import By, RankingFields
    from heldout.experiment.two_judges import TwoJudges
    from heldout.measure.base import Measure

__all__ = ["GivenMachine", "given_judges", "given_machine"]


class GivenMachine(NamedTuple):
    """Judgements of a machine, its name, and the depth to which rankings are judged by them."""

    qrels: Qrels
    name: str
    depth: int


def given_machine(
    given: RankingFields,
    by: By,
    measures: Sequence[Measure],
    problems: Problems,
    find: Callable[[str], str],
) -> GivenMachine | None:
    """Return the judgements of a machine, if they were given.

    Parameters
    ----------
    by
        What is held out.
    find
        Finds a path beside the experiment file.
    """
    if given.machine is None:
        for name, changed in (
            ("tune_on", given.tune_on != "human"),
            ("assume_random", given.assume_random),
        ):
            if changed:
                problems.add(name, "goes with judgements of a machine: give machine=FILE")
        return None
    if by != "query":
        problems.add(
            "machine",
            f"is for held-out queries, not for by = {by!r}: further queries make estimates "
            "for new queries more precise, but intervals for new documents come from the "
            "documents; leave it out",
        )
        return None
    from heldout.data.qrels import Qrels
    from heldout.measure.ranking.machine import machine_name  # rarely needed

    found = given.machine
    if isinstance(found, str | os.PathLike):
        found = find(os.fspath(found))
    with problems.at("machine"):
        return GivenMachine(
            Qrels.of(found), machine_name(found), needed_depth(measures, given.depth)
        )


def given_judges(
    given: RankingFields,
    collection: Collection | None,
    machine: GivenMachine | None,
    problems: Problems,
) -> TwoJudges | None:
    """Return human and machine judgements of the collection."""
    if collection is None or machine is None or not len(collection.qrels):
        return None
    from heldout.experiment.two_judges import two_judges  # rarely needed

    with problems.at("machine"):
        return two_judges(collection, machine, given.tune_on, assume_random=given.assume_random)
