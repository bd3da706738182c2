"""How an index is built, spilled, and laid out on disk."""
