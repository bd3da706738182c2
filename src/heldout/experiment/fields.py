"""Fields of an experiment that are options of ``heldout run``, declared once.

The model reads them, and so does the help of the command, which must not wait for pydantic.
"""

from __future__ import annotations

from typing import Any, Final, Literal, NamedTuple, get_args

By = Literal["query", "document", "both"]
Method = Literal[
    "pooled", "per-fold", "per-fold-zero", "pro-weighted", "dynamic-cutoff", "training"
]


class Declared(NamedTuple):
    """What a field means, its default, and its choices if there are few."""

    description: str
    default: Any = None
    choices: tuple[str, ...] = ()


FIELDS: Final = {
    "by": Declared("what is held out", "query", get_args(By)),
    "tune_for": Declared("measure to tune for (default: the first)"),
    "inner": Declared(
        "tune systems that learn by K inner folds of the training data (estimators: 5)"
    ),
    "method": Declared("estimation method for new documents", "pooled"),
    "target_size": Declared("collection size that the estimate for new documents is for"),
    "depth": Declared("ranking depth: documents below it are ignored", 1000),
    "baseline": Declared("compare all other systems with this one"),
    "index": Declared("index of the collection (see heldout index)"),
    "machine": Declared(
        "judgements of a machine for these and further queries; those of the collection are then "
        "human judgements of a random sample, and estimates combine both"
    ),
    "assume_random": Declared(
        "the queries with human judgements are a random sample of all (heldout split --sample)",
        False,
    ),
    "level": Declared("confidence level of intervals and tests", 0.95),
    "seed": Declared("random seed of folds, resampling, and systems with a seed", 0),
}
