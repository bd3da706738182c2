"""Parameters in the names of runs, and the order they give."""

from pathlib import Path

import pytest

from heldout import InputError
from heldout.tune.run_names import labels_of, matching, read_names, read_parameters
from heldout.tune.search import Search


def test_parameters_are_read():
    for name, expected in (
        ("λ=0.5", {"λ": 0.5}),
        ("k1=0.9,b=0.4", {"k1": 0.9, "b": 0.4}),
        ("k1=0.9-b=0.4", {"k1": 0.9, "b": 0.4}),
        ("bm25_k1=0.9_b=0.4_final", {"k1": 0.9, "b": 0.4}),
        ("a=-0.5-b=1e-3", {"a": -0.5, "b": 0.001}),
        ("stem=porter_mu=100", {"stem": "porter", "mu": 100}),
        ("mu=100.out", {"mu": 100}),
        ("mu=1.5.out", {"mu": 1.5}),
        ("mu=5-best", {"mu": 5}),
        ("bm25", {}),
        ("k1=", {}),
        ("k1=1_k1=2", {}),
        ("=1", {}),
    ):
        assert read_parameters(name) == expected, name


def test_names_are_ordered_by_value_and_not_by_letters():
    two = [f"k1={k1}_b={b}" for b in (0.9, 0.1) for k1 in (10, 2)]
    for names, ordered, first, edges in (
        (["mu=1000", "mu=50", "mu=200"], [1, 2, 0], {"mu": 50}, [1, 0, 1]),
        (two, [3, 1, 2, 0], {"k1": 2, "b": 0.1}, [2, 2, 2, 2]),  # the first is the slowest
        # One number in the names is an order, too.
        (["run10", "run9", "run1"], [2, 1, 0], {"run*": 1}, [1, 0, 1]),
    ):
        order, space = read_names(names)
        assert order == ordered
        assert space.points()[0] == first
        assert [len(Search(space).edges(point)) for point in space.points()] == edges


def test_other_names_have_an_order_but_no_space():
    for names in (
        ["bm25", "dense", "hybrid"],
        ["k1=1", "mu=2"],  # not the same parameters
        ["a_k1=1", "b_k1=1"],  # the same values
        ["run1-2", "run2-1"],  # two numbers
        ["run2-a", "run10-b"],
    ):
        order, space = read_names(names[::-1])
        assert [names[::-1][number] for number in order] == names
        assert space is None


def test_files_are_called_by_what_tells_them_apart():
    for paths, labels in (
        (["runs/lambda=0.5.run", "lambda=1"], ["lambda=0.5", "lambda=1"]),
        (["a/b/x.run.gz", "y.TREC", ".run"], ["x", "y", ".run"]),  # known endings are cut off
        (["x.run", "x.trec"], ["x.run", "x.trec"]),
        (["runs/a/x.run", "runs/b/x.run"], ["a/x.run", "b/x.run"]),
    ):
        assert labels_of(paths) == labels


def test_a_pattern_is_the_files_that_match_it(tmp_path):
    for name in ("b.run", "a.run", "[x].run"):
        (tmp_path / name).touch()
    (tmp_path / "folder.run").mkdir()
    for pattern, names in (
        ("*.run", ["[x].run", "a.run", "b.run"]),
        ("[x].run", ["[x].run"]),  # a file of that name
        ("missing.run", ["missing.run"]),  # the reader reports it
    ):
        assert [Path(path).name for path in matching(str(tmp_path / pattern))] == names
    for pattern, message in (
        ("?.trec", r"no run matches .*: .* has \[x\]\.run, a\.run, b\.run"),
        ("none/*.run", "there is no folder"),
        ("*/*.run", "check the folders in the pattern"),
    ):
        with pytest.raises(InputError, match=message):
            matching(str(tmp_path / pattern))
