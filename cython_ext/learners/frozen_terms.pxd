"""Linear weights that stand while the rest learns (``--freeze``): the terms of a row that are left out of its update."""

from libc.stdint cimport uint32_t

from features.row_buffer cimport Group, Scratch


cdef enum:
    MAX_GROUPS = 64        # namespaces that are frozen, and that are dropped


cdef struct Groups:
    int number[MAX_GROUPS]
    int size


cdef inline const Group *find_group(int number, const Scratch *s) noexcept nogil:
    cdef int index = s.where[number]
    if index < 0:
        return NULL
    return &s.group[index]


cdef inline double take_terms(const float *table, size_t stride, const Groups *groups, Scratch *s, uint32_t mask) noexcept nogil:
    """Give the linear terms of these groups the value 0; returns what they were worth."""
    cdef const Group *group
    cdef double sum = 0
    cdef size_t i, tried, at
    cdef int g
    for g in range(groups.size):
        group, at = find_group(groups.number[g], s), 0
        for i in range(group.size if group != NULL else 0):
            for tried in range(s.linear):
                if s.index[at] == group.index[i] & mask and s.value[at] == group.value[i]:
                    sum += <double>table[stride * s.index[at]] * s.value[at]
                    s.value[at] = 0
                    break
                at = at + 1 if at + 1 < s.linear else 0
    return sum


cdef inline double take_constant(const float *table, size_t stride, Scratch *s) noexcept nogil:
    """Give the constant's term the value 0; returns what it was worth."""
    cdef double worth = table[stride * s.index[s.linear - 1]]
    s.value[s.linear - 1] = 0
    return worth


cdef inline void drop_taken(const Groups *groups, Scratch *s) noexcept nogil:
    """Drop the linear terms that were taken, and the features of their groups."""
    cdef size_t i, kept = 0, linear = 0
    cdef int g
    for i in range(s.terms):
        if i >= s.linear or s.value[i] != 0:
            s.index[kept], s.value[kept] = s.index[i], s.value[i]
            kept += 1
        if i + 1 == s.linear:
            linear = kept
    s.terms, s.linear = kept, linear
    for g in range(groups.size):
        if s.where[groups.number[g]] >= 0:
            s.group[s.where[groups.number[g]]].size = 0


cdef inline Groups open_groups(numbers):
    cdef Groups groups
    if len(numbers) > MAX_GROUPS:
        raise ValueError("too many namespaces")
    groups.size = len(numbers)
    for i, number in enumerate(numbers):
        groups.number[i] = number
    return groups
