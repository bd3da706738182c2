"""Near-duplicates: recall on planted pairs, false pairs, time and memory, beside datasketch.

Documents are synthetic (``heaps.py``, about 300 words) or those of a collection. Of some of them a
copy is planted in which 5, 10 or 20 % of the words are replaced by words drawn as those of the
corpus. Found is a planted pair that is in one group. False pairs are pairs of originals in one
group, looked for without the copies, whose true Jaccard similarity is below .1.

    python benchmarks/near_duplicates.py                     20,000 documents, and the peer
    python benchmarks/near_duplicates.py --collection FOLDER real text
    python benchmarks/near_duplicates.py --size 1000000      time and memory, without the peer

`datasketch` (MinHashLSH, 128 permutations, threshold as here) takes part if it is installed.
"""

from __future__ import annotations

import argparse
import re
import time
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import heaps
from harness import installed
from heldout.data.collection_files import read_collection
from heldout.data.documents import documents_of
from heldout.resample.near_duplicates import ALIKE, ORDERS, near_duplicates

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = (0.05, 0.1, 0.2)
SEED = 11
LARGE = 200_000
"""Documents from which on only time and memory are measured."""


def plant(texts: list[str], pairs: int) -> tuple[list[str], list[tuple[float, int]]]:
    """Changed copies, and of each the share of its words that was changed and its original."""
    random = np.random.default_rng(SEED)
    words = " ".join(texts[:2000]).split()
    long = [at for at, text in enumerate(texts) if text.count(" ") >= 19]
    copies, sources = [], []
    for share in SHARES:
        for at in random.choice(long, min(pairs, len(long)), replace=False).tolist():
            copy = texts[at].split()
            for place in random.choice(len(copy), round(share * len(copy)), replace=False):
                copy[place] = words[random.integers(len(words))]
            copies.append(" ".join(copy))
            sources.append((share, at))
    return copies, sources


def recall(groups: NDArray[np.int64], sources: list[tuple[float, int]], first: int) -> str:
    found: dict[float, list[bool]] = {share: [] for share in SHARES}
    for number, (share, at) in enumerate(sources):
        found[share].append(bool(groups[first + number] == groups[at]))
    return ", ".join(f"{share:.0%}: {np.mean(own):.3f}" for share, own in found.items())


def false_pairs(texts: list[str]) -> str:
    """Pairs in one group that are hardly alike, without copies; of a large group the first 40."""
    groups = near_duplicates(documents_of(texts))
    members: dict[int, list[int]] = {}
    for at, group in enumerate(groups.tolist()):
        members.setdefault(group, []).append(at)
    pairs = [pair for own in members.values() for pair in combinations(own[:40], 2)]
    hardly = sum(jaccard(texts[one], texts[other]) < 0.1 for one, other in pairs)
    sizes = np.bincount(groups)
    return (
        f"without the copies: {sizes[sizes > 1].sum():,} documents in groups, the largest has "
        f"{sizes.max():,}; {len(pairs):,} pairs, of them with a true similarity below .1: {hardly}"
    )


def jaccard(one: str, other: str) -> float:
    mine, yours = shingles(one), shingles(other)
    return len(mine & yours) / max(len(mine | yours), 1)


def shingles(text: str) -> set[str]:
    words = re.findall(r"\w+", text.lower())
    return {" ".join(words[at : at + 5]) for at in range(max(len(words) - 4, bool(words)))}


def datasketch_groups(texts: list[str]) -> NDArray[np.int64]:
    """The same with datasketch, its pairs verified by its own estimate."""
    from datasketch import MinHash, MinHashLSH

    signed = MinHash.bulk(
        [[one.encode() for one in shingles(text)] for text in texts], num_perm=ORDERS
    )
    lsh = MinHashLSH(threshold=ALIKE, num_perm=ORDERS)
    leaders = list(range(len(texts)))

    def root(at: int) -> int:
        while leaders[at] != at:
            leaders[at] = leaders[leaders[at]]
            at = leaders[at]
        return at

    for at, own in enumerate(signed):
        for other in lsh.query(own):
            if root(at) != root(other) and own.jaccard(signed[other]) >= ALIKE:
                leaders[max(root(at), root(other))] = min(root(at), root(other))
        lsh.insert(at, own)
    return np.array([root(at) for at in range(len(texts))])


def status(name: str) -> float:
    """A line of /proc/self/status (Linux), in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=20_000, help="documents, without the copies")
    parser.add_argument("--pairs", type=int, default=1000, help="copies for each share of words")
    parser.add_argument("--collection", help="a collection instead of synthetic text")
    options = parser.parse_args()
    if options.collection:
        whole = read_collection(options.collection).documents
        texts = [" ".join(text.split()) for _, text in whole.pairs()]
    else:
        shape = heaps.Shape(options.size, 300, SEED)
        texts = [text for chunk in heaps.chunks(shape) for text in chunk.texts()]
    planted, sources = plant(texts, options.pairs)
    everything = [*texts, *planted]
    documents = documents_of(everything)
    near_duplicates(documents_of(everything[:100]))  # compiled before the clock starts
    documents.text_hashes  # noqa: B018 - computed on first use
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts here
    begin, used = time.perf_counter(), time.process_time()
    groups = near_duplicates(documents)
    ours, cpu = time.perf_counter() - begin, time.process_time() - used
    print(f"{len(everything):,} documents, shares of pairs found by number of changed words")
    print(f"heldout: {recall(groups, sources, len(texts))}")
    print(f"  {ours:.2f} s, {cpu:.2f} s of CPU, {status('VmHWM') - before:,.0f} MB more")
    if len(texts) < LARGE:
        print(f"  {false_pairs(texts)}")
    if len(texts) < LARGE and not options.collection and installed("datasketch"):
        begin = time.perf_counter()
        peers = datasketch_groups(everything)
        theirs = time.perf_counter() - begin
        print(f"datasketch: {recall(peers, sources, len(texts))}")
        print(f"  takes {theirs / ours:.0f} times as long")


if __name__ == "__main__":
    main()
