"""Which iterates a mean is of, by examples learned, see ``learners/average.pyx``; and the mean of the iterates of weights that are rows
of a feature's classes, as that kernel has it for one class.

There is no scale that is common to all classes, so their sum of scales is the number of iterates.
"""

from base.byte_scan cimport unlikely
from features.row_buffer cimport Scratch

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


cdef struct ClassMeans:
    MeanCounts counts
    float *last                     # (rows, width) the weights after the last example that has the row's feature
    float *sum                      # (rows, width) of each change, times the iterates in the mean before it; NULL: no mean is taken
    float *next_sum                 # (rows, width) the same of the mean that begins later
    float *number                   # (rows,) of the mean that ``sum`` belongs to


cdef inline ClassMeans open_class_means(source, Py_ssize_t slots, Py_ssize_t rows) except *:
    """From a ``vwlite.learners.softmax.ClassMeans``, or None."""
    cdef ClassMeans means
    cdef float[:, ::1] last, sums, next_sums, number
    cdef double[::1] scalars
    means.sum = NULL
    if source is None:
        return means
    last, sums, next_sums, number = source.last, source.sums, source.next_sums, source.number
    scalars = source.scalars
    if not (last.shape[0] == sums.shape[0] == next_sums.shape[0] == slots) or number.shape[0] != rows:
        raise ValueError("the sums do not fit the table")
    if scalars.shape[0] != MEAN_SCALARS or not (last.shape[1] == sums.shape[1] == next_sums.shape[1] == number.shape[1] == 1):
        raise ValueError("the sums do not fit the table")
    means.last, means.sum, means.next_sum, means.number = &last[0, 0], &sums[0, 0], &next_sums[0, 0], &number[0, 0]
    means.counts.scalars = &scalars[0]
    means.counts.after, means.counts.number = source.after, source.present
    return means


cdef inline const float *sums_now(const ClassMeans *means, size_t row, size_t width) noexcept nogil:
    """The row's sums of the present mean; NULL where they are 0."""
    if means.number[row] == means.counts.number:
        return means.sum + row * width
    return means.next_sum + row * width if means.number[row] == means.counts.number - 1 else NULL


cdef inline float mean_weight(const ClassMeans *means, const float *sums, size_t slot, size_t c) noexcept nogil:
    cdef double count = means.counts.scalars[COUNT]
    if count == 0 or sums == NULL:
        return means.last[slot]
    return <float>((count * means.last[slot] - sums[c]) / count)


cdef inline void mean_scores(const ClassMeans *means, const Scratch *s, size_t width, float *scores) noexcept nogil:
    cdef size_t i, c, row
    cdef const float *sums
    for i in range(s.terms):
        row = s.index[i]
        sums = sums_now(means, row, width)
        for c in range(width):
            scores[c] += mean_weight(means, sums, row * width + c, c) * s.value[i]


cdef inline void bring_up(const ClassMeans *means, size_t row, size_t width) noexcept nogil:
    """Move the row's sums on to the present mean."""
    cdef const float *now = sums_now(means, row, width)
    cdef size_t c
    for c in range(width):
        means.sum[row * width + c] = now[c] if now != NULL else 0
        means.next_sum[row * width + c] = 0
    means.number[row] = means.counts.number


cdef inline void note_changes(const ClassMeans *means, const float *w, const Scratch *s, size_t width) noexcept nogil:
    """After a step: a row that the example has twice is unchanged the second time."""
    cdef size_t i, c, first
    cdef float change, count = <float>means.counts.scalars[COUNT], next_count = <float>means.counts.scalars[NEXT_COUNT]
    cdef float *last
    cdef float *sums
    cdef float *next_sums
    for i in range(s.terms):
        if means.number[s.index[i]] != means.counts.number:
            bring_up(means, s.index[i], width)
        first = s.index[i] * width
        last, sums, next_sums = means.last + first, means.sum + first, means.next_sum + first
        for c in range(width):
            change = w[first + c] - last[c]
            sums[c] += count * change
            next_sums[c] += next_count * change
            last[c] = w[first + c]
