"""Near-duplicates: recall on planted pairs, false pairs, speed and memory, beside datasketch.

Documents are Zipfian (``zipf.py``, about 300 words) or those of a collection. Of some of them a
copy is planted in which 5, 10 or 20 % of the words are replaced by words drawn as those of the
corpus. Found is a planted pair that is in one group. False pairs are pairs of originals in one
group, looked for without the copies, whose true Jaccard similarity is below .1.

    python benchmarks/near_duplicates.py                     recall and peers, 20,000 documents
    python benchmarks/near_duplicates.py --collection FOLDER recall and false pairs on real text
    python benchmarks/near_duplicates.py --size 1000000      time and memory, without peers

`datasketch` (MinHashLSH, 128 permutations, threshold as here) takes part if it is installed.
"""

from __future__ import annotations

import argparse
import re
import time
from itertools import combinations, pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from heldout.data.collection_files import read_collection
from heldout.data.documents import MemoryDocuments, documents_of
from heldout.data.ids import Ids
from heldout.resample.near_duplicates import ALIKE, ORDERS, near_duplicates
from zipf import WORDS, _documents, spelled

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from heldout.data.documents import Documents

SHARES = (0.05, 0.1, 0.2)
SEED = 11


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--size", type=int, default=20_000, help="documents, without the copies")
    parser.add_argument("--pairs", type=int, default=1000, help="copies for each share of words")
    parser.add_argument("--collection", help="a collection instead of Zipfian text")
    parser.add_argument("--no-peers", action="store_true")
    options = parser.parse_args()
    if options.size > 200_000:
        large(options.size)
        return
    if options.collection:
        whole = read_collection(options.collection).documents
        texts = [text.split() for _, text in whole.pairs()]
    else:
        texts = [text.split() for text in zipfian(options.size)]
    words = [word for text in texts[:2000] for word in text]
    planted, sources = plant(texts, words, options.pairs)
    everything = [" ".join(text) for text in [*texts, *planted]]
    documents = documents_of(everything)
    near_duplicates(documents_of(everything[:100]))  # compiled before the clock starts
    begin = time.perf_counter()
    groups = near_duplicates(documents)
    ours = time.perf_counter() - begin
    print(f"{len(everything):,} documents, {np.mean([len(one) for one in texts]):.0f} words")
    report("heldout", groups, sources, len(texts), ours)
    print(f"  {false_pairs(everything[: len(texts)])}")
    if not options.no_peers:
        begin = time.perf_counter()
        peers = datasketch_groups(everything)
        if peers is not None:
            theirs = time.perf_counter() - begin
            report("datasketch", peers, sources, len(texts), theirs)
            print(f"  datasketch takes {theirs / ours:.0f} times as long")


def zipfian(size: int) -> Iterator[str]:
    """Texts of about 300 words."""
    names: dict[int, str] = {}
    for tokens, offsets in _documents(size, SEED):
        for begin, end in pairwise(offsets.tolist()):
            numbers = tokens[begin:end].tolist()
            yield " ".join(names.setdefault(one, "") or _named(names, one) for one in numbers)


def _named(names: dict[int, str], number: int) -> str:
    names[number] = spelled(number)
    return names[number]


def plant(
    texts: list[list[str]], words: list[str], pairs: int
) -> tuple[list[list[str]], list[tuple[float, int]]]:
    """Changed copies, and of each the share of its words that was changed and its original."""
    random = np.random.default_rng(SEED)
    long = [at for at, text in enumerate(texts) if len(text) >= 20]
    copies, sources = [], []
    for share in SHARES:
        for at in random.choice(long, min(pairs, len(long)), replace=False).tolist():
            copy = list(texts[at])
            for place in random.choice(len(copy), round(share * len(copy)), replace=False):
                copy[place] = words[random.integers(len(words))]
            copies.append(copy)
            sources.append((share, at))
    return copies, sources


def report(
    name: str,
    groups: NDArray[np.int64],
    sources: list[tuple[float, int]],
    first: int,
    seconds: float,
) -> None:
    found: dict[float, list[bool]] = {share: [] for share in SHARES}
    for number, (share, at) in enumerate(sources):
        found[share].append(bool(groups[first + number] == groups[at]))
    recall = ", ".join(f"{share:.0%}: {np.mean(own):.3f}" for share, own in found.items())
    print(f"{name}: {seconds:.1f} s; share of pairs found, by number of changed words: {recall}")


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
    return (
        {" ".join(words[at : at + 5]) for at in range(max(len(words) - 4, 1))} if words else set()
    )


def datasketch_groups(texts: list[str]) -> NDArray[np.int64] | None:
    """The same with datasketch, its pairs verified by its own estimate."""
    try:
        from datasketch import MinHash, MinHashLSH
    except ImportError:
        print("datasketch is not installed")
        return None
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


def large(size: int) -> None:
    """Time and memory of many documents, one of a hundred a copy with 10 % of its words changed."""
    documents, sources = many(size)
    text = sum(len(batch.text) for batch in documents.batches())
    near_duplicates(documents_of(["a b c d e f"] * 9))
    cpu = time.process_time()
    documents.text_hashes  # noqa: B018 - computed on first use
    exact = time.process_time() - cpu
    Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak starts here
    before = status("VmRSS")
    cpu, begin = time.process_time(), time.perf_counter()
    groups = near_duplicates(documents)
    took, used = time.perf_counter() - begin, time.process_time() - cpu
    after = status("VmHWM")
    found = np.mean([groups[at] == groups[other] for at, other in sources])
    sizes = np.bincount(groups)
    print(f"{size:,} documents, {text / 1e6:,.0f} MB of text")
    print(f"hashes of texts: {exact:.1f} s of CPU")
    print(f"near-duplicates: {took:.0f} s, {used:.0f} s of CPU")
    print(f"memory: {after - before:,.0f} MB on top of {before:,.0f} MB (the text, Python)")
    print(f"planted pairs with 10 % of words changed, found: {found:.4f} of {len(sources):,}")
    print(f"documents in other groups: {sizes[sizes > 1].sum() - 2 * len(sources):,}")


def status(name: str) -> float:
    """A line of /proc/self/status, in MB."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(name))


def many(size: int) -> tuple[Documents, list[tuple[int, int]]]:
    """Documents as bytes, without a string for each; the copies come last."""
    random = np.random.default_rng(SEED)
    words = np.array([spelled(number) for number in range(WORDS)], object)
    text, copied = bytearray(), bytearray()
    lengths: list[int] = []
    copy_lengths: list[int] = []
    originals: list[int] = []
    copies = size // 100
    for tokens, offsets in _documents(size - copies, SEED):
        spelt = words[tokens]
        for place, (begin, end) in enumerate(pairwise(offsets.tolist())):
            if place % 99 == 0 and len(originals) < copies:
                own = spelt[begin:end].copy()
                changed = random.choice(end - begin, (end - begin) // 10, replace=False)
                own[changed] = spelt[random.integers(0, len(tokens), len(changed))]
                copied += (copy := " ".join(own).encode())
                copy_lengths.append(len(copy))
                originals.append(len(lengths))
            text += (whole := " ".join(spelt[begin:end]).encode())
            lengths.append(len(whole))
    pairs = [(at, len(lengths) + number) for number, at in enumerate(originals)]
    text += copied
    offsets = np.concatenate(([0], np.cumsum([*lengths, *copy_lengths])))
    texts = [bytes(text[begin:end]) for begin, end in pairwise(offsets.tolist())]
    return MemoryDocuments(Ids.numbered(len(texts)), texts), pairs


if __name__ == "__main__":
    main()
