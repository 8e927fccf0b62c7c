"""Compiled kernels; built from ``cython_ext/``."""
