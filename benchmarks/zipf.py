"""Make the corpora of the retrieval benchmark: seeded Zipfian text, and real text beside it.

A corpus is a folder with ``docs.dat`` (a document a line) and ``queries-N.txt`` (a query a line).
"""

from __future__ import annotations

import argparse
import shutil
from itertools import cycle, islice, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray

    Tokens = NDArray[np.int32]

WORDS = 200_000
COPIED = 0.15  # share of tokens that repeat one that the document has before: words come in bursts
QUERY_COUNTS = (150, 1000)
_CONSONANTS, _VOWELS = "bcdfghjklmnprstvwz", "aeiou"
_CHUNK = 4000


def spelled(number: int) -> str:
    """A word for a number: a syllable a digit, so that small numbers (frequent words) are short."""
    syllables = [first + second for first in _CONSONANTS for second in _VOWELS]
    word = ""
    while True:
        number, digit = divmod(number, len(syllables))
        word += syllables[digit]
        if not number:
            return word
        number -= 1


def _distribution() -> NDArray[np.float64]:
    """Zipf's law with Mandelbrot's shift, summed up."""
    chance = (np.arange(1, WORDS + 1) + 2.7) ** -1.05
    return np.cumsum(chance / chance.sum())


def _documents(count: int, seed: int) -> Iterator[tuple[Tokens, NDArray[np.int64]]]:
    """Tokens and offsets of chunks of documents, about 300 tokens each."""
    summed = _distribution()
    for number, begin in enumerate(range(0, count, _CHUNK)):
        rng = np.random.default_rng([seed, number])
        size = min(_CHUNK, count - begin)
        lengths = np.clip(rng.lognormal(np.log(270), 0.45, size), 30, 1500).astype(np.int64)
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        tokens = np.searchsorted(summed, rng.random(offsets[-1])).astype(np.int32)
        place = np.arange(offsets[-1])
        start = np.repeat(offsets[:-1], lengths)
        copied = (rng.random(offsets[-1]) < COPIED) & (place > start)
        earlier = start + (rng.random(offsets[-1]) * (place - start)).astype(np.int64)
        yield np.where(copied, tokens[earlier], tokens).astype(np.int32), offsets


def _queries(
    texts: list[Tokens], frequency: NDArray[np.int64], documents: int, count: int, seed: int
) -> list[Tokens]:
    """Three to six words of a document each, rare ones rather than common ones."""
    rng = np.random.default_rng([seed, count])
    found = list[np.ndarray]()
    while len(found) < count:
        words = np.unique(texts[rng.integers(len(texts))])
        words = words[(frequency[words] >= 5) & (frequency[words] < documents // 4)]
        wanted = int(rng.integers(3, 7))
        if len(words) >= wanted:
            weight = np.log(documents / frequency[words]) ** 1.5
            found.append(rng.choice(words, wanted, replace=False, p=weight / weight.sum()))
    return found


def make_zipf(folder: Path, documents: int, seed: int = 5) -> Path:
    """Write the synthetic corpus, unless it is there."""

    def write(target: Path) -> None:
        words = np.array([spelled(number) for number in range(WORDS)], dtype=object)
        frequency = np.zeros(WORDS, np.int64)
        kept: list[Tokens] = []  # some documents to take queries from
        with (target / "docs.dat").open("w", encoding="ascii") as file:
            for tokens, offsets in _documents(documents, seed):
                text = words[tokens].tolist()
                cuts = offsets.tolist()
                for begin, end in pairwise(cuts):
                    file.write(" ".join(text[begin:end]) + "\n")
                rows = np.repeat(np.arange(len(cuts) - 1), np.diff(offsets))
                pairs = np.unique(rows * WORDS + tokens)
                frequency += np.bincount(pairs % WORDS, minlength=WORDS)
                kept += [tokens[begin:end] for begin, end in pairwise(cuts[:401])]
        for count in QUERY_COUNTS:
            asked = _queries(kept, frequency, documents, count, seed)
            _write_lines(target / f"queries-{count}.txt", (" ".join(words[one]) for one in asked))

    return _once(folder / f"zipf-{documents}", write)


def query_counts(folder: Path) -> list[int]:
    """How many queries each of the files of queries has."""
    return sorted(int(path.stem.removeprefix("queries-")) for path in folder.glob("queries-*.txt"))


def make_pydocs(folder: Path, repeats: int = 8) -> Path:
    """Write the documentation of the installed packages, repeated, unless it is there."""
    return _once(folder / f"pydocs-{repeats}", lambda target: _copy(target, "pydocs", repeats))


def make_beir(folder: Path, source: Path) -> Path:
    """Write the documents of a BEIR folder and its queries, once each, unless they are there."""
    return _once(folder / source.resolve().name, lambda target: _copy(target, str(source), 1))


def _copy(target: Path, source: str, repeats: int) -> None:
    """Write a collection as lines; where it has too few queries, they are asked again."""
    import heldout

    collection = heldout.read_collection(source)
    # In plain ASCII all agree what a word is.
    texts = [_ascii(text) for _, text in collection.documents.pairs()]
    _write_lines(target / "docs.dat", texts * repeats)
    queries = [_ascii(text) for text in collection.queries.texts]
    for count in QUERY_COUNTS if source == "pydocs" else (len(queries),):
        _write_lines(target / f"queries-{count}.txt", islice(cycle(queries), count))


def _ascii(text: str) -> str:
    return " ".join(text.encode("ascii", "ignore").decode().split())


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def _once(folder: Path, write: Callable[[Path], None]) -> Path:
    if not folder.exists():
        aside = folder.with_name(folder.name + ".tmp")
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir(parents=True)
        write(aside)
        aside.rename(folder)
    return folder


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make a corpus.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--documents", type=int, default=164_000)
    options = parser.parse_args()
    print(make_zipf(options.folder, options.documents))
