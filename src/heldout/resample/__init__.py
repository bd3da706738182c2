"""Who is seen and who is held out."""
