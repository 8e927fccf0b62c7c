"""A language model of windows of words, ``vwlite lm``: it ranks what may be the last word."""
