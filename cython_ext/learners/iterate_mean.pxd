"""Which iterates a mean is of, by examples learned; see ``learners/average.pyx``."""

from base.byte_scan cimport unlikely


cdef enum:                          # positions in the scalars, named in vwlite/learners/average.py
    LEARNED = 0                     # examples learned
    COUNT = 1                       # iterates in the mean
    SCALE_SUM = 2                   # sum of their scales, C
    NEXT_COUNT = 3                  # the same of the mean that begins later
    NEXT_SCALE_SUM = 4
    MEAN_SCALARS = 5


cdef struct MeanCounts:
    double *scalars                 # (MEAN_SCALARS,)
    double after                    # examples before the mean begins; below 0: the mean begins anew at powers of 2
    float number                    # of the present mean, from 0


cdef inline void begin_anew(MeanCounts *counts) noexcept nogil:
    """The mean is from now on of the examples since its last beginning: at least half of all, less than three quarters."""
    cdef double *scalars = counts.scalars
    scalars[COUNT], scalars[SCALE_SUM] = scalars[NEXT_COUNT], scalars[NEXT_SCALE_SUM]
    scalars[NEXT_COUNT] = scalars[NEXT_SCALE_SUM] = 0
    counts.number += 1


cdef inline void count_iterate(MeanCounts *counts, double scale) noexcept nogil:
    cdef double *scalars = counts.scalars
    cdef unsigned long long learned
    scalars[LEARNED] += 1
    if scalars[LEARNED] <= counts.after:
        return
    scalars[COUNT] += 1
    scalars[SCALE_SUM] += scale
    if counts.after >= 0:
        return
    scalars[NEXT_COUNT] += 1
    scalars[NEXT_SCALE_SUM] += scale
    learned = <unsigned long long>scalars[LEARNED]
    if unlikely(learned & (learned - 1) == 0):
        begin_anew(counts)
