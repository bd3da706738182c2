"""Text to ranked lists: analysis, one index, scoring rules, compiled loops."""
