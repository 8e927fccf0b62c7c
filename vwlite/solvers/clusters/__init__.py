"""Clusters of hashed text by k-means, ``vwlite cluster``."""
