"""Parts of an index on a real cluster: what comes back is what one index gives."""

import os
import signal

import numpy as np
import pytest
from experiment_data import overlap, small_collection

from heldout.cli import main
from heldout.errors import InputError
from heldout.experiment.execution.payload import pack_payload
from heldout.experiment.experiment import Experiment
from heldout.retrieve.index import Index
from heldout.retrieve.search import search
from heldout.retrieve.shards import ShardedIndex

distributed = pytest.importorskip("distributed", reason="needs the extra dask")

from heldout.experiment.execution.resources import parts_on_dask  # noqa: E402 - after the look for Dask


@pytest.fixture(scope="module")
def collection():
    return small_collection(200, 24)


@pytest.fixture(scope="module")
def sharded(collection, tmp_path_factory):
    return ShardedIndex.build(collection, path=tmp_path_factory.mktemp("i") / "i", shards=4)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=None,
            scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
            silence_logs=50,
        ) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


@pytest.mark.parametrize("model", ["bm25", "ql-dirichlet", "bm25-plus"])
def test_a_search_on_workers_is_that_of_one_index(model, collection, sharded, client):
    with parts_on_dask(client) as each:
        found = search(sharded, collection.queries, model, k=50, each=each)
    expected = search(Index.build(collection), collection.queries, model, k=50)
    assert found.queries == expected.queries
    assert found.docs.tolist() == expected.docs.tolist()
    np.testing.assert_array_equal(found.scores, expected.scores)


def test_a_worker_that_is_killed_costs_its_parts_alone(sharded, client, tmp_path):
    mark = tmp_path / "died"

    def die_once(part):
        if part.number == 2 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return part.number

    with parts_on_dask(client) as each:
        assert sorted(each(die_once, sharded.parts)) == [0, 1, 2, 3]
    assert mark.exists()


def test_workers_that_do_not_see_the_index_say_so(collection, client, tmp_path):
    index = ShardedIndex.build(collection, path=tmp_path / "here", shards=2)
    (tmp_path / "here").rename(tmp_path / "there")
    with (
        parts_on_dask(client) as each,
        pytest.raises(InputError, match=r"a worker says: .*here.*cannot be read"),
    ):
        search(index, {"q": "w1"}, each=each)


@pytest.mark.parametrize("by", ["query", "document", "both"])
def test_an_experiment_over_parts_is_that_over_one_index(by, collection, sharded, client, tmp_path):
    three = {"folds": 3}

    def run(name, index, **options):
        Experiment(
            collection=collection,
            systems={
                "BM25": {"model": "bm25", "space": {"k1": [0.8, 1.2], "b": [0.4, 0.75]}},
                "QL": "ql-dirichlet(mu=20:100:2)",
            },
            by=by,
            plan={"queries": three, "documents": three} if by == "both" else three,
            measures=["nDCG@10", "AP"],
            index=index,
            replicates=100,
        ).run(tmp_path / name, **options)
        return {one.name: one.read_bytes() for one in (tmp_path / name).glob("*.parquet")}

    expected = run("one", Index.build(collection))
    assert len(expected) > 2
    assert run("parts", sharded.path) == expected
    assert run("dask", sharded.path, dask=client) == expected


def test_parts_that_workers_do_not_see_are_sent(collection, sharded):
    fields = {"collection": collection, "systems": ["bm25"], "index": sharded.path}
    settings = Experiment(**fields).check()
    for embed in (False, True):
        payload = pack_payload(settings, sharded, embed=embed)
        assert (str(sharded.path).encode() in payload.content.tobytes()) is not embed
        assert payload.open().index.fingerprint == sharded.fingerprint


def test_workers_that_rank_models_need_no_text(collection, sharded):
    fields = {"collection": collection, "systems": ["bm25"], "index": sharded.path}
    payload = pack_payload(Experiment(**fields).check(), sharded)
    assert collection.documents.text(0).encode() not in payload.content.tobytes()
    there = payload.open().settings.collection
    assert list(there.documents.ids) == list(collection.documents.ids)
    with pytest.raises(InputError, match="was not sent to this process"):
        there.documents.text(0)
    with pytest.raises(InputError, match="was not sent to this process"):
        there.fingerprint()
    fields["systems"] = ["bm25", ("mine", overlap)]
    payload = pack_payload(Experiment(**fields).check(), sharded)
    assert payload.open().settings.collection.documents.text(0) == collection.documents.text(0)


@pytest.mark.parametrize("where", ["nonsense", "local:0", "local:99999", ""])
def test_what_is_no_cluster_is_refused_at_once(where):
    with (
        pytest.raises(InputError, match=r"is not a Dask cluster|processes need"),
        parts_on_dask(where),
    ):
        pass


def test_the_command(collection, tmp_path, capsys, client):
    lines = [f"{one}\t{text}\n" for one, text in collection.documents.pairs()]
    (tmp_path / "docs.tsv").write_text("".join(lines))
    asked = zip(collection.queries.ids, collection.queries.texts, strict=True)
    (tmp_path / "topics.tsv").write_text("".join(f"{one}\t{text}\n" for one, text in asked))
    docs, topics, parts, one = (
        str(tmp_path / name) for name in ("docs.tsv", "topics.tsv", "parts", "one.index")
    )
    main(["index", docs, "--shards", "3", "-o", parts, "--quiet"])
    main(["index", docs, "-o", one, "--quiet"])
    capsys.readouterr()
    address = client.scheduler.address
    for index, more in ((one, []), (parts, []), (parts, ["--dask", address])):
        main(["search", index, "--queries", topics, "--quiet", *more])
        found = capsys.readouterr().out
        if index == one:
            expected = found
        assert found == expected
    with pytest.raises(SystemExit) as ended:
        main(["search", docs, "--queries", topics, "--dask", address])
    assert ended.value.code == 2
    assert "--dask needs an index that all workers can read" in capsys.readouterr().err
