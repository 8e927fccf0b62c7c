"""The loop over the data, what listens to it, and going on where a run stopped."""
