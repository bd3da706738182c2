"""Systems: what is evaluated, one module per kind."""
