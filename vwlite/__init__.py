"""Online learning from Vowpal Wabbit text."""
