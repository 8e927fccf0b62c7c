"""Whole files: locks, the model container, tables of weights."""
