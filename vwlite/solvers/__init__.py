"""Learners with loops of their own."""
