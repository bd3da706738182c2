"""Measures of predicted classes and numbers."""
