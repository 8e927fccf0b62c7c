"""What ``import vwlite`` gives: models that learn from files, text and data in memory."""
