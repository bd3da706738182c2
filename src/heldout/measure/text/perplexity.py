"""Perplexity from the log-probabilities of tokens under a language model."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Annotated

import numpy as np

from heldout.errors import InputError
from heldout.measure.base import Sums, Within, measure, quotient

if TYPE_CHECKING:
    from heldout.data.segments import Texts
    from heldout.data.words import Floats


@measure(
    "Perplexity",
    "text",
    aliases=("ppl",),
    bounds=(0.0, math.inf),
    higher_is_better=False,
    needs="log-probabilities of tokens",
    labels=partial(dict, per="token"),
)
def perplexity(
    given: Texts,
    *,
    base: Annotated[float, Within(math.nextafter(1, 2), 1e9, "a number above 1")] = math.e,
) -> Sums:
    """Base of the logarithms to the power of minus the mean log-probability of all tokens.

    Formula: exp(-1/N Σ log P(token))
    """
    logs = given.system.log_probs
    if not logs:
        raise InputError(
            f"{given.system.name} has no log-probabilities: Perplexity reads them from JSON lines "
            "with a list 'logprobs'"
        )

    def score(sums: Floats) -> Floats:
        with np.errstate(over="ignore"):  # overflow is infinite
            return np.exp(-quotient(sums[:, 0], sums[:, 1]) * math.log(base))

    return Sums(np.array([(math.fsum(own), len(own)) for own in logs], np.float64), score)
