"""Index.build: equal to a dictionary of counts, whatever the threads, the memory, the numbers."""

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout.data.documents import TextBatch, documents_of
from heldout.errors import InputError
from heldout.retrieve import build, invert, strings
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index
from heldout.retrieve.strings import bytewise_order, gather, pack


def zipf_texts(n_documents, n_tokens, n_words, seed):
    rng = np.random.default_rng(seed)
    ranks = (n_words ** rng.random(n_documents * n_tokens)).astype(int)
    lengths = rng.poisson(n_tokens, n_documents)
    return [
        " ".join(f"w{rank}" + "x" * (rank % 11) for rank in rng.choice(ranks, length).tolist())
        for length in lengths
    ]


def postings(index):
    """{term: {document: count}} out of the index, after checking that documents ascend."""
    found = {}
    for number, term in enumerate(index.terms):
        rows = slice(index.offsets[number], index.offsets[number + 1])
        documents = index.documents[rows].tolist()
        assert documents == sorted(set(documents))
        found[term] = dict(zip(documents, index.counts[rows].tolist(), strict=True))
    return found


def brute_force(texts, analyzer):
    found = {}
    for number, text in enumerate(texts):
        for term, count in Counter(analyzer.analyze(text)).items():
            found.setdefault(term, {})[number] = count
    return {term: found[term] for term in sorted(found, key=str.encode)}


def check(index, texts, analyzer):
    expected = brute_force(texts, analyzer)
    assert list(index.terms) == list(expected)
    assert postings(index) == expected
    counts = [Counter(analyzer.analyze(text)) for text in texts]
    assert index.lengths.tolist() == [one.total() for one in counts]
    assert index.distinct.tolist() == [len(one) for one in counts]
    assert index.n_postings == sum(map(len, counts))
    assert index.total_length == sum(one.total() for one in counts)


@pytest.mark.parametrize("analyzer", [Analyzer(), Analyzer(stemmer="english", stop=("w1x",))])
def test_postings_are_those_of_a_dictionary(analyzer):
    # More terms than the table begins with, and words of seven to thirty bytes.
    texts = zipf_texts(800, 60, 200_000, seed=3)
    index = Index.build(texts, analyzer, threads=1)
    assert index.n_terms > 1 << 13
    check(index, texts, analyzer)


def test_words_that_differ_in_one_place_stay_apart():
    words = [
        f"{'a' * before}{letter}{'a' * (40 - before)}" for before in range(41) for letter in "bcd"
    ]
    texts = [" ".join(words), " ".join(words[::2])]
    check(Index.build(texts), texts, Analyzer())


def test_terms_that_share_a_slot_stay_apart():
    # 9,000 terms in twice as many slots: by the birthday problem thousands share theirs.
    texts = [" ".join(f"{number:x}" for number in range(9_000))]
    check(Index.build(texts), texts, Analyzer())


def test_stems_that_meet_in_a_document_are_one_posting():
    index = Index.build(["cats cat CAT", "cat dog"], Analyzer(stemmer="english"))
    assert postings(index) == {"cat": {0: 3, 1: 1}, "dog": {1: 1}}
    assert index.distinct.tolist() == [1, 2]


def files_of(folder):
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


@pytest.mark.parametrize("analyzer", [Analyzer(), Analyzer(stemmer="english", stop="english")])
def test_the_files_are_the_same_for_any_threads_and_memory(tmp_path, monkeypatch, analyzer):
    texts = zipf_texts(2_500, 150, 30_000, seed=5)
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
    check(Index.open(path), texts, analyzer)


def test_memory_limits_the_postings_that_are_sorted_and_joined_at_a_time(tmp_path, monkeypatch):
    sizes = {"_sort": [], "_gather": []}

    def watch(name):
        plain = getattr(invert.Inversion, name)

        def watched(self, *given):
            result = plain(self, *given)
            sizes[name].append(len(result[2]))
            return result

        monkeypatch.setattr(invert.Inversion, name, watched)

    for name in sizes:
        watch(name)
    texts = zipf_texts(2_500, 150, 30_000, seed=5)
    index = Index.build(texts, path=tmp_path / "small.index", memory=1 << 20)
    for found in sizes.values():
        assert len(found) > 10
        assert sum(found) == index.n_postings
        assert max(found) * 8 <= 1 << 19


