"""Studies of estimates themselves: their bias, and learning curves."""
