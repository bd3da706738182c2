"""What `reference.py` computes, as data: a feature that goes is a line that goes.

A rename in the product is one line in one of the first four tables; a field that is only words is
one word in `IGNORED`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping


def words(text: str) -> list[str]:
    return text.split()


OPTIONS: Final[Mapping[str, str]] = {}
"""An option in the commands below, and what the command line calls it now (empty: nothing)."""

NAMES: Final[Mapping[str, str]] = {}
"""A command, measure, model or experiment field below, and what it is called now."""

RENAMED: Final[Mapping[str, str]] = {}
"""A pattern of paths of numbers as they are now, and the path as it was frozen."""

IGNORED: Final = frozenset(
    (
        # words
        *words("about advice command correction_detail detail estimand formula input manifest"),
        *words("notes plan policies sentence settings signature summary time title warnings"),
        *words("what why"),
        # what is given, and digests of what is compared in full elsewhere
        *words("data fingerprint fingerprints seed"),
        # what will be removed from results that stay
        *("sphericity", "parameters > ties"),
        # a measure of rankers.py, which is listed once it was used in a process
        "ranking-first_grade",
    )
)
"""Names of fields that are not compared at any depth, or with the field that they are in."""

WORDS: Final = frozenset(("coverage", "correction", "interval", "intervals", "method"))
"""Names of fields that are not compared where they hold words."""

LABELS: Final = (
    *(("first", "second"), ("task", "name"), ("name",), ("system",), ("measure",), ("test",)),
    *(("estimator",), ("query",), ("key",), ("kind",)),
)
"""Fields that name the objects of a list: paths have these names instead of numbers."""

RUN = "run small --folds-file folds.tsv"
PARTS = "run small --by document --folds-file parts.tsv"
TWO = "--system bm25(k1=0.3:3:4,b=0.2,0.75) --system ql-jm"
TUNED = "run qrels.txt --system a=tuned/k=*.run --system b=other/k=*.run"

COMMANDS: Final[Mapping[str, str | tuple[str, ...]]] = {
    # eval
    "eval": "eval qrels.txt A.run B.run C.run --json",
    "eval units": "eval qrels.txt A.run C.run -m nDCG@10 -m AP -m RR --json -q",
    "eval trec": "eval -f trec -m all_trec qrels.txt B.run",
    "eval trec units": "eval -f trec -m official -q qrels.txt C.run",
    "eval trec sampled": "eval -f trec -m all_trec sampled.txt C.run",
    "eval rel depth": "eval qrels.txt A.run -l 2 -M 8 -J --json",
    "eval intersection": "eval qrels.txt A.run C.run --intersection --json",
    "eval ties asc": "eval qrels.txt A.run B.run --ties docid-asc --json",
    "eval ties input": "eval qrels.txt A.run B.run --ties input --json",
    "eval subtopics": "eval subtopics.txt A.run B.run -m alpha_nDCG@5 -m AP_IA --json",
    "eval own": "eval qrels.txt A.run -m rankers.py:first_grade --json",
    "eval machine": "eval human.txt A.run B.run --machine machine.txt --assume-random --json",
    "eval classes": "eval k1.csv k2.csv --per-class --confusion --json",
    "eval two classes": "eval k1-two.csv k2-two.csv --positive p --hull --json",
    "eval weighted": "eval k1-weighted.csv k2-weighted.csv --json",
    "eval folds": "eval k1-folds.csv k2-folds.csv --json",
    "eval numbers": "eval n1.csv n2.csv --json",
    "eval numbers weighted": "eval n1-weighted.csv --json",
    "eval text": "eval -r refs.txt -r refs2.txt h1.txt h2.txt -m BLEU -m chrF -m ROUGE-L --json",
    "eval perplexity": "eval --task text p1.jsonl p2.jsonl -m Perplexity --json",
    # compare: two systems, and every test
    "compare": "compare qrels.txt A.run B.run -m nDCG@10 -m AP --json",
    "compare few": "compare --scores few2.csv --json",
    "compare lattice": "compare --scores lattice2.csv --json",
    "compare binary": "compare --scores binary2.csv --json",
    "compare many": "compare --scores many2.csv --json",
    "compare less": "compare --scores scores2.csv --alternative less --json",
    "compare greater": "compare --scores scores2.csv --alternative greater --level 0.9 --json",
    "compare lower": "compare --scores scores2.csv --lower-is-better --json",
    "compare means": "compare --scores scores2.csv --test randomization --test t --json",
    "compare shift": "compare --scores many2.csv --test bootstrap-shift --json",
    "compare wilcoxon": "compare --scores scores2.csv --test wilcoxon --json",
    "compare sign": "compare --scores lattice2.csv --test sign --test wilcoxon --json",
    "compare mcnemar": "compare --scores binary2.csv --test mcnemar --json",
    "compare folds": "compare --scores folds2.csv --test-share 0.1111 --json",
    "compare machine": "compare human.txt A.run B.run C.run --machine machine.txt --json",
    # compare: several systems
    "compare 3": "compare --scores scores3.csv --json",
    "compare 3 folds": "compare --scores folds3.csv --test-share 0.25 --json",
    "compare 3 runs": "compare qrels.txt A.run B.run C.run -m AP --json",
    "compare 9": "compare --scores scores9.csv --json",
    "compare baseline": "compare --scores scores9.csv --baseline C --json",
    "compare tukey": "compare --scores scores9.csv --correction tukey --json",
    "compare holm": "compare --scores scores3.csv --correction holm --test t --json",
    "compare bonferroni": "compare --scores scores3.csv --correction bonferroni --json",
    "compare bh": "compare --scores scores9.csv -b A --correction bh --test wilcoxon --json",
    "compare binary 3": "compare --scores binary3.csv --json",
    # gates of comparisons, and the ledger
    "gate better": "compare --scores scores2.csv --gate better --json",
    "gate non-inferior": "compare --scores many2.csv --gate non-inferior --margin 0.02 --json",
    "gate equivalent": "compare --scores many2.csv --gate equivalent --margin 0.05 --json",
    "gate folds": "compare --scores folds2.csv --gate better --test-share 0.1111 --json",
    "gate classes": "compare k1.csv k2.csv -m F1(macro) --gate non-inferior --margin 0.2 --json",
    "gate numbers": "compare n1.csv n2.csv -m median-AE --gate better --json",
    "gate tuned": (
        TUNED + " -o out",
        "compare --scores out --gate non-inferior --margin 0.05 --json",
    ),
    "ledger": (
        "compare --scores scores2.csv --ledger out/looks --data first",
        "compare --scores few2.csv --ledger out/looks --data first",
        "compare qrels.txt A.run B.run --ledger out/looks --data second",
        "ledger out/looks --json",
    ),
    # compare: classes, numbers, texts
    "compare classes": "compare k1.csv k2.csv -m accuracy -m F1(macro) -m log-loss --json",
    "compare classes 3": "compare k1.csv k2.csv k3.csv -m MCC --json",
    "compare AUC": "compare k1-two.csv k2-two.csv -m AUC -m average-precision --json",
    "compare class folds": "compare k1-folds.csv k2-folds.csv k3-folds.csv --json",
    "compare by unit": "compare k1-folds.csv k2-folds.csv --by-unit --json",
    "compare weighted": "compare k1-weighted.csv k2-weighted.csv -m kappa --json",
    "compare numbers": "compare n1.csv n2.csv n3.csv -m RMSE -m MAE --json",
    "compare median": "compare n1.csv n2.csv -m median-AE -m Spearman -m R2 --json",
    "compare text": "compare -r refs.txt h1.txt h2.txt h3.txt -m BLEU -m ROUGE-L --json",
    # run: what is held out, plans and systems (tables of experiments have the rest)
    "run": f"{RUN} {TWO} -m nDCG@10 -m AP --json",
    "run 10 folds": f"run small {TWO} --json",
    "run 3 systems": f"{RUN} {TWO} --system rankers.py:rank(power=0.5,1) --baseline bm25 --json",
    "run inner": f"{RUN} --system rankers.py:learned(weight=0,1,2) --system bm25 --inner 3 --json",
    "run document": f"{PARTS} {TWO} -m nDCG@10 -m AP --json",
    "run document method": f"{PARTS} --system bm25(k1=0.3:3:4) --method per-fold --json",
    "run target": f"{PARTS} --system bm25 --system ql-jm --target-size 60 --json",
    "run both": f"run small --by both --folds 3 {TWO} --json",
    "run repeats": f"run small --folds 4 --repeats 2 --stratify relevance {TWO} --json",
    "run hold-out": f"run small --hold-out 0.3 --repeats 3 {TWO} --json",
    "run leave-one-out": f"run small --leave-one-out {TWO} --json",
    "run bootstrap": f"run small --bootstrap 20 {TWO} --json",
    "run document bootstrap": f"run small --by document --bootstrap 12 {TWO} --json",
    "run test ids": f"run small --test-ids ids.txt {TWO} --json",
    "run later": f"run small --later times.tsv {TWO} --json",
    "run groups": f"run small --folds 3 --groups groups.tsv {TWO} --json",
    "run files": f"{TUNED} --folds-file folds.tsv --against A.run --json",
    "run folded": f"{RUN} --system mine=folded/{{fold}}.run --system A.run --json",
    "run vectors": f"{RUN} --system v=vectors(docs.npy,queries.npy) --system bm25 --json",
    "run fusion": f"{RUN} --system bm25 --system h=wsum(bm25,A.run,w=0:1:5) --json",
    "run rerank": f"{RUN} --system bm25 "
    "--system rerank(first=bm25,depth=20,weight=0,0.05,function=rankers.py:shorter) --json",
    "run machine": f"run small --qrels human.txt --machine machine.txt --assume-random {TWO} "
    "--folds-file folds.tsv --json",
    "run classes": "run classes.toml --json",
    "run class hold-out": "run holdout.toml --json",
    "run numbers": "run numbers.toml --json",
    "compare tuned": (f"{RUN} {TWO} -o out", "compare --scores out --test retuned-t --json"),
    "compare documents": (f"{PARTS} {TWO} -o out", "compare --scores out --json"),
    # search, fuse
    "search": "search small -k 5 --json",
    "search parameters": "search small --model bm25(k1=0.9,b=0.4) --stop english -k 3 --json",
    "search words": "search small --query w25\\ w31\\ w4 -k 8 --json",
    "search index": (
        "index small -o out/index",
        "search out/index --queries asked.tsv -k 3 --json",
    ),
    "search vectors": "search docs.npy --queries queries.npy --metric ip -k 5 --json",
    "search trec": "search small -k 2",
    "fuse": "fuse A.run B.run --depth 5 --json",
    "fuse weights": "fuse A.run B.run C.run --how wsum --weights 0.5,0.3,0.2 --depth 5 --json",
    # agree, power, split, study, lists
    "agree": "agree human.txt machine.txt --json",
    "agree runs": "agree human.txt machine.txt --runs A.run B.run C.run D.run -m AP --json",
    "agree rel": "agree qrels.txt machine2.txt --rel 2 --json",
    "power": "power qrels.txt A.run B.run --difference 0.02 0.05 --queries 50 100 --json",
    "power width": "power --scores scores2.csv --half-width 0.01 0.03 --power 0.9 --json",
    "power sd": "power --sd 0.15 --difference 0.02 --alternative greater --json",
    "power folds": "power --scores folds2.csv --test-share 0.1111 --json",
    "power classes": "power k1.csv k2.csv -m log-loss --json",
    "power binary": "power --scores binary2.csv --difference 0.1 --json",
    "power simulated": "power --scores scores2.csv --simulate --queries 40 --json",
    "power F1": "power k1.csv k2.csv -m F1(macro) --json",
    "power results": (f"{RUN} {TWO} -o out", "power --scores out --difference 0.02 --json"),
    "split": "split small --folds 4 --stratify relevance --json",
    "split document": "split small --by document --folds 3 --stratify relevance --json",
    "split both": "split small --by both --folds 2 --json",
    "split near": "split small --by document --folds 3 --groups near-duplicates --json",
    "split queries": "split small --folds 5 --repeats 2 --assignments -",
    "split documents": "split small --by document --folds 4 --stratify relevance --assignments -",
    "split length": "split small --folds 3 --stratify length --seed 3 --assignments -",
    "split sample": "split qrels.txt --sample 7 --seed 2",
    "study bias": "study bias small --draws 4 --replicates 30 --system bm25(k1=0.5:2:3) --json",
    "study bias fixed": "study bias small --draws 3 --system ql-jm --sets 2 --replicates 20 --json",
    "study pre-split": "study bias small --draws 3 --pre-split --system bm25(b=0.3,0.8) --json",
    "list measures": "list measures --json",
}
"""Commands by name; of several, the last one's output counts. Blanks in a word have a backslash."""

