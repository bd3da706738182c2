"""Systems of all kinds, and what they may see: never anything that is held out."""

import sys

import pytest
from experiment_data import overlap, small_collection

import heldout
from heldout import Bootstrap, Experiment, HoldOut, Index, InputError, KFold, Model, System

COLLECTION = small_collection()


def run(system, **more):
    given = {"collection": COLLECTION, "plan": KFold(3), "measures": ["nDCG@10"]} | more
    return Experiment(systems=[system], **given).run()


# ---- what they are made of ----------------------------------------------------------------------


def test_a_text_has_a_name_fixed_and_tuned_parameters(tmp_path):
    system = System.of("special = bm25-plus(k1=0.5:1.5:3, b=0.3,0.6, delta=0.5)")
    assert system.name == "special"
    assert system.search.points[1] == {"delta": 0.5, "k1": 0.5, "b": 0.6}
    assert len(system.search.points) == 6
    assert system.edges(system.search.points[0]) == ("k1", "b")
    model = System.of(Model.make("ql-dirichlet", mu=100))
    assert (model.name, model.search.points) == ("ql-dirichlet", ({"mu": 100},))
    for value in ("0.5", "0.1", "1.0"):
        (tmp_path / f"lambda={value}.run").write_text("q Q0 d 1 1.0 t\n")
    runs = System.of(f"ql={tmp_path}/lambda=*.run")
    assert runs.name == "ql"
    assert [point["lambda"] for point in runs.search.points] == [0.1, 0.5, 1.0]


def test_the_same_ranking_in_every_form_has_the_same_values(tmp_path):
    def rank(train, test):
        del train
        return heldout.search(Index.build(test.collection), test.collection.queries, "bm25")

    class Ranker:
        def fit(self, view):
            self.index = Index.build(view.collection)

        def predict(self, view):
            return heldout.search(self.index, view.collection.queries, "bm25").to_dict()

    ranked = heldout.search(Index.build(COLLECTION), COLLECTION.queries, "bm25")
    ranked.write(tmp_path / "bm25.run")
    expected = heldout.evaluate(COLLECTION.qrels, ranked, ["nDCG@10"]).per_unit(0, 0)
    for system in (
        "bm25",
        str(tmp_path / "bm25.run"),
        ranked,
        rank,
        lambda train, test: rank(train, test).to_frame(),
        Ranker,
        Ranker(),
    ):
        assert run(system).scores().values[:, 0] == pytest.approx(expected, abs=1e-12)


RETURNED = [
    (lambda *_: None, "expected a Run.*, got an object of type NoneType"),
    (lambda *_: {"strange": {"d000": 1.0}}, "queries that are not on the test side: 1"),
    (lambda _, test: {test.queries.ids[0]: {"zz": 1.0}}, r"not on the test side: 1 \(zz\)"),
    (lambda *_: {}, "split r0/f0: <lambda>: run has no rows"),
    (lambda *_: {"q00": {"d000": "x"}}, "split r0/f0: <lambda>: run: query 'q00', document"),
    (lambda *_: 1 / 0, "split r0/f0: .*ZeroDivisionError"),
]


def test_what_a_function_returns_is_checked():
    for given, message in RETURNED:
        with pytest.raises(InputError, match=message):
            run(given)


def test_what_does_not_learn_gets_no_judgements_and_is_called_once():
    calls = []

    def rank(train, test):
        calls.append((len(train.qrels), len(test.qrels)))
        return overlap(train, test)

    assert run(System.of(rank, learns=False)).value("rank") > 0
    assert calls == [(0, 0)]


# ---- what they see ------------------------------------------------------------------------------


