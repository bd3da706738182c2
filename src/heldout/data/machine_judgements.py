"""Judgements of a machine: qrels, and the name of the machine."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

from heldout.data.qrels import Qrels

__all__ = ["MachineJudgements", "as_machine"]


class MachineJudgements(NamedTuple):
    """Judgements of a machine.

    Parameters
    ----------
    qrels
        Its grades.
    name
        Of the machine: the name of the file, if there is one.
    """

    qrels: Qrels
    name: str = ""


def as_machine(given: Any) -> MachineJudgements:
    """Return machine judgements, given as an object, a dictionary, a frame or a file."""
    if isinstance(given, MachineJudgements):
        return given
    name = ""
    if isinstance(given, str | os.PathLike):
        name = os.path.basename(given).split(".")[0]  # noqa: PTH119 (pathlib starts slowly)
    return MachineJudgements(Qrels.of(given), name)
