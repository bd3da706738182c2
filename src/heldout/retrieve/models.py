"""Retrieval models: a name, parameters, an idf and a few coefficients.

A model never sees documents. It turns statistics of the training documents into the weight of each
term, and parameter values into the coefficients of one of three forms that the compiled loops know
(see `heldout.retrieve.kernels.scoring`). Parameters are data: a grid is an axis of an array.

Conventions
-----------
M documents with average length avdl, and df and cf of a term, come from the training data alone.
λ of Jelinek–Mercer smoothing weighs the DOCUMENT (in MeTA and Lucene it weighs the collection).
"""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from heldout.errors import InputError
from heldout.retrieve.kernels.types import FRACTION, FRACTION_SHIFTED, LIKELIHOOD

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from heldout.retrieve.kernels.types import Floats
    from heldout.retrieve.statistics import TermStatistics

    Values = Mapping[str, Floats]


def _saturated(v: Values, top: Floats) -> Floats:
    """Return the coefficients of C·x / (x + I + J·r), C = `top`, I = k1(1 − b), J = k1·b."""
    return np.stack([top, v["k1"] * (1 - v["b"]), v["k1"] * v["b"]])


def _bm25_plus(v: Values) -> Floats:
    top, fixed, by_length = _saturated(v, v["k1"] + 1)
    zero = np.zeros_like(top)
    return np.stack([top, fixed, by_length, zero, zero, zero + 1, v["delta"]])


def _bm25_l(v: Values) -> Floats:
    """Return the form of (k1+1)(x/n + δ) / (k1 + x/n + δ), n = 1 − b + b·r, multiplied by n."""
    k, b, delta = v["k1"], v["b"], v["delta"]
    below, above = k + delta, (k + 1) * delta
    return np.stack(
        [k + 1, below * (1 - b), below * b, above * (1 - b), above * b, 1 + 0 * k, 0 * k]
    )


def _over_length(v: Values) -> Floats:
    """Return the coefficients of x / (1 − s + s·r)."""
    s = v["s"]
    zero = np.zeros_like(s)
    return np.stack([zero + 1, 1 - s, s, zero, zero, zero, zero])


def _smoothed(*parts: Floats | int) -> Floats:
    """Return λ, κ, μ, δ, and the logarithm of the collection's share (−∞ if it is 0)."""
    lam, kappa, mu, delta = np.broadcast_arrays(*map(np.float64, parts))
    with np.errstate(divide="ignore"):
        return np.stack([lam, kappa, mu, delta, np.log(kappa + mu + delta)])


@dataclass(frozen=True, slots=True)
class Form:
    """The definition of a model.

    `kind` is its compiled form; `parameters` have a name, a default, and the lowest and highest
    value; `coefficients` maps their values to the coefficients of the form, one column per
    parameter setting. For sums, `idf` is the weight of a term from M and df, and `count` what
    c(w, d) becomes before it enters the sum.
    """

    kind: int
    parameters: tuple[tuple[str, float, float, float], ...]
    coefficients: Callable[[Values], Floats]
    about: str
    idf: Callable[[Floats, Floats], Floats] = lambda m, df: np.log((m + 1) / df)
    count: Callable[[Floats], Floats] = lambda x: x

    @property
    def defaults(self) -> tuple[tuple[str, float], ...]:
        """The parameters and their defaults."""
        return tuple((name, default) for name, default, _, _ in self.parameters)


_K1_B = (("k1", 1.2, 0.0, math.inf), ("b", 0.75, 0.0, 1.0))

