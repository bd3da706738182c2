"""Systems: built-in models, runs, vectors, functions, rerankers, transformers, estimators."""
