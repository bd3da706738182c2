"""Short names of everything heldout warns of, so that a reader can look it up.

A warning is a sentence where it is found, and stays one in every format and file. Its code is told
by words that only sentences of its kind have. docs/warnings.md has a paragraph for each; a test
compares the two, and every sentence that is printed in the tests must have a code.
"""

from __future__ import annotations

import re
from typing import Final

from heldout.report.tables import plain_text

__all__ = ["CODES", "careful_line", "code_of"]

CODES: Final = {
    # what was found odd in data
    "empty-documents": "empty documents: ",
    "empty-queries": "queries without text: ",
    "no-judgements": "there are no judgements",
    "unknown-queries": "judgements of queries that are not there",
    "absent-documents": "judgements of documents that the corpus lacks",
    "unjudged-queries": "queries without a judgement: ",
    "split": "the split is .*; the others are ",
    "other-splits": "queries that are not judged in this split",
    "replaced": "places that are not .*, replaced by ",
    "repeated-judgements": "judgements that stand there again and count once",
    "zeros": "leading zeros were taken off the ids",
    "no-cache": "pydocs cannot be kept",
    "missing-packages": "built without .* not installed",
    "no-words": "queries that no document has a word of",
    # what is odd in predictions and texts
    "no-predictions": "has scores and no predictions",
    "wrong-classes": "predicts no class that is true",
    "no-column": "of a class without a column of probabilities",
    "other-units": "values side by side are not of the same data",
    "different-tokens": "cut the texts into different tokens",
    "no-vectors": "no word of their references has a vector",
    # seen and held out
    "small-strata": "strata with fewer .* than the .* folds",
    "empty-test": "quer(y has|ies have) no relevant document in a test side",
    "empty-train": "quer(y has|ies have) no relevant document in a train side",
    "twins": "with the text of one on the other side",
    "unseen-class": "is held out where it was not seen in training",
    # tuning
    "at-an-end": "the best may lie beyond it",
    "never-held-out": "quer(y was|ies were) never held out",
    "no-value": "quer(y has|ies have) no value for some run",
    "left-out": "left out: without a relevant document where held out",
    "inner-folds": "inner folds are for systems that learn",
    "failed-fits": "failed on [0-9,]+ fits? and was not chosen there",
    "uneven-tuning": "very different numbers of values|a difference may be due to the search",
    "tuned-one": "not: it may be tuning",
    "fit-warning": r"\(on [0-9,]+ fits?\)$",
    # what the units are
    "no-common-document": "has none of the judged documents, so its scores are 0",
    "few-units": "only [0-9]+ units?: little can be shown",
    "missing-zero": "judged quer(y|ies).*, which counts? 0",
    "same-ranking": "rank the same documents in the same order",
    "missing-left-out": "(is|are) left out for all runs|that some system lacks w",
    "many-ties": "have equal scores on .* of the units",
    "constant-difference": "differences that do not vary leave nothing to judge by",
    "judged-apart": "top documents are not judged alike",
    "grouped": "which are swapped and drawn whole|groups: each counts by its mean",
    "runs": "repeats with the same folds are runs",
    "crossing-groups": "units in several folds, so that a system was tested on units like",
    "undefined-fold": "is undefined in fold|does not exist on",
    "shared-training": "come from folds that share training data",
    # what the test is
    "one-tail": "one tail: fair only if",
    "bootstrap-shift": "bootstrap-shift with .* finds too much|are too sure (with|below)",
    "other-hypothesis": "test other hypotheses than equal means",
    "folds-independent": "takes? folds for independent: ",
    "nothing-to-correct": "one comparison, with nothing to correct",
    "own-test": "is a test of its own and decides",
    "unadjusted-intervals": "adjusts the p-values only",
    "ranks-not-means": "the test is about ranks, the unadjusted intervals",
    "many-measures": "nothing corrects for the number of measures|corrected for the .* measures",
    "stepwise": "significant, though 0 is inside the interval",
    "disagreement": "test and interval disagree about 0",
    # plans and gates
    "small-pilot": "hardly knows the spread",
    "few-differ": "differ on .* units only",
}
"""The words by which each kind of warning is known, as a pattern."""


def code_of(sentence: str) -> str:
    """The code of a warning; empty if there is none.

    Examples
    --------
    >>> code_of("only 5 units: little can be shown, and nothing can be excluded")
    'few-units'
    """
    return next((code for code, words in CODES.items() if re.search(words, sentence)), "")


def careful_line(sentence: str) -> str:
    """A warning as it is printed, with the code to look it up by.

    Examples
    --------
    >>> careful_line("one tail: fair only if a difference the other way would change nothing")
    'Careful: one tail: fair only if a difference the other way would change nothing. [one-tail]'
    """
    code = code_of(sentence)
    return f"Careful: {plain_text(sentence)}." + (f" [{code}]" if code else "")
