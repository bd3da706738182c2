"""Studies of the method itself."""
