"""The least importance with which an update carries a prediction to a target: h_min(x, y) of Mineiro ("A Dyadic Importance Aware
Update: Part II", 2011), found by its definition, so that it holds for every update and every loss.
"""

from libc.float cimport FLT_MAX
from libc.math cimport INFINITY, isnan

# The prediction after an update of this importance, which leaves everything as it was; NaN where the update fails.
ctypedef double (*PredictionAfter)(void *update, double importance) noexcept nogil

cdef enum:
    MAX_HALVINGS = 120


cdef inline double least_importance(PredictionAfter after, void *update, double p, double target) noexcept nogil:
    """From the prediction ``p``: 0 where that is the target, infinite where no importance in single precision is enough.

    A bracket of a factor of 4 from 1 on, then false position (Illinois) and bisection in turns, to 1e-7 of the importance. Of
    an update that passes the target more than once it need not be the first time.
    """
    cdef double way = 1 if target > p else -1, low = 0, high = 1, below = way * (p - target), above, middle, gap
    cdef int i, side = 0
    if p == target:
        return 0
    above = way * (after(update, high) - target)
    if above >= 0:
        while high > 1e-30:
            gap = way * (after(update, 0.25 * high) - target)
            if not gap >= 0:
                low, below = 0.25 * high, gap
                break
            high, above = 0.25 * high, gap
    else:
        while not above >= 0:
            if isnan(above) or above < way * (p - target) or (above == below and above > way * (p - target)):
                return INFINITY          # no number, the wrong way, or no further
            low, below, high = high, above, 4 * high
            if high > FLT_MAX:
                return INFINITY
            above = way * (after(update, high) - target)
    for i in range(MAX_HALVINGS):
        if high - low <= 1e-7 * high:
            break
        middle = high - above * (high - low) / (above - below) if i & 1 == 0 and above > below else 0
        if not low < middle < high:
            middle = 0.5 * (low + high)
        gap = way * (after(update, middle) - target)
        if gap >= 0:
            high, above = middle, gap
            below = 0.5 * below if side == 1 else below
            side = 1
        else:
            low, below = middle, gap
            above = 0.5 * above if side == -1 else above
            side = -1
    return high
