"""Measures of texts: published numbers, and the packages that they come from."""

from __future__ import annotations

import itertools
import math
import os
import random
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from samples import corpus, units

from heldout import InputError, Segments, evaluate, parse_measure
from heldout.data.segments import Texts
from heldout.errors import FormatError, HeldoutError, MissingExtraError
from heldout.measure.text import meteor as text_meteor
from heldout.measure.text.embeddings import read_vectors
from heldout.measure.text.packages import signature

sacrebleu = pytest.importorskip("sacrebleu")
rouge = pytest.importorskip("rouge_score.rouge_scorer")
meteor = pytest.importorskip("nltk.translate.meteor_score")


def values(name, references, written):
    return units(name, references, written).per_unit()


# Each with the references and the text of one segment, and its value.
MAT = "the cat sat on the mat"
EXACT = "METEOR(stages=exact)"
PUBLISHED = [
    # Papineni et al. (2002), section 2.1: modified unigram precision 2/7
    (
        "BLEU(order=1, tokenize=none, lowercase=True)",
        ["The cat is on the mat.", "There is a cat on the mat."],
        "the the the the the the the",
        100 * 2 / 7,
    ),
    # (1 + 1) / (2 + 1) words, (0 + 1) / (1 + 1) pairs, 2 words for 3: .3502
    *(
        (name, ["how are you"], "you you", 100 * math.exp(1 - 3 / 2) * math.sqrt(2 / 3 * 1 / 2))
        for name in ("BLEU(order=2, smooth='add-one')", "sentBLEU(order=2, smooth='add-one')")
    ),
    ("BLEU(order=2, smooth=none)", ["how are you"], "you you", 0),
    *((name, [MAT], "", 0) for name in ("BLEU", "BLEU(smooth='add-one')", "chrF")),
    *((name, [MAT], MAT, 100) for name in ("BLEU", "BLEU(smooth='add-one')", "chrF")),
    ("TER", [""], "x", 100),
    # Lin (2004), section 3.1
    ("ROUGE-L", ["police killed the gunman"], "police kill the gunman", 0.75),
    ("ROUGE-L", ["police killed the gunman"], "the gunman kill police", 0.5),
    # Section 3.2: two sentences, union 4/5
    ("ROUGE-Lsum(value=recall)", ["w1 w2 w3 w4 w5"], "w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", 0.8),
    # rouge-score stems words of more than three letters.
    ("ROUGE-1(stem=True)", ["hi"], "his", 0),
    ("ROUGE-1(stem=True)", ["run"], "runs", 1),
    # Banerjee and Lavie (2005): F = 10 P R / (R + 9 P), penalty = .5 (chunks / matches)^3
    (EXACT, [MAT], "on the mat sat the cat", 0.5),  # six matches, six chunks
    (EXACT, [MAT], MAT, 1 - 0.5 * (1 / 6) ** 3),
    (EXACT, [MAT], "the cat was sat on the mat", 60 / 61 * (1 - 0.5 * (2 / 6) ** 3)),
    (EXACT, [MAT], "nothing at all", 0),
    # Marks are words of their own.
    (EXACT, ["Yes, we can."], "yes , we can .", 1 - 0.5 * (1 / 5) ** 3),
    (EXACT, ["he runs"], "he running", 0.5 * 0.5),
    ("METEOR", ["he runs"], "he running", 1 - 0.5 * (1 / 2) ** 3),  # both match, in one chunk
    # SQuAD: case, punctuation, articles and blanks do not matter.
    ("ExactMatch", ["cats ahead apple"], " The Cat's\ta-head, an Apple! ", 1),
    ("ExactMatch", ["another theory"], "other theory", 0),
    ("ExactMatch", ["Paris", "the city of Paris"], "city of Paris", 1),
    ("ExactMatch(normalise=none)", ["Paris"], "paris", 0),
    ("TokenF1", ["the big Eiffel Tower"], "Eiffel Tower", 0.8),
    ("TokenF1", ["x y", "x y z"], "x q", 0.5),
    ("TokenF1", ["the"], "a", 1),  # nothing on both sides: SQuAD 2
    ("TokenF1", ["paris paris"], "paris", 2 / 3),
    ("TokenF1(normalise=none)", ["the cat"], "a cat", 0.5),
]


