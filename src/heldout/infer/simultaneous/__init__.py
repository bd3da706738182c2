"""Several systems at once: analysis of variance and adjusted comparisons."""
