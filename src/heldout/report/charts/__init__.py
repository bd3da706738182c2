"""Charts: each one a function that makes its data, and a function that draws it."""
