"""Parameters in the names of runs, and the order they give."""

import pytest

from heldout.data.files import file_stem
from heldout.tune.listed import read_names, read_parameters


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("lambda=0.5", {"lambda": 0.5}),
        ("λ=0.5", {"λ": 0.5}),
        ("k1=0.9,b=0.4", {"k1": 0.9, "b": 0.4}),
        ("k1=0.9_b=0.4", {"k1": 0.9, "b": 0.4}),
        ("k1=0.9-b=0.4", {"k1": 0.9, "b": 0.4}),
        ("bm25_k1=0.9-b=0.4_final", {"k1": 0.9, "b": 0.4}),
        ("a=-0.5-b=1e-3", {"a": -0.5, "b": 0.001}),
        ("stem=porter_mu=100", {"stem": "porter", "mu": 100}),
        ("mu=100.out", {"mu": 100}),
        ("mu=1.5.out", {"mu": 1.5}),
        ("mu=5-best", {"mu": 5}),
        ("bm25", {}),
        ("k1=", {}),
        ("k1=1_k1=2", {}),
        ("=1", {}),
    ],
)
def test_parameters_are_read(name, expected):
    assert read_parameters(name) == expected


def test_names_are_ordered_by_value_and_not_by_letters():
    order, points = read_names(["mu=1000", "mu=50", "mu=200"])
    assert order == [1, 2, 0]
    assert [one["mu"] for one in points.points()] == [50, 200, 1000]


def test_the_first_parameter_is_the_slowest():
    names = [f"k1={k1}_b={b}" for b in (0.9, 0.1) for k1 in (10, 2)]
    order, points = read_names(names)
    assert [names[at] for at in order] == ["k1=2_b=0.1", "k1=2_b=0.9", "k1=10_b=0.1", "k1=10_b=0.9"]
    assert points.edges(0) == ("k1", "b")


def test_one_number_in_the_names_is_an_order_too():
    order, points = read_names(["run10", "run9", "run1"])
    assert order == [2, 1, 0]
    assert points.point(0) == {"run*": 1}
    assert points.edges(1) == ()
    assert points.edges(2) == ("run*",)


@pytest.mark.parametrize(
    "names",
    [
        ["bm25", "dense", "hybrid"],
        ["k1=1", "mu=2"],  # not the same parameters
        ["a_k1=1", "b_k1=1"],  # the same values
        ["run1-2", "run2-1"],  # two numbers
        ["dense", "k1=1"],
    ],
)
def test_other_names_have_an_order_but_no_edges(names):
    order, points = read_names(names[::-1])
    assert [names[::-1][at] for at in order] == names
    assert points is None


@pytest.mark.parametrize(
    ("path", "stem"),
    [
        ("runs/lambda=0.5.run", "lambda=0.5"),
        ("lambda=0.5", "lambda=0.5"),
        ("a/b/x.run.gz", "x"),
        ("x.TREC", "x"),
        (".run", ".run"),
    ],
)
def test_only_known_endings_are_cut_off(path, stem):
    assert file_stem(path) == stem
