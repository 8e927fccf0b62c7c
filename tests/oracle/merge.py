"""Merging the models of shards, slot by slot: the rule of ``vwlite.distributed`` in plain Python."""

import struct

import numpy as np


def float32(value):
    return float(np.float32(value))


def merge(base, ends, power=0.5):
    """``base`` and each of ``ends``: {slot: (w, G, N)}; ``ends`` are those of all shards, in order."""
    of = len(ends)
    merged = dict(base)
    for slot in sorted({slot for end in ends for slot in end}):
        w0, g0, n0 = base.get(slot, (0.0, 0.0, 0.0))
        share = float32(g0 / of)
        known = [end[slot] for end in ends if bits(end.get(slot, (0, 0, 0))) != bits((w0, share, n0))]
        if not known:
            continue
        change = grown = 0.0
        for w, g, _ in known:
            change += w - w0
            grown += g - share
        w = w0 + change / (of ** (1 - power) * len(known) ** power)
        merged[slot] = float32(w), float32(g0 + grown), max(n0, *(n for *_, n in known))
    return merged


def bits(row):
    return struct.pack("3f", *row)
