"""Runs as pictures: pages for browsers, and curves for terminals."""
