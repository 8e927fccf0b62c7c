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


cdef struct Units:
    double spread          # the unit of the sum of weighted features
    double unit            # of errors that are learned: more after an outlier, so that its step is no larger than others


cdef struct LabelUnits:
    double *sums           # (LABEL_SUMS,); NULL where labels are learned as they are
    Units now
    bint by_deviation      # the loss is of absolute errors, so the spread is, too
    bint centred           # there is a constant, so the mean is not 0
    bint stand             # the sums are those of a model whose weights stand in part


cdef inline Units units_of(bint by_deviation, double variance, double variance_all, double deviation) noexcept nogil:
    """Of normal numbers the standard deviation is 1.2533 mean deviations."""
    cdef Units units
    if by_deviation:
        units.spread = units.unit = 1.2533 * deviation
    else:
        units.spread = sqrt(variance)
        units.unit = sqrt(variance_all) if variance_all > variance else units.spread
    return units


cdef inline double in_label_units(const LabelUnits *u, double product, double start) noexcept nogil:
    return start + u.sums[LABEL_MEAN] + u.now.spread * product


cdef struct NextUnits:     # after a label. Found before the row's prediction, so that the processor does both at once
    double sums[LABEL_SUMS]
    Units units
    double part            # 1 / unit, where there is a spread


cdef inline NextUnits next_units(const LabelUnits *u, double label, double weight) noexcept nogil:
    cdef const double *sums = u.sums
    cdef NextUnits new
    cdef double rest = sums[LABEL_WEIGHT] / (sums[LABEL_WEIGHT] + weight), d = label - sums[LABEL_MEAN], gain, share
    cdef double count = sums[LABEL_COUNT] + 1, variance = sums[LABEL_VARIANCE], variance_all, deviation
    if count > FIRST_EXAMPLES:
        rest *= rest
        rest *= rest
        rest *= rest
    gain = 1 - rest
    share = gain * d * d
    variance_all = rest * (sums[LABEL_VARIANCE_ALL] + share)
    if count >= FIRST_EXAMPLES and rest * share > variance * (2 - rest) > 0 and rest > 0:
        d = copysign(sqrt(variance * (2 / rest - 1) / gain), d)
        share = gain * d * d
    variance = rest * (variance + share)
    deviation = rest * (sums[LABEL_DEVIATION] + gain * fabs(d))
    new.sums[LABEL_WEIGHT], new.sums[LABEL_COUNT] = sums[LABEL_WEIGHT] + weight, count
    new.sums[LABEL_MEAN] = sums[LABEL_MEAN] + gain * d if u.centred else sums[LABEL_MEAN]
    new.sums[LABEL_VARIANCE], new.sums[LABEL_VARIANCE_ALL], new.sums[LABEL_DEVIATION] = variance, variance_all, deviation
    new.units = units_of(u.by_deviation, variance, variance_all, deviation)
    new.part = 1 / new.units.unit if new.units.unit > 0 else 0
    return new
