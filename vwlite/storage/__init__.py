"""Files that are written whole or not at all, locks, the container of model files, weight tables."""
