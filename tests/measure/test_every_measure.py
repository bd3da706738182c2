"""What must hold for every measure of every task: names, weights, range, direction."""

from __future__ import annotations

import math

import numpy as np
import pytest

import heldout
from heldout import (
    ClassPredictions,
    Measure,
    NumberPredictions,
    Qrels,
    Segments,
    Undefined,
    parse_measure,
    parse_measures,
)
from heldout.data.segments import Texts
from heldout.errors import MeasureError
from heldout.measure.base import Means, Order, Sums, definitions
from heldout.measure.ranking.judged import join

CUTOFF = {"none": "", "optional": "", "rank": "@5", "recall": "@0.5"}
RANKING = [
    f"{name}{CUTOFF[family.cutoff]}"
    for name, family in sorted(definitions("ranking").items())
    if not hasattr(family.compute, "own")
]
RANKING += ["nDCG(dcg='exp-log2')@10", "AP(rel=2)@7", "P(judged_only=True)@3", "RBP(p=0.5)"]
CLASSES = ["accuracy", "error", "balanced-accuracy", "precision(macro)", "recall(weighted)"]
CLASSES += ["F1(micro)", "F(beta=2, macro)", "F1(class=b)", "precision(class='b', undefined=0)"]
CLASSES += ["specificity(class=a)", "FP-rate(class=c)", "MCC", "kappa", "log-loss", "Brier"]
CLASSES += ["kappa(linear)", "kappa(quadratic)", "top-k-accuracy(k=2)", "MCC(undefined=0)"]
CLASSES += ["specificity(macro)", "specificity(micro)", "FP-rate(weighted)"]
CLASSES += ["ECE(bins=5)", "AUC", "AUC(weighted)", "average-precision(class=b)"]
NUMBERS = ["RMSE", "MSE", "MAE", "median-AE", "MAPE", "sMAPE", "R2"]
NUMBERS += ["explained-variance", "MSLE", "pinball(alpha=0.9)", "Pearson", "Spearman", "Kendall"]
TEXTS = ["BLEU", "sentBLEU", "BLEU(order=2, smooth='add-one')", "chrF", "chrF++", "TER", "ROUGE-1"]
TEXTS += ["ROUGE-L(value='recall')", "ROUGE-2", "ExactMatch", "TokenF1"]
TEXTS += ["Perplexity", "Perplexity(base=2)"]
NAMES = {"ranking": RANKING, "classification": CLASSES, "regression": NUMBERS, "text": TEXTS}
EVERY = [(task, name) for task, names in NAMES.items() for name in names]
UNITS = 12


def by_subtopic(rows):
    columns = map(list, zip(*rows, strict=True))
    names = ("query", "doc", "grade", "subtopic")
    return Qrels.of(dict(zip(names, columns, strict=True)), subtopics=True)


def rankings(rng, counts):
    """Queries and a run; each query as often as the counts say."""
    rows, run = [], {}
    for query, count in enumerate(counts):
        judged = {f"d{doc}": int(rng.integers(0, 4)) for doc in range(8)}
        judged["d0"] = 1 + query % 3
        scores = {f"d{doc}": float(score) for doc, score in enumerate(rng.permutation(11))}
        for again in range(count):
            name = f"q{query:02}.{again}"
            run[name] = scores
            rows += [(name, doc, grade, int(doc[1:]) % 3) for doc, grade in judged.items()]
            rows.append((name, "d0", 1, 2))
    return join(by_subtopic(rows), heldout.Run.of(run))


def classes(rng, counts):
    truth = np.arange(len(counts)) % 3
    scores = rng.dirichlet(np.ones(3), len(counts)) + 0.5 * np.eye(3)[truth]
    scores /= scores.sum(axis=1, keepdims=True)
    guess = np.where(rng.random(len(counts)) < 0.7, truth, rng.integers(0, 3, len(counts)))
    guess[:3] = [0, 1, 2]
    at = np.repeat(np.arange(len(counts)), counts)
    units = tuple(map(str, range(len(at))))
    return ClassPredictions(
        "A", units, ("a", "b", "c"), truth[at], guess[at], scores[at], probabilities=True
    )


def numbers(rng, counts):
    truth = rng.gamma(5, 1, len(counts))
    guess = truth + rng.uniform(-0.5, 1, len(counts))
    at = np.repeat(np.arange(len(counts)), counts)
    return NumberPredictions("A", tuple(map(str, range(len(at)))), truth[at], guess[at])


