"""The version, in one place that can be read without importing anything else."""

__version__ = "0.1.0"
