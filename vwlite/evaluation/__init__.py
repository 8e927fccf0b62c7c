"""Metrics of predictions, reports on models and on data, the search for options."""
