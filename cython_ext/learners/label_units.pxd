"""Labels in units of their spread (``--label-units spread``): running moments of the labels learned, and what follows from them.

All numbers are of labels less the row's initial prediction. An example counts for less by the power 8 of its place in the
stream, so that what came in the first half weighs 1/256.
"""

from libc.math cimport copysign, fabs, sqrt


cdef enum:                 # positions in Gd.label_sums, named in vwlite/learners/gd.py
    LABEL_WEIGHT = 0       # sum of importance
    LABEL_COUNT = 1        # examples
    LABEL_MEAN = 2
    LABEL_VARIANCE = 3     # to which one example adds as much as there is at most
    LABEL_VARIANCE_ALL = 4 # without this limit
    LABEL_DEVIATION = 5    # the mean distance from the mean
    LABEL_SUMS = 6

cdef enum:
    FIRST_EXAMPLES = 20    # which count alike, and of which none but the last is limited


cdef struct LabelUnits:
    double *sums           # (LABEL_SUMS,); NULL where labels are learned as they are
    double spread          # the unit of the sum of weighted features
    double unit            # of errors that are learned: more after an outlier, so that its step is no larger than others
    bint by_deviation      # the loss is of absolute errors, so the spread is, too
    bint centred           # there is a constant, so the mean is not 0
    bint stand             # the sums are those of a model whose weights stand in part


cdef inline void set_units(LabelUnits *u) noexcept nogil:
    """From the sums. Of normal numbers the standard deviation is 1.2533 mean deviations."""
    if u.by_deviation:
        u.spread = u.unit = 1.2533 * u.sums[LABEL_DEVIATION]
    else:
        u.spread = sqrt(u.sums[LABEL_VARIANCE])
        u.unit = sqrt(u.sums[LABEL_VARIANCE_ALL]) if u.sums[LABEL_VARIANCE_ALL] > u.sums[LABEL_VARIANCE] else u.spread


cdef inline double in_label_units(const LabelUnits *u, double product, double start) noexcept nogil:
    return start + u.sums[LABEL_MEAN] + u.spread * product


cdef inline void add_label(LabelUnits *u, double label, double weight) noexcept nogil:
    cdef double *sums = u.sums
    cdef double rest = sums[LABEL_WEIGHT] / (sums[LABEL_WEIGHT] + weight), d = label - sums[LABEL_MEAN], gain, share
    if sums[LABEL_COUNT] >= FIRST_EXAMPLES:
        rest *= rest
        rest *= rest
        rest *= rest
    gain = 1 - rest
    share = gain * d * d
    sums[LABEL_WEIGHT] += weight
    sums[LABEL_COUNT] += 1
    sums[LABEL_VARIANCE_ALL] = rest * (sums[LABEL_VARIANCE_ALL] + share)
    if sums[LABEL_COUNT] >= FIRST_EXAMPLES and rest * share > sums[LABEL_VARIANCE] * (2 - rest) > 0 and rest > 0:
        d = copysign(sqrt(sums[LABEL_VARIANCE] * (2 / rest - 1) / gain), d)
        share = gain * d * d
    if u.centred:
        sums[LABEL_MEAN] += gain * d
    sums[LABEL_VARIANCE] = rest * (sums[LABEL_VARIANCE] + share)
    sums[LABEL_DEVIATION] = rest * (sums[LABEL_DEVIATION] + gain * fabs(d))
    set_units(u)