def test_the_seed_is_one_per_split_and_the_same_for_all_settings():
    def seeds(**more):
        seen = []

        def rank(train, test, seed, power=1.0):
            seen.append((min(test.queries.ids), power, seed))
            return overlap(train, test, power)

        run(System.of(rank, "f", space={"power": [0.5, 1.0]}), **more)
        return seen

    seen = seeds(seed=5)
    assert {len({power for _, power, own in seen if own == seed}) for *_, seed in seen} == {2}
    assert len({seed for *_, seed in seen}) == 4  # three splits, and all data
    assert seeds(seed=5) == seen
    assert not {seed for *_, seed in seeds(seed=6)} & {seed for *_, seed in seen}


FOLDS, HOLD_OUT, VALIDATED = KFold(3), HoldOut(0.25), HoldOut(0.25, validation=0.25)
PLANS = {
    "query": [FOLDS, HOLD_OUT, Bootstrap(3), VALIDATED],
    "document": [FOLDS, HOLD_OUT, Bootstrap(2), VALIDATED],
    "both": [heldout.cross(KFold(2), KFold(2))],
}


@pytest.mark.parametrize(
    ("by", "plan", "inner"),
    [
        (by, plan, inner)
        for by, plans in PLANS.items()
        for plan in plans
        for inner in ([None] if plan is VALIDATED else [None, 2])
    ],
)
def test_a_system_never_sees_what_is_held_out(by, plan, inner):
    """For every call: nothing that its outer split holds out is within reach while it is tuned."""
    reached = []

    def watcher(train, test, power=1.0):
        seen, asked = train.collection, test.collection
        queries, documents = set(seen.queries.ids), set(seen.documents.ids)
        assert not len(asked.qrels)
        assert not len(test.qrels)
        for query, judged in seen.qrels.to_dict().items():
            assert query in queries
            assert documents.issuperset(judged)
        assert {doc for doc, _ in seen.documents.pairs()} == documents
        reached.append((queries, documents, set(asked.queries.ids), set(asked.documents.ids)))
        return overlap(train, test, power)

    system = System.of(watcher, "w", comparable=True, space={"power": [0.5, 1.0]})
    run(system, by=by, plan=plan, inner=inner)
    splits = plan.splits(COLLECTION, *([] if by == "both" else [by]))
    tuning = 2 * (inner or 1)
    assert len(reached) == len(splits) * (tuning + 1) + (0 if plan is VALIDATED else tuning)
    for number, split in enumerate(splits):
        view = split.view(COLLECTION, "test")
        held_queries = set(view.queries.ids) if by != "document" else set()
        held_documents = set(view.documents.ids) if by != "query" else set()
        for queries, documents, *asked in reached[number * tuning : (number + 1) * tuning]:
            assert not held_queries & (queries | asked[0])
            assert not held_documents & (documents | asked[1])
        queries, documents, *asked = reached[number - len(splits)]
        assert not held_queries & queries
        assert not held_documents & documents
        assert by == "document" or asked[0] == held_queries
        assert by == "query" or asked[1] == held_documents


# ---- code that changed --------------------------------------------------------------------------


@pytest.mark.parametrize("changed", ["ranker.py", "own_deeper.py"])
def test_code_that_changed_is_another_experiment(tmp_path, monkeypatch, changed):
    """Also a module of the user's own that the file imports, and one that this imports."""
    (tmp_path / "own_deeper.py").write_text("SCORE = 1.0\n")
    (tmp_path / "own_words.py").write_text("from own_deeper import SCORE\n")
    (tmp_path / "ranker.py").write_text(
        "from own_words import SCORE\n\ndef rank(train, test):\n"
        "    return {query: {'d000': SCORE} for query in test.queries.ids}\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("own_words", "own_deeper"):
        monkeypatch.delitem(sys.modules, name, raising=False)

    def experiment():
        systems = f"{tmp_path}/ranker.py:rank"
        return Experiment(collection=COLLECTION, systems=systems, plan=KFold(3))

    experiment().run(tmp_path / "results")
    experiment().run(tmp_path / "results", resume=True)
    with (tmp_path / changed).open("a") as file:
        file.write("# changed\n")
    with pytest.raises(InputError, match="belongs to another experiment"):
        experiment().run(tmp_path / "results", resume=True)
