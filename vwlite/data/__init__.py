"""From bytes to batches of hashed examples."""
