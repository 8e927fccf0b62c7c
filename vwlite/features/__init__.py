"""What is made of an example's features: interactions, filters, names."""
