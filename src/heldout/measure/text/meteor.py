"""METEOR by NLTK: words matched exactly, by stem or by synonym, with a penalty for word order.

NLTK matches from the end, each word with the last unmatched one; the papers choose the matches with
the fewest crossings, which may give another number of chunks. After stemming, it looks up synonyms
by stem, and so misses most of them: ``exact+synonym`` finds more.
"""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import numpy as np

from heldout.errors import MissingExtraError
from heldout.measure.base import Means, Share, Within, measure
from heldout.measure.text.packages import import_extra, versions

if TYPE_CHECKING:
    from heldout.data.segments import Texts

Stages = Literal["exact", "exact+stem", "exact+synonym", "exact+stem+synonym"]
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")


def _signature(stages: str, **options: Any) -> dict[str, Any]:
    software = versions("nltk")
    if "synonym" in stages:
        software += f",wordnet-{find_wordnet().get_version()}"
    fixed = {"align": "last-free-word", "multi": "best", "version": software}
    return {"stages": stages, **options, **fixed}


@measure("METEOR", "text", shown=("stages",), labels=_signature)
def meteor(
    given: Texts,
    *,
    stages: Stages = "exact+stem",
    alpha: Share = 0.9,
    beta: Annotated[float, Within(0.0, 100.0, "a number from 0 to 100")] = 3.0,
    gamma: Share = 0.5,
    tokenize: Literal["words", "none"] = "words",
    lowercase: bool = True,
) -> Means:
    """Mean F of matched words (exact, stem, synonym) with a penalty for broken order (Lavie 2007).

    Formula: F (1 - gamma (chunks / matches)^beta), F = P R / (alpha P + (1 - alpha) R); of several
    references the best
    """
    score = import_extra("nltk.translate.meteor_score", "METEOR").meteor_score
    porter = import_extra("nltk.stem.porter", "METEOR").PorterStemmer()
    options = {
        "preprocess": str.lower if lowercase else str,
        "stemmer": SimpleNamespace(stem=cache(porter.stem) if "stem" in stages else str),
        # Without the data of WordNet, METEOR works with a WordNet that has no words.
        "wordnet": find_wordnet() if "synonym" in stages else SimpleNamespace(synsets=lambda _: []),
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
    }
    words = _TOKEN.findall if tokenize == "words" else str.split
    pairs = zip(given.references.texts, given.system.texts, strict=True)
    values = [score([*map(words, texts)], words(text), **options) for texts, (text,) in pairs]
    return Means(np.array(values, np.float64))


def find_wordnet() -> Any:
    """Return NLTK's WordNet."""
    wordnet = import_extra("nltk.corpus", "METEOR with synonyms").wordnet
    try:
        wordnet.get_version()  # looks for the data
    except LookupError:
        raise MissingExtraError(
            "METEOR with synonyms needs the data of WordNet: python -m nltk.downloader wordnet; "
            "without them choose stages='exact+stem'"
        ) from None
    return wordnet
