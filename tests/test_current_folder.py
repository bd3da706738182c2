"""Files of the current folder are data: none of them runs as a module of this program."""

import os
import subprocess
import sys

import pytest

import heldout

MODULES = ("heldout", "joblib", "multiprocessing", "distributed", "numba", "site", "encodings")
TRAP = "open({marker!r}, 'a').write(__name__)\nraise SystemExit\n"
RANK = """
import os

def rank(train, test):
    assert not os.environ.get("PYTHONSAFEPATH")
    return {query: {document: 1.0 + len(text) for document, text in test.documents.pairs()}
            for query in test.queries.ids}
"""


@pytest.fixture
def folder(tmp_path):
    documents = {f"d{n}": f"word{n % 5} text {n}" for n in range(30)}
    queries = {f"q{n}": f"word{n % 5}" for n in range(12)}
    qrels = {f"q{n}": {f"d{n}": 2, f"d{n + 5}": 1} for n in range(12)}
    whole = heldout.Collection(documents, queries, qrels)
    here = tmp_path / "a folder"
    heldout.export_collection(whole, here / "data", "beir")
    return here


def command(folder, *arguments, path=""):
    """Run the command line as the installed script does: the current folder is not on its path."""
    script = folder.parent / "bin" / "script.py"
    script.parent.mkdir(exist_ok=True)
    script.write_text("from heldout.cli import main\nif __name__ == '__main__':\n    main()\n")
    found = os.pathsep.join(filter(None, [path, os.environ.get("PYTHONPATH", "")]))
    return subprocess.run(  # noqa: S603 - this Python
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env={
            **{name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"},
            "PYTHONPATH": found,
            # Searching compiles in another process only where nothing is compiled yet.
            **({"NUMBA_CACHE_DIR": str(folder / "cache")} if "search" in arguments else {}),
            "PYTHONWARNINGS": "ignore::UserWarning",  # of loky, about workers that start slowly
        },
        capture_output=True,
        text=True,
        check=False,
    )


RUN = ("run", "data", "--system", "my.py:rank", "--folds", "2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", "data", "-o", "x.run"),
        (*RUN, "--jobs", "2"),
    ],
    ids=["search", "jobs"],
)
def test_no_module_of_the_folder_runs(folder, arguments):
    marker = folder.parent / "ran"
    (folder / "my.py").write_text(RANK)
    for name in MODULES:
        (folder / f"{name}.py").write_text(TRAP.format(marker=str(marker)))
    done = command(folder, *arguments)
    assert not marker.exists(), marker.read_text()
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("workers", [(), ("--jobs", "2")])
def test_a_system_finds_its_modules_with_any_workers(folder, workers):
    (folder / "my.py").write_text(f"import helper\n{RANK}")
    (folder / "own").mkdir()
    (folder / "own" / "helper.py").touch()
    done = command(folder, *RUN, *workers, path=str(folder / "own"))
    assert done.returncode == 0, done.stderr
    (folder / "helper.py").touch()  # beside the file, but not on the path
    done = command(folder, *RUN, *workers)
    assert done.returncode == 2
    assert "No module named 'helper'" in done.stderr
