"""METEOR: words matched exactly, by stem or by synonym, with a penalty for word order."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from heldout.errors import MeasureError, MissingExtraError
from heldout.measure.text.base import SegmentMean, import_extra, one_of
from heldout.measure.text.overlap import porter_stem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from heldout.data.segments import Segments

__all__ = ["Meteor"]

STAGES: Final = ("exact", "exact+stem", "exact+synonym", "exact+stem+synonym")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")

FOLDERS: Final = ("/usr/share/wordnet", "/usr/local/share/wordnet/dict", "/usr/share/wordnet/dict")
"""Where packages install WordNet's files; the environment variable WNSEARCHDIR comes first."""


@dataclass(frozen=True, slots=True, repr=False)
class Meteor(SegmentMean):
    """METEOR [1]_ [2]_: the mean over segments, with the best of several references.

    F = PR / (alpha P + (1 - alpha) R), times 1 - gamma (chunks / matches)^beta. Words are matched
    stage by stage by NLTK: from the end, each with the last unmatched word. If a word occurs more
    often on one side, the papers choose the matches with the fewest crossings, which may give
    another number of chunks. After stemming, NLTK looks up synonyms by stem, and so misses most of
    them: ``exact+synonym`` finds more.

    Parameters
    ----------
    stages
        ``exact``, ``exact+stem`` (NLTK's Porter stemmer), ``exact+synonym`` or
        ``exact+stem+synonym`` (WordNet, if its data are installed).
    alpha, beta, gamma
        0.9, 3 and 0.5 are the values of the first paper.
    tokenize
        ``words``: words and punctuation marks; ``none``: split at blanks.
    lowercase
        Whether case is ignored.

    References
    ----------
    .. [1] Banerjee, S., Lavie, A. (2005). METEOR: an automatic metric for MT evaluation with
       improved correlation with human judgments. ACL workshop, 65-72.
    .. [2] Lavie, A., Agarwal, A. (2007). METEOR: an automatic metric for MT evaluation with high
       levels of correlation with human judgments. WMT 2007, 228-231.

    Examples
    --------
    >>> from heldout.data.segments import Segments
    >>> references = Segments.of(["the cat sat on the mat"])
    >>> system = Segments.of(["the cat was sat on the mat"])
    >>> [round(value, 4) for value in Meteor("exact").values(references, system)]
    [0.9654]
    """

    stages: str = "exact+stem"
    alpha: float = 0.9
    beta: float = 3.0
    gamma: float = 0.5
    tokenize: str = "words"
    lowercase: bool = True

    always_named: ClassVar[tuple[str, ...]] = ("stages",)

    def __post_init__(self) -> None:
        one_of("METEOR", "stages", self.stages, STAGES)
        one_of("METEOR", "tokenize", self.tokenize, ("words", "none"))
        one_of("METEOR", "lowercase", self.lowercase, (False, True))
        for name, most in (("alpha", 1.0), ("beta", 100.0), ("gamma", 1.0)):
            value = getattr(self, name)
            if isinstance(value, bool | str) or not 0 <= value <= most:
                raise MeasureError(
                    f"METEOR: {name}={value!r}, expected a number from 0 to {most:g}"
                )

    @property
    def family(self) -> str:
        """METEOR."""
        return "METEOR"

    def labels(self) -> list[tuple[str, Any]]:
        """Return all parameters, and the fixed rules."""
        own = SegmentMean.labels(self)
        return [*own, ("align", "last-free-word"), ("multi", "best")]

    def engine(self) -> str:
        """Return the version of heldout, and those of NLTK and WordNet if they are used."""
        found = SegmentMean.engine(self)
        stages = self.stages.split("+")
        if "stem" in stages:
            found += f",nltk-{import_extra('nltk', 'METEOR with stems').__version__}"
        if "synonym" in stages:
            found += f",wordnet-{find_wordnet().get_version()}"
        return found

    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return the best value over the references of each segment."""
        score = import_extra("nltk.translate.meteor_score", "METEOR").meteor_score
        stages = self.stages.split("+")
        options: dict[str, Any] = {
            "preprocess": str.lower if self.lowercase else str,
            "stemmer": _Stems() if "stem" in stages else _NoStems(),
            "wordnet": find_wordnet() if "synonym" in stages else _NoWordNet(),
            "alpha": self.alpha,
            "beta": self.beta,
            "gamma": self.gamma,
        }
        for texts, written in zip(references.texts, system.texts, strict=True):
            yield float(score([*map(self._words, texts)], self._words(written[0]), **options))

    def _words(self, text: str) -> list[str]:
        return _TOKEN.findall(text) if self.tokenize == "words" else text.split()


class _Stems:
    """NLTK's Porter stemmer, with a memory."""

    stem = staticmethod(porter_stem)


class _NoStems:
    """A stemmer that changes nothing."""

    stem = staticmethod(str)


class _NoWordNet:
    """A WordNet without words: METEOR works offline, without its data."""

    def synsets(self, word: str) -> list[Any]:
        """Return nothing."""
        del word
        return []


@cache
def find_wordnet() -> Any:
    """Return NLTK's reader of WordNet: of its own data, or of the files of a system package."""
    corpus = import_extra("nltk.corpus", "METEOR with synonyms")
    with suppress(LookupError):
        corpus.wordnet.get_version()  # looks for the data
        return corpus.wordnet
    reader = import_extra("nltk.corpus.reader.wordnet", "METEOR with synonyms")
    folders = (os.environ.get("WNSEARCHDIR", ""), *FOLDERS)
    for folder in folders:
        if Path(folder, "data.noun").is_file():
            return reader.WordNetCorpusReader(folder, None)
    raise MissingExtraError(
        "METEOR with synonyms needs the data of WordNet: python -m nltk.downloader wordnet, a "
        "system package (Debian: wordnet-base), or their folder in WNSEARCHDIR; without them "
        "choose stages='exact+stem'"
    )