def test_published_numbers():
    for name, references, written, expected in PUBLISHED:
        found = units(name, [references], [written]).value()
        assert found == pytest.approx(expected, rel=1e-12), (name, written)
    # A mean of sentences, of which one is empty
    two = units("sentBLEU(order=2, smooth='add-one')", ["how are you"] * 2, ["you you", ""])
    assert two.value() == pytest.approx(35.02 / 2, abs=5e-3)
    with pytest.raises(HeldoutError, match="smooth='exp' takes no smooth_value"):
        units("BLEU(smooth_value=1)", ["a"], ["a"])


# sacrebleu

SMOOTH = ("exp", "none", "floor", "add-k")
NAMES = [
    *(f"BLEU(smooth={how})" for how in SMOOTH),
    *(f"BLEU(smooth={how}, effective_order=True)" for how in SMOOTH),
    "BLEU(smooth=floor, smooth_value=0.3, order=3)",
    "BLEU(smooth=add-k, smooth_value=2.5, order=2)",
    *(f"BLEU(tokenize={how})" for how in ("intl", "char", "none", "zh")),
    "BLEU(lowercase=True, order=6)",
    *("chrF", "chrF++", "chrF(word_order=2)", "chrF(char_order=3, beta=1, lowercase=True)"),
    *("chrF(whitespace=True)", "chrF(eps_smoothing=True)"),
    "chrF(eps_smoothing=True, word_order=1, beta=3)",
    *("TER", "TER(normalized=True, no_punct=True)"),
    "TER(normalized=True, asian_support=True, case_sensitive=True)",
]


def peer_of(name):
    """The metric of sacrebleu with the parameters that a name sets; the others are its own."""
    measure = parse_measure(name, "text")
    usual = {one.name: one.default for one in measure.definition.parameters}
    theirs = {"smooth": "smooth_method", "order": "max_ngram_order"}
    options = {
        theirs.get(key, key): one for key, one in measure.parameters.items() if one != usual[key]
    }
    if measure.family == "chrF++":
        options["word_order"] = 2
    kinds = {"chrF": "CHRF", "chrF++": "CHRF"}
    return getattr(sacrebleu, kinds.get(measure.family, measure.family))(**options)


def streams(references):
    return list(itertools.zip_longest(*references))


def test_scores_are_those_of_sacrebleu():
    """The corpus, every segment, and corpora of few segments, where smoothing matters."""
    parts = [slice(at, at + size) for size in (1, 2, 4) for at in range(0, 30, size)]
    rows = np.zeros((len(parts), 30))
    for row, part in zip(rows, parts, strict=True):
        row[part] = 1
    for name, count in itertools.product(NAMES, (1, 2, 3)):
        references, written = corpus(30, seed=count, references=count)
        if count == 3:  # segments with different numbers of references
            references = [texts[: 1 + at % 3] for at, texts in enumerate(references)]
        peer, found = peer_of(name), units(name, references, written)
        whole = peer.corpus_score(written, streams(references)).score
        assert found.value() == pytest.approx(whole, rel=1e-12), (name, count)
        wanted = [
            peer.corpus_score(written[part], streams(references[part])).score for part in parts
        ]
        scores = pytest.approx(np.array(wanted), rel=1e-12, abs=1e-12)
        assert found.weighted(rows) == scores, (name, count)

    # sentBLEU is the mean of the sentences.
    pairs = list(zip(written, references, strict=True))
    for smooth in SMOOTH:
        peer = sacrebleu.BLEU(smooth_method=smooth, effective_order=True)
        sentences = np.array([peer.sentence_score(text, texts).score for text, texts in pairs])
        found = units(f"sentBLEU(smooth={smooth})", references, written)
        assert found.per_unit() == pytest.approx(sentences, rel=1e-12, abs=1e-12)
        assert found.value() == pytest.approx(sentences.mean(), rel=1e-12)


def test_a_signature_has_all_of_sacrebleus():
    for name in ("BLEU", "BLEU(lowercase=True, tokenize=char)", "chrF++", "TER"):
        measure, peer = parse_measure(name), peer_of(name)
        peer.corpus_score(["a b"], [["a b"]])
        theirs = str(peer.get_signature()).split("|")
        ours = signature(measure).split("|")
        assert set(theirs[:-1]) <= set(ours)
        assert ours[-1] == f"version:sacrebleu-{sacrebleu.__version__}"
        assert ours[0] == measure.family
    assert Segments.of([["a", "b"], ["c"]]).reference_count == "var"
    assert "|nrefs:var|" in signature(measure, "var")


