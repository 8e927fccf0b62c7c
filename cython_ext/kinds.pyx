"""What kinds of labels and rows a batch has: loops so short that they keep the GIL."""

from libc.stdint cimport uint8_t

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


def union_of(const uint8_t[::1] flags):
    """The bits that any of the flags has."""
    cdef Py_ssize_t i
    cdef uint8_t union = 0
    for i in range(flags.shape[0]):
        union |= flags[i]
    return union
