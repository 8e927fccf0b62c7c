"""Principal components of hashed text, ``vwlite pca``, and what examples are in them, ``vwlite project``."""
