"""Properties of a batch's labels. The loops are so short that they keep the GIL. NaN means that there is no label."""

from libc.math cimport NAN, floorf

cdef enum:
    ZERO_BIT = 1
    MINUS_ONE_BIT = 2
    OTHER_BIT = 4

ZERO, MINUS_ONE, OTHER = ZERO_BIT, MINUS_ONE_BIT, OTHER_BIT


def label_flags(const float[::1] labels):
    """Which labels occur: the union of the flags ``ZERO``, ``MINUS_ONE`` and ``OTHER`` (neither of these, nor 1)."""
    cdef Py_ssize_t i
    cdef float label
    cdef int flag, found = 0
    for i in range(labels.shape[0]):
        label = labels[i]
        flag = (label == 0) * ZERO_BIT | (label == -1) * MINUS_ONE_BIT
        found |= flag | (flag == 0 and label != 1 and label == label) * OTHER_BIT
    return found


def label_range(const float[::1] labels):
    """The smallest and the largest label; both NaN where there is none."""
    cdef Py_ssize_t i
    cdef float low = NAN, high = NAN
    for i in range(labels.shape[0]):
        if not low <= labels[i] and labels[i] == labels[i]:
            low = labels[i]
        if not high >= labels[i] and labels[i] == labels[i]:
            high = labels[i]
    return low, high


def all_integers(const float[::1] labels):
    """Whether all labels are integers."""
    cdef Py_ssize_t i
    for i in range(labels.shape[0]):
        if labels[i] == labels[i] and labels[i] != floorf(labels[i]):
            return False
    return True
