"""Charts: each is one function that returns a frame and its drawing."""
