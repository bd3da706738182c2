"""Code of the user's on the command line: functions with parameters, and measures."""

import json
import math
import subprocess
import sys

import pytest

import heldout
from commands import refused
from heldout.cli import main

DOCUMENTS = {f"d{n}": f"word{n % 5} text {n}" for n in range(30)}
QUERIES = {f"q{n}": f"word{n % 5}" for n in range(12)}
QRELS = {f"q{n}": {f"d{n}": 2, f"d{n + 5}": 1, f"d{n + 1}": 0} for n in range(12)}

CODE = """
import heldout


def rank(train, test, dims=1, seed=0):
    return {
        query: {one: 1.0 / (1 + (int(one[1:]) + dims * len(body)) % 7)
                for one, body in test.documents.pairs()}
        for query in test.queries.ids
    }


def FirstGrade(ranked, *, scale=1.0):
    return scale * max(0, ranked.grades[0]) / 2 if len(ranked.grades) else 0.0


def worst(truth, predicted):
    return -abs(truth - predicted).max()


@heldout.define_measure(name="Cost", bounds=(0, 9), higher_is_better=False)
def cost(ranked, *, power=1):
    return (2.0 - FirstGrade(ranked)) ** power


def failing(ranked):
    return {}[ranked.query]


class Pipe:
    def transform(self, topics):
        return topics


def make(p=1):
    return Pipe()


Short = heldout.parse_measure("nDCG@3", "ranking")
number = 7
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    whole = heldout.Collection(DOCUMENTS, QUERIES, QRELS)
    heldout.export_collection(whole, "data", "beir")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "my.py").write_text(CODE)
    main(["search", "data", "-o", "bm25.run", "--quiet"])
    main(["search", "data", "--model", "ql-jm", "-o", "ql.run", "--quiet"])
    return tmp_path


def found(capsys, *arguments):
    capsys.readouterr()
    main([*arguments, "--json", "--quiet"])
    return json.loads(capsys.readouterr().out)


def test_a_function_with_parameters(capsys):
    system = "mine=own/my.py:rank(dims=1,2,3, seed=5)"
    (one,) = found(capsys, "run", "data", "--system", system, "--folds", "3")["systems"]
    assert (one["name"], one["points"], one["tuned"]) == ("mine", 3, True)
    assert one["ship"]["dims"] in (1, 2, 3)
    (one,) = found(capsys, "run", "data", "--system", "own/my.py:rank(dims=1:5:3)")["systems"]
    assert (one["name"], one["points"]) == ("rank", 3)
    (one,) = found(capsys, "run", "data", "--system", "own/my.py:rank(dims=4)")["systems"]
    assert (one["points"], one["tuned"]) == (1, False)
    said = refused(capsys, "run", "data", "--system", "own/my.py:rank(dims)")
    assert "--system: own/my.py:rank: 'dims' is not a parameter" in said
    assert "own/my.py has no 'gone'" in refused(capsys, "run", "data", "--system", "own/my.py:gone")


def test_a_transformer_needs_pyterrier(capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyterrier", None)  # as if it were not installed
    said = refused(capsys, "run", "data", "--system", "own/my.py:make(p=1,2)", "--folds", "3")
    assert said.count("\n") == 1
    assert "PyTerrier is not installed: pip install python-terrier" in said


def test_comparable_scores_are_said_in_the_text(capsys):
    folds = ["--by", "document", "--folds", "2"]
    system = "own/my.py:rank(dims=1,2)"
    said = refused(capsys, "run", "data", "--system", system, *folds)
    assert "own/my.py:rank(comparable=true)" in said
    merged = system.replace(")", ", comparable=true)")
    main(["run", "data", "--system", merged, *folds, "-o", "out", "--quiet"])
    (described,) = heldout.Results.read("out").manifest["settings"]["systems"]
    assert described["comparable"] is True
    main(["run", "out", "-o", "again", "--quiet"])
    first, second = (heldout.Results.read(one).summary for one in ("out", "again"))
    assert first == second
    alone = system.replace(")", ", comparable=false)")
    (other,) = found(capsys, "run", "data", "--system", alone, *folds)["systems"]
    assert other["estimates"][0]["estimand"] != first[0]["estimates"][0]["estimand"]
    said = refused(capsys, "run", "data", "--system", "own/my.py:rank(comparable=maybe)")
    assert "comparable=maybe: expected true or false" in said


def test_a_measure_of_rankings(capsys):
    runs = ["data/qrels/test.tsv", "bm25.run", "ql.run"]
    measures = ["-m", "own/my.py:FirstGrade", "-m", "own/my.py:FirstGrade(scale=2)@5"]
    one, two = (
        found(capsys, "eval", *runs, "-m", name)
        for name in ("own/my.py:FirstGrade", "own/my.py:Short")
    )
    assert "FirstGrade" in json.dumps(one)
    assert "nDCG@3" in json.dumps(two)
    compared = found(capsys, "compare", *runs, *measures)
    assert [record["measure"] for record in compared] == ["FirstGrade", "FirstGrade(scale=2)@5"]
    assert compared[1]["systems"][0]["estimate"] == 2 * compared[0]["systems"][0]["estimate"]


def test_a_measure_in_an_experiment_and_its_repetition(tmp_path, monkeypatch):
    system = ["--system", "bm25(k1=1,2)", "--folds", "3"]
    measure = ["-m", "own/my.py:FirstGrade"]
    main(["run", "data", *system, *measure, "-o", "out", "--quiet"])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    main(["run", "../out", "-o", "again", "--quiet"])
    assert heldout.Results.read("again").measures == ("FirstGrade",)
    first, second = (tmp_path / one for one in ("out", "elsewhere/again"))
    assert (first / "values.parquet").read_bytes() == (second / "values.parquet").read_bytes()


def test_results_with_own_measures_are_read_without_their_code(capsys, tmp_path):
    """In another process, which has never seen the file of the measures."""
    measures = ["-m", "own/my.py:FirstGrade", "-m", "own/my.py:cost(power=2)@5"]
    systems = ["--system", "bm25", "--system", "own/my.py:rank(dims=4)"]
    main(["run", "data", *systems, *measures, "--folds", "3", "-o", "out", "--quiet"])
    (tmp_path / "own" / "my.py").unlink()
    code = """
