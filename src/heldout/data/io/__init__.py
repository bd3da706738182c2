"""The files that runs and judgements come in, one module a format."""
