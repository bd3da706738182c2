"""Building, spilling and storing an index."""
