"""How far to go along a direction: the weak Wolfe conditions, met by bracketing.

Kinks of the loss do not disturb it (Lewis and Overton, "Nonsmooth optimization via quasi-Newton methods", 2013).
"""

import math

MIN_DECREASE = 1e-4  # of the loss, as a share of what the slope promises
MAX_SLOPE = 0.9  # that may be left at a step's end, as a share of that at its beginning
NOISE = 1e-7  # of a loss, relatively: losses of examples are of single precision


class LineSearch:
    """What is known of a direction: at ``low`` the loss has fallen as it should, at ``high`` it has not."""

    def __init__(self, loss: float, slope: float, least: float) -> None:
        """Of the beginning; ``least`` is the least loss ever met."""
        self.loss, self.slope = loss, slope
        self.ceiling = least + NOISE * abs(least)
        self.low, self.low_slope = 0.0, slope
        self.high, self.high_slope = math.inf, math.inf

    def falls(self, step: float, loss: float, slope: float) -> bool:
        """Where rounding hides a decrease the slope tells of it (Hager and Zhang, 2005, the approximate conditions)."""
        if loss <= self.loss + MIN_DECREASE * step * self.slope:
            return True
        return loss <= self.ceiling and slope <= (2 * MIN_DECREASE - 1) * self.slope

    def take(self, step: float, loss: float, slope: float) -> bool:
        """Learn what has come of a step; True when it is one to stay at."""
        if not self.falls(step, loss, slope):
            self.high, self.high_slope = step, slope
            return False
        self.low, self.low_slope = step, slope
        return slope >= MAX_SLOPE * self.slope

    def next(self) -> float:
        """The step to try: where the slope would be 0, as far as can be told."""
        if math.isinf(self.high):
            turned = self.low_slope - self.slope
            return self.low * (min(max(-self.slope / turned, 2), 10) if turned > 0 else 10)
        width = self.high - self.low
        uphill = 0 < self.high_slope < math.inf
        share = self.low_slope / (self.low_slope - self.high_slope) if uphill else 0.5
        return self.low + width * min(max(share, 0.1), 0.9)

    @property
    def left(self) -> float:
        """What may still be gained between the two, if the loss is convex."""
        return (self.high - self.low) * -self.low_slope