# rouge-score


def with_lines(texts, seed=5):
    """Texts of several lines, some of them empty."""
    source = random.Random(seed)  # noqa: S311 - data, no secret
    blanks = [" ", " ", "\n", "\n\n"]
    return ["".join(source.choice(blanks) if c == " " else c for c in text) for text in texts]


def test_rouge_is_that_of_rouge_score():
    references, written = corpus(50, seed=3, references=2)
    written = with_lines(written)
    references = [with_lines(texts, at) for at, texts in enumerate(references)]
    for kind, stem in itertools.product(("1", "2", "3", "L", "Lsum"), (False, True)):
        peer = rouge.RougeScorer([f"rouge{kind}"], use_stemmer=stem)
        wanted = [
            peer.score_multi(texts, text)[f"rouge{kind}"]
            for texts, text in zip(references, written, strict=True)
        ]
        for value, field in (("f", "fmeasure"), ("precision",) * 2, ("recall",) * 2):
            found = values(f"ROUGE-{kind}(stem={stem}, value={value})", references, written)
            expected = np.array([getattr(one, field) for one in wanted])
            assert found == pytest.approx(expected, rel=1e-12), (kind, stem, value)


# NLTK

# Three sets of synonyms, in place of WordNet's data, which tests cannot count on.
SYNONYMS = (("house", "home", "abode", "dwelling_house"), ("big", "large"), ("cat", "feline"))
NO_WORDNET = SimpleNamespace(synsets=lambda _: [])
# NLTK looks synonyms up by stem, once stems were matched: so they stay words here.
NO_STEMMER = SimpleNamespace(stem=str)


def synsets(word):
    return [
        SimpleNamespace(
            lemmas=lambda names=names: [SimpleNamespace(name=partial(str, one)) for one in names]
        )
        for names in SYNONYMS
        if word in names
    ]


WORDNET = SimpleNamespace(synsets=synsets, get_version=lambda: "0.1")


def test_meteor_is_that_of_nltk(monkeypatch):
    monkeypatch.setattr(text_meteor, "find_wordnet", lambda: WORDNET)
    references, written = corpus(120, seed=8, references=2)
    written = [text.replace("cat", "feline").replace("house", "home") for text in written]
    factors = {"alpha": 0.5, "beta": 1.5, "gamma": 0.3}
    as_is = {"lowercase": False, "stages": "'exact'"}
    for options, wordnet, how in (
        ({}, NO_WORDNET, {}),
        (factors, NO_WORDNET, factors),
        (as_is, NO_WORDNET, {"stemmer": NO_STEMMER, "preprocess": str}),
        ({"stages": "exact+synonym"}, WORDNET, {"stemmer": NO_STEMMER}),
        ({"stages": "exact+stem+synonym"}, WORDNET, {}),
    ):
        score = partial(meteor.meteor_score, wordnet=wordnet, **how)
        pairs = zip(references, written, strict=True)
        wanted = [score([one.split() for one in texts], text.split()) for texts, text in pairs]
        shown = "".join(f", {key}={value}" for key, value in options.items())
        found = values(f"METEOR(tokenize=none{shown})", references, written).tolist()
        assert found == pytest.approx(wanted, rel=1e-12), options
    found = signature(parse_measure("METEOR(stages=exact+synonym)"))
    assert found.endswith(",wordnet-0.1")
    assert "stages:exact+synonym|" in found
    assert "wordnet" not in signature(parse_measure("METEOR"))
    monkeypatch.undo()  # NLTK is here, and its data are not
    monkeypatch.setattr("nltk.data.path", [])
    with pytest.raises(MissingExtraError, match=r"nltk.downloader wordnet; .*exact\+stem"):
        values("METEOR(stages=exact+synonym)", ["x"], ["y"])


# Word vectors


