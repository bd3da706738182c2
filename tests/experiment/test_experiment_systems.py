"""Systems of all kinds, and what they may see: never anything that is held out."""

import numpy as np
import pytest
from experiment_data import overlap, small_collection

from heldout.data.collection import View
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment
from heldout.experiment.problems import ExperimentError
from heldout.experiment.systems.base import System
from heldout.experiment.systems.calls import CallSystem
from heldout.experiment.systems.choose_in_folds import call_seed
from heldout.experiment.systems.models import ModelSystem
from heldout.experiment.systems.runs import RunSystem
from heldout.measure.evaluate import evaluate
from heldout.resample.plans import Bootstrap, HoldOut, KFold
from heldout.resample.two_way import cross
from heldout.retrieve.index import Index
from heldout.retrieve.models import Model
from heldout.retrieve.search import search
from heldout.tune.space import Space


@pytest.fixture(scope="module")
def collection():
    return small_collection()


class TestWritten:
    def test_a_model_with_fixed_and_tuned_parameters(self):
        system = System.of("special = bm25-plus(k1=0.5:1.5:3, b=0.3,0.6, delta=0.5)")
        assert isinstance(system, ModelSystem)
        assert system.name == "special"
        assert [str(one) for one in system.models()[:2]] == [
            "bm25-plus(k1=0.5, b=0.3, delta=0.5)",
            "bm25-plus(k1=0.5, b=0.6, delta=0.5)",
        ]
        assert len(system.models()) == 6
        assert system.edges(0) == ("k1", "b")

    def test_a_model_object(self):
        system = System.of(Model.make("ql-dirichlet", mu=100))
        assert system.models() == (Model.make("ql-dirichlet", mu=100),)
        assert not system.tuned

    def test_a_group_of_runs_by_the_values_in_their_names(self, tmp_path):
        for value in ("0.5", "0.1", "1.0"):
            (tmp_path / f"lambda={value}.run").write_text("q Q0 d 1 1.0 t\n")
        system = System.of(f"ql={tmp_path}/lambda=*.run")
        assert isinstance(system, RunSystem)
        assert system.name == "ql"
        assert [point["lambda"] for point in system.points()] == [0.1, 0.5, 1.0]

    def test_a_function_in_a_file(self, tmp_path):
        (tmp_path / "ranker.py").write_text("def rank(train, test):\n    return {}\n")
        system = System.of(f"mine={tmp_path}/ranker.py:rank")
        assert isinstance(system, CallSystem)
        assert (system.name, system.kind) == ("mine", "function")

    def test_a_file_that_fails_is_named(self, tmp_path):
        (tmp_path / "ranker.py").write_text("import no_such_package_at_all\n")
        with pytest.raises(InputError, match=r"ranker\.py cannot be run \(ModuleNotFoundError"):
            System.of(f"{tmp_path}/ranker.py:rank")


class TestGiven:
    """The same ranking in every form it may come in gives the same values."""

    def results(self, collection, system, **more):
        experiment = Experiment(
            collection=collection, systems=[system], plan=KFold(3), measures=["nDCG@10"], **more
        )
        return experiment.run().scores().values[:, 0]

    def expected(self, collection):
        index = Index.build(collection)
        run = search(index, collection.queries, "bm25")
        return evaluate(collection.qrels, run, ["nDCG@10"]).per_unit(0, 0)

    def test_a_model_a_run_a_function_an_object(self, collection, tmp_path):
        def rank(train, test):
            del train
            return search(Index.build(test.collection), test.collection.queries, "bm25")

        class Ranker:
            def fit(self, view):
                self.index = Index.build(view.collection)

            def predict(self, view):
                return search(self.index, view.collection.queries, "bm25").to_dict()

        run = search(Index.build(collection), collection.queries, "bm25")
        run.write(tmp_path / "bm25.run")
        wanted = self.expected(collection)
        for system in (
            "bm25",
            str(tmp_path / "bm25.run"),
            run,
            rank,
            lambda train, test: rank(train, test).to_frame(),
            Ranker,
            Ranker(),
        ):
            found = self.results(collection, system)
            assert found == pytest.approx(wanted, abs=1e-12)

    def test_a_seed_is_given_to_those_who_take_it(self, collection):
        seen = []

        def rank(train, test, seed):
            seen.append(seed)
            return overlap(train, test)

        system = System.of(rank, "f")
        self.results(collection, system, seed=5)
        assert seen == [call_seed(5, "f", f"r0/f{fold}", -1) for fold in range(3)]
        assert len(set(seen)) == 3

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (lambda *_: None, "returned NoneType: expected a Run"),
            (lambda *_: {"strange": {"d000": 1.0}}, "not on the test side"),
            (lambda _, test: {test.queries.ids[0]: {"zz": 1.0}}, "not on the test side"),
            (lambda *_: 1 / 0, "ZeroDivisionError"),
        ],
    )
    def test_what_cannot_be_used_is_refused(self, collection, given, message):
        with pytest.raises(InputError, match=message):
            self.results(collection, given)


