"""``compare --gate``, and other names of tests and measures."""

import json
import xml.etree.ElementTree as ET

import pytest

from heldout.cli import main


@pytest.fixture(autouse=True)
def example(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--files", ".", "--quiet"])
    capsys.readouterr()


def said(capsys, command):
    main(command.split())
    return capsys.readouterr()


RUNS = "qrels.txt baseline.run improved.run"


@pytest.mark.parametrize(
    ("other", "test"),
    [
        ("fisher", "randomization"),
        ("permutation", "randomization"),
        ("student", "t"),
        ("bootstrap", "bootstrap-shift"),
    ],
)
def test_other_names_of_tests(capsys, other, test):
    command = f"compare {RUNS} --json --test"
    assert said(capsys, f"{command} {other}").out == said(capsys, f"{command} {test}").out


class TestGate:
    def verdict(self, capsys, *more, code=0, first="baseline", second="improved"):
        command = ["compare", "qrels.txt", f"{first}.run", f"{second}.run", "--gate", *more]
        if code:
            with pytest.raises(SystemExit) as ended:
                main(command)
            assert ended.value.code == code
        else:
            main(command)
        return capsys.readouterr()

    def test_better(self, capsys):
        shown = self.verdict(capsys, "better")
        assert "passed: improved is better than baseline in nDCG@10" in shown.err
        back = self.verdict(capsys, "better", code=1, first="improved", second="baseline")
        assert "failed: not shown that baseline is better than improved" in back.err
        assert back.err.endswith("there is no gain: more queries would hardly show one\n")
        far = self.verdict(capsys, "better", "--margin", "0.9", code=1)
        assert "not shown that improved is better than baseline by more than 0.9" in far.err

    def test_a_summary_for_a_pull_request(self, capsys):
        shown = self.verdict(capsys, "better", "--format", "md")
        assert shown.out.startswith("**passed**: improved is better than baseline in nDCG@10 (")
        assert "passed" not in shown.err  # once is enough
        assert "| --- |" in shown.out
        assert "p (t)" not in shown.out
        assert "p (t)" in self.verdict(capsys, "better", "--format", "md", "--full").out

    def test_junit(self, capsys):
        measures = ("-m", "AP", "-m", "nDCG@10")
        self.verdict(capsys, "better", *measures, "-o", "gate.xml")
        suite = ET.parse("gate.xml").getroot()  # noqa: S314 - written above
        assert (suite.tag, suite.get("tests"), suite.get("failures")) == ("testsuite", "2", "0")
        names = [one.get("name") for one in suite]
        assert names == [f"improved better baseline in {one}" for one in ("AP", "nDCG@10")]
        margin = ("--margin", "0.5")
        printed = self.verdict(capsys, "better", *margin, "-f", "junit", code=1).out
        (case,) = ET.fromstring(printed)  # noqa: S314 - written above
        assert case[0].tag == "failure"
        assert case[0].get("message").startswith("failed: not shown that improved is better")


def test_a_measure_by_its_number_of_documents(capsys):
    with pytest.raises(SystemExit):
        main(["eval", "qrels.txt", "baseline.run", "-m", "ndcg10"])
    assert "did you mean nDCG@10?" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["eval", "qrels.txt", "baseline.run", "-m", "recall@10,P@5"])
    assert "separate measures with spaces" in capsys.readouterr().err
    found = json.loads(
        said(capsys, "eval qrels.txt baseline.run -m recall@10 -m P@5 --json --quiet").out
    )
    assert found
