"""The command line: one module for each command, and what several of them share."""

from heldout.cli.main import main as main