def test_vectors_by_hand(tmp_path):
    """Sides x y and z: cosines 1/sqrt 20 and so on, worked out on paper."""
    path = tmp_path / "v.txt"
    path.write_text("x 1 0\ny 0 1\nz -3 1\nnull 0 0\n")
    root = math.sqrt(10)
    by_hand = [
        # means (.5, .5) and (-3, 1): (-1.5 + .5) / (sqrt .5 sqrt 10)
        ("average", "x y", "z", -1 / math.sqrt(5)),
        # largest numbers (1, 1) and (-3, 1)
        ("extrema", "x y", "z", -2 / (math.sqrt(2) * root)),
        # over x and z: (-3, 1), the number farthest from 0 in each dimension
        ("extrema", "x z", "z", 1),
        # x z (-3 / root), y z (1 / root): from z the best is 1 / root, from x y the mean -1 / root
        ("greedy", "x y", "z", 0),
    ]
    for kind in ("average", "greedy", "extrema"):
        by_hand += [
            # Unknown words are left out: nothing known written is 0, nothing wanted undefined.
            (kind, "x what", "X ever", 1),
            (kind, "x", "who knows", 0),
            (kind, "who", "x", math.nan),
            (kind, "null", "null", 0),
            (kind, ["y", "x", "who"], "x", 1),  # the best of several references
        ]
    for kind, wanted, written, expected in by_hand:
        found = values(f"Embedding(vectors='{path}', kind={kind})", [wanted], [written])[0]
        assert found == pytest.approx(expected, abs=1e-15, nan_ok=True), (kind, wanted, written)
    found = evaluate(["x", "who", "x"], {"A": ["x", "x", "y"]}, f"Embedding(vectors='{path}')")
    assert found.value() == 0.5
    assert (found.scores().units, found.scores().dropped) == (("1", "3"), ("2",))
    (note,) = found.notes
    assert note.code == "no-vectors"
    assert "1 of 3 segments: no word of the references has a vector" in note.text


def test_files_of_vectors(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, head in (("a", ""), ("b", "4 2\n")):
        (tmp_path / name).write_text(head + "x 1 0\ny 0 1\nnew york -3 1e0\nx 9 9\n\n")
        found = read_vectors(name)
        assert found.dimension == 2
        assert found.known(["x", "nobody", "new york"]).tolist() == [[1, 0], [-3, 1]]
    marks = []
    for time, (name, text) in enumerate((("a", "x 1 0\n"), ("b", "x 1 0\n"), ("a", "x 1 0.5\n"))):
        (tmp_path / name).write_text(text)
        os.utime(name, (time, time))  # a file that was changed is read again
        marks.append(signature(parse_measure(f"Embedding(vectors={name})")))
    assert marks[0] == marks[1] != marks[2]
    for text, says in (
        ("x 1 0\ny 1\n", ":2: expected a word and 2 numbers, found 1"),
        ("x\n", ":1: expected a word and its numbers"),
        ("2 3\n", " has no vectors"),
        ("x 1 0\ny one 0\n", ":2: not a vector"),
        ("x 1 0\ny nan 0.0\n", ":2: .*not finite"),
    ):
        path = tmp_path / f"{len(text)}.txt"
        path.write_text(text)
        with pytest.raises((InputError, FormatError), match=path.name + says):
            read_vectors(path.name).known(["y"])
    with pytest.raises(HeldoutError, match=r"expected vectors, for example Embedding\(vectors='F"):
        units("Embedding", ["x"], ["x"])


# Perplexity


def with_logs(name, *logs):
    ids = tuple(str(at) for at in range(len(logs)))
    return Segments(name, ids, tuple(("",) for _ in logs), tuple(tuple(one) for one in logs))


def test_perplexity_by_hand():
    """p = .4 .15 .03 .3 .1 .01 gives 11.0816."""
    logs = np.log([0.4, 0.15, 0.03, 0.3, 0.1, 0.01])
    system = with_logs("A", logs[:2], logs[2:])
    found = parse_measure("Perplexity").units(Texts(system, system))
    assert found.value() == pytest.approx(11.0816, abs=5e-5)
    # of all tokens, not the mean over segments
    alone = [math.exp(-np.mean(logs[:2])), math.exp(-np.mean(logs[2:]))]
    assert found.per_unit().tolist() == pytest.approx(alone)
    for base in (2, 10):
        system = with_logs("A", np.log([0.5, 0.25, 0.125]) / math.log(base))
        measure = parse_measure(f"Perplexity(base={base})")
        assert measure.compute(Texts(system, system)) == pytest.approx(4)
    with pytest.raises(InputError, match="system has no log-probabilities"):
        units("Perplexity", ["a"], ["a"])
    one, other = with_logs("A", [-1, -1], [-2]), with_logs("B", [-1], [-2])
    assert evaluate(None, [one], "Perplexity").notes == ()
    (note,) = evaluate(None, [one, other], "Perplexity").notes
    assert note.code == "different-tokens"
    assert "A 3, B 2" in note.text