def texts(rng, counts):
    words = ["the", "cat", "sat", "on", "a", "mat", "and", "two", "dogs", "ran"]
    wanted = [" ".join(rng.choice(words, 6)) for _ in counts]
    written = [" ".join(rng.choice([*one.split(), "and"], 5)) for one in wanted]
    logs = [tuple(np.log(rng.uniform(0.1, 1, 4)).tolist()) for _ in counts]
    at = np.repeat(np.arange(len(counts)), counts).tolist()
    ids = tuple(map(str, range(len(at))))
    return Texts(
        Segments("references", ids, tuple((wanted[one],) for one in at)),
        Segments(
            "A", ids, tuple((written[one],) for one in at), log_probs=tuple(logs[one] for one in at)
        ),
    )


MAKE = {"ranking": rankings, "classification": classes, "regression": numbers, "text": texts}


def made(task, seed, counts=(1,) * UNITS):
    """Random data of a task: the same for the same seed, units repeated."""
    return MAKE[task](np.random.default_rng(seed), counts)


@pytest.mark.parametrize(("task", "name"), EVERY)
def test_printed_name_parses_back_to_an_equal_measure(task, name):
    measure = parse_measure(name, task)
    again = parse_measure(str(measure), task)
    assert again == measure
    assert hash(again) == hash(measure)
    assert isinstance(measure, Measure)
    assert measure.task == task
    assert repr(measure) == f"Measure({str(measure)!r})"
    assert parse_measure(str(measure)) == measure  # what is printed says the task
    with pytest.raises(MeasureError):
        parse_measure(measure, "text" if task != "text" else "ranking")


@pytest.mark.parametrize(("task", "name"), EVERY)
def test_weights_of_one_give_the_plain_value(task, name):
    measure = parse_measure(name, task)
    for seed in range(3):
        given = made(task, seed)
        kept = measure.units(given)
        assert isinstance(kept, (Means, Sums, Order))
        assert kept.size == UNITS
        if measure.aggregate == "none":
            assert isinstance(measure.compute(given), Undefined)
            continue
        ones = kept.weighted(np.ones((1, UNITS)))[0]
        assert ones == pytest.approx(measure.compute(given), rel=1e-12, abs=1e-14)


@pytest.mark.parametrize(("task", "name"), EVERY)
def test_whole_weights_are_repeated_units(task, name):
    measure = parse_measure(name, task)
    if measure.aggregate == "none":
        return
    rng = np.random.default_rng(5)
    for seed in range(3):
        counts = rng.integers(0, 4, UNITS)
        counts[:3] += 1
        weighted = measure.units(made(task, seed)).weighted(counts[None].astype(float))
        whole = measure.units(made(task, seed, counts)).value()
        assert weighted[0] == pytest.approx(whole, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("task", "name"), EVERY)
def test_values_are_within_the_range(task, name):
    measure = parse_measure(name, task)
    if measure.aggregate == "none":
        return
    low, high = measure.range
    for seed in range(10):
        value = measure.compute(made(task, seed))
        assert not isinstance(value, Undefined)
        assert low - 1e-12 <= value <= high + 1e-12


PERFECT = {
    "classification": lambda one: ClassPredictions(
        "P", one.units, one.classes, one.truth, one.truth, np.eye(3)[one.truth], probabilities=True
    ),
    "regression": lambda one: NumberPredictions("P", one.units, one.truth, one.truth),
    "text": lambda pair: Texts(
        pair[0],
        Segments("P", pair[0].ids, pair[0].texts, log_probs=((0.0,),) * len(pair[0].ids)),
    ),
}


@pytest.mark.parametrize(("task", "name"), [one for one in EVERY if one[0] in PERFECT])
def test_what_is_perfect_is_best(task, name):
    measure = parse_measure(name, task)
    for seed in range(5):
        given = made(task, seed)
        best, other = measure.compute(PERFECT[task](given)), measure.compute(given)
        assert (best >= other) if measure.higher_is_better else (best <= other)
        low, high = measure.range
        reached = high if measure.higher_is_better else low
        if not name.startswith("Perplexity"):  # where every token is sure it is 1
            assert best == pytest.approx(reached, abs=1e-9)


