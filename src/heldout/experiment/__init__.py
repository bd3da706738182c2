"""Experiments: systems are tuned on training data and measured on held-out data."""
