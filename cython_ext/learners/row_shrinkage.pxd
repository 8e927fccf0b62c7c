"""The price of the lengths of rows of weights, a row for each feature, applied when a row is next needed.

A table has what gradient steps alone make of a row, z; the weights are what its cumulative penalty u leaves, z max(0, 1 - u / |z|):
the proximal step of the 2,1 norm (Duchi and Singer, JMLR 10, 2009, section 5.3) with the cumulative penalty of Tsuruoka, Tsujii
and Ananiadou (ACL 2009). An example learned with the step size e adds e r l to u, where r is the row's own rate and l the price. As
r stays while no example has the feature, the penalties of all examples since then are one with their sum, of which ``total`` has
the part that all rows share. So that a shrinkage is along the row, all weights of a row have the rate of the largest of their sums
of squared gradients.
"""

from libc.math cimport sqrtf

from features.row_buffer cimport Scratch
from learners.penalty_sum cimport reach, since, sum_of

cdef enum:                 # columns of the table, named in vwlite/learners/softmax.py
    PENALTY = 0            # u
    REACHED = 1            # and the next: ``total`` when u was last brought up to it, see learners/penalty_sum.pxd
    COLUMNS = 3


cdef struct RowShrinkage:
    float *row             # (rows, COLUMNS); NULL: there is no price
    double *total          # the sum of l e over the examples learned
    float price            # l, for an example of importance 1


cdef inline RowShrinkage open_row_shrinkage(source, Py_ssize_t rows) except *:
    """From a ``vwlite.learners.softmax.RowShrinkage``, or None."""
    cdef RowShrinkage shrinkage
    cdef float[:, ::1] table
    cdef double[::1] total
    shrinkage.row, shrinkage.total, shrinkage.price = NULL, NULL, 0
    if source is None:
        return shrinkage
    table, total = source.rows, source.total
    if table.shape[0] != rows or table.shape[1] != COLUMNS or total.shape[0] != 1:
        raise ValueError("the shrinkage does not fit the table")
    shrinkage.row, shrinkage.total, shrinkage.price = &table[0, 0], &total[0], source.price
    return shrinkage


cdef inline float row_rate(const float *g, size_t width, float inverse) noexcept nogil:
    """The rate that all weights of a row have; ``inverse`` of the feature's scale."""
    cdef size_t c
    cdef float largest = 0
    for c in range(width):
        largest = g[c] if g[c] > largest else largest
    return inverse / sqrtf(largest) if largest > 0 else 0


cdef inline float penalty_now(
    const RowShrinkage *shrinkage, size_t row, const float *g, float scale, size_t width
) noexcept nogil:
    cdef const float *kept = shrinkage.row + COLUMNS * row
    cdef float owed = since(kept + REACHED, shrinkage.total[0])
    return kept[PENALTY] + owed * row_rate(g, width, 1 / scale) if owed > 0 and scale > 0 else kept[PENALTY]


cdef inline void bring_up(const RowShrinkage *shrinkage, size_t row, const float *g, float scale, size_t width) noexcept nogil:
    """Before the row's rate changes."""
    cdef float *kept = shrinkage.row + COLUMNS * row
    kept[PENALTY] = penalty_now(shrinkage, row, g, scale, width)
    reach(kept + REACHED, shrinkage.total[0])


cdef inline float share_left(const float *z, float penalty, size_t width) noexcept nogil:
    """What the penalty leaves of a row."""
    cdef float length = 0
    cdef size_t c
    if penalty <= 0:
        return 1
    for c in range(width):
        length += z[c] * z[c]
    length = sqrtf(length)
    return (length - penalty) / length if length > penalty else 0


cdef inline void add_penalty(RowShrinkage *shrinkage, float step) noexcept nogil:
    """Of an example learned with the step size ``step``."""
    shrinkage.total[0] = sum_of(shrinkage.total[0], <double>shrinkage.price * step)


cdef inline void scan_rows_together(
    float *g, const Scratch *s, const float *inverse, size_t width, const float *gradient, float *reach, float *r
) noexcept nogil:
    """As ``vwl_scan_rows``, with the same rate for all weights of a row."""
    cdef float *square
    cdef float x2, rate, total = 0
    cdef size_t i, c
    for i in range(s.terms):
        square, x2 = g + width * s.index[i], s.value[i] * s.value[i]
        for c in range(width):
            square[c] += gradient[c] * x2
        rate = row_rate(square, width, inverse[i])
        for c in range(width):
            r[width * i + c] = rate
        total += rate * x2
    for c in range(width):
        reach[c] = total