@pytest.mark.parametrize(
    ("text", "analyzer", "dtype"),
    [
        ("a " * 65_535, Analyzer(), np.uint16),
        ("a " * 65_536, Analyzer(), np.int32),
        ("cat cats " * 40_000, Analyzer(stemmer="english"), np.int32),
    ],
)
def test_counts_grow_to_32_bits_when_one_needs_it(tmp_path, text, analyzer, dtype):
    texts = ["b a", text, "b cat"]
    index = Index.build(texts, analyzer, path=tmp_path / "index", threads=1)
    assert index.counts.dtype == dtype
    check(index, texts, analyzer)


def test_documents_without_terms():
    index = Index.build(["", "a", " ... "])
    assert index.lengths.tolist() == [0, 1, 0]
    nothing = Index.build(["", "--"])
    assert (nothing.n_documents, nothing.n_terms, nothing.n_postings) == (2, 0, 0)
    assert nothing.term_numbers(["a"]).tolist() == [-1]
    assert nothing.encode(["a b"]).offsets.tolist() == [0, 0]


def test_what_can_be_indexed():
    documents = documents_of({"x": "a b", "y": "b"})

    class WithDocuments:
        pass

    collection = WithDocuments()
    collection.documents = documents
    same = {
        Index.build(one).fingerprint
        for one in (documents, collection, {"x": "a b", "y": "b"}, [("x", "a b"), ("y", "b")])
    }
    assert len(same) == 1
    numbered = Index.build(["a b", "b"])
    assert list(numbered.document_ids) == ["0", "1"]
    assert numbered.fingerprint not in same


def test_the_fingerprint_tells_analyzer_and_content():
    texts = ["a b", "b c"]
    one = Index.build(texts).fingerprint
    assert Index.build(texts, threads=1).fingerprint == one
    assert Index.build(texts, Analyzer(lower=False)).fingerprint != one
    assert Index.build(["a b", "c c"]).fingerprint != one


def test_an_index_knows_its_documents(tmp_path):
    documents = documents_of({"x": "a b", "y": "é"})
    path = tmp_path / "index"
    assert Index.build(documents).documents_digest == documents.digest
    assert Index.build(documents, path=path).documents_digest == documents.digest


@pytest.mark.parametrize("more", [[], ["a much longer id, 1", "a much longer id, 0"], ["d" * 65]])
def test_documents_are_ranked_by_their_ids_bytewise(more):
    ids = ["d10", "d9", "é", "d1", "Z", "d10a", "\uffff", "\U0001f600", *more]
    index = Index.build(dict.fromkeys(ids, "text"))
    order = np.argsort(index.id_order)
    assert [ids[number] for number in order] == sorted(ids, key=str.encode)
    assert list(index.document_ids) == ids
    assert index.document_ids[-1] == ids[-1]
    assert index.document_ids[1:5:2] == ids[1:5:2]


class Repeating:
    """Documents that nobody checked."""

    def __len__(self):
        return 2

    def batches(self, size):  # noqa: ARG002
        text = np.frombuffer(b"ab", np.uint8)
        yield TextBatch(0, ["same", "same"], text, np.array([0, 1, 2]))


def test_an_id_that_stands_twice_is_refused():
    with pytest.raises(InputError, match="duplicate document id 'same'"):
        build.build_index(Repeating(), Analyzer(), None, memory=1 << 20)


