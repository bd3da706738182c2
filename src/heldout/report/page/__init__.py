"""One self-contained page that shows a result: it works offline, and no request leaves it."""