MODELS: Final[dict[str, Form]] = {
    "bm25": Form(FRACTION, _K1_B, lambda v: _saturated(v, v["k1"] + 1), "BM25, idf log((M+1)/df)"),
    "bm25-robertson": Form(
        FRACTION,
        _K1_B,
        lambda v: _saturated(v, np.ones_like(v["k1"])),
        "BM25 of Robertson et al. 1994, idf log((M−df+½)/(df+½)), not below 0",
        lambda m, df: np.log(np.maximum((m - df + 0.5) / (df + 0.5), 1.0)),
    ),
    "bm25-lucene": Form(
        FRACTION,
        _K1_B,
        lambda v: _saturated(v, np.ones_like(v["k1"])),
        "BM25 of Lucene with exact lengths, idf log(1+(M−df+½)/(df+½))",
        lambda m, df: np.log1p((m - df + 0.5) / (df + 0.5)),
    ),
    "bm25-atire": Form(
        FRACTION,
        _K1_B,
        lambda v: _saturated(v, v["k1"] + 1),
        "BM25 of ATIRE, idf log(M/df)",
        lambda m, df: np.log(m / df),
    ),
    "bm25-plus": Form(
        FRACTION_SHIFTED,
        (*_K1_B, ("delta", 1.0, 0.0, math.inf)),
        _bm25_plus,
        "BM25+ of Lv and Zhai 2011: every word that a document has earns at least delta",
    ),
    "bm25-l": Form(
        FRACTION_SHIFTED,
        (*_K1_B, ("delta", 0.5, 0.0, math.inf)),
        _bm25_l,
        "BM25L of Lv and Zhai 2011: kinder to long documents, idf log((M+1)/(df+½))",
        lambda m, df: np.log((m + 1) / (df + 0.5)),
    ),
    "tf-idf": Form(
        FRACTION_SHIFTED,
        (("s", 0.0, 0.0, 1.0),),
        _over_length,
        "(1 + log c) · log((M+1)/df), divided by 1−s+s·|d|/avdl",
        count=lambda x: 1 + np.log(np.maximum(x, 1)),
    ),
    "pivoted": Form(
        FRACTION_SHIFTED,
        (("s", 0.2, 0.0, 1.0),),
        _over_length,
        "pivoted length (Singhal et al. 1996): (1 + log(1 + log c)) / (1−s+s·|d|/avdl)",
        count=lambda x: 1 + np.log1p(np.log(np.maximum(x, 1))),
    ),
    "ql-jm": Form(
        LIKELIHOOD,
        (("lambda", 0.3, 0.0, 1.0),),
        lambda v: _smoothed(v["lambda"], 1 - v["lambda"], 0, 0),
        "query likelihood, Jelinek–Mercer; lambda weighs the DOCUMENT (MeTA's 0.7 is 0.3 here)",
    ),
    "ql-dirichlet": Form(
        LIKELIHOOD,
        (("mu", 2000.0, 0.0, math.inf),),
        lambda v: _smoothed(1, 0, v["mu"], 0),
        "query likelihood, Dirichlet prior",
    ),
    "ql-absolute": Form(
        LIKELIHOOD,
        (("delta", 0.7, 0.0, 1.0),),
        lambda v: _smoothed(1, 0, 0, v["delta"]),
        "query likelihood, absolute discounting",
    ),
}
"""All models by name."""


_SPELLINGS: Final = {"lam": "lambda", "λ": "lambda", "μ": "mu", "δ": "delta"}
"""Other spellings of parameters; ``lambda`` cannot be an argument name in Python."""


