"""Lines of a text to take for landmarks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from vwlite.data.batch import BLANK
from vwlite.data.block_parser import Parsed
from vwlite.data.malformed_lines import BadLines
from vwlite.features.random_features import hashed

LINE = 7  # what is hashed, beside what ``random_features`` hashes


def chosen_rows(rows: int, count: int, seed: int) -> np.ndarray:
    """int64, ascending: ``count`` of so many rows, or all of fewer, as ``chosen_lines`` chooses them."""
    return smallest(hashed(seed, LINE, np.arange(rows)), count)


def smallest(keys: np.ndarray, count: int) -> np.ndarray:
    """int64, ascending: the places of the ``count`` smallest."""
    return np.sort(np.argpartition(keys, count - 1)[:count]) if len(keys) > count else np.arange(len(keys))


def chosen_lines(parts: Iterable[Parsed], policy: BadLines, count: int, seed: int) -> list[bytes]:
    """``count`` of the examples' lines, or all of fewer, each as likely as any other, in the order of the text.

    A line's number and the seed decide. Raises as ``policy`` does.
    """
    keys, lines, numbered = np.zeros(0, np.uint64), list[bytes](), 0
    for part in parts:
        batch = policy.examine(part)
        text = bytes(memoryview(part.block.data)[: part.block.size]).split(b"\n")
        owners = batch.line[batch.flags & BLANK == 0].tolist()
        if batch.release:
            batch.release()
        keys = np.append(keys, hashed(seed, LINE, numbered + np.arange(len(owners))))
        lines += [text[line].removesuffix(b"\r") for line in owners]
        numbered += len(owners)
        kept = smallest(keys, count)
        keys, lines = keys[kept], [lines[place] for place in kept.tolist()]
    policy.finish()
    return lines
