"""Ids are the same in every form of a run: without blanks, and without the decimals of pandas."""

import json

import pandas as pd
import polars as pl
import pytest

import heldout
from heldout import Qrels, Run, Scores, evaluate, read_qrels, read_run
from heldout.errors import InputError

ROWS = [(10, 7, 2.5), (10, 8, 1.5), (20, 7, 0.5)]
RUN = {"10": {"7": 2.5, "8": 1.5}, "20": {"7": 0.5}}
QRELS = {"10": {"8": 1}, "20": {"7": 1}}
NAMES = ["query_id", "doc_id", "score"]
TEXTS = {
    "plain": str,
    "blanks": lambda number: f" {number}\t ",
    "floats": lambda number: f"{number}.0",
}
NUMBERS = {"int": int, "float": float}


def _columns(spell):
    return {
        "query_id": [spell(query) for query, _, _ in ROWS],
        "doc_id": [spell(doc) for _, doc, _ in ROWS],
        "score": [score for *_, score in ROWS],
    }


def _nested(spell):
    found = {}
    for query, doc, score in ROWS:
        found.setdefault(spell(query), {})[spell(doc)] = score
    return found


def _trec(folder, spell):
    lines = [f"{spell(q)} Q0 {spell(d)} 1 {s} tag\n" for q, d, s in ROWS]
    return _written(folder / "x.run", "".join(lines))


def _separated(folder, spell, mark):
    quoted = (lambda one: f'"{spell(one)}"') if mark == "\t" else spell
    lines = [mark.join(NAMES), *(mark.join([quoted(q), quoted(d), str(s)]) for q, d, s in ROWS)]
    return _written(folder / "x.txt", "\n".join(lines) + "\n")


def _json_lines(folder, spell):
    rows = pl.DataFrame(_columns(spell)).to_dicts()
    return _written(folder / "x.json", "".join(json.dumps(row) + "\n" for row in rows))


def _parquet(folder, spell):
    pl.DataFrame(_columns(spell)).write_parquet(folder / "x.parquet")
    return folder / "x.parquet"


def _written(path, text):
    path.write_text(text)
    return path


FORMS = {
    "trec": _trec,
    "csv": lambda folder, spell: _separated(folder, spell, ","),
    "tsv": lambda folder, spell: _separated(folder, spell, "\t"),
    "json": lambda folder, spell: _written(folder / "x.json", json.dumps(_nested(spell))),
    "json lines": _json_lines,
    "parquet": _parquet,
    "pandas": lambda _, spell: pd.DataFrame(_columns(spell)),
    "polars": lambda _, spell: pl.DataFrame(_columns(spell)),
    "dict": lambda _, spell: _nested(spell),
}
TYPED = ["json lines", "parquet", "pandas", "polars", "dict"]
"""Forms in which ids may be numbers."""


def _run(given):
    if isinstance(given, dict):
        return Run.of(given)
    return Run.of(given) if hasattr(given, "columns") else read_run(given)


@pytest.mark.parametrize("spelling", ["plain", "blanks"])
@pytest.mark.parametrize("form", FORMS)
def test_all_forms_give_the_same_run(tmp_path, form, spelling):
    assert _run(FORMS[form](tmp_path, TEXTS[spelling])).to_dict() == RUN


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("form", TYPED)
def test_ids_that_are_numbers_give_the_same_run(tmp_path, form, number):
    assert _run(FORMS[form](tmp_path, NUMBERS[number])).to_dict() == RUN


@pytest.mark.parametrize("form", FORMS)
def test_ids_that_pandas_wrote_as_floats_match(tmp_path, form):
    ideal = evaluate(QRELS, RUN, "RR").per_unit("RR")
    found = evaluate(QRELS, FORMS[form](tmp_path, TEXTS["floats"]), "RR")
    assert found.per_unit("RR").tolist() == ideal.tolist() == [0.5, 1.0]
    judged = {f"{q}.0": {f"{d}.0": g for d, g in inner.items()} for q, inner in QRELS.items()}
    found = evaluate(judged, FORMS[form](tmp_path, TEXTS["plain"]), "RR")
    assert found.per_unit("RR").tolist() == [0.5, 1.0]


def test_ids_that_only_look_like_floats_stay():
    # Parts of documents: all judged ones are first parts, but the run has others, too.
    run = {"q": {"7.1": 3.0, "7.0": 2.0, "7": 1.0}}
    assert evaluate({"q": {"7.0": 1}}, run, "RR").value("RR") == 0.5


def test_judgements_are_read_in_the_same_way(tmp_path):
    table = _written(tmp_path / "q.tsv", "query-id\tcorpus-id\tscore\n10 \t 8\t1\n20\t7 \t1\n")
    frame = pd.DataFrame({"qid": [10.0, 20.0], "docno": [" 8", "7"], "label": [1, 1]})
    assert read_qrels(table).to_dict() == Qrels.of(frame).to_dict() == QRELS


def test_units_of_scores_and_predictions_are_written_alike(tmp_path):
    assert Scores.of({"A": {1.0: 0.5, 2.0: 0.1}, "B": {1: 0.4, " 2": 0.3}}).units == ("1", "2")
    truth, guesses = {1.0: "a", 2.0: "b"}, {"1": "a", "2": "a"}
    assert evaluate(truth, guesses, "accuracy").value("accuracy") == 0.5
    rows = [("1", "a", "a"), ("2", "b", "b"), ("3", "b", "a")]
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    for path, end in ((first, ""), (second, ".0")):
        lines = [f"{unit}{end},{truth},{guess}\n" for unit, truth, guess in rows]
        path.write_text("unit,truth,prediction\n" + "".join(lines))
    several = [one for path in (first, second) for one in heldout.read_class_predictions(path)]
    assert heldout.compare(several, measure="accuracy").scores.units == ("1", "2", "3")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"": {"a": 1.0}}, "query '', document 'a': the query id is missing"),
        ({"q": {"a": 2.0, " ": 1.0}}, "query 'q', document ' ': the document id is missing"),
        (pd.DataFrame({"qid": ["q"], "docno": [""], "score": [1.0]}), "row 1: the document id is"),
        (pl.DataFrame({"qid": ["q", ""], "docno": "d", "score": 1.0}), "row 2: the query id is"),
        (
            pd.DataFrame({"qid": ["q", pd.NA], "docno": ["d", "e"], "score": [1.0, 2.0]}),
            "row 2: the query id is missing",
        ),
    ],
)
def test_an_empty_id_is_refused(given, message):
    with pytest.raises(InputError, match=f"^run.*{message}"):
        _run(given)
    with pytest.raises(InputError, match=f"^qrels.*{message}"):
        _qrels(given)


def _qrels(given):
    return Qrels.of(given)  # a column of scores is also one of grades
