"""Held-out documents: pooling, estimates for new documents, and their uncertainty."""
