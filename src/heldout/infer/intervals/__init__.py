"""Confidence intervals for one system."""
