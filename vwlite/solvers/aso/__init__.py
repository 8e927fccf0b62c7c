"""Alternating structure optimization (Ando and Zhang, JMLR 6, 2005): what many problems have in common."""
