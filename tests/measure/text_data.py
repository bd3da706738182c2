"""Made-up translations for tests of text measures."""

from __future__ import annotations

import random

from heldout import parse_measure
from heldout.data.segments import Segments, Texts

WORDS = [
    *("the", "a", "cat", "cats", "dog", "dogs", "sat", "sitting", "runs", "running", "on", "under"),
    *("mat", "table,", "house.", "Big", "small", "quickly", "happily", "Berlin", "1990", "don't"),
    *("(well)", "is", "was", "U.S.", "café", "naïve", "%", "&", "state-of-the-art", "he's"),
]


def sentence(source, least=0, most=14):
    return " ".join(source.choice(WORDS) for _ in range(source.randint(least, most)))


def spoiled(source, text, rate):
    """A text with some words dropped, changed or moved."""
    words = []
    for word in text.split():
        chance = source.random()
        if chance < rate / 3:
            continue
        words.append(source.choice(WORDS) if chance < rate else word)
    if len(words) > 2 and source.random() < rate:
        at = source.randrange(len(words) - 1)
        words.insert(0, words.pop(at))
    return " ".join(words)


def corpus(count, seed=0, rate=0.4, references=1):
    """Lists of references for each segment, and texts of a system."""
    source = random.Random(seed)  # noqa: S311 - data, no secret
    wanted = [[sentence(source) for _ in range(references)] for _ in range(count)]
    written = [spoiled(source, texts[0], rate) for texts in wanted]
    return wanted, written


def units(name, references, written):
    """The scores of segments in a measure."""
    return parse_measure(name, "text").units(Texts(Segments.of(references), Segments.of(written)))
