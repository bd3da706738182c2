"""Measures: from predictions to one number per unit and per system."""
