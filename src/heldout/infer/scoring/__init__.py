"""How a measure is scored on units and on resamples of them."""
