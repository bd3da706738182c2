"""The few lines that lead with the answer: what is said, and that they fit a terminal."""

import numpy as np
import pytest

from heldout import Scores, compare
from heldout.errors import InputError
from heldout.report.claims import claims_text
from heldout.report.paper import paper_table

RNG = np.random.default_rng(5)
UNITS = [f"q{number}" for number in range(30)]


def systems(count, gap=0.0):
    base = RNG.random((30, 1))
    values = np.clip(base + RNG.normal(0, 0.05, (30, count)) + gap * np.arange(count), 0, 2)
    names = [f"system-number-{number}" for number in range(count)]
    return Scores("nDCG@10", names, UNITS, values, unit="query")


def lines(comparison, **options):
    return claims_text(comparison, "table", full=False, **options).splitlines()


def test_two_systems_take_four_lines_and_the_verdict_is_first():
    found = compare(systems(2, gap=0.1))
    said = lines(found)
    (claim,) = found.claims
    assert len(said) == 4
    assert said[0].startswith("system-number-1 is significantly better than system-number-0 (p ")
    assert f"difference {claim.difference.estimate:+.4f}" in said[1]
    assert said[2].startswith("30 queries: ")
    assert said[3].startswith("Test: Fisher's randomization test (two-sided")


def test_copies_are_called_the_same():
    values = RNG.random((30, 1)).repeat(2, axis=1)
    said = lines(compare(Scores("AP", ["A", "B"], UNITS, values, unit="query")))
    assert said[0] == "B and A have the same AP on all 30 queries."


def test_nine_systems_take_at_most_thirty_lines_of_eighty_columns():
    found = compare(systems(9, gap=0.03), correction="tukey")
    said = lines(found)
    assert len(said) <= 30
    table = said[1 : 1 + 10]
    assert all(len(line) <= 80 for line in table)
    assert [line.split()[0] for line in table[1:]] == [str(rank) for rank in range(1, 10)]
    scores = [float(line.split()[2]) for line in table[1:]]
    assert scores == sorted(scores, reverse=True)
    assert any(line.startswith("residual") for line in said)  # the analysis is an ANOVA
    assert not any(
        line.startswith("residual") for line in lines(compare(systems(9), correction="holm"))
    )


def test_the_top_group_is_what_the_best_does_not_beat():
    found = compare(systems(5, gap=0.02), correction="holm")
    best = max(found.systems, key=lambda row: row.mean.estimate).name
    beaten = {
        name
        for claim in found.claims
        if claim.adjusted <= 0.05 and best in (claim.first, claim.second)
        for name in (claim.first, claim.second)
    } - {best}
    (said,) = [line for line in lines(found) if line.startswith("Top group")]
    listed = set(said.rstrip(".").rpartition(": ")[2].split(", ")) if ":" in said else set()
    assert beaten
    assert not beaten & listed


def test_long_names_lose_their_middle():
    names = ["x" * 50 + "1", "x" * 50 + "2", "short"]
    scores = Scores("AP", names, UNITS, RNG.random((30, 3)))
    table = lines(compare(scores, correction="holm"))[1:5]
    assert max(map(len, table)) <= 80
    assert any("…" in line and line.count("x") == 22 for line in table)


@pytest.mark.parametrize("baseline", [None, "system-number-0"])
def test_a_paper_table_marks_what_is_better(baseline):
    found = compare(systems(4, gap=0.2), correction="holm", baseline=baseline)
    text = paper_table([found, found])
    last = next(line for line in text.splitlines() if "system-number-3" in line)
    best = rf"\textbf{{{found.systems[3].mean.estimate:.4f}}}"
    mark = "abc" if baseline is None else r"\dagger"
    assert last.count(f"{best}$^{{{mark}}}$") == 2
    assert "Holm's method, two-sided, p " in text
    assert paper_table([found]).count(r"\\") == 5


def test_a_paper_table_needs_the_same_systems():
    with pytest.raises(InputError, match="the same systems and baseline in every measure"):
        paper_table(
            [compare(systems(3), correction="holm"), compare(systems(4), correction="holm")]
        )
