"""Scores on new documents: estimates, intervals, differences."""
