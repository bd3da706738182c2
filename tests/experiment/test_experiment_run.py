"""Running: against slow loops, in any order, with any number of workers, after any interruption."""

import numpy as np
import polars as pl
import pytest
from experiment_data import overlap, small_collection, table_bytes

from heldout.data.collection import Collection, View
from heldout.data.run import Run
from heldout.errors import InputError
from heldout.experiment.experiment import Experiment
from heldout.experiment.systems.base import System
from heldout.measure.evaluate import evaluate
from heldout.resample.plans import Bootstrap, HoldOut, KFold, LeaveOneOut
from heldout.resample.two_way import cross
from heldout.retrieve.index import Index
from heldout.retrieve.search import search

MEASURES = ["nDCG@10", "AP"]


@pytest.fixture(scope="module")
def collection():
    return small_collection()


@pytest.fixture(scope="module")
def index(collection):
    return Index.build(collection)


def tuned_overlap(call=overlap, **more):
    return System.of(call, "f", space={"power": [0.0, 0.5, 1.0]}, **more)


def turned(collection, folds, fold):
    """The same collection, but for the judgements of one fold of the queries."""
    other = {collection.queries.ids[place] for place in np.flatnonzero(folds == fold)}
    judged = {
        query: {doc: (0 if grade else 2) if query in other else grade for doc, grade in own.items()}
        for query, own in collection.qrels.to_dict().items()
    }
    return Collection(collection.documents, collection.queries, judged)


def searched(index, collection, text):
    """The run of each parameter setting of a model."""
    points = System.of(text).search.points
    models = ["bm25(k1={k1}, b={b})".format(**{"b": 0.75} | point) for point in points]
    return [search(index, collection.queries, model) for model in models]


class TestByQuery:
    """A slow loop over folds, values and runs gives the same numbers."""

    @pytest.mark.parametrize(
        "plan", [KFold(4), KFold(3, repeats=2), LeaveOneOut(), HoldOut(0.3), Bootstrap(5)]
    )
    def test_models_as_a_slow_loop_does(self, collection, index, plan):
        experiment = Experiment(
            collection=collection,
            index=index,
            systems="bm25(k1=0.2:2.2:5, b=0,0.5,1)",
            plan=plan,
            measures=MEASURES,
            tune_for="AP",
        )
        results = experiment.run()
        runs = searched(index, collection, "bm25(k1=0.2:2.2:5, b=0,0.5,1)")
        each = [evaluate(collection.qrels, run, MEASURES) for run in runs]
        queries = each[0].units()
        values = {
            name: np.array([one.per_unit(0, row) for one in each])
            for row, name in enumerate(MEASURES)
        }
        rows = []
        for split in plan.splits(collection):
            weights = np.array([split.train[split.ids.index(q)] for q in queries])
            means = (values["AP"] * weights).sum(axis=1) / weights.sum()
            best = int(np.argmax(means.round(12)))
            tested = [at for at, q in enumerate(queries) if split.test[split.ids.index(q)]]
            rows += [
                (split.key.repeat, split.key.fold, queries[at], name, values[name][best, at])
                for name in MEASURES
                for at in tested
            ]
        found = results.to_frame().select("repeat", "fold", "unit", "measure", "value").rows()
        assert len(found) == len(rows)
        for mine, theirs in zip(sorted(found), sorted(rows), strict=True):
            assert mine[:4] == theirs[:4]
            assert mine[4] == pytest.approx(theirs[4], abs=1e-12)

    def test_a_function_is_tuned_as_the_same_runs_are(self, collection):
        """Nothing is learned here, so all ways of choosing on the train side agree."""
        view = View(collection)
        runs = {f"power={power}": overlap(None, view, power) for power in (0.0, 0.5, 1.0)}
        group = System.of({name: Run.of(run, name) for name, run in runs.items()}, "runs")
        results = Experiment(
            collection=collection,
            systems=[tuned_overlap(), group],
            plan=KFold(5, repeats=2),
            measures=MEASURES,
        ).run()
        for measure in MEASURES:
            values = results.scores(measure).values
            assert values[:, 0] == pytest.approx(values[:, 1], abs=1e-12)
        first, second = results.summary
        assert first["ship"] == second["ship"]
        assert first["estimates"][0]["train"] == pytest.approx(second["estimates"][0]["train"])
        folds = results.folds.partition_by("system")
        for column in ("number", "train", "held_out"):
            one, other = (part[column].to_list() for part in folds)
            assert one == pytest.approx(other, abs=1e-12)

    def test_what_is_held_out_does_not_change_the_choice(self, collection, index):
        """Held-out judgements are turned over; the choice and the train score stay as they are."""
        plan = KFold(4)
        settings = {"systems": ["bm25(k1=0.2:2.2:5, b=0,1)", tuned_overlap()], "plan": plan}
        before = Experiment(collection=collection, index=index, **settings).run()
        folds = plan.splits(collection).folds()
        for fold in range(4):
            other = turned(collection, folds, fold)
            after = Experiment(collection=other, index=index, **settings).run()
            for name in ("bm25", "f"):
                one, two = (
                    frame.filter((frame["system"] == name) & (frame["fold"] == fold))
                    for frame in (before.folds, after.folds)
                )
                columns = ["number", "train"]
                assert one.select(columns).rows() == two.select(columns).rows()
                assert one["held_out"].item() != two["held_out"].item()

    def test_the_estimate_is_the_mean_over_queries(self, collection, index):
        results = Experiment(
            collection=collection, index=index, systems="bm25(k1=0.2:2.2:5)", plan=KFold(5, 3)
        ).run()
        estimate = results.estimate("bm25")
        values = results.scores().values[:, 0]
        assert estimate["value"] == pytest.approx(values.mean())
        assert estimate["n_queries"] == len(values) == 24
        assert estimate["low"] < estimate["value"] < estimate["high"]
        assert estimate["estimand"] == "new queries on these documents"
        assert estimate["optimism"] == pytest.approx(estimate["train"] - estimate["value"])

    def test_several_runs_of_a_system_that_depends_on_chance(self, collection):
        def noisy(train, test, seed):
            noise = np.random.default_rng(seed)
            found = overlap(train, test)
            return {
                query: {doc: score + noise.normal(0, 0.2) for doc, score in docs.items()}
                for query, docs in found.items()
            }

        results = Experiment(
            collection=collection, systems={"noisy": noisy}, plan=KFold(3), runs=4
        ).run()
        runs = results.values.group_by("run").len().sort("run")
        assert runs.rows() == [(run, 24) for run in range(4)]
        assert len(results.scores().units) == 24
        each = results.values.partition_by("run")
        assert each[0]["value"].to_list() != each[1]["value"].to_list()


