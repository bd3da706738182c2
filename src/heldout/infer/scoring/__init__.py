"""How systems are scored on units and on resamples of units."""
