"""Measures of one's own."""

from __future__ import annotations

import math

import naive
import pytest
from hypothesis import given
from naive import collections, queries_of

from heldout import compare, define_measure, evaluate, parse_measure
from heldout.errors import MeasureError
from heldout.measure.base import DEFINITIONS, TASKS, definitions
from heldout.measure.custom import RankedList


@pytest.fixture(autouse=True)
def _forget():
    """Forget the measures that a test defines."""
    for task in TASKS:
        definitions(task)  # they register themselves
    before = dict(DEFINITIONS)
    yield
    DEFINITIONS.clear()
    DEFINITIONS.update(before)


QRELS = {"q1": {"a": 2, "b": 0, "n": -1, "z": 1}, "q2": {"c": 1}}
RUN = {"q1": {"u": 5.0, "a": 4.0, "n": 3.0, "b": 2.0}, "q2": {"x": 1.0}}


def seen_lists(measure_name="Seen", qrels=QRELS, run=RUN, **how):
    seen = []

    @define_measure(name="Seen")
    def _(ranked):
        seen.append(ranked)
        return 0.0

    evaluate(qrels, run, measure_name, **how)
    return {ranked.query: ranked for ranked in seen}


def test_function_sees_grades_in_rank_order_and_all_judgements():
    ranked = seen_lists()["q1"]
    assert isinstance(ranked, RankedList)
    # -1: not in the qrels, -2: negative there.
    assert ranked.grades.tolist() == [-1, 2, -2, 0]
    assert ranked.judged.tolist() == [2, 1, 0, -1]


def test_cutoff_and_depth_shorten_the_list_that_is_seen():
    assert seen_lists("Seen@2")["q1"].grades.tolist() == [-1, 2]
    assert seen_lists(depth=3)["q1"].grades.tolist() == [-1, 2, -2]


def test_judged_only_removes_what_has_no_judgement():
    assert seen_lists("Seen(judged_only=True)")["q1"].grades.tolist() == [2, 0]


def test_query_that_the_run_lacks_is_an_empty_list():
    lists = seen_lists(run={"q1": RUN["q1"]})
    assert lists["q2"].grades.tolist() == []
    assert lists["q2"].judged.tolist() == [1]


@given(case=collections())
def test_known_measure_written_by_hand_has_its_values(case):
    @define_measure
    def HandMadeRR(ranked, *, rel=1):  # noqa: N802 - named as it is asked for
        hits = (rank for rank, grade in enumerate(ranked.grades, 1) if grade >= rel)
        first = next(hits, None)
        return 1 / first if first else 0.0

    @define_measure
    def HandMadeDCG(ranked):  # noqa: N802
        gains = (max(0, int(grade)) for grade in ranked.grades)
        return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))

    qrels, run = case
    mine = ["HandMadeRR", "HandMadeRR(rel=2)@3", "HandMadeDCG@4"]
    result = evaluate(qrels, run, [*mine, "RR", "RR(rel=2)@3", "DCG@4"])
    for at in range(3):
        assert result.per_unit(0, at).tolist() == pytest.approx(result.per_unit(0, at + 3).tolist())
    lists = queries_of(qrels, run)
    assert result.per_unit(0, "HandMadeDCG@4").tolist() == pytest.approx(
        [naive.dcg(lists[query], 4) for query in result.units()]
    )


def test_keyword_parameters_become_parameters_of_the_measure():
    @define_measure
    def Scaled(ranked, *, scale=1.0, offset=0, kind="plain"):  # noqa: N802
        return scale * len(ranked.grades) + offset + (kind == "odd")

    result = evaluate(QRELS, RUN, ["Scaled", "Scaled(scale=2, offset=1, kind='odd')@3"])
    assert result.per_unit(0, 0).tolist() == [4.0, 1.0]
    assert result.per_unit(0, 1).tolist() == [8.0, 4.0]
    assert str(parse_measure("scaled(scale=2.0)")) == "Scaled(scale=2)"
    with pytest.raises(MeasureError, match="no parameter 'size'; it has scale, offset, kind"):
        parse_measure("Scaled(size=1)")
    with pytest.raises(MeasureError, match="expected a number"):
        parse_measure("Scaled(scale='x')")


def test_name_bounds_and_direction_can_be_given():
    @define_measure(name="Cost", bounds=(0.0, 9.0), higher_is_better=False)
    def anything(ranked):
        """Count what was retrieved."""
        return len(ranked.grades)

    family = parse_measure("Cost").definition
    assert (family.bounds, family.higher_is_better) == ((0.0, 9.0), False)
    assert family.summary == "Count what was retrieved."
    # The function stays what it was and can be called by hand.
    assert anything(RankedList("q", [1, 2], [2, 1])) == 2  # type: ignore[arg-type]


def test_definition_may_be_replaced_as_in_a_notebook():
    define_measure(name="Again")(lambda _: 1.0)
    define_measure(name="Again")(lambda _: 2.0)
    assert evaluate(QRELS, RUN, "Again").value(0, 0) == 2.0


@pytest.mark.parametrize("name", ["P", "nDCG", "AP", "RelString"])
def test_names_of_the_library_are_not_given_away(name):
    with pytest.raises(MeasureError, match="choose another name"):
        define_measure(name=name)(lambda _: 0.0)
    assert definitions("ranking")[name].own is None


@pytest.mark.parametrize("name", ["9lives", "a b", "a@b", "a(b)", "<lambda>", "x-y"])
def test_name_must_be_readable(name):
    with pytest.raises(MeasureError, match="cannot name a measure"):
        define_measure(name=name)(lambda _: 0.0)


def test_function_without_a_name_must_be_given_one():
    with pytest.raises(MeasureError, match="cannot name a measure"):
        define_measure(lambda _: 0.0)


def test_parameter_without_a_default_is_refused():
    with pytest.raises(MeasureError, match="needs a default"):

        @define_measure
        def Incomplete(ranked, *, scale):  # noqa: N802
            return scale * len(ranked.grades)


def test_error_in_the_function_reaches_the_user():
    @define_measure
    def Broken(ranked):  # noqa: N802
        raise ZeroDivisionError(ranked.query)

    with pytest.raises(MeasureError, match="the measure Broken failed: ZeroDivisionError: q1"):
        evaluate(QRELS, RUN, "Broken")


def test_intervals_are_bounded_only_if_the_measure_is():
    qrels = {f"q{n}": {"d": 1 + n % 5} for n in range(20)}
    runs = {name: {f"q{n}": {name: 1.0} for n in range(20)} for name in "xd"}

    def grade(ranked):
        return max(0.0, float(ranked.grades[0]))

    define_measure(name="OpenGrade")(grade)
    define_measure(name="BoundedGrade", bounds=(0, 3.5))(grade)
    own, cut = (
        compare(qrels, runs, name).claims[0].difference for name in ("OpenGrade", "BoundedGrade")
    )
    assert own.estimate == cut.estimate == 3
    assert own.low < 3
    assert own.high > 3.6
    assert cut.high <= 3.5