def test_units_with_weights_of_their_own_are_weighted():
    one = made("classification", 1)
    heavy = ClassPredictions(
        "A", one.units, one.classes, one.truth, one.predicted, weights=np.arange(12.0)
    )
    measure = parse_measure("F1")
    plain = measure.units(one).weighted(np.arange(12.0)[None])[0]
    assert measure.units(heavy).value() == pytest.approx(plain)
    assert measure.compute(heavy) == pytest.approx(plain)


# Names of others


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        *(("accuracy", "accuracy"), ("accuracy_score", "accuracy"), ("f1_macro", "F1(macro)")),
        *(("f1_micro", "F1(micro)"), ("f1_weighted", "F1(weighted)"), ("zero_one_loss", "error")),
        *(("precision_macro", "precision(macro)"), ("recall_weighted", "recall(weighted)")),
        *(("balanced_accuracy", "balanced-accuracy"), ("matthews_corrcoef", "MCC")),
        *(("cohen_kappa", "kappa"), ("cohen_kappa_score", "kappa"), ("log_loss", "log-loss")),
        *(("roc_auc", "AUC"), ("roc_auc_ovr", "AUC")),
        *(("roc_auc_ovr_weighted", "AUC(weighted)"), ("brier_score_loss", "Brier")),
        *(("average_precision", "average-precision"), ("r2", "R2"), ("r2_score", "R2")),
        *(("mean_squared_error", "MSE"), ("root_mean_squared_error", "RMSE")),
        *(("mean_absolute_error", "MAE"), ("median_absolute_error", "median-AE")),
        *(("mean_absolute_percentage_error", "MAPE"), ("f1_score(class=b)", "F1(class=b)")),
        *(("chrF2", "chrF"), ("chrF2++", "chrF++")),
        *(("BLEU", "BLEU"), ("TER", "TER"), ("rougeL", "ROUGE-L"), ("rouge1", "ROUGE-1")),
        *(("F1", "F1(macro)"), ("f1", "F1(macro)"), ("F1@10", "F@10"), ("map", "AP")),
        *(("top_k_accuracy", "top-k-accuracy(k=2)"), ("mean_pinball_loss", "pinball(alpha=0.5)")),
        *(("explained_variance", "explained-variance"), ("spearmanr", "Spearman")),
        *(("mean_squared_log_error", "MSLE"), ("kappa(weights=linear)", "kappa(linear)")),
        *(("precision", "precision(macro)"), ("precision@5", "P@5"), ("ndcg@10", "nDCG@10")),
    ],
)
def test_names_of_others(name, ours):
    assert str(parse_measure(name)) == ours
    assert parse_measure(name) == parse_measure(ours)


def test_values_are_those_of_scikit_learn():
    metrics = pytest.importorskip("sklearn.metrics")
    one, two = made("classification", 3), made("regression", 3)
    for name, theirs in {
        "f1_macro": metrics.f1_score(one.truth, one.predicted, average="macro"),
        "matthews_corrcoef": metrics.matthews_corrcoef(one.truth, one.predicted),
        "roc_auc_ovr_weighted": metrics.roc_auc_score(
            one.truth, one.scores, multi_class="ovr", average="weighted"
        ),
        "log_loss": metrics.log_loss(one.truth, one.scores),
    }.items():
        assert parse_measure(name).compute(one) == pytest.approx(theirs, rel=1e-12), name
    for name in ("mean_squared_error", "median_absolute_error", "r2_score"):
        theirs = getattr(metrics, name)(two.truth, two.predicted)
        assert parse_measure(name).compute(two) == pytest.approx(theirs, rel=1e-12), name


def test_name_in_several_tasks_asks_for_the_task():
    with pytest.raises(MeasureError, match="ranking and of classification: choose one with task"):
        parse_measures("ACCURACY")
    assert str(parse_measures("recall", "classification")[0]) == "recall(macro)"
    with pytest.raises(MeasureError, match="task='speech': expected one of ranking, classif"):
        parse_measure("AP", "speech")
    with pytest.raises(MeasureError, match="AP is a measure of ranking, not of text"):
        parse_measures([parse_measure("AP")], "text")


def test_lists_of_cutoffs_expand():
    assert [str(one) for one in parse_measures("P@[1,5, 10] AP(rel=2)@[3]")] == [
        *("P@1", "P@5", "P@10"),
        "AP(rel=2)@3",
    ]
    with pytest.raises(MeasureError):
        parse_measures("P@[1,]")


