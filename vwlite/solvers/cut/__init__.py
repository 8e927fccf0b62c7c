"""Normalised cuts of graphs, ``vwlite cut``."""
