"""Results: the tables of an experiment, and what inference and reports read from them."""
