"""Slow plain-Python twins of the native code: what every kernel has to agree with, row by row."""
