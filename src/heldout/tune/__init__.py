"""Tuning: search spaces, and the selection of parameters on the training data alone."""
