"""What is evaluated, and its files."""
