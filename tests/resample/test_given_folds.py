"""Folds and groups from files: every form they come in, and what is wrong with them by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heldout import GivenFolds, HeldoutError, KFold
from heldout.resample.export import fold_table
from heldout.resample.fold_files import read_values

IDS = ["q1", "q2", "q3"]
FORMS = [
    "q1\t1\nq2\t2\nq3\t1\n",
    "q1 1\nq2 2\nq3 1",
    "query_id,fold\nq1,1\nq2,2\nq3,1\n",
    "fold;qid\r\n1;q1\r\n2;q2\r\n1;q3\r\n",
    "# from a paper\n\nfold\tname\n1\tq1\n2\tq2\n1\tq3\n",
    "name,repeat,fold\nq1,0,1\nq2,0,2\nq3,0,1\n",
    '{"q1": 1, "q2": 2, "q3": 1}',
    '"q1",a\n"q2",b\n"q3",a\n',
    "q1 9\nq2 10\nq3 9\n",  # numbered as numbers
]
FAULTS = [
    ("q1\t1\nq2\n", r"folds:2: 1 columns \(q2\), expected id and fold"),
    ("q1 1\nq2 2\nq1 2\n", r"folds:3: q1 appears twice \(fold 1 in .*folds:1"),
    ("query_id,fold\nq1,1\n\nq2,\n", "folds:4: the fold is missing"),
    ("q1 1 x\n", "folds:1: 3 columns"),
    ("# a\n# b\nq1,1\nq2,2\nq1,2\n", r"folds:5: q1 appears twice \(fold 1 in .*folds:3"),
    ('q1,1\n"q2,2\n', "folds:2: a quotation mark .* never closed"),
    ("", "empty|no ids"),
    ("# nothing\n", "no ids"),
    ('{"q1": 1,\n "q2": }', "folds:2: not JSON"),
    ('{"q1": 1, "q1": 2}', "q1 appears twice"),
    ('{"1": ["q1", "q3"]}', r'"q1", "q3".*expected {id: fold}'),
    ("q1\t1\nq2\t2\nq3\t1\nq9\t1\n", r"folds:4: 1 id not among the queries \(q9\).*strict=False"),
    ("q1\t1\nq2\t2\n", r"no fold for 1 of 3 queries \(q3\).*strict=False"),
    ("q1\t1\nq2\t1\nq3\t1\n", "at least 2 folds are needed, found 1"),
    (b"q1\t1\nq\xff\t2\n", "folds:2: byte 0xff is not UTF-8"),
]


def test_all_forms_of_a_file_say_the_same(tmp_path):
    path = tmp_path / "folds"
    for text in FORMS:
        path.write_text(text)
        assert GivenFolds(path).splits(IDS).folds().tolist() == [0, 1, 0], text
        assert GivenFolds(str(path)).splits(IDS[::-1]).folds().tolist() == [0, 1, 0], text


@pytest.mark.parametrize(("text", "complaint"), FAULTS)
def test_what_is_wrong_is_named_with_its_line(tmp_path, text, complaint):
    (tmp_path / "folds").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(HeldoutError, match=complaint):
        GivenFolds(tmp_path / "folds").splits(IDS)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(HeldoutError, match="nowhere"):
        GivenFolds(tmp_path / "nowhere").splits(IDS)


def test_without_strictness_strangers_are_passed_over_and_the_rest_is_on_no_side():
    plan = GivenFolds({"q1": "b", "q2": "a", "q9": "c"}, strict=False)
    splits = plan.splits(IDS)
    assert splits.folds().tolist() == [1, 0, -1]
    assert len(splits) == 2
    assert splits[0].train.tolist() == [1, 0, 0]
    floats = {"q1": 10.0, "q2": 2.0, "q3": 2.0}  # as in pandas
    assert GivenFolds(floats).splits(["q1", "q2", "q3"]).folds().tolist() == [1, 0, 0]
    with pytest.raises(HeldoutError, match="1 appears twice"):
        GivenFolds({1: 0, "1": 1}).splits(2)


CHARACTERS = st.characters(codec="utf-8", exclude_characters="\0\r\n", exclude_categories=["Cc"])
TEXTS = st.text(CHARACTERS, min_size=1, max_size=8).filter(lambda one: one == one.strip())


@given(st.lists(TEXTS, min_size=4, max_size=12, unique=True), st.integers(1, 3))
def test_a_table_of_folds_reads_back_as_the_same_splits(tmp_path_factory, names, repeats):
    path = tmp_path_factory.getbasetemp() / "folds.tsv"
    splits = KFold(3, repeats=repeats).splits(names)
    path.write_text("".join(fold_table(splits)), encoding="utf-8", newline="\n")
    assert GivenFolds(path).splits(names).fingerprint == splits.fingerprint


def test_groups_are_read_too(tmp_path):
    (tmp_path / "groups").write_text("group,doc_id\nx,d1\ny,d2\n")
    found = read_values(tmp_path / "groups", "group")
    assert [(entry.unit, entry.value) for entry in found] == [("d1", "x"), ("d2", "y")]
