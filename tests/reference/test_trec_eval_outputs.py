"""trec_eval 10.0's own test outputs (usnistgov/trec_eval, folder test), byte for byte."""

from __future__ import annotations

import pytest

from heldout import Qrels, Run
from heldout.cli import main
from heldout.measure.ranking.trec_names import trec_lines
from heldout.report.trec import trec_output

# Output, run, trec_eval's arguments, and the same as keywords.
CASES = [
    pytest.param("out.test", "results.test", [], {}, id="official"),
    pytest.param(
        "out.test.aq", "results.test", ["-m", "all_trec", "-q"], {"per_query": True}, id="all"
    ),
    pytest.param(
        "out.test.aqc",
        "results.trunc",
        ["-m", "all_trec", "-q", "-c"],
        {"per_query": True, "complete": True},
        id="complete",
    ),
]


@pytest.fixture
def folder(shared_data):
    folder = shared_data / "trec_eval"
    if not folder.is_dir():
        pytest.skip("the folder trec_eval is not among the shared data")
    return folder


@pytest.mark.parametrize(("expected", "results", "arguments", "how"), CASES)
def test_library_gives_the_bytes_of_trec_eval(folder, expected, results, arguments, how):
    names = ["all_trec"] if arguments else []
    qrels, run = Qrels.of(folder / "qrels.test"), Run.of(folder / results)
    output = "".join(trec_output(qrels, run, trec_lines(names), **how))
    assert output.encode() == (folder / expected).read_bytes()


@pytest.mark.parametrize(("expected", "results", "arguments", "how"), CASES)
def test_command_gives_the_bytes_of_trec_eval(folder, expected, results, arguments, how, capsys):
    del how
    files = [str(folder / "qrels.test"), str(folder / results)]
    main(["eval", "--format", "trec", *arguments, *files])
    assert capsys.readouterr().out.encode() == (folder / expected).read_bytes()