RANKINGS: Final = words("""
AP AP@5 AP(rel=2) Accuracy Bpref Compat DCG@10 ERR@10 F@5 F(beta=2)@5 G GMAP IDCG@10 INSQ INST
IPrec@0.2 IPrec11 Judged@10 NERR10 NERR11 NERR8@10 NERR9@10 BPM@10 NumNonrelJudgedRet NumQ NumRel
NumRelRet NumRet NumUnjudgedRet P@5 P(rel=2)@5 R@5 RBP RBP(p=0.5)@5 RBPResidual RR RR(rel=3)@5
RelP@5 RelString@5 Rndcg Rprec SDCG@10 SetAP SetF SetP SetR SetRelP SmoothAP Success@1 Unjudged@5
Utility binG gm_bpref infAP nDCG nDCG@10 nDCG(dcg='exp-log2')@10 nDCGrel P(judged_only=True)@5
""")

DIVERSITIES: Final = words("""
AP_IA ERR_IA@5 NRBP P_IA@5 StRecall@5 alpha_DCG@5 alpha_nDCG@5 alpha_nDCG(alpha=0.8)@5
nERR_IA@5 nNRBP
""")

CLASSES: Final = words("""
accuracy error balanced-accuracy precision(macro) precision(micro) precision(weighted)
precision(class=b) recall(macro) recall(class=a) F1(macro) F1(micro) F1(weighted) F1(class=c)
F1(macro,undefined=0) F(macro,beta=2) specificity(macro) FP-rate(macro) MCC kappa kappa(linear)
kappa(quadratic) log-loss Brier ECE AUC average-precision(class=a) top-k-accuracy(k=2)
""")

