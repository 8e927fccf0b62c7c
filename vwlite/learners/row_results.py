"""What a kernel tells of each row."""

from __future__ import annotations

from vwlite.arrays import Array, zeros


class Results:
    """Arrays with one entry per row of a batch, used again for the next batch."""

    __slots__ = ("features", "flip", "held", "loss", "prediction", "raw")

    def __init__(self) -> None:
        self.flip: Array | None = None  # float32[n], importance that would flip the sign; None: nobody asks
        self.held: Array | None = None  # uint8[n], 1 where a row is held out; None: none is
        self.make_room(0)

    def make_room(self, rows: int) -> None:
        """Have at least ``rows`` entries. What they hold is undefined until a kernel has filled them."""
        self.prediction = zeros("f", rows)  # clipped, linked
        self.raw = zeros("f", rows)
        self.loss = zeros("f", rows)  # times importance, 0 where unlabelled
        self.features = zeros("I", rows)  # constant and interactions included
        if self.flip is not None:
            self.flip = zeros("f", rows)

    def want_flips(self) -> None:
        """Have the kernel fill ``flip`` as well."""
        self.flip = zeros("f", len(self))

    def __len__(self) -> int:
        return len(self.prediction)


def value_text(value: float) -> str:
    """A real label or prediction as the progress table shows it; NaN, an absent label, is ``unknown``."""
    return "unknown" if value != value else f"{float(value):.4f}"
