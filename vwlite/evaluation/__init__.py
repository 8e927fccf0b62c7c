"""What a model is worth, and what is in it."""
