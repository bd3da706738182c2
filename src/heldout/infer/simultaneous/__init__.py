"""Several systems: analysis of variance and comparisons adjusted for their number."""
