"""Tuning: a search space, and a choice that is made on a train side alone."""