class TestByDocument:
    def test_folds_that_can_be_merged_are_one_ranking(self, collection):
        """A function that scores by nothing but document and query: pooled, it is as if whole."""
        plan = KFold(3)
        results = Experiment(
            collection=collection,
            systems=[tuned_overlap(comparable=True)],
            by="document",
            plan=plan,
            measures=MEASURES,
        ).run()
        # Scores depend on document and query alone: the folds merged are the whole ranking.
        folds = results.folds
        assert folds["number"].n_unique() == 1
        power = [0.0, 0.5, 1.0][folds["number"][0]]
        whole = overlap(None, View(collection), power)
        wanted = evaluate(collection.qrels, whole, MEASURES)
        for at, measure in enumerate(MEASURES):
            scores = results.scores(measure)
            assert scores.units == tuple(wanted.units())
            assert scores.values[:, 0] == pytest.approx(wanted.per_unit(0, at), abs=1e-12)
        estimate = results.estimate("f")
        assert estimate["estimand"] == "these queries on new documents"
        assert estimate["low"] < estimate["value"] < estimate["high"]

    def test_folds_that_cannot_be_merged_are_measured_one_by_one(self, collection):
        plan = KFold(3)
        results = Experiment(
            collection=collection,
            systems=[System.of(overlap, "f", comparable=False)],
            by="document",
            plan=plan,
            measures=["AP"],
        ).run()
        for split in plan.splits(collection, "document"):
            view = split.view(collection, "test")
            docs = set(view.documents.ids)
            run = {
                query: {doc: score for doc, score in ranked.items() if doc in docs}
                for query, ranked in overlap(None, View(collection)).items()
            }
            wanted = evaluate(view.qrels, run, ["AP"])
            relevant = {
                query
                for query, judged in view.qrels.to_dict().items()
                if any(grade > 0 for grade in judged.values())
            }
            found = results.values.filter(results.values["fold"] == split.key.fold)
            assert set(found["unit"]) == relevant
            for unit, value in found.select("unit", "value").iter_rows():
                at = wanted.units().index(unit)
                assert value == pytest.approx(wanted.per_unit(0, 0)[at], abs=1e-12)
        estimate = results.estimate("f")
        assert estimate["low"] is None
        assert "as few as a fold has" in estimate["estimand"]

    @pytest.mark.parametrize("plan", [KFold(3, repeats=2), HoldOut(0.3), Bootstrap(2)])
    def test_models_under_every_plan(self, collection, index, plan):
        results = Experiment(
            collection=collection,
            index=index,
            systems=["bm25(k1=0.2:2.2:5)", "ql-dirichlet(mu=1,10,100)"],
            by="document",
            plan=plan,
            measures=MEASURES,
            replicates=100,
        ).run()
        assert len(results.folds) == 2 * len(plan.splits(collection, "document"))
        for name in results.systems:
            for measure in MEASURES:
                found = results.estimate(name, measure)
                assert 0 < found["low"] < found["value"] < found["high"] < 1.2
                assert found["estimand"] == "these queries on new documents"

    def test_a_hold_out_of_documents_as_an_index_of_the_rest(self, collection, index):
        """Choose on the train documents by search in their own index."""
        plan = HoldOut(0.3)
        results = Experiment(
            collection=collection,
            index=index,
            systems="bm25(k1=0.2:2.2:5, b=0,1)",
            by="document",
            plan=plan,
            tune_for="AP",
            replicates=100,
        ).run()
        (split,) = plan.splits(collection, "document")
        view = split.view(collection, "train")
        ids = view.documents.ids[:]
        texts = {one: text for one, text in collection.documents.pairs() if one in set(ids)}
        seen = Index.build(texts)
        means = []
        for run in searched(seen, collection, "bm25(k1=0.2:2.2:5, b=0,1)"):
            found = evaluate(view.qrels, run, ["AP"])
            keep = [
                at
                for at, query in enumerate(found.units())
                if max(view.qrels.to_dict()[query].values()) > 0
            ]
            means.append(found.per_unit(0, 0)[keep].mean())
        row = results.folds.row(0, named=True)
        assert row["number"] == int(np.argmax(np.round(means, 12)))
        assert row["train"] == pytest.approx(max(means), abs=1e-12)