TWO_CLASSES: Final = words("""
accuracy precision recall F1 F(beta=0.5) specificity FP-rate MCC kappa log-loss Brier ECE AUC
average-precision
""")

NUMBERS: Final = words("""
RMSE MSE MAE median-AE MAPE sMAPE R2 explained-variance MSLE pinball(alpha=0.9) Pearson
Spearman Kendall
""")

TEXTS: Final = words("""
BLEU BLEU(smooth='add-one',order=2) sentBLEU chrF chrF++ TER ROUGE-1 ROUGE-2 ROUGE-L ROUGE-Lsum
ROUGE-L(value='recall') METEOR METEOR(stages='exact') ExactMatch TokenF1
Embedding(vectors='words.txt') Embedding(vectors='words.txt',kind='greedy')
Embedding(vectors='words.txt',kind='extrema')
""")

MEASURES: Final[Mapping[str, tuple[str, str, str, list[str]]]] = {
    # name: the task, its truth, what is measured, and the measures
    "rankings": ("ranking", "qrels.txt", "B.run", RANKINGS),
    "missing": ("ranking", "qrels.txt", "C.run", ["AP", "GMAP", "nDCG@10", "NumQ", "SetF"]),
    "degenerate": ("ranking", "qrels.txt", "degenerate.run", RANKINGS),
    "sampled": ("ranking", "sampled.txt", "D.run", ["infAP", "Bpref", "Judged@10", "AP"]),
    "subtopics": ("ranking", "subtopics.txt", "A.run", DIVERSITIES),
    "classes": ("classification", "", "k1.csv", CLASSES),
    "weighted classes": ("classification", "", "k2-weighted.csv", CLASSES),
    "one class predicted": ("classification", "", "constant.csv", CLASSES),
    "one class true": ("classification", "", "one.csv", CLASSES),
    "two classes": ("classification", "", "k1-two.csv", TWO_CLASSES),
    "numbers": ("regression", "", "n1.csv", NUMBERS),
    "weighted numbers": ("regression", "", "n2-weighted.csv", NUMBERS),
    "equal truth": ("regression", "", "same.csv", NUMBERS),
    "equal predictions": ("regression", "", "flat.csv", NUMBERS),
    "texts": ("text", "refs.txt", "h1.txt", TEXTS),
    "empty texts": ("text", "refs.txt", "empty.txt", TEXTS),
    "perplexity": ("text", "", "p1.jsonl", ["Perplexity"]),
}

