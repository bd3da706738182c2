"""Numbers to claims: tests, intervals, many comparisons, planning."""
