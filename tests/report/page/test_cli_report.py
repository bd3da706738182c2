"""The command report, and compare -o page.html."""

import json
import os
import subprocess
import sys

import pytest

from heldout import Collection
from heldout.cli import main
from heldout.data.collection_files import read_collection
from heldout.data.export import export_collection
from heldout.experiment.experiment import Experiment


def write_lines(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A BEIR folder and the results of two experiments on it."""
    folder = tmp_path_factory.mktemp("report")
    home = folder / "beir"
    (home / "qrels").mkdir(parents=True)
    words = ["red", "green", "blue", "old"]
    write_lines(
        home / "corpus.jsonl",
        [{"_id": f"d{n}", "text": f"{words[n % 4]} {words[n % 3]} w{n % 5}"} for n in range(30)],
    )
    write_lines(
        home / "queries.jsonl",
        [{"_id": f"q{n}", "text": f"{words[n % 4]} w{n % 5}"} for n in range(12)],
    )
    rows = "".join(f"q{n}\td{n + more}\t1\n" for n in range(12) for more in (0, 12))
    (home / "qrels" / "test.tsv").write_text(f"query-id\tcorpus-id\tscore\n{rows}")
    collection = read_collection(home)
    for by in ("query", "document"):
        Experiment(collection=collection, systems=["bm25", "ql-jm"], by=by, plan={"folds": 3}).run(
            folder / by
        )
    return folder


def failed(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(["report", *map(str, arguments)])
    assert left.value.code == 2
    return capsys.readouterr().err


def test_several_folders_make_one_page(place, tmp_path, capsys):
    target = tmp_path / "page.html"
    main(["report", str(place / "query"), str(place / "document"), "-o", str(target)])
    page = target.read_text(encoding="utf-8")
    assert page.count('class="part"') == 2
    assert ">Held-out queries<" in page
    assert ">New documents<" in page
    assert "<h1>Which is better on beir: bm25 or ql-jm?" in page
    err = capsys.readouterr().err
    assert "name the collection with --collection" in err
    assert f"Open {target}" in err


def test_the_collection_adds_texts(place, tmp_path, capsys):
    target = tmp_path / "page.html"
    arguments = ["report", str(place / "query"), "-o", str(target), "--quiet"]
    main([*arguments, "--collection", str(place / "beir"), "--title", "Mine & yours"])
    page = target.read_text(encoding="utf-8")
    assert "<title>Mine &amp; yours</title>" in page
    data = page.partition('id="part-1-data">')[2].partition("</script>")[0]
    found = json.loads(data)
    assert dict(zip(found["units"], found["texts"], strict=True))["q4"] == "red w4"
    assert '"lines":["' in page
    assert capsys.readouterr().err == ""


def test_two_pages_of_the_same_are_equal(place, tmp_path):
    judged = place / "beir" / "qrels" / "test.tsv"
    for name in ("a", "b"):
        rows = [
            f"q{n} Q0 d{n + more} 1 {30 - more} {name}\n" for n in range(12) for more in (0, 5, 12)
        ]
        (tmp_path / f"{name}.run").write_text("".join(rows[name == "b" :]))
    for command in (
        ["report", place / "query", "--collection", place / "beir"],
        ["compare", judged, tmp_path / "a.run", tmp_path / "b.run"],
    ):
        pages = []
        for seed in ("0", "1"):
            subprocess.run(  # noqa: S603 - this Python
                [sys.executable, "-m", "heldout", *map(str, command), "-o", "x.html", "--quiet"],
                cwd=tmp_path,
                env={**os.environ, "PYTHONHASHSEED": seed},
                check=True,
            )
            pages.append((tmp_path / "x.html").read_bytes())
        assert pages[0] == pages[1]


def test_folders_of_one_kind_are_called_by_their_names(place, tmp_path):
    target = tmp_path / "page.html"
    main(["report", str(place / "query"), str(place / "query"), "-o", str(target), "--quiet"])
    assert target.read_text(encoding="utf-8").count(">query</h2>") == 4


def test_what_is_wrong_is_said_in_a_line(place, tmp_path, capsys):
    export_collection(Collection({"d1": "red"}, {"q1": "red"}, {"q1": {"d1": 1}}), tmp_path / "c")
    (tmp_path / "a.run").write_text("")
    given, page = place / "query", tmp_path / "x.html"
    for arguments, said in (
        ([tmp_path / "no"], "has no results"),
        ([tmp_path], "no manifest.json"),
        ([tmp_path / "a.run"], "has no results"),
        ([given, "--collection", tmp_path / "c"], "not the collection of the experiment"),
        ([given, "-o", tmp_path / "no" / "x.html"], "does not exist: create it"),
        ([given, "-o", tmp_path], "is a folder: name a file"),
        ([given, "--ledger", tmp_path / "no", "-o", page], "no such file"),
    ):
        assert said in failed(arguments, capsys)


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("values.parquet", b"nothing", "the Parquet file cannot be read"),
        ("lists.parquet", None, "lists.parquet: cannot be read"),
        ("manifest.json", b"{", "cannot be read"),
        ("manifest.json", b'{"format": 99}', "another version"),
        ("manifest.json", b'{"format": 1}', "manifest.json: no settings; was it edited"),
        ("summary.json", b"[", "cannot be read"),
    ],
)
def test_damaged_results(place, tmp_path, capsys, file, content, said):
    for one in (place / "query").iterdir():
        (tmp_path / one.name).write_bytes(one.read_bytes())
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_bytes(content)
    assert said in failed([tmp_path, "-o", tmp_path / "page.html", "--unverified"], capsys)
    assert not (tmp_path / "page.html").exists()


def test_compare_makes_a_page_with_rankings_and_ledger(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    main(["demo", "--files", "."])
    runs = ["qrels.txt", "baseline.run", "improved.run"]
    main(["compare", *runs, "-m", "AP", "-o", "page.html", "--ledger", "looks.jsonl"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<h1>Which is better: baseline or improved?</h1>" in page
    assert "0.4025" in page
    assert '"lists":[[[' in page
    assert '"grades":[[' in page
    assert "looks.jsonl: 1 evaluation on these data" in page
    assert "<dt>policy: judged queries that a run lacks</dt><dd>count 0" in page


def test_compare_makes_a_page_of_a_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"u{n},{n / 20},{n / 25 + 0.1}\n" for n in range(12))
    (tmp_path / "scores.csv").write_text(f"unit,A,B\n{rows}")
    main(["compare", "--scores", "scores.csv", "-o", "page.html"])
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert '"units":["u0","u1"' in page
    assert "rankings" not in page.partition("<script>")[0].partition("part-1-data")[2]


def test_compare_refuses_before_it_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as left:
        main(["compare", "missing", "too", "-o", "no/page.html"])
    assert left.value.code == 2
    assert "create it first" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["compare", "missing", "too", "--collection", "pydocs"])
    assert "--collection goes with an HTML report" in capsys.readouterr().err


def test_the_command_of_the_run_is_shown(place, tmp_path, monkeypatch):
    page, command = tmp_path / "page.html", ["run", str(place / "beir"), "--system", "a<b>=bm25"]
    command += ["--folds", "3", "-o", str(tmp_path / "out"), "--quiet"]
    monkeypatch.setattr("sys.argv", ["heldout", *command])
    assert not main(command)
    assert not main(["report", str(tmp_path / "out"), "-o", str(page), "--quiet"])
    assert "--system &#39;a&lt;b&gt;=bm25&#39;" in page.read_text(encoding="utf-8")
