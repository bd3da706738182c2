"""The files that runs, judgements and collections come in."""
