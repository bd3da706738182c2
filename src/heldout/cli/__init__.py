"""The command line: one module for each command, and what several of them share."""

from heldout.cli.main import emit, main, parser, split_paths

__all__ = ["emit", "main", "parser", "split_paths"]
