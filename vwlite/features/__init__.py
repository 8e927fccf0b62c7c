"""The expansion of an example's features: interactions, filters, names."""