# heldout.measures


def test_measures_are_names_of_python():
    names = heldout.measures
    assert names.nDCG @ 10 == parse_measure("nDCG@10")
    assert parse_measures("P@[1,5,10]") == names.P @ [1, 5, 10]
    assert names.P(rel=2) @ 5 == parse_measure("P(rel=2)@5")
    assert names.AP(rel=2) @ [5] == [parse_measure("AP(rel=2)@5")]
    assert names.IPrec @ 0.5 == parse_measure("IPrec@0.5")
    assert names.nDCG(gains={1: 1, 2: 5}) @ 10 == parse_measure("nDCG(gains={1: 1, 2: 5})@10")
    assert names.F1("macro") == parse_measure("F1(macro)")
    assert names.F(class_="b", beta=2.0) == parse_measure("F(beta=2, class=b)")
    assert names.balanced_accuracy() == parse_measure("balanced-accuracy")
    assert names.ROUGE_L(stem=True) == parse_measure("ROUGE-L(stem=True)")
    assert parse_measures([names.AP, names.RMSE, names.BLEU]) == parse_measures("AP RMSE BLEU")
    assert parse_measures(names.recall, "classification") == parse_measures("recall(macro)")
    assert {"nDCG", "F1", "balanced_accuracy", "BLEU", "ROUGE_L"} <= set(dir(names))
    assert all(getattr(names, name) for name in dir(names))


def test_measures_has_no_other_names():
    with pytest.raises(AttributeError, match="no measure 'nDGC'"):
        _ = heldout.measures.nDGC
    with pytest.raises(MeasureError, match="not one of macro"):
        heldout.measures.F1("macho")


def test_range_and_direction_of_a_mere_count():
    measure = parse_measure("NumRet")
    assert (measure.higher_is_better, measure.range[1]) == (None, math.inf)
    assert measure.aggregate == "sums"


def compared(task, name, seed, units=3):
    """Two systems on few units, so that plain intervals are wide."""
    rng = np.random.default_rng(seed)
    counts = (1,) * units
    if task == "ranking":
        rows = [(f"q{q}", f"d{d}", (d + q) % 3, d % 2) for q in range(units) for d in range(6)]
        qrels = by_subtopic(rows)
        runs = {
            system: {
                query: {f"d{d}": float(s) for d, s in enumerate(rng.permutation(9)[:kept])}
                for query, kept in zip(
                    qrels.queries, rng.integers(1, 9, units).tolist(), strict=True
                )
            }
            for system in "AB"
        }
        return heldout.compare(qrels, runs, name, replicates=100)
    if task == "text":
        references, first, *_ = texts(rng, counts)
        written = [" ".join(rng.permutation(one[0].split())) for one in references.texts]
        second = {"A": [one[0] for one in first.texts], "B": written}
        return heldout.compare([one[0] for one in references.texts], second, name, replicates=100)
    first = MAKE[task](rng, counts)
    second = MAKE[task](rng, counts)
    if task == "regression":
        second = NumberPredictions("B", first.units, first.truth, second.predicted)
    else:
        second = ClassPredictions(
            "B",
            first.units,
            first.classes,
            first.truth,
            second.predicted,
            second.scores,
            probabilities=True,
        )
    return heldout.compare([first, second], name, replicates=100)


@pytest.mark.parametrize(("task", "name"), EVERY)
def test_intervals_are_within_the_range(task, name):
    """Of systems and of differences, though three units give very wide ones."""
    measure = parse_measure(name, task)
    low, high = measure.range
    tried = 0
    for seed in range(2):
        try:
            found = compared(task, name, seed)
        except (MeasureError, heldout.InputError):  # e.g. no direction, or undefined on few units
            continue
        tried += 1
        assert found.scores.range == measure.range
        for _, interval, _ in found.systems:
            if interval.method == "none":  # nothing varies
                assert np.isnan([interval.low, interval.high]).all()
                continue
            assert low <= interval.low <= interval.estimate + 1e-12
            assert interval.estimate - 1e-12 <= interval.high <= high
        for claim in found.claims:
            assert low - high <= claim.difference.low
            assert claim.difference.high <= high - low
    assert tried or measure.aggregate != "mean" or measure.higher_is_better is None
