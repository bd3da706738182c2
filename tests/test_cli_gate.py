"""``compare --gate``, and other names of tests and measures."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
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
        assert back.err.endswith("the observed gain itself fails: more queries would hardly help\n")
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


def write(name, header, rows):
    lines = [header, *(",".join(map(str, row)) for row in rows)]
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def write_scores(rng, systems=2, units=25):
    gains = rng.normal(0, 0.36 / systems, (units, systems)) + rng.uniform(-0.03, 0.15, systems)
    head = ",".join(["unit", "old", "new", "other"][: systems + 1])
    rows = [(f"q{unit}", *row) for unit, row in enumerate((0.5 + gains).round(3))]
    return ["--scores", write("s.csv", head, rows)]


def write_predictions(rng, measure):
    truth = rng.integers(0, 2, 50)
    kind = {"AUC": "probability"}.get(measure, "prediction")
    files = []
    for name, skill in (("old", 0.6), ("new", rng.uniform(0.6, 0.95))):
        guesses = np.where(rng.random(50) < skill, truth, 1 - truth)
        if measure != "F1":
            guesses = ((guesses + rng.random(50)) / 2).round(3)
        named = truth + 0.5 if measure == "median-AE" else ["np"[flag] for flag in truth]
        guesses = ["np"[guess] for guess in guesses] if measure == "F1" else guesses
        rows = zip(range(50), named, guesses, strict=True)
        files.append(write(f"{name}.csv", f"unit,truth,{kind}", rows))
    return [*files, "-m", measure]


def write_texts(rng):
    words = rng.choice(list("abcdef"), (30, 6))
    Path("refs.txt").write_text("\n".join(map(" ".join, words)) + "\n")
    for name, error in (("old", 0.3), ("new", rng.uniform(0, 0.3))):
        said = np.where(rng.random(words.shape) < error, "x", words)
        Path(f"{name}.txt").write_text("\n".join(map(" ".join, said)) + "\n")
    return ["-r", "refs.txt", "old.txt", "new.txt", "-m", "BLEU"]


def write_runs(rng):
    relevant = rng.random((90, 8)) < 0.4
    wrong = relevant ^ (rng.random(relevant.shape) < 0.15)
    for name, grades in (("human", relevant[:30]), ("machine", wrong)):
        rows = [(f"q{at[0]} 0 d{at[1]} {int(grade)}",) for at, grade in np.ndenumerate(grades)]
        write(f"{name}.txt", "q0 0 d0 1", rows[1:])
    for name, skill in (("old", 0.5), ("new", rng.uniform(0.5, 2))):
        scores = skill * relevant + rng.normal(size=relevant.shape)
        rows = [(f"q{at[0]} Q0 d{at[1]} 1 {score} x",) for at, score in np.ndenumerate(scores)]
        write(f"{name}.run", rows[0][0], rows[1:])
    return ["human.txt", "old.run", "new.run", "--machine", "machine.txt", "--assume-random"]


def write_tuned(rng):
    Path("judged.txt").write_text("".join(f"q{query} 0 d 1\n" for query in range(30)))
    for name, lucky in (("base", 0.1), *((f"n{number}", 0.3) for number in range(4))):
        ranks = np.where(rng.random(30) < lucky, 0, rng.integers(0, 10, 30))
        rows = [
            f"q{query} Q0 {'d' if rank == place else f'x{place}'} {place + 1} {-place} x\n"
            for query, rank in enumerate(ranks)
            for place in range(10)
        ]
        Path(f"{name}.run").write_text("".join(rows))
    systems = "--system new=n*.run --system base.run --baseline base"
    main([*f"run judged.txt {systems} --folds 5 -m RR --quiet -o".split(), f"r{rng.random()}"])
    return ["--scores", str(max(Path().glob("r0.*"), key=lambda path: path.stat().st_mtime_ns))]


DESIGNS = {
    "units": write_scores,
    "folds": lambda rng: [*write_scores(rng, units=10), "--test-share", "0.1111"],
    "tuned": write_tuned,
    "machine": write_runs,
    "several": lambda rng: [*write_scores(rng, 3), "--baseline", "old"],
    "several by t": lambda rng: [*write_scores(rng, 3), "--baseline", "old", "--test", "t"],
    "F1": lambda rng: [*write_predictions(rng, "F1"), "--positive", "p"],
    "AUC": lambda rng: [*write_predictions(rng, "AUC"), "--positive", "p"],
    "median": lambda rng: write_predictions(rng, "median-AE"),
    "BLEU": write_texts,
}


@pytest.mark.parametrize("design", DESIGNS)
def test_claim_p_and_exit_code_agree(capsys, design):
    """Of drawn designs: what is printed, its p-value, and what continuous integration sees."""
    codes = set()
    for seed in range(3 if design == "BLEU" else 5):
        command = ["compare", *DESIGNS[design](np.random.default_rng(seed))]
        for gate in (["better"], ["non-inferior", "--margin", "0.05"], ["equivalent", "--margin"]):
            margin = ["0.1"] if gate[-1] == "--margin" else []
            code = 0
            capsys.readouterr()
            try:
                main([*command, "--gate", *gate, *margin, "--json"])
            except SystemExit as ended:
                code = ended.code
            said = capsys.readouterr()
            (record,) = json.loads(said.out)
            assert code == (0 if all(result["passed"] for result in record["gate"]) else 1)
            codes.add(code)
            for claim, result in zip(record["claims"], record["gate"], strict=True):
                assert result["passed"] == (result["p"] <= 0.05)
                assert result["sentence"] in said.err
                assert result["sentence"].startswith("passed" if result["passed"] else "failed")
                if gate == ["better"]:
                    assert result["p"] == claim["p_adjusted"]
                    better = "is significantly better" in claim["sentence"]
                    assert result["passed"] == better == claim["significant"]
    assert codes == {0, 1}


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
