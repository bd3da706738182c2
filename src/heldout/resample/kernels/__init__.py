"""The compiled loops of resampling."""