class Watcher:
    """A system that knows what is held out and fails if it can reach it."""

    def __init__(self, collection, by):
        self.whole, self.by, self.calls = collection, by, []

    def __call__(self, train, test, power=1.0):
        seen, asked = train.collection, test.collection
        self.calls.append((set(seen.queries.ids), set(asked.queries.ids)))
        assert not len(asked.qrels)
        assert not len(test.qrels)
        documents = set(seen.documents.ids)
        judged = seen.qrels.to_dict()
        assert set(judged) <= set(seen.queries.ids)
        assert all(set(docs) <= documents for docs in judged.values())
        assert {one for one, _ in seen.documents.pairs()} == documents
        return overlap(train, test, power)


PLANS = {
    "query": [KFold(4), HoldOut(0.25), Bootstrap(3)],
    "document": [KFold(3), HoldOut(0.25), Bootstrap(2)],
    "both": [cross(KFold(2), KFold(2))],
}


@pytest.mark.parametrize(
    ("by", "plan"), [(by, plan) for by, plans in PLANS.items() for plan in plans]
)
@pytest.mark.parametrize("inner", [None, 2])
def test_a_system_never_sees_what_is_held_out(collection, by, plan, inner):
    """For every call: nothing that its outer split holds out is within reach while it is tuned."""
    watcher = Watcher(collection, by)
    settings = Experiment(
        collection=collection,
        systems=[System.of(watcher, "w", kind="function", comparable=True)],
        by=by,
        plan=plan,
        inner=inner,
    ).check()
    tuned = System.of(watcher, "w", kind="function", comparable=True, space={"power": [0.5, 1.0]})
    reached = []

    def checked(train, test, power=1.0):
        reached.append((train, test))
        return watcher(train, test, power)

    results = Experiment(
        collection=collection,
        systems=[System.of(checked, "w", comparable=True, space=tuned.space)],
        by=by,
        plan=plan,
        inner=inner,
    ).run()
    assert len(results.folds) == len(settings.splits)
    per_split = 2 * (inner or 1)
    for number, split in enumerate(settings.splits):
        held = split.view(collection, "test")
        queries = set(held.queries.ids) if by != "document" else set()
        documents = set(held.documents.ids) if by != "query" else set()
        for train, test in reached[number * per_split : (number + 1) * per_split]:
            for view in (train, test):
                assert not queries & set(view.collection.queries.ids)
                assert not documents & set(view.collection.documents.ids)
        train, test = reached[-len(settings.splits) + number]
        assert not queries & set(train.collection.queries.ids)
        assert not documents & set(train.collection.documents.ids)
        if by != "document":
            assert set(test.collection.queries.ids) == queries
        if by != "query":
            assert set(test.collection.documents.ids) == documents


def test_the_watch_notices_a_leak(collection):
    """The test above can fail: a view of the whole collection is a leak."""
    with pytest.raises(AssertionError):
        Watcher(collection, "query")(View(collection), View(collection))


