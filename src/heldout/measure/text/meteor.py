"""METEOR: words matched exactly, by stem or by synonym, with a penalty for word order."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from heldout.errors import MeasureError
from heldout.measure.text import wordnet
from heldout.measure.text.base import SegmentMean, import_extra, one_of
from heldout.measure.text.overlap import porter_stem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from heldout.data.segments import Segments

__all__ = ["Meteor"]

STAGES: Final = ("exact", "exact+stem", "exact+synonym", "exact+stem+synonym")
_TOKEN: Final = re.compile(r"\w+|[^\w\s]")

Keys = frozenset[str]
"""The keys under which a word can be matched."""

Stage = tuple["Callable[[str], str]", "Callable[[str], Keys]"]
"""The key of a reference word, and the keys under which a system word is looked up."""


@dataclass(frozen=True, slots=True, repr=False)
class Meteor(SegmentMean):
    """METEOR [1]_ [2]_: the mean over segments, with the best of several references.

    F = PR / (alpha P + (1 - alpha) R), times 1 - gamma (chunks / matches)^beta. Words are matched
    stage by stage as in NLTK: from the end, each with the last unmatched word. If a word occurs
    more often on one side, the papers choose the matches with the fewest crossings, which may give
    another number of chunks. Synonyms are looked up by word; NLTK looks them up by stem after
    stemming, and so misses most of them.

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
            found += f",wordnet-{wordnet.find_wordnet().version}"
        return found

    def values(self, references: Segments, system: Segments) -> Iterable[float]:
        """Return the best value over the references of each segment."""
        stages = [_STAGES[stage] for stage in self.stages.split("+")]
        for texts, written in zip(references.texts, system.texts, strict=True):
            mine = self._words(written[0])
            yield max(self._value(self._words(text), mine, stages) for text in texts)

    def _words(self, text: str) -> list[str]:
        cased = text.lower() if self.lowercase else text
        return _TOKEN.findall(cased) if self.tokenize == "words" else cased.split()

    def _value(self, wanted: list[str], written: list[str], stages: list[Stage]) -> float:
        places = _align(wanted, written, stages)
        if not places:
            return 0.0
        precision, recall = len(places) / len(written), len(places) / len(wanted)
        mean = precision * recall / (self.alpha * precision + (1 - self.alpha) * recall)
        chunks = sum(places.get(at - 1, -2) != place - 1 for at, place in places.items())
        return float(mean * (1 - self.gamma * (chunks / len(places)) ** self.beta))


def _align(wanted: list[str], written: list[str], stages: list[Stage]) -> dict[int, int]:
    """Return the position of each matched word, and that of its match in `wanted`."""
    found: dict[int, int] = {}
    taken: set[int] = set()
    for put_down, look_up in stages:
        free: defaultdict[str, list[int]] = defaultdict(list)
        for place, word in enumerate(wanted):
            if place not in taken:
                free[put_down(word)].append(place)
        for at in reversed(range(len(written))):
            if at in found:
                continue
            ends = [(free[key][-1], key) for key in look_up(written[at]) if free.get(key)]
            if ends:
                place, key = max(ends)
                free[key].pop()
                found[at] = place
                taken.add(place)
    return found


def _itself(word: str) -> Keys:
    return frozenset([word])


def _its_stem(word: str) -> Keys:
    return frozenset([porter_stem(word)])


def _synonyms(word: str) -> Keys:
    """Return the word and all words that share a synset with it in WordNet."""
    return wordnet.find_wordnet().synonyms(word)


_STAGES: Final[dict[str, Stage]] = {
    "exact": (str, _itself),
    "stem": (porter_stem, _its_stem),
    "synonym": (str, _synonyms),
}
