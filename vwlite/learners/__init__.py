"""Learners: each a configuration, its state arrays and the calls into its kernel."""
