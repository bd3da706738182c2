"""Files that do not belong together: swapped, given twice, copies, ids of another collection."""

import gzip
import json

import pytest

from commands import printed, refused
from heldout import Qrels, Run, compare, evaluate
from heldout.errors import InputError

QRELS = "".join(f"q{n} 0 d{n} 1\nq{n} 0 e{n} 0\n" for n in range(9))
RUN = "".join(f"q{n} Q0 d{n} 1 2.5 one\nq{n} Q0 e{n} 2 1.5 one\n" for n in range(9))
OTHER = "".join(f"q{n} Q0 e{n} 1 2.5 two\nq{n} Q0 d{n} 2 1.5 two\n" for n in range(9))
STRANGE = RUN.replace(" d", " X-d").replace(" e", " X-e").replace("one", "strange")
SHORT = "".join(OTHER.splitlines(keepends=True)[:8])  # four of nine queries
PREDICTIONS = "unit,truth,prediction\n" + "".join(f"u{n},{'ab'[n % 2]},a\n" for n in range(6))


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts = {"q.txt": QRELS, "a.run": RUN, "b.run": OTHER, "x.run": STRANGE, "short.run": SHORT}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "p.csv").write_text(PREDICTIONS)
    return tmp_path


def test_eval_says_first_that_no_document_is_common(capsys):
    first = printed(capsys, "eval", "q.txt", "x.run").err.splitlines()[0]
    assert first == (
        "Warning: strange has none of the judged documents, so nothing in it counts as "
        "relevant: check that the run and the judgements use the same document ids (the run has "
        "X-d0, X-e0, X-d1, …; the judgements have d0, e0, d1, …). [no-common-document]"
    )


def test_json_has_the_warnings_and_their_codes(capsys):
    found = json.loads(printed(capsys, "eval", "q.txt", "x.run", "--json").out)
    assert [one["code"] for one in found["warnings"]] == ["no-common-document"]


@pytest.mark.parametrize("form", ["tsv", "md"])
def test_eval_says_first_that_most_queries_are_missing(capsys, form):
    said = printed(capsys, "eval", "q.txt", "short.run", "-f", form)
    notes = said.out[said.out.index("Warning") :] if form == "md" else said.err
    assert notes.startswith(
        "Warning: two lacks 5 of the 9 judged queries, which count 0: "
        "check that the run is complete. [missing-zero]"
    )
    assert notes.count("two lacks") == 1


def test_a_few_missing_queries_stay_among_the_notes(capsys, files):
    (files / "most.run").write_text("".join(OTHER.splitlines(keepends=True)[:14]))
    said = printed(capsys, "eval", "q.txt", "most.run").err
    assert "Warning" not in said
    assert "two lacks 2 judged queries" in said


def test_compare_names_the_grave_gap_before_the_small_one(capsys, files):
    (files / "most.run").write_text("".join(RUN.splitlines(keepends=True)[:16]))
    out = printed(capsys, "compare", "q.txt", "most.run", "short.run").out
    assert out.index("two lacks 5 of the 9") < out.index("one lacks 1 judged query,")


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_swapped_judgements_and_run_are_named(capsys, command):
    said = refused(capsys, command, "a.run", "q.txt", "b.run")
    assert said == (
        "heldout: a.run:1: 6 fields, expected 4: query iteration document grade. No line is as "
        "expected: are the arguments swapped? Judgements come first, then runs. A table needs a "
        "header: query_id,doc_id,…\n"
    )


@pytest.mark.parametrize("name", ["r.json", "r.csv", "r.tsv", "r.parquet", "r.run.gz"])
def test_a_run_of_any_format_is_known_in_the_place_of_judgements(capsys, files, name):
    Run.of("a.run").write(files / name)
    if name.endswith(".gz"):
        assert gzip.decompress((files / name).read_bytes())
    assert "are the arguments swapped?" in refused(capsys, "eval", name, "q.txt")


def test_a_bad_grade_among_good_ones_is_no_run(files):
    (files / "bad.json").write_text('{"q1": {"a": 1, "b": 2, "c": 0.5}}')
    with pytest.raises(InputError, match=r"document 'c': grade 0\.5 is not an integer"):
        Qrels.of("bad.json")


@pytest.mark.parametrize("command", ["eval", "power"])
def test_the_same_file_twice_is_refused(capsys, command):
    said = refused(capsys, command, "q.txt", "a.run", "a.run")
    assert said == "heldout: a.run and a.run are the same file: leave one out\n"


@pytest.mark.parametrize("other", ["./a.run", "link.run"])
def test_the_same_file_under_another_name_is_refused(capsys, files, other):
    (files / "link.run").symlink_to("a.run")
    for form in ("tsv", "trec"):
        said = refused(capsys, "eval", "q.txt", "a.run", "b.run", other, "-f", form)
        assert said == f"heldout: a.run and {other} are the same file: leave one out\n"


@pytest.mark.parametrize("command", [["compare"], ["eval", "--task", "classification"]])
def test_predictions_given_twice_are_refused(capsys, command):
    assert "p.csv and p.csv are the same file" in refused(capsys, *command, "p.csv", "p.csv")


def test_a_copy_is_pointed_out(capsys, files):
    (files / "copy.run").write_text(RUN.replace("one", "copy"))
    note = "one and copy rank the same documents in the same order"
    assert note in printed(capsys, "eval", "q.txt", "a.run", "b.run", "copy.run").err
    assert note in printed(capsys, "compare", "q.txt", "a.run", "copy.run").out


def test_python_has_the_same_warnings():
    result = evaluate("q.txt", ["a.run", "a.run", "x.run", "short.run"])
    words = ("none of the judged documents", "5 of the 9 judged queries", "in the same order")
    said = [note.text for note in result.notes]
    assert [word in text for word, text in zip(words, said, strict=True)] == [True] * 3
    codes = ["no-common-document", "missing-zero", "same-ranking"]
    assert [note.code for note in result.notes] == codes
    assert compare(result.scores("AP")).warnings[:3] == result.notes
    assert "none of the judged documents" in result._repr_html_()
