"""Small valid files, one and more for every reader."""

from __future__ import annotations

RUN = b"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 1.25 tag\n# a comment\nq2 Q0 d1 1 -0.5 tag\n"
RUN_TABLE = b"query_id,doc_id,score\nq1,d1,2.5\nq1,d2,1.25\nq2,d1,0.5\n"
RUN_JSON = b'{"q1": {"d1": 2.5, "d2": 1.25}, "q2": {"d1": -0.5}}\n'
QRELS_JSON = b'{"q1": {"d1": 2, "d2": 0}, "q2": {"d1": 1}}'
QRELS = b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n"
QRELS_TABLE = b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n"
SHARES = b"query,document,prob_0,prob_1\nq1,d1,0.2,0.8\nq1,d2,1,0\nq2,d1,0.5,0.5\n"
SHARE_LINES = (
    b'{"query": "q1", "document": "d1", "probabilities": {"0": 0.2, "1": 0.8}}\n'
    b'{"query": "q2", "document": "d2", "grade": 1, "probabilities": {"0": 0, "1": 1}}\n'
)
DOCUMENTS = (
    b'{"_id": "d1", "title": "Red", "text": "red apples"}\n{"_id": "d2", "text": "green pears"}\n'
    b'{"_id": "d3", "text": "red plums and pears"}\n'
)
QUERIES = b'{"_id": "q1", "text": "red fruit"}\n{"_id": "q2", "text": "green", "narrative": "n"}\n'
TREC = (
    b"<DOC>\n<DOCNO> d1 </DOCNO>\n<TEXT>red &amp; <!-- x --> apples</TEXT>\n</DOC>\n"
    b'<doc id="d2"><h>green</h> <![CDATA[a < b]]> pears</doc>\n'
)
TOPICS = (
    b"<top>\n<num> Number: q1\n<title> red fruit\n<desc> Description:\nwhat\n</top>\n"
    b'<topic number="q2"><query>green</query><narrative>n</narrative></topic>\n'
)
CSV = b'id,title,text\nd1,Red,"red, apples"\nd2,,green pears\n'
TSV = b"d1\tred apples\nd2\tgreen pears\n"
WIDE = b"unit,A,B\nq1,0.5,0.25\nq2,1,\nq3,0,0.75\n"
LONG = b"system\tunit\tvalue\nA\tq1\t0.5\nA\tq2\t1\nB\tq1\t0.25\nB\tq2\t0.5\n"
CLASSES = (
    b"unit,truth,prediction,prob_a,prob_b,fold\n1,a,a,0.75,0.25,0\n2,b,a,0.5,0.5,1\n3,b,b,0,1,1\n"
)
CLASS_LINES = (
    b'{"unit": 1, "truth": "a", "probabilities": {"a": 0.75, "b": 0.25}}\n'
    b'{"unit": 2, "truth": "b", "probabilities": {"a": 0, "b": 1}}\n'
)
POSITIVE = b"id;label;score;weight;group\n1;yes;0.75;1;x\n2;no;0.5;2;x\n3;yes;-1;0.5;y\n"
AMOUNTS = b"unit,truth,prediction,system,repeat\n1,1.5,2,A,0\n2,2,2.5,A,0\n1,1.5,1,B,0\n2,2,3,B,0\n"
LINES = b"a cat sat on the mat\ntwo cats\n\n"
HYPOTHESES = (
    b'{"id": 1, "hypothesis": "a cat", "logprobs": [-0.5, -1]}\n'
    b'{"id": 2, "hypothesis": "two", "logprobs": [-2]}\n'
)
REFERENCES = b'{"id": 1, "references": ["a cat", "the cat"]}\n{"id": 2, "references": ["two"]}\n'
VECTORS = b"3 2\ncat 0.5 1\ndog 1e-3 -2\nnew york 0 1\n"
FOLDS = b"query_id\trepeat\tfold\nq1\t0\t1\nq2\t0\t2\nq1\t1\t2\nq2\t1\t1\n"
FOLDS_JSON = b'{"1": ["q1"], "2": ["q2"]}'
FOLDS_PLAIN = b"# folds\nq1 1\nq2 2\n"
MAP = b"new\toriginal\n0\td1\n1\ta\\tb\n"
NAMES = (
    b"nDCG(dcg='exp')@10 P(rel=2)@5 AP\nbm25(k1=0.5:3:6, b=0.75)\nk1=0.1:10:5:log\n"
    b"ql-dirichlet(mu=50)\nndcg.1=3,2=9\nrecall_1000\n"
)
META = b"""prefix = "."
dataset = "x"
corpus = "line.toml"
query-judgements = "x/x-qrels.txt"

[query-runner]
query-path = "x/x-queries.txt"
query-id-start = 1
"""
EXPERIMENT = b"""
collection = {source = "docs.jsonl", queries = "queries.jsonl", qrels = "qrels.txt"}
by = "query"
measures = ["nDCG@10", "AP"]
seed = 0
depth = 100
[plan]
kind = "kfold"
folds = 2
repeats = 3
[[systems]]
name = "BM25"
model = "bm25"
parameters = {b = 0.75}
space = {k1 = "0.5:3:6", k3 = [0.5, 1.0]}
[[systems]]
name = "mine"
runs = "one.run"
"""
ESTIMATORS = b"""task = "classification"
data = {file = "data.csv", target = "y", features = ["a", "b"], groups = "g"}
measures = ["accuracy", "F1"]
inner = 2
level = 0.95
[plan]
folds = 2
[[systems]]
name = "k-NN"
estimator = "sklearn.neighbors:KNeighborsClassifier"
parameters = {n_neighbors = 1}
space = {p = [1, 2]}
"""
OF_DOCUMENTS = b"""
collection = {source = "docs.jsonl", queries = "queries.jsonl", qrels = "qrels.txt"}
by = "document"
estimator = "pooled"
analyzer = {stemmer = "english", stop = ["a"], ngrams = [1, 2]}
replicates = 100
target_size = 100
[plan]
kind = "kfold"
folds = 3
[[systems]]
model = "ql-jm"
space = {lambda = "0.1:0.9:3"}
sample = 4
"""
BOTH = b"""
collection = {source = "docs.jsonl", queries = "queries.jsonl", qrels = "qrels.txt"}
by = "both"
[plan.queries]
kind = "leave-one-out"
[plan.documents]
folds = 3
[[systems]]
model = "bm25"
"""
DATA = b"a,b,y,g\n" + b"".join(
    b"%d,%d,%s,%d\n" % (n, n * n % 7, b"xy"[n % 2 :][:1], n % 6) for n in range(12)
)
