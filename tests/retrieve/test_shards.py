"""An index of several parts gives what one index of all documents gives, to the last bit."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from heldout.data.documents import documents_of, even_sizes, range_batches, range_digests
from heldout.errors import InputError
from heldout.retrieve.analyze import Analyzer
from heldout.retrieve.bootstrap import rank_bootstrap
from heldout.retrieve.index import Index
from heldout.retrieve.models import MODELS, Model, grid
from heldout.retrieve.rank import JudgedDocuments, rank
from heldout.retrieve.search import search, search_numbers
from heldout.retrieve.shards import ShardedIndex, open_index, open_part
from heldout.retrieve.sides import held_out_side, seen_side, unseen_side, whole_side
from heldout.retrieve.statistics import Vocabulary, cell_statistics, whole_statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from heldout.retrieve.parts import Part
    from heldout.retrieve.shards import AnyIndex
    from heldout.retrieve.sides import Side

N, SHARDS = 400, 5
QUERIES = (
    "a b c",
    "w1 w30 w30 a",
    "w7",
    "nowhere b w90",
    "nowhere at all",
    "",
    " ".join(f"w{n}" for n in range(60)) + " a a a a a",
)


def _texts() -> dict[str, str]:
    """Short documents of few words, so that ties are many; ids in no order; some words are rare."""
    rng = np.random.default_rng(8)
    words = np.array([*"abc", *(f"w{n}" for n in range(120))])
    chances = 1 / np.arange(1, len(words) + 1)
    names = rng.permutation(N)
    return {
        f"d{names[n]}": " ".join(rng.choice(words, rng.integers(1, 12), p=chances / chances.sum()))
        for n in range(N)
    }


@pytest.fixture(scope="module")
def texts() -> dict[str, str]:
    return _texts()


@pytest.fixture(scope="module")
def whole(texts: dict[str, str]) -> Index:
    return Index.build(texts)


@pytest.fixture(scope="module")
def sharded(texts: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> ShardedIndex:
    folder = tmp_path_factory.mktemp("shards") / "all"
    return ShardedIndex.build(texts, path=folder, shards=SHARDS)


def _sides(index: AnyIndex, words: Vocabulary) -> Iterator[Side]:
    rng = np.random.default_rng(3)
    folds = rng.integers(-1, 4, N).astype(np.int32)
    yield whole_side(index, words)
    yield seen_side(index, words, folds != 2)
    yield unseen_side(index, words, folds != 2)
    yield held_out_side(index, words, folds, 4)
    yield held_out_side(index, words, folds, 4, pooled=True)


def _judged() -> JudgedDocuments:
    rng = np.random.default_rng(5)
    sizes = [7, 0, 25, 3, 4, 2, 40]
    documents = [np.sort(rng.choice(N, size, replace=False)) for size in sizes]
    return JudgedDocuments(
        np.concatenate(([0], np.cumsum(sizes))).astype(np.int64),
        np.concatenate(documents).astype(np.int32),
    )


def _values(name: str) -> list[Model]:
    """More values than are scored together."""
    key = MODELS[name].defaults[0][0]
    return list(grid(name, **{key: np.linspace(0.1, 0.9, 35).tolist()}))


@pytest.mark.parametrize("name", MODELS)
def test_every_ranking_is_that_of_one_index(name: str, whole: Index, sharded: ShardedIndex) -> None:
    one, several = (Vocabulary.of(index.encode(QUERIES)) for index in (whole, sharded))
    values = _values(name)
    pairs = zip(_sides(whole, one), _sides(sharded, several), strict=True)
    for side, other in pairs:
        expected = rank(whole, one, [values], side, k=9, judged=_judged())
        found = rank(sharded, several, [values], other, k=9, judged=_judged())
        np.testing.assert_array_equal(found.documents, expected.documents)
        np.testing.assert_array_equal(found.scores, expected.scores)
        np.testing.assert_array_equal(found.ranks, expected.ranks)
        np.testing.assert_array_equal(found.retrieved, expected.retrieved)
        alone = rank(sharded, several, [values], other, judged=_judged())
        np.testing.assert_array_equal(alone.ranks, expected.ranks)
        assert expected.ranks.max() > 9
        assert len(np.unique(expected.documents // (N // SHARDS))) > SHARDS - 1


def test_priors_and_values_of_folds_too(whole: Index, sharded: ShardedIndex) -> None:
    one, several = (Vocabulary.of(index.encode(QUERIES)) for index in (whole, sharded))
    folds = (np.arange(N) % 3).astype(np.int32)
    priors = np.random.default_rng(1).normal(size=(N, 1))
    values = [[Model.make("bm25", k1=k1)] for k1 in (0.5, 1.0, 2.0)]
    found = [
        rank(index, words, values, held_out_side(index, words, folds, 3), k=5, priors=priors)
        for index, words in ((whole, one), (sharded, several))
    ]
    np.testing.assert_array_equal(found[1].documents, found[0].documents)
    np.testing.assert_array_equal(found[1].scores, found[0].scores)


@pytest.mark.parametrize("name", ["bm25", "bm25-plus", "ql-jm"])
@pytest.mark.parametrize("side", ["seen", "unseen"])
def test_bootstrap_too(name: str, side: Any, whole: Index, sharded: ShardedIndex) -> None:
    found = [
        rank_bootstrap(
            index,
            Vocabulary.of(index.encode(QUERIES)),
            Model.make(name),
            replicates=20,
            seed=4,
            side=side,
        )
        for index in (whole, sharded)
    ]
    np.testing.assert_array_equal(found[1].documents, found[0].documents)
    np.testing.assert_array_equal(found[1].scores, found[0].scores)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("k", [1, 10, N + 5])
def test_search_too(name: str, k: int, whole: Index, sharded: ShardedIndex) -> None:
    expected = search_numbers(whole, QUERIES, Model.make(name), k)
    found = search_numbers(sharded, QUERIES, Model.make(name), k)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_array_equal(found[1], expected[1])


def _elsewhere(work: Callable[[Part], Any], parts: Any) -> Iterator[Any]:
    """Send work and parts as bytes, as a cluster would, and take the last part first."""
    for part in reversed(parts):
        again, place = pickle.loads(pickle.dumps((work, part.place())))  # noqa: S301 - made here
        yield again(open_part(*place))


@pytest.mark.parametrize("name", ["bm25", "ql-dirichlet", "pivoted"])
def test_parts_may_be_searched_elsewhere_in_any_order(
    name: str, whole: Index, sharded: ShardedIndex
) -> None:
    asked = {str(n): text for n, text in enumerate(QUERIES)}
    found = search(sharded, asked, name, each=_elsewhere)
    expected = search(whole, asked, name)
    assert found.to_dict() == expected.to_dict()
    assert list(found.docs.tolist()) == list(expected.docs.tolist())


def test_statistics_are_those_of_one_index(whole: Index, sharded: ShardedIndex) -> None:
    one, several = (Vocabulary.of(index.encode(QUERIES)) for index in (whole, sharded))
    cells = (np.arange(N) % 7 - 1).astype(np.int32)
    for kind in (
        lambda index, words: cell_statistics(index, words, cells, 6),
        whole_statistics,
    ):
        expected, found = kind(whole, one), kind(sharded, several)
        for field in ("documents", "length", "df", "cf"):
            np.testing.assert_array_equal(getattr(found, field), getattr(expected, field))
    assert (several.numbers < 0).any()  # some terms are not in every part


def test_what_it_says_of_itself(whole: Index, sharded: ShardedIndex) -> None:
    assert sharded.n_documents == whole.n_documents
    assert sharded.n_postings == whole.n_postings
    assert sharded.total_length == whole.total_length
    assert list(sharded.document_ids) == list(whole.document_ids)
    assert sharded.document_ids[-1] == whole.document_ids[-1]
    assert sharded.document_ids[3:300:50] == whole.document_ids[3:300:50]
    np.testing.assert_array_equal(sharded.id_order, whole.id_order)
    assert sharded.size() == sum(one.stat().st_size for one in Path(sharded.path).iterdir())
    sharded.verify()


def test_it_knows_its_documents(texts: dict[str, str], sharded: ShardedIndex) -> None:
    assert sharded.made_of(documents_of(texts))
    changed = {**texts, next(reversed(texts)): "something else"}
    assert not sharded.made_of(documents_of(changed))
    assert not sharded.made_of(documents_of(dict(list(texts.items())[1:])))


def test_parts_built_apart_are_joined(
    texts: dict[str, str], sharded: ShardedIndex, tmp_path: Path
) -> None:
    listed = list(texts.items())
    begin = 0
    for number, size in enumerate(even_sizes(N, SHARDS)):
        Index.build(listed[begin : begin + size], path=tmp_path / f"part-{number}.index")
        begin += size
    joined = ShardedIndex.join(tmp_path)
    assert joined.fingerprint == sharded.fingerprint
    np.testing.assert_array_equal(joined.id_order, sharded.id_order)
    assert open_index(tmp_path).fingerprint == joined.fingerprint


def test_one_part_is_an_index_too(texts: dict[str, str], whole: Index, tmp_path: Path) -> None:
    alone = ShardedIndex.build(texts, path=tmp_path / "one", shards=1)
    assert alone.parts[0].index.fingerprint == whole.fingerprint


def test_memory_and_threads_change_nothing(
    texts: dict[str, str], sharded: ShardedIndex, tmp_path: Path
) -> None:
    seen: list[tuple[int, int]] = []
    again = ShardedIndex.build(
        texts,
        path=tmp_path / "again",
        shards=SHARDS,
        memory=1 << 20,
        threads=1,
        progress=lambda done, of: seen.append((done, of)),
    )
    assert again.fingerprint == sharded.fingerprint
    assert seen == [(n * N // SHARDS, N) for n in range(1, SHARDS + 1)]


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_ranges_of_documents(size: int, texts: dict[str, str]) -> None:
    documents, sizes = documents_of(texts), [1, 99, 150, 150]
    listed, begin = list(texts.items()), 0
    ranges = range_batches(documents.batches(size), sizes)
    for own, expected in zip(ranges, sizes, strict=True):
        batches = list(own)
        assert [pair for one in batches for pair in one.pairs()] == listed[begin : begin + expected]
        assert [one.first for one in batches] == [
            sum(map(len, batches[:n])) for n in range(len(batches))
        ]
        begin += expected
    digests = list(range_digests(documents, sizes))
    assert digests[1] == documents_of(listed[1:100]).digest()


# Faults.


def test_an_id_in_two_parts_is_refused(tmp_path: Path) -> None:
    Index.build({"x": "a", "y": "b"}, path=tmp_path / "1.index")
    Index.build({"z": "a", "y": "b"}, path=tmp_path / "2.index")
    with pytest.raises(InputError, match=r"'y' in 1\.index and 2\.index"):
        ShardedIndex.join(tmp_path)
    assert not (tmp_path / "shards.json").exists()


def test_parts_need_one_analyzer(tmp_path: Path) -> None:
    Index.build({"x": "a"}, path=tmp_path / "1.index")
    Index.build({"y": "b"}, Analyzer(lower=False), path=tmp_path / "2.index")
    with pytest.raises(InputError, match=r"2\.index was built with .* the same analyzer"):
        ShardedIndex.join(tmp_path)


def test_nothing_to_join(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \*\.index files to join"):
        ShardedIndex.join(tmp_path)


@pytest.mark.parametrize("shards", [0, 4, -1])
def test_more_parts_than_documents(shards: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the number of documents"):
        ShardedIndex.build({"a": "x", "b": "y", "c": "z"}, path=tmp_path / "i", shards=shards)
    assert not list(tmp_path.iterdir())


def test_a_build_that_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(done: int, of: int) -> None:
        if done == of:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ShardedIndex.build(_texts(), path=tmp_path / "i", shards=3, progress=fail)
    assert not list(tmp_path.iterdir())


def test_an_index_of_before_is_replaced(tmp_path: Path) -> None:
    ShardedIndex.build(_texts(), path=tmp_path / "i", shards=7)
    again = ShardedIndex.build(_texts(), path=tmp_path / "i", shards=2)
    assert len(again.files()) == len(list((tmp_path / "i").iterdir())) == 4


def _built(folder: Path) -> Path:
    ShardedIndex.build(_texts(), path=folder / "i", shards=3)
    return folder / "i"


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(format=2),
        lambda found: found.pop("parts"),
        lambda found: found.update(parts=[]),
        lambda found: found.update(parts=found["parts"][:1] * 2),
        lambda found: found["parts"][0].update(file="../0000.index"),
        lambda found: found["parts"][0].update(file="/etc/passwd"),
        lambda found: found["parts"][0].update(file=7),
        lambda found: found.update(order="a/b"),
    ],
)
def test_a_damaged_manifest_is_refused(change: Callable[[Any], Any], tmp_path: Path) -> None:
    folder = _built(tmp_path)
    found = json.loads((folder / "shards.json").read_text())
    change(found)
    (folder / "shards.json").write_text(json.dumps(found))
    with pytest.raises(InputError, match=r"shards\.json: cannot read the parts"):
        open_index(folder)


def test_no_json_at_all(tmp_path: Path) -> None:
    folder = _built(tmp_path)
    (folder / "shards.json").write_bytes(b"\xff" * 40)
    with pytest.raises(InputError, match="join the parts again"):
        open_index(folder)


def test_another_part_is_refused(tmp_path: Path) -> None:
    folder = _built(tmp_path)
    Index.build({"x": "other"}, path=folder / "0001.index")
    with pytest.raises(InputError, match="not the index that was joined"):
        open_index(folder)


def test_a_part_that_is_gone(tmp_path: Path) -> None:
    folder = _built(tmp_path)
    (folder / "0001.index").unlink()
    with pytest.raises(InputError, match=r"0001\.index: the index cannot be read"):
        open_index(folder)


def test_an_order_that_is_cut_off_or_changed(tmp_path: Path) -> None:
    folder = _built(tmp_path)
    order = (folder / "ids.order").read_bytes()
    (folder / "ids.order").write_bytes(order[:-4])
    with pytest.raises(InputError, match="399 ids for 400 documents"):
        open_index(folder)
    (folder / "ids.order").write_bytes(order[:-4] + b"\1\0\0\0")
    with pytest.raises(InputError, match="the order of the ids is damaged"):
        open_index(folder).verify()


def test_another_index_at_the_place_is_refused_elsewhere(sharded: ShardedIndex) -> None:
    with pytest.raises(InputError, match="a different index here"):
        open_part(sharded.path, 1, "0" * 64)


def test_an_index_in_memory_is_not_sent(whole: Index) -> None:
    with pytest.raises(InputError, match="an index in memory cannot be sent"):
        whole.parts[0].place()
