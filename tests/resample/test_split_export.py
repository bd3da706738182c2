"""Splits as standalone datasets: what is in them, whose ids they have, and what a crash leaves."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

from heldout import Bootstrap, Collection, HoldOut, InputError, KFold, cross, read_collection
from heldout.data.export import write_map
from heldout.resample.export import IdMaps, export_splits, maps_beside, read_map, standalone

FORMS = ["beir", "trec", "lines"]


def made(prefix="doc-", n=24):
    documents = {f"{prefix}{at}": f"text of {at}" for at in range(n)}
    queries = {f"q{at}": f"query {at}" for at in range(6)}
    qrels = {
        query: {f"{prefix}{(at * 4 + step) % n}": step % 3 for step in range(7)}
        for at, query in enumerate(queries)
    }
    return Collection(documents, queries, qrels, name="small")


def first_ids(folder, collection):
    """The first ids of the documents and queries of a written side."""
    maps = maps_beside(folder)
    parts = (maps.documents, collection.documents.ids), (maps.queries, collection.queries.ids)
    return [[known[unit] if known else unit for unit in ids] for known, ids in parts]


def texts_of(collection):
    return [text for _, text in collection.documents.pairs()]


def judged(collection, documents, queries):
    rows = collection.judgements
    columns = (rows.queries.tolist(), rows.documents.tolist(), rows.grades.tolist())
    return {(queries[q], documents[d], g) for q, d, g in zip(*columns, strict=True)}


@pytest.mark.parametrize("to", FORMS)
def test_a_written_side_is_its_view(tmp_path, to):
    whole = made()
    expected = judged(whole, whole.documents.ids, whole.queries.ids)
    for unit in ("query", "document"):
        splits = KFold(3, stratify="relevance").splits(whole, unit)
        folders = export_splits(splits, whole, tmp_path / unit, to)
        assert folders == ["r0-f0", "r0-f1", "r0-f2"]
        for split, name in zip(splits, folders, strict=True):
            for side in ("train", "test"):
                view = split.view(whole, side)
                folder = tmp_path / unit / name / side
                found = read_collection(folder)
                documents, queries = first_ids(folder, found)
                assert documents == view.documents.ids[:]
                assert queries == list(view.queries.ids)
                assert texts_of(found) == texts_of(view)
                kept = {row for row in expected if row[0] in queries and row[1] in documents}
                assert judged(found, documents, queries) == kept
                assert kept
        table = (tmp_path / unit / "folds.tsv").read_text().splitlines()
        assert len(table) == 1 + len(splits.ids)
        manifest = json.loads((tmp_path / unit / "split.json").read_text())
        assert manifest["fingerprint"] == splits.fingerprint
        assert manifest["collection_fingerprint"] == whole.fingerprint()
        assert manifest["plan"] == "KFold(folds=3, stratify='relevance')"


@pytest.mark.parametrize("to", FORMS)
@pytest.mark.parametrize("again", FORMS)
def test_the_map_of_a_split_of_a_split_leads_to_the_first_original(tmp_path, to, again):
    whole = made()
    texts = {text: one for one, text in whole.documents.pairs()}
    asked = {text: one for one, text in whole.queries.to_dict().items()}
    folder = tmp_path / "one"
    export_splits(HoldOut(0.25).splits(whole, "document"), whole, folder, to)
    for depth, unit in enumerate(("document", "query", "document")):
        side = folder / "r0-f0" / "train"
        part = read_collection(side)
        splits = HoldOut(0.25, seed=depth + 1).splits(part, unit)
        folder = tmp_path / f"depth{depth}"
        export_splits(splits, part, folder, again, maps=maps_beside(side))
        for name in ("train", "test"):
            found = read_collection(folder / "r0-f0" / name)
            documents, queries = first_ids(folder / "r0-f0" / name, found)
            assert documents == [texts[text] for text in texts_of(found)]
            assert queries == [asked[text] for text in found.queries.texts]


def test_a_map_that_belongs_elsewhere_is_refused(tmp_path):
    whole = made()
    with pytest.raises(InputError, match=r"doc_map\.tsv has no line for "):
        export_splits(KFold(2).splits(whole), whole, tmp_path / "out", maps=IdMaps({"a": "x"}))
    assert list(tmp_path.iterdir()) == []
    for table, complaint in (
        ("id\tname\n", r"doc_map\.tsv:1: expected the header"),
        ("new\toriginal\na\tb\na\n", r"doc_map\.tsv:3: 1 columns"),
        ("new\toriginal\na\tb\na\tc\n", r"doc_map\.tsv:3: the new id 'a' appears twice"),
    ):
        (tmp_path / "doc_map.tsv").write_text(table)
        with pytest.raises(InputError, match=complaint):
            maps_beside(tmp_path)
    assert maps_beside("pydocs") == IdMaps()


def test_maps_hold_any_id(tmp_path):
    ids = ["plain", "a\tb", "a\\tb", 'quo"te', "line\nend", "C:\\new", "ä…"]
    write_map(tmp_path / "map", map(str, range(len(ids))), ids)
    assert list(read_map(tmp_path / "map").values()) == ids


@pytest.mark.parametrize("to", FORMS)
def test_ids_that_look_like_paths_name_no_files(tmp_path, to):
    whole = made(prefix="../../evil/")
    (tmp_path / "home").mkdir()
    renamed = Collection(whole.documents, whole.queries, whole.qrels, name="../../../evil")
    export_splits(KFold(2).splits(renamed, "document"), renamed, tmp_path / "home" / "out", to)
    assert [one.name for one in tmp_path.iterdir()] == ["home"]
    assert [one.name for one in (tmp_path / "home").iterdir()] == ["out"]
    names = "".join(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*"))
    assert "doc-" not in names
    assert ".." not in names


@pytest.mark.parametrize("to", FORMS)
def test_documents_that_were_drawn_twice_are_there_twice(tmp_path, to):
    whole = made()
    split = Bootstrap(1).splits(whole, "document")[0]
    export_splits(Bootstrap(1).splits(whole, "document"), whole, tmp_path / "out", to)
    found = read_collection(tmp_path / "out" / "r0-f0" / "train")
    documents, _ = first_ids(tmp_path / "out" / "r0-f0" / "train", found)
    assert documents == [whole.documents.ids[n] for n in split.rows("train").tolist()]
    assert len(set(found.documents.ids)) == len(documents) == 24
    rows = whole.judgements
    assert len(found.judgements) == split.train[rows.documents].sum()


def test_queries_that_were_drawn_twice_are_judged_twice():
    whole = made()
    split = Bootstrap(1).splits(whole)[0]
    part, _, queries = standalone(split.view(whole, "train"))
    assert len(part.queries) == 6
    counts = np.bincount(whole.judgements.queries, minlength=6)
    assert len(part.judgements) == (counts * split.train).sum()
    for copy, original in zip(part.queries.ids, queries, strict=True):
        assert part.qrels.to_dict()[copy] == whole.qrels.to_dict()[original]


def test_two_way_splits_and_third_sides_are_written(tmp_path):
    whole = made()
    export_splits(cross(KFold(2), KFold(3)).splits(whole), whole, tmp_path / "both")
    assert len(list((tmp_path / "both").glob("r0-f*-d*"))) == 6
    found = read_collection(tmp_path / "both" / "r0-f1-d2" / "test")
    assert (len(found.queries), len(found.documents)) == (3, 8)
    three = HoldOut(0.25, 0.25).splits(whole, "document")
    export_splits(three, whole, tmp_path / "three", "lines")
    found = read_collection(tmp_path / "three" / "r0-f0" / "validation")
    assert len(found.documents) == 6


def test_an_old_export_is_replaced_only_when_asked(tmp_path):
    whole = made()
    splits = KFold(2).splits(whole, "document")
    export_splits(splits, whole, tmp_path / "out", "lines")
    with pytest.raises(InputError, match="force=True"):
        export_splits(splits, whole, tmp_path / "out")
    export_splits(splits, whole, tmp_path / "out", "trec", force=True)
    assert (tmp_path / "out" / "r0-f0" / "test" / "documents.trec").exists()
    (tmp_path / "out" / "thesis.docx").write_text("ten years of work")
    with pytest.raises(InputError, match="thesis"):
        export_splits(splits, whole, tmp_path / "out", force=True)


KILLED = """
import os, signal, sys
from heldout import KFold, read_collection
from heldout.resample import export
real, calls = export.export_collection, []
def killed(*arguments, **options):
    real(*arguments, **options)
    calls.append(1)
    if len(calls) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
export.export_collection = killed
whole = read_collection(sys.argv[1])
export.export_splits(KFold(4).splits(whole, "document"), whole, sys.argv[2])
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_an_export_that_is_killed_leaves_nothing_that_looks_complete(tmp_path):
    export_splits(KFold(2).splits(made(), "document"), made(), tmp_path / "source")
    source = tmp_path / "source" / "r0-f0" / "train"
    target = tmp_path / "work" / "out"
    target.parent.mkdir()
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", KILLED, str(source), str(target)], check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    left = [one.name for one in target.parent.iterdir()]
    assert left  # it was killed in the middle, not before
    assert all(name.startswith(".out.") and name.endswith(".tmp") for name in left)
    assert not list(target.parent.rglob("split.json"))
    # And it can be written now.
    whole = read_collection(source)
    export_splits(KFold(4).splits(whole, "document"), whole, target)
    assert (target / "split.json").exists()
