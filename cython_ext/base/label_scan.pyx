"""What kinds of labels a batch has: loops so short that they keep the GIL."""

from libc.math cimport NAN, floorf

cdef enum:
    ZERO_BIT = 1
    MINUS_ONE_BIT = 2
    OTHER_BIT = 4

ZERO, MINUS_ONE, OTHER = ZERO_BIT, MINUS_ONE_BIT, OTHER_BIT


def label_kinds(const float[::1] labels):
    """The union of ``ZERO``, ``MINUS_ONE`` and ``OTHER`` over the labels that are there and not 1."""
    cdef Py_ssize_t i
    cdef float label
    cdef int lower, kinds = 0
    for i in range(labels.shape[0]):
        label = labels[i]
        lower = (label == 0) * ZERO_BIT | (label == -1) * MINUS_ONE_BIT
        kinds |= lower | (lower == 0 and label != 1 and label == label) * OTHER_BIT
    return kinds


def ends_of(const float[::1] labels):
    """The least and the largest label that are there; NaN where none is."""
    cdef Py_ssize_t i
    cdef float low = NAN, high = NAN
    for i in range(labels.shape[0]):
        if not low <= labels[i] and labels[i] == labels[i]:
            low = labels[i]
        if not high >= labels[i] and labels[i] == labels[i]:
            high = labels[i]
    return low, high


def are_whole(const float[::1] labels):
    """Whether all labels that are there are whole numbers."""
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if labels[i] == labels[i] and labels[i] != floorf(labels[i]):
            return False
    return True
