"""The group lasso penalty of rows of weights, a row for each feature, at rates that are the same for all rows.

The table holds z, a row after gradient steps alone. Its weights are z max(0, 1 - u / |z|): the proximal step of the 2,1
norm (Duchi and Singer, JMLR 10, 2009, section 5.3) with the cumulative penalty u of Tsuruoka, Tsujii and Ananiadou (ACL
2009). An example learned with the step size e adds e l to u, l being the strength of the penalty. Since all rows have
the same rate, u is one number.

The rate is STRIDE R / G, where R is the number of features that steps have changed, and G the sum of squared norms of
gradients: it falls as 1 / t where the loss does not, and more slowly the better examples are learned.
"""

from libc.math cimport fmin, sqrtf

cdef extern from *:
    """
    #define VWL_STRIDE 6.0
    #define VWL_MAX_RATE 1e30
    """
    const double STRIDE "VWL_STRIDE"  # from trials at -l 0.5 with 20 newsgroups, a9a and MNIST
    const double MAX_RATE "VWL_MAX_RATE"  # so that products are finite where the first gradients are next to 0

cdef enum:                 # of the sums, named in vwlite/learners/softmax.py
    PENALTY = 0            # u
    SQUARES = 1            # G
    ROWS = 2               # R
    SUMS = 3


cdef struct RowShrinkage:
    double *sums           # (SUMS,); NULL: there is no penalty
    float strength         # l, for an example of importance 1


cdef inline RowShrinkage open_row_shrinkage(source) except *:
    """From a ``vwlite.learners.softmax.RowShrinkage``, or None."""
    cdef RowShrinkage shrinkage
    cdef double[::1] sums
    shrinkage.sums, shrinkage.strength = NULL, 0
    if source is None:
        return shrinkage
    sums = source.sums
    if sums.shape[0] != SUMS:
        raise ValueError("the sums of the penalty do not fit")
    shrinkage.sums, shrinkage.strength = &sums[0], source.strength
    return shrinkage


cdef inline float length_of(const float *z, size_t width) noexcept nogil:
    cdef float square = 0
    cdef size_t c
    for c in range(width):
        square += z[c] * z[c]
    return sqrtf(square)


cdef inline float shrink_factor(const RowShrinkage *shrinkage, float length) noexcept nogil:
    """The factor by which the penalty shrinks a row of this length."""
    cdef float penalty = <float>shrinkage.sums[PENALTY]
    return (length - penalty) / length if length > penalty else 0


cdef inline float common_rate(const RowShrinkage *shrinkage) noexcept nogil:
    """The rate of all rows."""
    cdef double squares = shrinkage.sums[SQUARES]
    return <float>fmin(STRIDE * shrinkage.sums[ROWS] / squares, MAX_RATE) if squares > 0 else 0


cdef inline void add_penalty(RowShrinkage *shrinkage, float step) noexcept nogil:
    """Add the penalty of an example learned with the step size ``step``."""
    shrinkage.sums[PENALTY] += <double>shrinkage.strength * step
