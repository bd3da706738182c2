"""Documents that belong together, in experiments and studies: a copy is no new document."""

import pytest
from document_data import topical_collection
from experiment_data import small_collection

import heldout
from commands import printed, refused
from heldout import Collection, Experiment, HoldOut, KFold, System, TestSet, cross

MARK = " as was seen"


def doubled(collection, change=lambda text: text):
    """The collection with a copy of every document, judged alike."""
    pairs = list(collection.documents.pairs())
    texts = dict(pairs) | {f"{doc}-copy": change(text) for doc, text in pairs}
    qrels = {
        query: {name: grade for doc, grade in rows.items() for name in (doc, f"{doc}-copy")}
        for query, rows in collection.qrels.to_dict().items()
    }
    return Collection(texts, collection.queries, qrels, name=collection.name)


def memorise(train, test, known=True):
    """Rank documents by the grade that their text had in what was seen."""
    texts = {doc: text.removesuffix(MARK) for doc, text in train.documents.pairs()}
    grades = {
        query: {texts[doc]: grade for doc, grade in rows.items()}
        for query, rows in train.qrels.to_dict().items()
    }
    here = {doc: text.removesuffix(MARK) for doc, text in test.documents.pairs()}
    return {
        query: {
            doc: known * float(grades.get(query, {}).get(text, 0)) for doc, text in here.items()
        }
        for query in test.queries.ids
    }


def ignore(train, test):
    return memorise(train, test, known=False)


def estimate(system, collection, groups=None):
    """The score for new documents, and the codes of the notes."""
    plan = {"folds": 20} | ({} if groups is None else {"groups": groups})
    results = Experiment(
        collection=collection,
        systems=[System.of(system, "own", comparable=True)],
        by="document",
        plan=plan,
        measures=["nDCG@10"],
    ).run()
    return results.value("own"), {note.code for note in results.notes}


COPIES = [
    (lambda text: text, "none", "twins", None),
    (lambda text: text + MARK, None, "near-duplicates", "near-duplicates"),
]


@pytest.mark.parametrize(("change", "apart", "warned", "together"), COPIES)
def test_a_system_that_memorises_texts_gets_what_is_right(change, apart, warned, together):
    copied = doubled(small_collection(), change)
    wrong, said = estimate(memorise, copied, apart)
    assert wrong > 0.95
    assert warned in said
    right, said = estimate(memorise, copied, together)
    assert "duplicates" in said
    assert warned not in said
    # Without a copy of it to be seen, nothing is known of a document.
    assert right == estimate(ignore, copied, together)[0] < 0.5


SAFE = System.of(memorise, "safe", comparable=True, learns=False)
LEARNS = System.of(memorise, "own", comparable=True)
SIDES = TestSet(["d001", "d007-copy"])


WARNED = [
    ([LEARNS], "document", KFold(3), "groups 'near-duplicates'"),
    ([SAFE, LEARNS], "document", HoldOut(0.3), "groups 'near-duplicates'"),
    ([LEARNS], "document", SIDES, "move them to one side"),
    ([LEARNS], "both", cross(KFold(2), KFold(2)), "groups 'near-duplicates'"),
    ([LEARNS], "both", cross(KFold(2), KFold(2, groups="near-duplicates")), None),
    ([LEARNS], "query", KFold(3), None),
    (["bm25", SAFE], "document", KFold(3), None),
]


def test_systems_that_learn_are_warned_about_near_duplicates():
    copied = doubled(small_collection(), lambda text: text + MARK)
    for systems, by, plan, advice in WARNED:
        notes = Experiment(collection=copied, systems=systems, by=by, plan=plan).check().notes
        said = [note.text for note in notes if note.code == "near-duplicates"]
        assert len(said) == (advice is not None), (by, plan)
        assert all("own learned may be held-out text: " in one and advice in one for one in said)


def test_doubled_documents_have_the_interval_of_the_single_ones():
    """Two copies of everything: the ranking is another, but its spread is that of the originals.

    With a coin for each copy the interval would be narrower by about the root of 2.
    """
    copied = doubled(topical_collection(120))
    widths = {}
    for groups in ("duplicates", "none"):
        interval = Experiment(
            collection=copied, systems=["bm25"], by="document", measures=["nDCG@10"],
            plan={"folds": 5, "groups": groups},
        ).run().interval("bm25")  # fmt: skip
        widths[groups] = interval.high - interval.low
    assert widths["duplicates"] > 1.15 * widths["none"]


def test_commands_and_files_take_groups(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    copied = doubled(topical_collection(60))
    heldout.export_collection(copied, tmp_path / "copied", "beir")
    rows = "".join(f"{doc}\t{number % 50}\n" for number, doc in enumerate(copied.documents.ids))
    (tmp_path / "groups.tsv").write_text(rows)
    for groups, code in (("none", "twins"), ("groups.tsv", "duplicates")):
        common = ["copied", "--groups", groups]
        study = ["--draws", "2", "--replicates", "2"]
        assert f"[{code}]" in printed(capsys, "study", "bias", *common, *study).err
        assert f"[{code}]" in printed(capsys, "split", *common, "--by", "document").out
    said = refused(capsys, "run", *common, "--by", "both", "--system", "bm25")
    assert "one kind of unit" in said
    fields = 'collection = "copied"\nby = "document"\nsystems = ["bm25"]\n'
    for groups, kinds, message in (
        ("'near-duplicates'", 60, ""),
        ("{file = 'groups.tsv'}", 49, ""),
        ("'groups.tsv'", 0, "'groups.tsv' is unknown: expected 'duplicates', 'near"),
    ):
        (tmp_path / "groups.toml").write_text(f"{fields}plan = {{folds = 3, groups = {groups}}}\n")
        whole = Experiment.read(tmp_path / "groups.toml")
        if kinds:
            assert whole.check().splits.groups.max() < kinds
        else:
            with pytest.raises(heldout.HeldoutError, match=message):
                whole.check()
