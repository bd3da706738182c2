"""What an index must hold, as a dictionary of counts has it."""

from collections import Counter


def check_index(index, texts, analyzer):
    """The index holds what a dictionary of counts would hold."""
    expected: dict[str, dict[int, int]] = {}
    counts = [Counter(analyzer.analyze(text)) for text in texts]
    for number, counted in enumerate(counts):
        for term, count in counted.items():
            expected.setdefault(term, {})[number] = count
    assert list(index.terms) == sorted(expected, key=str.encode)
    for number, term in enumerate(index.terms):
        rows = slice(index.offsets[number], index.offsets[number + 1])
        documents = index.documents[rows].tolist()
        assert documents == sorted(documents)
        postings = dict(zip(documents, index.counts[rows].tolist(), strict=True))
        assert postings == expected[term]
    assert index.lengths.tolist() == [one.total() for one in counts]
    assert index.distinct.tolist() == [len(one) for one in counts]
    assert index.n_postings == sum(map(len, counts))
    assert index.total_length == sum(one.total() for one in counts)


def files_of(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}
