"""What of a model stands while the rest learns (``--freeze``)."""

from __future__ import annotations

from collections.abc import Sequence

from vwlite.errors import UsageError
from vwlite.features.interactions import FullNames, decode_letters
from vwlite.features.side_names import covers, sides_of_pair

PARTS = LATENT, LINEAR, CONSTANT = "latent", "linear", "Constant"


class Frozen:
    """As kernels read it; of a namespace both its linear weights and its latent vectors stand.

    ``groups``: numbers of the namespaces; ``sides``: for each pair, whether the vectors of its sides stand.
    """

    def __init__(self, words: Sequence[str], dotproduct: Sequence[str], names: FullNames) -> None:
        """Raises UsageError for a part of what one side is."""
        spaces = [word for word in words if word not in PARTS]
        self.linear, self.constant = LINEAR in words, CONSTANT in words
        self.groups = [raw[0] if len(raw) == 1 else names.number(raw) for raw in map(decode_letters, spaces)]
        pairs = list(map(sides_of_pair, dotproduct))
        for name in spaces:
            for side in (side for pair in pairs for side in pair):
                if name != side and covers(side, name):
                    raise UsageError(f"--freeze {name}: its vectors are those of the letter {side!r}, name that")
        self.sides = [
            [LATENT in words or any(covers(name, side) for name in spaces) for side in pair] for pair in pairs
        ]

    @property
    def stands(self) -> bool:
        """Whether anything does."""
        return bool(self.linear or self.constant or self.groups or self.fixes_side)

    @property
    def fixes_side(self) -> bool:
        return any(any(pair) for pair in self.sides)