import heldout
from heldout.cli import main

main(["report", "out", "-o", "page.html", "--quiet"])
main(["chart", "out", "forest", "-o", "chart.html"])
main(["compare", "--scores", "out", "-m", "FirstGrade", "--json"])
main(["power", "--scores", "out", "-m", "FirstGrade", "--json"])
results = heldout.Results.read("out")
assert results.measures == ("FirstGrade", "Cost(power=2)@5")
scores = results.scores("Cost(power=2)@5")
assert (scores.range, scores.higher_is_better) == ((0.0, 9.0), False)
assert results.higher_is_better("FirstGrade") is True
main(["eval", "data/qrels/test.tsv", "bm25.run", "-m", "Cost"])
"""
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert "heldout: Cost cannot be computed: results keep the values" in done.stderr
    assert (done.returncode, done.stderr.count("Traceback")) == (2, 0), done.stderr
    capsys.readouterr()
    assert (tmp_path / "page.html").exists()
    assert (tmp_path / "chart.html").exists()


def test_results_of_predictions_with_an_own_measure(tmp_path):
    rows = "".join(f"r{n},{n % 7},{n % 7 * 1.5 + n % 4}\n" for n in range(60))
    (tmp_path / "table.csv").write_text(f"id,x,y\n{rows}")
    (tmp_path / "experiment.toml").write_text("""
task = "regression"
measures = ["own/my.py:worst"]
data = {file = "table.csv", target = "y", features = ["x"], id = "id"}
plan = {folds = 3}
systems = [
  {name = "a", estimator = "sklearn.linear_model:Ridge"},
  {name = "b", estimator = "sklearn.tree:DecisionTreeRegressor"},
]
""")
    main(["run", "experiment.toml", "-o", "out", "--quiet"])
    here = heldout.Results.read("out")
    code = """
import heldout
results = heldout.Results.read("out")
print(results.split_values("a"), results.compare().claims[0].adjusted)
"""
    done = subprocess.run(  # noqa: S603 - this Python
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"{here.split_values('a')} {here.compare().claims[0].adjusted}\n"


def test_a_decorated_function_keeps_its_bounds_and_its_direction(capsys):
    runs = ["data/qrels/test.tsv", "bm25.run", "ql.run"]
    found(capsys, "compare", *runs, "-m", "own/my.py:cost")
    measure = heldout.parse_measure("Cost")
    assert (measure.range, measure.higher_is_better) == ((0, 9), False)
    found(capsys, "compare", *runs, "-m", "own/my.py:FirstGrade")
    assert heldout.parse_measure("FirstGrade").range == (-math.inf, math.inf)


def test_a_failing_measure_is_named_with_its_place(capsys, tmp_path):
    said = refused(capsys, "eval", "data/qrels/test.tsv", "bm25.run", "-m", "own/my.py:failing")
    first, second = said.splitlines()
    assert first == "heldout: the measure failing failed: KeyError: 'q0'"
    assert second.startswith(f"  {tmp_path / 'own' / 'my.py'}:")
    assert second.endswith(" in failing")


def test_a_measure_of_numbers(capsys, tmp_path):
    (tmp_path / "n.csv").write_text("unit,truth,prediction\na,1.5,2.0\nb,2.5,1.0\nc,0.5,0.6\n")
    record = found(capsys, "eval", "n.csv", "-m", "own/my.py:worst")
    assert record["systems"][0]["measures"]["worst"]["value"] == -1.5


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("own/my.py:gone", "own/my.py has no 'gone'"),
        ("nowhere.py:x", "nowhere.py: no such file"),
        ("own/my.py:number", "number: expected a function, or a Measure"),
        ("own/my.py:Short@5", "Short@5: expected a function, or a Measure with nothing after it"),
    ],
)
def test_what_is_no_measure_is_refused(capsys, name, message):
    runs = ["data/qrels/test.tsv", "bm25.run"]
    assert message in refused(capsys, "eval", *runs, "-m", name)
    said = refused(capsys, "run", "data", "--system", "bm25", "-m", name)
    assert f"--measure: {message}" in said