class TestPyTerrier:
    """The real package, whose Transformer needs no Java."""

    @pytest.fixture
    def pt(self):
        return pytest.importorskip("pyterrier", reason="python-terrier is not installed")

    def retriever(self, pt, collection):
        import pandas as pd

        class Overlap(pt.Transformer):
            def __init__(self, power=1.0):
                super().__init__()
                self.power = power

            def transform(self, inp):
                rows = []
                for qid, query in zip(inp["qid"], inp["query"], strict=True):
                    words = set(query.split())
                    for one, text in collection.documents.pairs():
                        bag = text.split()
                        score = sum(word in words for word in bag) / len(bag) ** self.power
                        if score:
                            rows.append((qid, query, one, score))
                return pd.DataFrame(rows, columns=["qid", "query", "docno", "score"])

        return Overlap

    def test_a_transformer_that_learns_nothing_runs_once_a_value(self, pt, collection):
        kind = self.retriever(pt, collection)
        made = []

        def make(power):
            made.append(power)
            return kind(power)

        system = System.of(make, "pt", space={"power": [0.5, 1.0]})
        direct = System.of(overlap, "f", space={"power": [0.5, 1.0]})
        results = Experiment(collection=collection, systems=[system, direct], plan=KFold(3)).run()
        values = results.scores().values  # noqa: PD011 - not a frame
        assert values[:, 0] == pytest.approx(values[:, 1], abs=1e-12)
        assert sorted(made) == [0.5, 0.5, 1.0]  # once to see whether it learns, once per setting
        assert results.summary[0]["ship"] == results.summary[1]["ship"]

    def test_a_pipeline_with_an_estimator_is_fitted_in_every_fold(self, pt, collection):
        fitted = []

        class Learned(pt.Estimator):
            weight = 0.0

            def fit(self, topics_tr, qrels_tr, topics_va, qrels_va):
                assert list(qrels_tr.columns) == ["qid", "docno", "label"]
                assert set(qrels_tr.qid) <= set(topics_tr.qid)
                assert set(qrels_va.qid) <= set(topics_va.qid)
                fitted.append((set(topics_tr.qid), set(topics_va.qid)))
                self.weight = 1.0

            def transform(self, inp):
                assert self.weight == 1.0
                return inp

        pipeline = self.retriever(pt, collection)() >> Learned()
        results = Experiment(
            collection=collection, systems={"pt": pipeline, "f": overlap}, plan=KFold(3)
        ).run()
        values = results.scores().values  # noqa: PD011 - not a frame
        assert values[:, 0] == pytest.approx(values[:, 1], abs=1e-12)
        folds = KFold(3).splits(collection).folds()
        ids = np.array(collection.queries.ids)
        assert len(fitted) == 3
        for fold, (train, validation) in enumerate(fitted):
            assert not train & validation
            assert train | validation == set(ids[folds != fold])

    def test_a_function_that_makes_no_transformer(self, collection):
        with pytest.raises(InputError, match=r"does not take \(train, test\) and returned int"):
            Experiment(collection=collection, systems={"f": lambda power=1: power}).run()

    def test_documents_cannot_be_held_out_of_its_index(self, pt, collection):
        pipeline = self.retriever(pt, collection)()
        with pytest.raises(ExperimentError, match="its own index"):
            Experiment(collection=collection, systems={"pt": pipeline}, by="document").check()


def test_a_run_may_lack_queries_and_have_strange_documents(collection):
    first = collection.queries.ids[0]
    best = next(iter(collection.qrels.to_dict()[first]))
    run = Run.of({first: {"nowhere": 9.0, best: 1.0}, "unknown": {"d000": 1.0}})
    results = Experiment(
        collection=collection, systems={"r": run}, plan=KFold(2), measures=["RR"]
    ).run()
    values = results.scores()
    assert values.column("r")[values.units.index(first)] == 0.5
    assert values.column("r").sum() == 0.5
    top = results.held_out.rows(named=True)
    assert [one["document"] for one in top] == [None, best]


def test_a_grid_is_listed_a_few_times_not_once_per_setting(collection, monkeypatch):
    listed, points = [], Space.points

    def counted(space):
        listed.append(space)
        return points(space)

    monkeypatch.setattr(Space, "points", counted)
    system = "bm25(k1=0.5:3:20, b=0:1:5)"
    results = Experiment(collection=collection, systems=[system], plan=KFold(2)).run()
    assert len(results.surface) == 300
    assert 0 < len(listed) < 40