class TestBoth:
    def test_each_query_is_judged_where_it_had_no_say(self, collection, index):
        plan = cross(KFold(3), KFold(2))
        results = Experiment(
            collection=collection,
            index=index,
            systems=["bm25(k1=0.2:2.2:5)", tuned_overlap(comparable=True)],
            by="both",
            plan=plan,
            measures=MEASURES,
            replicates=100,
        ).run()
        assert len(results.folds) == 2 * 6
        queries = plan.splits(collection).crossed[0].folds()
        ids = collection.queries.ids
        for row in results.values.iter_rows(named=True):
            assert queries[ids.index(row["unit"])] == row["fold"]
        for name in results.systems:
            found = results.estimate(name)
            assert found["estimand"] == "new queries on new documents"
            assert found["n_queries"] == 24
            assert found["low"] < found["value"] < found["high"]

    def test_means_of_all_points_are_kept_for_each_pair_of_folds(self, collection, index):
        settings = {"index": index, "systems": "bm25(k1=0.2:2.2:5)", "by": "both"}
        settings |= {"plan": cross(KFold(3), KFold(2)), "replicates": 100}
        plain = Experiment(collection=collection, **settings).run()
        assert plain.surface.height == (3 * 2 + 1) * 5
        best = plain.surface.group_by("fold", "other").agg(pl.col("mean").max())
        rows = plain.folds.join(best, on=["fold", "other"])
        assert rows.height == 6
        assert rows["train"].to_list() == rows["mean"].to_list()

    def test_the_choice_of_a_query_fold_does_not_see_its_queries(self, collection, index):
        plan = cross(KFold(3), KFold(2))
        settings = {"index": index, "systems": "bm25(k1=0.2:2.2:5, b=0,1)", "by": "both"}
        settings |= {"plan": plan, "replicates": 100}
        before = Experiment(collection=collection, **settings).run()
        folds = plan.splits(collection).crossed[0].folds()
        other = turned(collection, folds, 1)
        after = Experiment(collection=other, **settings).run()
        columns = ["fold", "other", "number", "train"]
        one, two = (
            frame.filter(frame["fold"] == 1).select(columns).rows()
            for frame in (before.folds, after.folds)
        )
        assert one == two
        one, two = (
            frame.filter(frame["fold"] != 1).select(columns).rows()
            for frame in (before.folds, after.folds)
        )
        assert one != two