def test_progress_counts_documents():
    seen = []
    Index.build(["a"] * 5, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (5, 5)


@pytest.mark.parametrize(
    ("options", "said"),
    [({"memory": 1000}, "at least"), ({"threads": 0}, "expected a positive integer")],
)
def test_absurd_options_are_refused(options, said):
    with pytest.raises(InputError, match=said):
        Index.build(["a"], **options)


def numbers_alone(text):
    return [1 for _ in text]


def test_a_function_that_gives_no_strings_is_refused():
    with pytest.raises(InputError, match="list of strings"):
        Index.build(["a"], Analyzer(function=numbers_alone))


def test_an_error_in_a_function_comes_through():
    def broken(text):
        raise ZeroDivisionError(text)

    with pytest.raises(ZeroDivisionError):
        Index.build(["a", "b"], Analyzer(function=broken), threads=2)


BOUNDS = """
import tempfile
from pathlib import Path
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.index import Index

# Words of one stem, letters that grow, the longest and the shortest words, terms by the thousand.
texts = ["cats cat " * 200, "a b " * 50 + "c", "ȺȺȺȺ İİİİ" * 20, "", "x" * 5_000]
texts += ["ไทย東京東京都 é" * 9, "ȺȺȺȺȺȺȺȺ"]
texts += [" ".join(f"{n * m:x}" for n in range(40)) for m in range(500)]
for analyzer in (
    Analyzer(),
    Analyzer(stemmer="english", stop="english"),
):
    Index.build(texts, analyzer, threads=1)
    Index.build(["cats cat cats CATS cat"], analyzer, threads=2)
    Index.build(["a"] * 500, analyzer, threads=1)
with tempfile.TemporaryDirectory() as folder:
    Index.build(texts * 20, path=Path(folder) / "index", memory=1 << 20)
"""


AGAIN = "from heldout.retrieve.index import Index; Index.build(['a b', 'b'])"


def test_no_loop_reaches_beside_its_arrays_and_compiling_is_said_once(tmp_path):
    # Numba then looks at every index, and code compiled without that is not used.
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    said = ["compiling the index builder (once, takes a few seconds)"]
    for code, expected in ((BOUNDS, said), (AGAIN, [])):
        done = subprocess.run(  # noqa: S603 - this Python
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr.splitlines() == expected
        assert done.stdout == ""


WORDS = st.text(st.sampled_from("ab\x00é"), max_size=20)


@given(st.lists(WORDS.map(str.encode)))
def test_bytewise_order_is_that_of_bytes(strings):
    order, new = bytewise_order(pack(strings))
    ordered = [strings[number] for number in order]
    assert ordered == sorted(strings)
    assert order.tolist() == sorted(range(len(strings)), key=strings.__getitem__)
    fresh = [n == 0 or ordered[n] != ordered[n - 1] for n in range(len(ordered))]
    assert new.tolist() == fresh
    assert [gather(pack(strings), order).raw(n) for n in range(len(order))] == ordered


@pytest.mark.parametrize("size", range(1, 9))
def test_strings_are_sorted_in_pieces_of_any_size(monkeypatch, size):
    monkeypatch.setattr(strings, "_PIECE", size)
    given = [b"b", b"a", b"c", b"b", b"c", b"c", b"d"]
    order, new = bytewise_order(pack(given))
    assert order.tolist() == [1, 0, 3, 2, 4, 5, 6]
    assert new.tolist() == [True, True, False, True, False, False, True]


@given(st.lists(st.text("ab", min_size=1, max_size=12), min_size=1), st.lists(st.text("ab")))
def test_terms_are_found_and_others_are_not(known, asked):
    index = Index.build([" ".join(known)])
    vocabulary = sorted(set(known))
    expected = [vocabulary.index(one) if one in vocabulary else -1 for one in [*asked, *known]]
    assert index.term_numbers([*asked, *known]).tolist() == expected


def test_queries_become_sorted_distinct_terms_with_counts():
    index = Index.build(["red green blue"], Analyzer(stemmer="english"))
    coded = index.encode(["reds green red pink", "", "pink", "blue"])
    assert coded.n_queries == 4
    assert coded.offsets.tolist() == [0, 2, 2, 2, 3]
    assert [index.terms[number] for number in coded.numbers[coded.places]] == [
        "green",
        "red",
        "blue",
    ]
    assert coded.counts.tolist() == [1.0, 2.0, 1.0]
    assert (coded.numbers.dtype, coded.counts.dtype) == (np.int64, np.float64)
