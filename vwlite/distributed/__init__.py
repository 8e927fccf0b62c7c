"""Training in rounds: shards of the data are learned apart, each from the same model, and merged in their order."""
