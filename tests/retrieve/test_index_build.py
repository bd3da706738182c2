"""Index.build: equal to a dictionary of counts, whatever the threads, the memory, the numbers."""

from collections import Counter
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reference_index import check_index, files_of

from commands import process
from heldout import Analyzer, Index, search
from heldout.data.documents import documents_of
from heldout.retrieve import invert, strings
from heldout.retrieve.strings import bytewise_order, gather, pack
from refusals import refusal


def zipf_texts(n_documents, n_tokens, n_words, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.poisson(n_tokens, n_documents)
    ranks = [(n_words ** rng.random(length)).astype(int).tolist() for length in lengths]
    return [" ".join(f"w{rank}" + "x" * (rank % 11) for rank in row) for row in ranks]


STEMMED = Analyzer(stemmer="english", stop=("w1x",))


def test_postings_are_those_of_a_dictionary():
    # More terms than the table begins with, and words of seven to thirty bytes.
    texts = zipf_texts(800, 60, 200_000, seed=3)
    for analyzer in (Analyzer(), STEMMED):
        index = Index.build(texts, analyzer, threads=1)
        assert index.n_terms > 1 << 13
        check_index(index, texts, analyzer)
    # Words that differ in one place.
    words = [
        f"{'a' * before}{letter}{'a' * (40 - before)}" for before in range(41) for letter in "bcd"
    ]
    # 9,000 terms in twice as many slots: by the birthday problem thousands share theirs.
    texts = [" ".join(words), " ".join(words[::2]), " ".join(f"{n:x}" for n in range(9_000))]
    check_index(Index.build(texts), texts, Analyzer())
    texts = ["cats cat CAT", "cat dog"]  # stems that meet in a document are one posting
    check_index(Index.build(texts, STEMMED), texts, STEMMED)


@pytest.mark.parametrize("analyzer", [Analyzer(), STEMMED], ids=["plain", "stemmed"])
def test_the_files_are_the_same_for_any_threads_and_memory(tmp_path, monkeypatch, analyzer):
    texts = zipf_texts(2_000, 120, 30_000, seed=5)
    texts[7] = texts[1_800] = ""
    made = []
    for threads, memory in [(1, 1 << 30), (2, 1 << 30), (3, 1 << 20), (1, 1 << 20)]:
        monkeypatch.setattr(invert, "_MOST_IN_BLOCK", 1 << 22 if threads == 1 else 50_000)
        path = tmp_path / f"{threads}-{memory}.index"
        Index.build(texts, analyzer, path=path, threads=threads, memory=memory)
        made.append(files_of(path))
    Index.build(texts, analyzer, threads=2).save(tmp_path / "saved.index")
    made.append(files_of(tmp_path / "saved.index"))
    assert all(files == made[0] for files in made)
    check_index(Index.open(path), texts, analyzer)


def test_memory_limits_the_postings_that_are_sorted_and_joined_at_a_time(tmp_path, monkeypatch):
    texts = zipf_texts(2_500, 150, 30_000, seed=5)
    for name in ("_sort", "_gather"):
        sizes, plain = [], getattr(invert.Inversion, name)

        def watched(*given, sizes=sizes, plain=plain):
            result = plain(*given)
            sizes.append(len(result[2]))
            return result

        with monkeypatch.context() as patch:
            patch.setattr(invert.Inversion, name, watched)
            index = Index.build(texts, path=tmp_path / name, memory=1 << 20)
        assert len(sizes) > 10
        assert sum(sizes) == index.n_postings
        assert max(sizes) * 8 <= 1 << 19


def test_counts_grow_to_32_bits_when_one_needs_it(tmp_path):
    for text, analyzer, dtype in (
        ("a " * 65_535, Analyzer(), np.uint16),
        ("a " * 65_536, Analyzer(), np.int32),
        ("cat cats " * 40_000, STEMMED, np.int32),
    ):
        texts = ["b a", text, "b cat"]
        index = Index.build(texts, analyzer, path=tmp_path / "index", threads=1)
        assert index.counts.dtype == dtype
        check_index(index, texts, analyzer)


def numbers_alone(text):
    return [1 / len(text)]


def test_what_can_be_indexed_and_its_fingerprint(tmp_path):
    nothing = Index.build(["", "--"])
    assert (nothing.n_documents, nothing.n_terms, nothing.n_postings) == (2, 0, 0)
    assert nothing.term_numbers(["a"]).tolist() == [-1]
    assert nothing.encode(["a b"]).offsets.tolist() == [0, 0]
    documents = documents_of({"x": "a b", "y": "b"})
    base = Index.build(documents).fingerprint
    assert Index.build([("x", "a b"), ("y", "b")], threads=1).fingerprint == base
    others = [
        Index.build(["a b", "b"]),
        Index.build(documents, Analyzer(lower=False)),
        Index.build({"x": "a b", "y": "a"}),
    ]
    assert len({base, *(one.fingerprint for one in others)}) == 4
    for path in (None, tmp_path / "index"):
        assert Index.build(documents, path=path).documents_digest == documents.digest
    progress = Mock()
    Index.build(["a"] * 5, progress=progress)
    progress.assert_called_with(5, 5)
    assert "at least" in refusal(Index.build, ["a"], memory=1000)
    assert "expected a positive integer" in refusal(Index.build, ["a"], threads=0)
    analyzer = Analyzer(function=numbers_alone)
    assert "list of strings" in refusal(Index.build, ["a"], analyzer)
    with pytest.raises(ZeroDivisionError):  # an error of a function comes through
        Index.build([""], analyzer, threads=2)


def test_documents_are_ranked_by_their_ids_bytewise():
    for more in ([], ["a much longer id, 1", "a much longer id, 0"], ["d" * 65]):
        ids = ["d10", "d9", "é", "d1", "Z", "d10a", "\uffff", "\U0001f600", *more]
        index = Index.build(dict.fromkeys(ids, "text"))
        order = np.argsort(index.id_order)
        assert [ids[number] for number in order] == sorted(ids, key=str.encode)
        assert list(index.document_ids) == ids
        assert (index.document_ids[-1], index.document_ids[1:5:2]) == (ids[-1], ids[1:5:2])
        ranked = search(index, {"q": "text"}, k=20).to_dict()["q"]  # of equal scores
        assert list(ranked) == sorted(ids, key=str.encode, reverse=True)


BOUNDS = """
import tempfile
from pathlib import Path
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index

# Words of one stem, letters that grow, the longest and the shortest words, terms by the thousand.
texts = ["cats cat " * 200, "a b " * 50 + "c", "ȺȺȺȺ İİİİ" * 20, "", "x" * 5_000, "ȺȺȺȺȺȺȺȺ"]
texts += ["ไทย東京東京都 é" * 9, *(" ".join(f"{n * m:x}" for n in range(40)) for m in range(500))]
for analyzer in (Analyzer(), Analyzer(stemmer="english", stop="english")):
    for some, threads in ((texts, 1), (["cats cat cats CATS cat"], 2), (["a"] * 500, 1)):
        Index.build(some, analyzer, threads=threads)
with tempfile.TemporaryDirectory() as folder:
    Index.build(texts * 20, path=Path(folder) / "index", memory=1 << 20)
"""
AGAIN = "from heldout.retrieve.index import Index; Index.build(['a b', 'b'])"


@pytest.mark.long
def test_no_loop_reaches_beside_its_arrays_and_compiling_is_said_once(tmp_path):
    # Numba then looks at every index, and code compiled without that is not used.
    environment = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    said = "compiling the index builder (once, takes a few seconds)\n"
    for code, expected in ((BOUNDS, said), (AGAIN, "")):
        done = process(code=code, **environment)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", expected)


WORDS = st.text(st.sampled_from("ab\x00é"), max_size=20)


@given(st.lists(WORDS.map(str.encode)), st.integers(1, 9) | st.just(strings._PIECE))
def test_bytewise_order_is_that_of_bytes(given_strings, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "_PIECE", size)
        order, new = bytewise_order(pack(given_strings))
    ordered = [given_strings[number] for number in order]
    assert ordered == sorted(given_strings)
    assert order.tolist() == sorted(range(len(given_strings)), key=given_strings.__getitem__)
    fresh = [n == 0 or ordered[n] != ordered[n - 1] for n in range(len(ordered))]
    assert new.tolist() == fresh
    assert [gather(pack(given_strings), order).raw(n) for n in range(len(order))] == ordered


# Queries


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1), st.lists(st.text("ab")))
def test_terms_are_found_and_others_are_not(known, asked):
    index = Index.build([" ".join(known)])
    vocabulary = sorted(set(known))
    expected = [vocabulary.index(one) if one in vocabulary else -1 for one in [*asked, *known]]
    assert index.term_numbers([*asked, *known]).tolist() == expected


