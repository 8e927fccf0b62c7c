"""What kinds of labels and rows a batch has: loops so short that they keep the GIL."""

from libc.math cimport NAN, floorf
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


def lower_zeros(const float[::1] labels, float[::1] lowered):
    """Fill ``lowered``, at least as long, with the labels, -1 in place of 0."""
    cdef Py_ssize_t i
    if lowered.shape[0] < labels.shape[0]:
        raise ValueError("too few places for the labels")
    for i in range(labels.shape[0]):
        lowered[i] = -1 if labels[i] == 0 else labels[i]


def union_of(const uint8_t[::1] flags):
    """The bits that any of the flags has."""
    cdef Py_ssize_t i
    cdef uint8_t union = 0
    for i in range(flags.shape[0]):
        union |= flags[i]
    return union