@dataclass(frozen=True, slots=True)
class Model:
    """A model with its parameters.

    Parameters
    ----------
    name
        A key of `MODELS`.
    parameters
        Name and value of each parameter, including defaults.
    k3
        Weight of a word that occurs c times in a query: (k3+1)c/(k3+c); infinite (the default): c.
        Only for sums.

    Examples
    --------
    >>> Model.make("bm25", k1=0.9)
    Model('bm25', k1=0.9, b=0.75)
    >>> Model.make("bm25", b=2)
    Traceback (most recent call last):
        ...
    heldout.errors.InputError: bm25: b = 2 is outside 0 to 1
    """

    name: str
    parameters: tuple[tuple[str, float], ...]
    k3: float = math.inf

    @classmethod
    def make(cls, name: str, /, **parameters: float) -> Model:
        """Return a model by name; parameters that are not given have their defaults."""
        if name not in MODELS:
            raise InputError(f"unknown model {name!r}: expected one of {', '.join(MODELS)}")
        form = MODELS[name]
        parameters = {_SPELLINGS.get(key, key): value for key, value in parameters.items()}
        k3 = _real(name, "k3", parameters.pop("k3", math.inf))
        known = dict(form.defaults)
        for key in parameters:
            if key not in known:
                raise InputError(
                    f"{name} has no parameter {key}; it has {', '.join(known)}"
                    + ("" if form.kind == LIKELIHOOD else " and k3")
                )
        if k3 < math.inf and form.kind == LIKELIHOOD:
            raise InputError(f"{name} has no parameter k3: it is a query likelihood")
        if math.isnan(k3) or k3 < 0:
            raise InputError(f"{name}: k3 = {k3:g} is below 0")
        values = tuple((key, _real(name, key, parameters.get(key, known[key]))) for key in known)
        for (key, value), (_, _, low, high) in zip(values, form.parameters, strict=True):
            if not low <= value <= high or math.isinf(value):
                upto = f"outside {low:g} to {high:g}" if math.isfinite(high) else f"below {low:g}"
                if math.isinf(value) or math.isnan(value):
                    upto = "not a number"
                raise InputError(f"{name}: {key} = {value:g} is {upto}")
        return cls(name, values, k3)

    def __repr__(self) -> str:
        return f"Model({self.name!r}, {self._arguments()})"

    def __str__(self) -> str:
        return f"{self.name}({self._arguments()})"

    def _arguments(self) -> str:
        shown = [*self.parameters, *([("k3", self.k3)] if math.isfinite(self.k3) else [])]
        return ", ".join(f"{key}={value:g}" for key, value in shown)

    @property
    def form(self) -> Form:
        """The definition of the model."""
        return MODELS[self.name]

    def query_weights(self, counts: Floats) -> Floats:
        """Return the weight of each term in its query."""
        if math.isinf(self.k3):
            return counts
        return (self.k3 + 1) * counts / (self.k3 + counts)

    def term_weights(self, statistics: TermStatistics, added: int) -> Floats:
        """Return the weight of each term for each training set with `added` more documents."""
        if self.form.kind == LIKELIHOOD:
            return statistics.cf
        df = statistics.df + added
        # A term that is in no training document has weight 0; it is in no ranked document either.
        return np.where(df > 0, self.form.idf(statistics.documents + added, np.maximum(df, 1)), 0.0)


def _real(name: str, key: str, value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(f"{name}: {key} is too large an integer") from None
    except (TypeError, ValueError):
        raise InputError(f"{name}: {key} = {value!r} is not a number") from None


def coefficients(models: Sequence[Model]) -> Floats:
    """Return the coefficients of models with the same name, one column each."""
    first = models[0]
    if any(other.name != first.name or other.k3 != first.k3 for other in models):
        raise InputError("models scored together must have the same name and the same k3")
    columns = {
        key: np.array([model.parameters[place][1] for model in models])
        for place, (key, _) in enumerate(first.parameters)
    }
    return first.form.coefficients(columns)


def grid(name: str, /, k3: float = math.inf, **axes: Sequence[float]) -> tuple[Model, ...]:
    """Return models for all combinations of parameter values, the last axis fastest."""
    return tuple(
        Model.make(name, k3=k3, **dict(zip(axes, values, strict=True)))
        for values in itertools.product(*axes.values())
    )


_CALL: Final = re.compile(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", re.DOTALL)


def parse_model(text: str) -> Model:
    """Read a model in its printed form: ``ql-jm`` or ``bm25(k1=0.9, b=0.4)``."""
    match = _CALL.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not a model; write bm25 or bm25(k1=0.9, b=0.4)")
    parameters = {}
    for part in filter(str.strip, (match[2] or "").split(",")):
        key, equals, value = part.partition("=")
        try:
            parameters[key.strip()] = float(value)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"{text!r}: {part.strip()!r} is not name=number")
    return Model.make(match[1], **parameters)


def model_table() -> list[tuple[str, str, str]]:
    """Return name, parameters with defaults, and a one-line description of each model."""
    return [
        (name, ", ".join(f"{key}={value:g}" for key, value in form.defaults), form.about)
        for name, form in MODELS.items()
    ]
