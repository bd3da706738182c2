"""Predictions to one number per unit."""
