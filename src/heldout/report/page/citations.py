"""What to cite: the software and the methods behind a result."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from heldout import __version__
from heldout.report.page.runtime import asset

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.infer.comparison import Comparison

__all__ = ["bibliography", "comparison_methods", "measure_methods", "model_methods"]

_SAME: Final = {
    "bootstrap-shift": "bootstrap",
    "percentile": "bootstrap",
    "bca": "bootstrap",
}
_MEASURES: Final = {"nDCG": "ndcg", "DCG": "ndcg", "Bpref": "bpref", "RBP": "rbp", "ERR": "err"}
_MODELS: Final = {"bm25": "bm25", "ql": "ql"}

_SOFTWARE: Final = f"""\
@software{{heldout,
  title = {{heldout: evaluation, resampling and significance for search and text systems}},
  version = {{{__version__}}}
}}
"""


def bibliography(keys: Iterable[str]) -> str:
    """The software, then every known method, as BibTeX."""
    known = _entries()
    wanted = dict.fromkeys(_SAME.get(key, key) for key in keys)
    return "\n".join([_SOFTWARE, *(known[key] for key in wanted if key in known)])


def _entries() -> dict[str, str]:
    parts = asset("citations.bib").strip().split("\n\n")
    return {re.findall(r"^@\w+\{([^,]+),", part)[0]: f"{part}\n" for part in parts}


def comparison_methods(comparison: Comparison) -> list[str]:
    """Tests, correction and intervals of a comparison."""
    intervals = [claim.difference.method for claim in comparison.claims]
    intervals += [row.mean.method for row in comparison.systems]
    found = [*comparison.analysis.tests, comparison.analysis.correction]
    for words in dict.fromkeys(intervals):
        found += [key for key in ("wilson", "bootstrap", "delong") if key in words.lower()]
    return [key for key in found if key]


def measure_methods(measures: Iterable[str]) -> list[str]:
    """The measures that have their own paper."""
    families = (re.split(r"[(@]", name, maxsplit=1)[0] for name in measures)
    return [_MEASURES[one] for one in families if one in _MEASURES]


def model_methods(models: Iterable[str]) -> list[str]:
    """The models that have their own paper."""
    return [_MODELS[one] for name in models if (one := name.partition("-")[0]) in _MODELS]