class TestSameBytes:
    def experiment(self, collection, call=overlap):
        systems = [tuned_overlap(call), "bm25(k1=0.1:4:40)"]
        return Experiment(collection=collection, systems=systems, plan=KFold(3), measures=MEASURES)

    def test_one_and_two_workers(self, collection, tmp_path):
        experiment = self.experiment(collection)
        experiment.run(tmp_path / "one")
        experiment.run(tmp_path / "two", workers=2)
        assert table_bytes(tmp_path / "one") == table_bytes(tmp_path / "two")
        tables = ("folds", "lists", "splits", "surface", "values")
        names = {f"{table}.parquet" for table in tables} | {"manifest.json", "summary.json"}
        assert table_bytes(tmp_path / "one").keys() == names

    @pytest.mark.parametrize("end", [1, 2, 8, 13, 15])
    def test_after_an_interruption_at_any_call(self, collection, tmp_path, end):
        calls, folder = [], tmp_path / "results"

        def counted(train, test, power=1.0):
            calls.append(power)
            if len(calls) == end:
                raise KeyboardInterrupt
            return overlap(train, test, power)

        experiment = self.experiment(collection, counted)
        with pytest.raises(KeyboardInterrupt):
            experiment.run(folder)
        assert not (folder / "manifest.json").exists()
        assert len([*(folder / "heldout-work").glob("*.npz")]) == end - 1
        with pytest.raises(InputError, match="unfinished run: continue it with resume=True"):
            experiment.run(folder)
        experiment.run(folder, resume=True)
        assert len(calls) == (3 + 1) * 3 + 3 + 1  # one call was made twice
        assert not (folder / "heldout-work").exists()
        experiment.run(tmp_path / "whole")
        assert table_bytes(folder) == table_bytes(tmp_path / "whole")


class TestFolders:
    def test_results_are_not_replaced_unasked(self, collection, tmp_path):
        experiment = Experiment(collection=collection, systems="bm25", plan=KFold(3))
        experiment.run(tmp_path / "results")
        with pytest.raises(InputError, match="has results already: replace them with force=True"):
            experiment.run(tmp_path / "results")
        again = experiment.run(tmp_path / "results", resume=True)
        assert again.estimate("bm25") == experiment.run().estimate("bm25")
        experiment.run(tmp_path / "results", force=True)

    @pytest.mark.parametrize(
        "change",
        [
            {"seed": 1},
            {"measures": ["AP"]},
            {"depth": 5},
            {"systems": "bm25(k1=2)"},
            {"plan": KFold(4)},
            {"analyzer": {"stemmer": "english"}},
        ],
    )
    def test_another_experiment_does_not_go_on_in_a_folder(self, collection, tmp_path, change):
        fields = {"collection": collection, "systems": "bm25", "plan": KFold(3)}
        Experiment(**fields).run(tmp_path / "results")
        with pytest.raises(InputError, match="belongs to another experiment"):
            Experiment(**{**fields, **change}).run(tmp_path / "results", resume=True)

    def test_a_folder_with_other_files_is_left_alone(self, collection, tmp_path):
        (tmp_path / "thesis.tex").write_text("")
        with pytest.raises(InputError, match=r"has other files \(thesis\.tex\)"):
            Experiment(collection=collection, systems="bm25", plan=KFold(3)).run(tmp_path)
        assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]

    def test_an_index_of_other_documents_is_refused(self, collection):
        other = Index.build(["a", "b"])
        with pytest.raises(InputError, match="not an index of these documents"):
            Experiment(collection=collection, systems="bm25", index=other, plan=KFold(3)).run()
