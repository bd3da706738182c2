"""Tests of one difference: classical, by randomization, by the bootstrap, on ranks."""