MODEL = "bm25(k1=0.3:3:4,b=0.2,0.75)"
FUNCTION = "f=rankers.py:rank(power=0.5,1,comparable=true)"
KNN = {"estimator": "sklearn.neighbors:KNeighborsClassifier", "space": {"n_neighbors": [1, 5, 9]}}
RIDGE = {"estimator": "sklearn.linear_model:Ridge", "space": {"alpha": [0.01, 1.0, 100.0]}}
POINTS = {"file": "points.csv", "features": ["x", "y"], "id": "id"}
CLASS = {"task": "classification"}
NUMBER = {"task": "regression"}
GIVEN = {"kind": "given", "folds": {"file": "folds.tsv"}}
PARTED = {"kind": "given", "folds": {"file": "parts.tsv"}}
DOCUMENTS: Final = {"by": "document", "plan": {"folds": 3}}

EXPERIMENTS: Final[Mapping[str, Mapping[str, Any]]] = {
    # kinds of systems, by query
    "model": {"systems": [MODEL, "ql-dirichlet(mu=5:500:4:log)"]},
    "models": {"systems": ["bm25-plus(delta=0,1)", "pivoted(s=0:0.4:3)", "tf-idf", "ql-absolute"]},
    "runs": {"systems": ["r=tuned/k=*.run", "A.run"], "plan": {"folds": 4}},
    "fold runs": {"systems": ["r=folded/{fold}.run"], "plan": GIVEN},
    "function": {"systems": ["rankers.py:rank(power=0.5,1)", "rankers.py:learned(weight=0,1,2)"]},
    "object": {"systems": ["rankers.py:Ranker(power=0.5,1)"]},
    "vectors": {"systems": ["v=vectors(docs.npy,queries.npy,metric=cosine,ip)"]},
    "fusion": {"systems": [MODEL, "h=wsum(bm25,A.run,w=0:1:5)", "g=rrf(bm25,B.run,k=1,60)"]},
    "fusion norms": {"systems": ["h=wsum(A.run,B.run,C.run,norm=minmax,zscore,w=0:1:3)"]},
    "reranker": {
        "systems": [
            MODEL,
            "rerank(first=bm25,depth=20,weight=0,0.02,0.1,function=rankers.py:shorter)",
        ]
    },
    # plans, by query
    "repeats": {"plan": {"folds": 4, "repeats": 2, "stratify": "relevance"}},
    "length": {"plan": {"folds": 3, "stratify": "length"}, "seed": 7},
    "hold-out": {"plan": {"kind": "holdout", "test": 0.25, "repeats": 2}},
    "leave-one-out": {"plan": {"kind": "leave-one-out"}},
    "bootstrap": {"plan": {"kind": "bootstrap", "replicates": 6}},
    "test set": {"plan": {"kind": "test-set", "ids": {"file": "ids.txt"}}},
    "chronological": {
        "plan": {"kind": "chronological", "order": {"file": "times.tsv"}, "test": 0.3}
    },
    "groups": {"plan": {"folds": 3, "groups": {"file": "groups.tsv"}}},
    "runs of splits": {
        "systems": ["rankers.py:rank(power=0.5,1)"],
        "plan": {"folds": 2},
        "runs": 2,
    },
    # choices
    "one-se": {"systems": [MODEL, "r=tuned/k=*.run"], "rule": "one-se"},
    "tune for": {"tune_for": "AP", "measures": ["nDCG@10", "AP", "P@5"]},
    "inner": {"systems": [MODEL, "rankers.py:learned(weight=0,1,2)"], "inner": 2},
    "random": {
        "search": {"search": "random", "trials": 6},
        "systems": ["bm25(k1=0.2:4:2,b=0:1:2)"],
    },
    "random function": {
        "search": {"search": "random", "trials": 4},
        "systems": ["rankers.py:rank(power=0.1:2:2)"],
    },
    "optuna": {"search": {"search": "optuna", "trials": 5}, "systems": ["bm25(k1=0.2:4:2)"]},
    "optuna function": {
        "search": {"search": "optuna", "trials": 4},
        "systems": ["rankers.py:learned(weight=0.0:2.0:3)"],
    },
    "machine": {
        "collection": {"source": "small", "qrels": "human.txt"},
        "machine": "machine.txt",
        "assume_random": True,
    },
    "tuned on machine": {
        "collection": {"source": "small", "qrels": "human.txt"},
        "machine": "machine.txt",
        "assume_random": True,
        "tune_on": "machine",
    },
    # by document, and by both
    "document": {**DOCUMENTS, "systems": [MODEL, "ql-jm(lambda=0.2,0.7)"]},
    "document function": {**DOCUMENTS, "systems": [FUNCTION, "rankers.py:rank(comparable=false)"]},
    "document runs": {
        **DOCUMENTS,
        "systems": ["A.run(comparable=true)", "p=parted/{fold}.run(comparable=true)"],
        "plan": PARTED,
    },
    "document vectors": {**DOCUMENTS, "systems": ["v=vectors(docs.npy,queries.npy)"]},
    "document fusion": {
        **DOCUMENTS,
        "systems": [MODEL, "d=A.run(comparable=true)", "h=wsum(bm25,d,w=0:1:3)"],
    },
    "document reranker": {
        **DOCUMENTS,
        "systems": [
            "bm25",
            "rerank(first=bm25,depth=20,weight=0,0.02,function=rankers.py:shorter,comparable=true)",
        ],
    },
    "document per-fold": {**DOCUMENTS, "method": "per-fold"},
    "document zero": {**DOCUMENTS, "method": "per-fold-zero"},
    "document pro": {**DOCUMENTS, "method": "pro-weighted"},
    "document cutoff": {**DOCUMENTS, "method": "dynamic-cutoff"},
    "document relevance": {
        "by": "document",
        "plan": {"folds": 4, "repeats": 2, "stratify": "relevance"},
    },
    "document hold-out": {"by": "document", "plan": {"kind": "holdout", "test": 0.4}},
    "document bootstrap": {"by": "document", "plan": {"kind": "bootstrap", "replicates": 6}},
    "document target": {**DOCUMENTS, "target_size": 60},
    "both": {
        "by": "both",
        "plan": {"queries": {"folds": 2}, "documents": {"folds": 3}},
        "systems": [MODEL, FUNCTION],
    },
    "both inner": {
        "by": "both",
        "plan": {"queries": {"folds": 2}, "documents": {"folds": 2}},
        "systems": ["rankers.py:learned(weight=0,1,2,comparable=true)"],
        "inner": 2,
    },
    # estimators
    "classes": {**CLASS},
    "class repeats": {**CLASS, "plan": {"folds": 2, "repeats": 2}},
    "class hold-out": {**CLASS, "plan": {"kind": "holdout", "test": 0.3}},
    "class random": {
        **CLASS,
        "search": {"search": "random", "trials": 4},
        "systems": {"knn": {**KNN, "space": {"n_neighbors": "1:15:8"}}},
    },
    "class optuna": {
        **CLASS,
        "search": {"search": "optuna", "trials": 4},
        "systems": {"knn": {**KNN, "space": {"n_neighbors": "1:15:8"}}},
    },
    "class inner": {**CLASS, "systems": {"made": "rankers.py:make_nearest"}, "inner": 3},
    "numbers": {**NUMBER},
    "number bootstrap": {
        **NUMBER,
        "measures": ["MAE"],
        "plan": {"kind": "bootstrap", "replicates": 4},
    },
}

DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "ranking": {
        "collection": "small",
        "systems": [MODEL],
        "plan": {"folds": 3},
        "measures": ["nDCG@10", "AP"],
    },
    "classification": {
        "data": {**POINTS, "target": "label"},
        "systems": {"knn": KNN},
        "plan": {"folds": 3},
        "measures": ["accuracy", "F1(macro)"],
    },
    "regression": {
        "data": {**POINTS, "target": "value"},
        "systems": {"ridge": RIDGE},
        "plan": {"folds": 3},
        "measures": ["MSE", "R2", "median-AE"],
    },
}
"""Fields of experiments by task, where an experiment names no others."""

TABLES: Final[Mapping[str, tuple[str, ...]]] = {
    # attribute of the results: the columns that number its rows; all others are compared in order
    "values": ("system", "measure"),
    "folds": ("system",),
    "surface": ("system",),
    "splits": ("repeat", "fold", "kind", "side"),
    "machine": ("system", "measure"),
}
LISTS: Final = "held_out"
"""The attribute of the results that has ranked lists or predictions."""
ORDER: Final = ("system", "repeat", "fold", "other", "run", "unit", "measure", "number", "rank")

MODELS: Final = words("""
bm25 bm25(k1=2,b=0.3) bm25(k3=1) bm25-robertson bm25-lucene bm25-atire bm25-plus bm25-l tf-idf
tf-idf(s=0.3) pivoted ql-jm ql-jm(lambda=0.8) ql-dirichlet(mu=50) ql-dirichlet ql-absolute
""")

FUSIONS: Final[Mapping[str, Mapping[str, Any]]] = {
    "rrf": {"how": "rrf"},
    "rrf k": {"how": "rrf", "k": 10},
    "wsum": {"how": "wsum", "weights": [0.7, 0.3]},
    "wsum zscore": {"how": "wsum", "weights": [0.2, 0.8], "norm": "zscore"},
    "combsum": {"how": "combsum", "norm": "max"},
    "combmnz": {"how": "combmnz"},
    "combmax": {"how": "combmax", "norm": "none"},
    "combmin": {"how": "combmin"},
    "combmed": {"how": "combmed"},
}
