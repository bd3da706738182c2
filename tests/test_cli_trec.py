"""``heldout eval --format trec``: corners of trec_eval 10.0 on inputs that are done by hand."""

from __future__ import annotations

import pytest

from heldout.cli import main

QRELS = "1 0 a 1\n1 0 b 2\n2 0 a 1\n"
RUN = "1 Q0 a 1 1.0 t\n2 Q0 a 1 1.0 t\n"


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


def shown(capsys, *arguments):
    main(["eval", "--quiet", *arguments, "qrels", "run"])
    return capsys.readouterr().out.split()


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as caught:
        main(["eval", *arguments, "qrels", "run"])
    said = capsys.readouterr()
    assert caught.value.code == 2
    assert said.out == ""
    return said.err


@pytest.mark.parametrize("level", ["0", "1", "2", "3"])
def test_rbp_is_graded_and_scaled_by_query(capsys, level):
    # Query 1: grade 1 of 2 gives .1 / 2; query 2: grade 1 of 1 gives .1.
    assert shown(capsys, "-f", "trec", "-l", level, "-m", "rbp")[-1] == "0.0750"
    assert shown(capsys, "-f", "tsv", "-l", level, "-m", "rbp")[-1] == "0.0750"
    # Scaled by the qrels: .2 * 1/2 in both.
    assert shown(capsys, "-f", "tsv", "-l", level, "-m", "RBP")[-1] == "0.1000"


def test_total_of_relevant_documents_ignores_the_level_with_c(capsys):
    wanted = ["-f", "trec", "-q", "-m", "num_rel"]
    assert shown(capsys, *wanted, "-l", "2")[2::3] == ["1", "0", "1"]
    assert shown(capsys, *wanted, "-l", "2", "-c")[2::3] == ["1", "0", "3"]
    assert shown(capsys, *wanted, "-l", "0", "-c")[2::3] == ["2", "1", "3"]


def test_last_digit_of_the_residual(capsys, files):
    # 1.0 and 0.7461, mean 0.87305: summed as trec_eval sums (p^n + (1 - p) * what is unjudged) it
    # is just above that number and rounds up; as 1 - (1 - p) * what is judged, just below.
    (files / "qrels").write_text("1 0 x 1\n2 0 a 1\n2 0 c 0\n2 0 d 0\n")
    ranked = "".join(f"2 Q0 {doc} 0 {9 - place} t\n" for place, doc in enumerate("abcd"))
    (files / "run").write_text("1 Q0 a 1 1.0 t\n" + ranked)
    shares = shown(capsys, "-f", "trec", "-q", "-m", "rbp_resid")[2::3]
    assert shares == ["1.0000", "0.7461", "0.8731"]


def test_cutoff_is_read_up_to_its_dot(capsys):
    assert shown(capsys, "-f", "trec", "-m", "ndcg_cut.23.4")[0] == "ndcg_cut_23"


def test_judged_query_that_the_run_lacks_is_left_out_without_c(capsys, files):
    # trec_eval 10.0 stops here with exit code 4.
    (files / "run").write_text("2 Q0 a 1 1.0 t\n")
    assert shown(capsys, "-f", "trec", "-m", "num_q", "-m", "map")[2::3] == ["1", "1.0000"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["-m", "ndcg.1=2,1=3"], "ndcg.1=2,1=3: 1 is given twice"),
        (["-m", "ndcg.1=-2"], "grade 1 has a negative gain (-2)"),
        (["-l", "-1"], "--rel -1: expected 0 or a positive integer"),
        (["-m", "prefs"], "prefs is not supported"),
        (["-m", "qrels_jg"], "qrels_jg is not supported"),
    ],
)
@pytest.mark.parametrize("form", ["trec", "tsv"])
def test_refused(capsys, arguments, says, form):
    said = refused(capsys, "-f", form, *arguments)
    assert says in said
    assert said.count("\n") == 1
