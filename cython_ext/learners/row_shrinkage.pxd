"""The group lasso penalty of rows of weights, a row for each feature, applied when a row is next read.

The table holds z, a row after gradient steps alone. Its weights are z max(0, 1 - u / |z|), with u the row's cumulative penalty:
the proximal step of the 2,1 norm (Duchi and Singer, JMLR 10, 2009, section 5.3) with the cumulative penalty of Tsuruoka, Tsujii
and Ananiadou (ACL 2009). An example learned with the step size e adds e r l to u, where r is the row's own rate and l the
strength of the penalty. Since r stays the same while no example has the feature, u can catch up at once by r times the increase
of ``total``, the sum of e l over all examples, which all rows share. All weights of a row have the rate of the largest of their
sums of squared gradients, so that the penalty shrinks a row without turning it.

The running sum of penalties is shared by all rows of a table. Tables are float32, so a row stores the part that has been applied to
it exactly as the sum of two floats, ``applied[0]`` and ``applied[1]``; the sum is therefore rounded to the precision of two floats.
"""

from libc.math cimport sqrtf

from features.row_buffer cimport Scratch


cdef inline float outstanding(const float *applied, double total) noexcept nogil:
    """The part of the sum that has not been applied to the row yet."""
    return <float>(total - (<double>applied[0] + applied[1]))


cdef inline void mark_applied(float *applied, double total) noexcept nogil:
    """Record that the whole sum has been applied to the row."""
    applied[0] = <float>total
    applied[1] = <float>(total - applied[0])


cdef inline double add_to_sum(double total, double penalty) noexcept nogil:
    """The sum of both, rounded to what two floats can hold."""
    cdef float high = <float>(total + penalty)
    return <double>high + <float>(total + penalty - high)


cdef enum:                 # columns of the table, named in vwlite/learners/softmax.py
    PENALTY = 0            # u
    APPLIED = 1            # and 2: the part of ``total`` that u includes
    COLUMNS = 3


cdef struct RowShrinkage:
    float *row             # (rows, COLUMNS); NULL: there is no penalty
    double *total          # the sum of l e over the examples learned
    float strength            # l, for an example of importance 1


cdef inline RowShrinkage open_row_shrinkage(source, Py_ssize_t rows) except *:
    """From a ``vwlite.learners.softmax.RowShrinkage``, or None."""
    cdef RowShrinkage shrinkage
    cdef float[:, ::1] table
    cdef double[::1] total
    shrinkage.row, shrinkage.total, shrinkage.strength = NULL, NULL, 0
    if source is None:
        return shrinkage
    table, total = source.rows, source.total
    if table.shape[0] != rows or table.shape[1] != COLUMNS or total.shape[0] != 1:
        raise ValueError("the shrinkage does not fit the table")
    shrinkage.row, shrinkage.total, shrinkage.strength = &table[0, 0], &total[0], source.strength
    return shrinkage


cdef inline float row_rate(const float *g, size_t width, float inverse) noexcept nogil:
    """The learning rate of all weights of a row; ``inverse`` is 1 / the feature's scale."""
    cdef size_t c
    cdef float largest = 0
    for c in range(width):
        largest = g[c] if g[c] > largest else largest
    return inverse / sqrtf(largest) if largest > 0 else 0


cdef inline float penalty_now(
    const RowShrinkage *shrinkage, size_t row, const float *g, float scale, size_t width
) noexcept nogil:
    cdef const float *stats = shrinkage.row + COLUMNS * row
    cdef float owed = outstanding(stats + APPLIED, shrinkage.total[0])
    return stats[PENALTY] + owed * row_rate(g, width, 1 / scale) if owed > 0 and scale > 0 else stats[PENALTY]


cdef inline void apply_outstanding(const RowShrinkage *shrinkage, size_t row, const float *g, float scale, size_t width) noexcept nogil:
    """Update u to the current total; must be called before the row's rate changes."""
    cdef float *stats = shrinkage.row + COLUMNS * row
    stats[PENALTY] = penalty_now(shrinkage, row, g, scale, width)
    mark_applied(stats + APPLIED, shrinkage.total[0])


cdef inline float shrink_factor(const float *z, float penalty, size_t width) noexcept nogil:
    """The factor by which the cumulative penalty shrinks a row."""
    cdef float length = 0
    cdef size_t c
    if penalty <= 0:
        return 1
    for c in range(width):
        length += z[c] * z[c]
    length = sqrtf(length)
    return (length - penalty) / length if length > penalty else 0


cdef inline void add_penalty(RowShrinkage *shrinkage, float step) noexcept nogil:
    """Add the penalty of an example learned with the step size ``step``."""
    shrinkage.total[0] = add_to_sum(shrinkage.total[0], <double>shrinkage.strength * step)


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