TEXTS = [
    "The cats ran; the cat runs, cats running!",
    "a cafe\u0301, the café",
    "検索 cats エンジン",
]
QUERIES = [
    "running cats cats",
    "",
    "the THE café cafe\u0301",
    "検索エンジン",
    "zebra",
    "cats RUN ran",
]


def cut(text):
    return ["", *text.split(" ")]


@pytest.mark.parametrize("analyzer", [Analyzer(), STEMMED, Analyzer(function=cut)])
def test_encoded_queries_are_counted_terms(analyzer):
    index = Index.build(TEXTS, analyzer)
    terms = list(index.terms)
    wanted = {}
    for query in QUERIES:
        counted = Counter(term for term in analyzer.analyze(query) if term in terms)
        wanted[query] = sorted((terms.index(term), count) for term, count in counted.items())
    assert any(wanted.values())
    for texts in (QUERIES, QUERIES[::-1], QUERIES[2:4], []):
        found = index.encode(texts)
        assert found.n_queries == len(texts)
        pairs = zip(found.numbers[found.places].tolist(), found.counts.tolist(), strict=True)
        of_queries = np.split(np.array([*pairs]).reshape(-1, 2), found.offsets[1:-1])
        assert [[*map(tuple, one)] for one in of_queries][: len(texts)] == [
            wanted[one] for one in texts
        ]
