"""The compiled loops of retrieval."""
