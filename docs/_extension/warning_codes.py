"""What the code of each warning means, in the order of the documentation."""  # noqa: INP001

MEANINGS = {
    # Data
    "empty-documents": "Documents without text, which no query can find. Usually a field was not "
    "read (``--fields``), or text was lost in a conversion.",
    "empty-queries": "Queries without text find nothing and count 0 in every measure. Look at the "
    "field that was read (``--query-field``).",
    "no-judgements": "Searching works; evaluating, tuning and comparing do not. Give ``--qrels``.",
    "unknown-queries": "Judgements name queries that the collection lacks; they are ignored. Often "
    "they are of another split, or their ids are written differently.",
    "absent-documents": "Judgements name documents that the collection lacks; they are ignored. "
    "Recall is then measured against fewer relevant documents than the judges found.",
    "unjudged-queries": "Queries that nobody judged. They are not measured.",
    "split": "A BEIR folder has judgements of several splits; the note names the one in use. "
    "Choose another with ``--qrels FOLDER/qrels/SPLIT.tsv`` or ``heldout collection --split``.",
    "other-splits": "One file holds the queries of all splits. Queries without judgements in the "
    "chosen split are ignored.",
    "repeated-judgements": "The same query and document were judged twice with the same grade, "
    "which counts once. (Two different grades are an error.)",
    "zeros": "Topics are called 051 in one file and 51 in the other. Leading zeros are removed.",
    "no-cache": "The embedded collection could not be written to the cache folder and is built "
    "again each time. Set ``HELDOUT_CACHE`` to a writable folder.",
    "no-words": "No document has a word of these queries, so they are not in the run and count 0. "
    "Check that queries and index have the same language and analyzer.",
    # Predictions and texts
    "no-predictions": "The scores are not probabilities, so classes cannot be predicted from them. "
    "Pass ``--threshold``. Measures of the scores alone (AUC) do not need it.",
    "wrong-classes": "None of the predicted classes is a true one. Check the spelling (``1`` and "
    "``positive``, ``Spam`` and ``spam``).",
    "no-column": "A class that is true for some units has no column of probabilities. Its "
    "probability counts as 0, which makes log-loss infinite.",
    "other-units": "The systems were scored on different units, so their values are not "
    "comparable. ``heldout compare`` uses the units that all systems have.",
    "reversed-scores": "Units predicted to be positive have lower scores than the others. The "
    "scores are probably those of the other class: name it with ``--positive CLASS``.",
    "different-tokens": "Perplexity per token depends on the tokens. Systems with different tokens "
    "cannot be compared by it.",
    "no-vectors": "No word of the references of these segments has a vector. They are left out.",
    # Splits
    "small-strata": "A class has fewer units than there are folds, so some folds have none of it. "
    "Use fewer folds, or merge rare classes.",
    "empty-test": "In some folds of the documents, queries have no relevant document, and no "
    "score. A mean over folds is about different queries in each. Pool the folds (the default of "
    "``heldout run --by document``), use fewer, or stratify by relevance.",
    "empty-train": "Queries without a relevant document on the training side do not contribute to "
    "tuning there.",
    "twins": "The same text is in the training and in the held-out data. A system that memorizes "
    "texts then scores nearly 1. Keep equal texts together with ``--groups duplicates``; if the "
    "folds were given, move the documents yourself.",
    "duplicates": "Some documents have the text of another one, but for case and white space. They "
    "are kept together. Collections with copies usually also have slightly modified copies, which "
    "only ``--groups near-duplicates`` finds. ``--groups duplicates`` confirms that equal texts "
    "are enough; ``--groups none`` treats every document separately.",
    "near-duplicates": "A system learns, and some held-out documents have almost the text of a "
    "training document. On 20 queries of Cranfield with copies in which 5 % of the words were "
    "deleted, a system that remembers texts scored .92 where .09 is right. Keep them together with "
    "``--groups near-duplicates``.",
    "unseen-class": "A class is held out in a fold whose training side has none of it; no system "
    "can predict it there. Stratify, or use fewer folds.",
    # Tuning
    "at-an-end": "The selected value is the smallest or largest that was tried, so the best may be "
    "beyond it. Extend the grid there, unless the parameter ends there (b = 1).",
    "left-out": "Queries without a held-out score: no relevant document where they were held out, "
    "or never held out. The estimate is for the others.",
    "inner-folds": "These systems learn nothing but their parameters, so inner folds were not "
    "needed: they were tuned on the whole training side.",
    "lists-kept": "There are many splits of the documents: ranked lists are kept for the first 20. "
    "Every value is kept, and estimates are based on all splits.",
    "failed-fits": "A setting failed to fit in some folds and could not be selected there; the "
    "first reason is quoted. The grid may have settings that the estimator does not support.",
    "uneven-tuning": "One system had at least three times as many settings as another. A "
    "difference may come from the search: give both a similar budget.",
    "tuned-one": "One system was tuned and the other was not, so the difference may be due to "
    "tuning. Tune both on the same folds.",
    "fit-warning": "A scikit-learn estimator warned while it was fitted; the warning is quoted. "
    "Usually it did not converge: use more iterations, or scale the features.",
    # Units
    "few-units": "With fewer than ten units hardly any difference is significant, and the lack of "
    "significance means nothing. ``heldout power`` says how many are needed.",
    "missing-zero": "A run lacks judged queries. They count 0, because a system that returns "
    "nothing has found nothing. If it was never run on them, use ``--intersection``.",
    "no-common-document": "No document that the run ranks is judged for its query. Almost always "
    "the ids are those of another collection, or written differently (``doc12`` and ``12``).",
    "swapped": "All grades are floats and all scores of runs are integers. Perhaps the arguments "
    "are swapped: judgements come first, then runs.",
    "one-subtopic": "A measure of diversity was asked for, but all judgements are of one subtopic. "
    "Use the diversity qrels of the track.",
    "same-ranking": "Two runs rank the same documents in the same order. One file may be a copy of "
    "the other, or both systems had the same settings.",
    "missing-left-out": "Only units that all systems have are compared. If those left out are the "
    "hard ones, the comparison does not apply to all units.",
    "many-ties": "The systems have the same score on more than half of the units, so the result "
    "depends on the few others. Perhaps the measure is too coarse (P@1).",
    "constant-difference": "The difference is the same on every unit, so no test is meaningful. "
    "Check that the columns are the right ones.",
    "judged-apart": "The top documents of one system are judged less often than those of the "
    "other. Documents without a judgement count as not relevant, so that system is underestimated. "
    "Judge more documents, or compare with ``judged_only=True`` and bpref as well.",
    "grouped": "Rows belong together (repeats of a unit, members of a group). Whole groups are "
    "resampled: the number of groups counts, not the number of rows.",
    "undefined-fold": "The measure is undefined in this fold, such as AUC where a class is "
    "missing. The fold is left out for all systems. Stratify, or use fewer folds.",
    "runs": "Rows were predicted several times in the same folds, as with several seeds. Each fold "
    "counts once, by its mean over the runs.",
    "crossing-groups": "Units of a group (an author, a patient) are in several folds, so scores "
    "are too high for new groups. Keep groups together when you split.",
    "shared-training": "The training data of the models overlap. A test over units ignores that "
    "and is slightly too liberal; the test over folds (corrected t) accounts for it.",
    "pairs-not-shared": "A machine judged fewer than half of the human pairs, or several machines "
    "judged different pairs. Agreement is computed on the pairs that both judged. Let every "
    "machine judge all pairs of query and document.",
    # Tests and intervals
    "one-tail": "A one-sided test is half as strict. It is valid only if the direction was fixed "
    "before the data were seen.",
    "bootstrap-shift": "With fewer than about 100 units this test is too liberal: 6.8 % instead of "
    "5 % false alarms at 25 units in our measurements. Use the randomization test.",
    "other-hypothesis": "Wilcoxon's test and the sign test do not test whether the means are "
    "equal, and often reject for systems with equal means.",
    "folds-independent": "Scores of folds are not independent, because their training data "
    "overlap. The plain t test rejects far too often, and the plain z interval covered 67.5 % "
    "instead of 95 %. Use ``corrected-t`` and the default interval.",
    "shared-choices": "All query folds select parameters on nearly the same queries. A test that "
    "treats the selected parameters as fixed is too liberal: such intervals covered 80-94 % where "
    "95 % was promised. The default (``retuned-t``) includes the selection; for tuned functions "
    "and fitted objects that is impossible: treat a p-value near .05 as undecided, or hold out "
    "queries once for a final check.",
    "nothing-to-correct": "Two systems are a single comparison; the correction was not used.",
    "own-test": "The procedures of Romano and Wolf and of Tukey are tests themselves. They decide; "
    "the requested test is shown beside them.",
    "unadjusted-intervals": "Benjamini-Hochberg adjusts only p-values. The intervals of the "
    "significant differences miss the true difference more often than their level says.",
    "many-measures": "With several measures, a false alarm in one of them is more likely. Choose a "
    "primary measure before you look, or record all looks in a ledger.",
    "stepwise": "Stepwise tests are more powerful than simultaneous intervals, so a significant "
    "difference can have an interval that includes 0. The test decides.",
    "unequal-variances": "Tukey's test has one error term for all pairs, but some differences vary "
    "more than others. On real systems of equal means it made false claims in up to 8.5 % of "
    "comparisons instead of 5 %. Use the default, ``romano-wolf``.",
    "liberal-correction": "With skewed differences t and randomization tests are too liberal in "
    "their far tails, where adjusted tests decide. All pairs of ten real systems with equal means "
    "had a false claim in up to 13.6 % of cases with 25 units, 9.3 % with 50 and 6.1 % with 100 "
    "(Holm over t). Use the default, ``romano-wolf``.",
    "many-systems": "From 20 systems on, comparing all pairs costs much power: of 1,830 pairs of "
    "61 runs ``romano-wolf`` finds 30. Compared with the best run (``--baseline NAME``, chosen "
    "before you look) it finds 49 of 60. Holm over randomization finds 583 pairs, but Holm over t "
    "made a false claim in 27 % of cases with 61 systems of equal means, ``romano-wolf`` in 5 %.",
    "few-resampled": "Below 15 units the bootstrap of ``romano-wolf`` is very conservative (about "
    "1 % false claims instead of 5 %) and detects only very large differences. Use more units.",
    "skewed-scores": "Few large scores among many small ones, or the reverse. The mean has Hall's "
    "interval. With fewer than 50 units even that covers too little for means near 0: 83 to 94 % "
    "with 10 and 25 topics. Use more units.",
    "many-pairs": "With more than 200,000 differences (pairs x units), only a t test is shown "
    "beside the correction, which decides. ``--test randomization`` runs the test of each pair.",
    "no-letters": "With more than 50 systems there are no letters: their number can grow "
    "exponentially. The p-values of all pairs are given.",
    "disagreement": "Test and interval are different methods, and the result is close. The test "
    "decides; treat it with caution.",
    "not-compared": "The systems could not be compared in this measure; the reason is quoted. The "
    "estimates beside it are not affected.",
    # Plans and gates
    "small-pilot": "Fewer than ten queries are too few to estimate the standard deviation of the "
    "differences. Plan with the printed upper bound (``--sd``).",
    "few-differ": "The systems differ on fewer than ten units, so their variance is hardly known: "
    "plain intervals of P@10 on scifact covered 76 % with 25 queries. The variance is enlarged as "
    "if four more units differed ('plus four'). Judge more queries, or use a finer measure (nDCG, "
    "AP).",
    # Machine judgements
    "one-grade": "People gave all documents that both judged the same grade. Kappa is then 0 "
    "whatever the machine says. Judge documents that are not relevant, too.",
    "random-sample": "Combined estimates are unbiased only if the queries with human judgements "
    "are a random sample. ``heldout split QUERIES --by query --sample 30`` draws one before "
    "anybody judges; if yours is one, say ``--assume-random``.",
    "unlike-queries": "Under the machine's judgements, the queries that people judged differ "
    "significantly from the others (Welch's t test, p < .01). Check how they were chosen, and "
    "whether the machine judged all queries alike.",
    "few-human-queries": "Fewer than 25 queries have human judgements: combined intervals may be "
    "too narrow. Their coverage was measured from 25 on.",
    "machine-incomplete": "The machine judged the documents of human queries less completely than "
    "those of the others, or lacks documents that people judged, so the correction is wrong. Let "
    "it judge the same pool of documents for all queries, with the same prompt.",
    "machine-favours": "On the human queries the machine puts one system ahead by significantly "
    "more than people do (p < .01, corrected). Do not use scores under machine judgements alone; "
    "the combined estimate corrects it.",
    "machine-copies": "The machine gave every document the human grade, in 100 or more judgements. "
    "If human judgements were copied into its file, estimates are biased and intervals far too "
    "narrow. Give its own judgements of the human queries.",
    "own-judge": "A system has the name of the machine's file. A model that judges its own "
    "rankings prefers them; the combined estimates correct it, scores of the machine alone do not.",
    "tuned-on-machine": "Parameters were tuned on machine judgements, so training scores and "
    "scores under machine judgements alone are too good. Report the combined estimates.",
    # Pages
    "no-chart": "A chart is not on the page, because it cannot be drawn from these results or has "
    "too many rows. ``heldout chart`` draws it into a file of its own.",
}
"""What each code means and what to do; the documentation makes its page of warnings from it."""
