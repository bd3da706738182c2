r"""Latent semantic analysis as a system: a dense ranker that needs no downloaded model.

heldout run pydocs --system bm25 --system 'examples/lsa.py:lsa(dims=50,100, learns=false)' \\
        --system 'hybrid=wsum(bm25, lsa, norm=minmax, w=0:1:11)' --folds 5
"""

from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

import heldout


def lsa(train, test, dims=100):
    """Fit TF-IDF and a truncated SVD on the training documents; rank the test side by cosine."""
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    svd = TruncatedSVD(dims, random_state=0)
    svd.fit(words.fit_transform(text for _, text in train.collection.documents.pairs()))

    def vectors(ids, texts):
        return heldout.Embeddings(ids, svd.transform(words.transform(texts)))

    ids, texts = zip(*test.collection.documents.pairs(), strict=True)
    queries = test.collection.queries
    return heldout.rank_vectors(vectors(ids, texts), vectors(queries.ids, queries.texts))
