"""Made-up rankings, classes, numbers and texts, and the value of a measure on them."""

from __future__ import annotations

import random
from functools import cache

import numpy as np

from heldout import ClassPredictions, NumberPredictions, Qrels, Run, Segments, parse_measure
from heldout.data.segments import Texts
from heldout.measure.ranking.judged import join

# Predictions that a test writes down


def classed(truth, guess=None, classes=(), weights=None, scores=None, **more):
    """Predictions of classes given by name; scores have one column per class."""
    names = tuple(classes) or tuple(sorted({*truth, *(guess or ())}))
    return ClassPredictions(
        "A",
        tuple(map(str, range(len(truth)))),
        names,
        np.array([names.index(one) for one in truth]),
        None if guess is None else np.array([names.index(one) for one in guess]),
        None if scores is None else np.asarray(scores, float),
        weights=None if weights is None else np.asarray(weights, float),
        **more,
    )


def by_score(flags, scores, weights=None):
    """Predictions of two classes by the score of the positive one."""
    pair = np.column_stack([-np.asarray(scores, float), np.asarray(scores, float)])
    truth = ["yes" if flag else "no" for flag in flags]
    return classed(truth, classes=("no", "yes"), weights=weights, scores=pair)


def numbered(truth, guess, weights=None):
    """Predictions of numbers; up to ten units are letters."""
    units = tuple("abcdefghij"[: len(truth)]) if len(truth) < 11 else range(len(truth))
    return NumberPredictions(
        "A",
        tuple(map(str, units)),
        np.asarray(truth, float),
        np.asarray(guess, float),
        None if weights is None else np.asarray(weights, float),
    )


def value(name, given):
    """The value of a measure of predictions."""
    task = "classification" if isinstance(given, ClassPredictions) else "regression"
    return parse_measure(name, task).compute(given)


def by_subtopic(rows):
    """Judgements from rows of query, document, grade and subtopic."""
    columns = map(list, zip(*rows, strict=True))
    names = ("query", "doc", "grade", "subtopic")
    return Qrels.of(dict(zip(names, columns, strict=True)), subtopics=True)


def random_run(rng, docs, least, most):
    """Documents of a run with their scores, all different."""
    ranked = rng.choice(docs, int(rng.integers(least, most)), replace=False)
    scores = rng.permutation(len(ranked)) + 1.0
    return {f"d{doc}": score for doc, score in zip(ranked, scores.tolist(), strict=True)}


# Random data of every task: the same for the same seed, each unit as often as the counts say


def rankings(rng, counts):
    """Judgements with subtopics, and a run."""
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
    return join(by_subtopic(rows), Run.of(run))


def classes(rng, counts):
    """Predictions and probabilities of three classes."""
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
    """Predictions of positive numbers."""
    truth = rng.gamma(5, 1, len(counts))
    guess = truth + rng.uniform(-0.5, 1, len(counts))
    at = np.repeat(np.arange(len(counts)), counts)
    return NumberPredictions("A", tuple(map(str, range(len(at)))), truth[at], guess[at])


def texts(rng, counts):
    """References, and texts with log-probabilities of tokens."""
    wanted = [" ".join(rng.choice(WORDS[:10], 6)) for _ in counts]
    written = [" ".join(rng.choice([*one.split(), "and"], 5)) for one in wanted]
    logs = [tuple(np.log(rng.uniform(0.1, 1, 4)).tolist()) for _ in counts]
    at = np.repeat(np.arange(len(counts)), counts).tolist()
    ids = tuple(map(str, range(len(at))))
    system = tuple((written[one],) for one in at)
    return Texts(
        Segments("references", ids, tuple((wanted[one],) for one in at)),
        Segments("A", ids, system, log_probs=tuple(logs[one] for one in at)),
    )


MAKE = {"ranking": rankings, "classification": classes, "regression": numbers, "text": texts}


@cache
def made(task, seed, counts=(1,) * 12):
    """Random data of a task; nothing may change them."""
    return MAKE[task](np.random.default_rng(seed), counts)


# Translations

WORDS = [
    *("the", "a", "cat", "cats", "dog", "dogs", "sat", "sitting", "runs", "running", "on", "under"),
    *("mat", "table,", "house.", "Big", "small", "quickly", "happily", "Berlin", "1990", "don't"),
    *("(well)", "is", "was", "U.S.", "café", "naïve", "%", "&", "state-of-the-art", "he's"),
]


def _spoiled(source, text, rate):
    """A text with some words dropped, changed or moved."""
    drawn = [(word, source.random()) for word in text.split()]
    words = [source.choice(WORDS) if at < rate else word for word, at in drawn if at >= rate / 3]
    if len(words) > 2 and source.random() < rate:
        at = source.randrange(len(words) - 1)
        words.insert(0, words.pop(at))
    return " ".join(words)


def corpus(count, seed=0, rate=0.4, references=1):
    """Lists of references for each segment, and texts of a system."""
    source = random.Random(seed)  # noqa: S311 - data, no secret
    wanted = [
        [
            " ".join(source.choice(WORDS) for _ in range(source.randint(0, 14)))
            for _ in range(references)
        ]
        for _ in range(count)
    ]
    return wanted, [_spoiled(source, own[0], rate) for own in wanted]


def units(name, references, written):
    """The scores of segments in a measure."""
    return parse_measure(name, "text").units(Texts(Segments.of(references), Segments.of(written)))
