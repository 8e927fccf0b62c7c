"""Expansion of multiline examples: a line's terms are made from its own features and those of its group's shared line."""

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memmove, memset

from features.expand_row cimport expand
from features.namespace_groups cimport Rows
from features.plan cimport LETTERS, Plan
from features.row_buffer cimport Group, Scratch, close_scratch, open_scratch, reserve_terms
from base.memory cimport grow
from base.status cimport NO_MEMORY, OK


cdef struct Line:                # buffers of one line
    Scratch s                    # its terms; its groups may point into the arrays below
    # the segments of the line and of the shared line, in the layout of a batch
    uint8_t *namespace_char      # (max_segments,)
    uint32_t *namespace_hash     # (max_segments,)
    uint32_t *namespace_start    # (max_segments + 1,)
    uint32_t *hash               # (max_features,)
    float *value                 # (max_features,)
    size_t max_segments, max_features


cdef inline void open_line(Line *line) noexcept nogil:
    memset(line, 0, sizeof(Line))
    open_scratch(&line.s)


cdef inline void close_line(Line *line) noexcept nogil:
    close_scratch(&line.s)
    free(line.namespace_char)
    free(line.namespace_hash)
    free(line.namespace_start)
    free(line.hash)
    free(line.value)


cdef inline bint reserve_line(Line *line, size_t segments, size_t features) noexcept nogil:
    """False when memory has run out."""
    if segments > line.max_segments or line.namespace_start == NULL:
        segments = 2 * segments + 8
        if not (grow(<void **>&line.namespace_char, segments) and grow(<void **>&line.namespace_hash, 4 * segments)
                and grow(<void **>&line.namespace_start, 4 * (segments + 1))):
            return False
        line.max_segments = segments
    if features > line.max_features or line.hash == NULL:
        features = 2 * features + 64
        if not (grow(<void **>&line.hash, 4 * features) and grow(<void **>&line.value, 4 * features)):
            return False
        line.max_features = features
    return True


cdef inline void add_row(Line *line, const Rows *rows, size_t row, uint32_t *segments) noexcept nogil:
    """Append the segments of a row, for which memory is reserved; ``segments`` is their number so far."""
    cdef uint32_t first = rows.row_namespace[row], last = rows.row_namespace[row + 1], j
    cdef uint32_t begin = rows.namespace_start[first], features = rows.namespace_start[last] - begin
    cdef uint32_t at = line.namespace_start[segments[0]]
    for j in range(last - first):
        line.namespace_char[segments[0] + j] = rows.namespace_char[first + j]
        line.namespace_hash[segments[0] + j] = rows.namespace_hash[first + j]
        line.namespace_start[segments[0] + j + 1] = rows.namespace_start[first + j + 1] - begin + at
    if features:
        memcpy(line.hash + at, rows.hash + begin, features * sizeof(uint32_t))
        memcpy(line.value + at, rows.value + begin, features * sizeof(float))
    segments[0] += last - first


cdef inline size_t features_of(const Rows *rows, size_t row) noexcept nogil:
    return rows.namespace_start[rows.row_namespace[row + 1]] - rows.namespace_start[rows.row_namespace[row]]


cdef inline size_t kept_features_of(const Rows *rows, size_t row, const Plan *plan) noexcept nogil:
    """Those in namespaces that are not ignored."""
    cdef uint32_t segment
    cdef size_t kept = 0
    for segment in range(rows.row_namespace[row], rows.row_namespace[row + 1]):
        if not plan.ignore[plan.redefine[rows.namespace_char[segment]]]:
            kept += rows.namespace_start[segment + 1] - rows.namespace_start[segment]
    return kept


cdef inline bint contains(const uint64_t *characters, uint8_t character) noexcept nogil:
    return characters[character >> 6] >> (character & 63) & 1


cdef inline void move_constant(const Rows *rows, size_t row, const Plan *plan, Scratch *s) noexcept nogil:
    """Move the constant to its position in vw: behind the line's own namespaces, before those that only the shared line has."""
    cdef uint64_t own_characters[4]
    cdef uint32_t segment, index
    cdef uint8_t character
    cdef size_t position = 0
    cdef float value
    cdef int g
    memset(own_characters, 0, sizeof(own_characters))
    for segment in range(rows.row_namespace[row], rows.row_namespace[row + 1]):
        character = plan.redefine[rows.namespace_char[segment]]
        own_characters[character >> 6] |= <uint64_t>1 << (character & 63)
    for g in range(s.groups):
        if s.group[g].number < LETTERS and contains(own_characters,
                                                    <uint8_t>s.group[g].number) and not plan.nonlinear[s.group[g].number]:
            position += s.group[g].size
    if position + 1 < s.linear:
        index, value = s.index[s.linear - 1], s.value[s.linear - 1]
        memmove(s.index + position + 1, s.index + position, (s.linear - 1 - position) * sizeof(uint32_t))
        memmove(s.value + position + 1, s.value + position, (s.linear - 1 - position) * sizeof(float))
        s.index[position], s.value[position] = index, value


cdef inline int expand_line(const Rows *rows, size_t row, const size_t *shared, const Plan *plan, Line *line) noexcept nogil:
    """Fill ``line.s`` with the terms of a row; ``shared`` is NULL or the row of the shared line."""
    cdef Rows combined
    cdef uint32_t row_namespace[2]
    cdef size_t segments
    cdef int status
    if shared == NULL:
        return expand(rows, row, plan, &line.s)
    segments = rows.row_namespace[row + 1] - rows.row_namespace[row]
    segments += rows.row_namespace[shared[0] + 1] - rows.row_namespace[shared[0]]
    if not reserve_line(line, segments, features_of(rows, row) + features_of(rows, shared[0])):
        return NO_MEMORY
    row_namespace[0] = row_namespace[1] = line.namespace_start[0] = 0
    add_row(line, rows, row, &row_namespace[1])
    add_row(line, rows, shared[0], &row_namespace[1])
    combined = rows[0]
    combined.row_namespace, combined.namespace_char = row_namespace, line.namespace_char
    combined.namespace_hash, combined.namespace_start = line.namespace_hash, line.namespace_start
    combined.hash, combined.value, combined.size = line.hash, line.value, 1
    status = expand(&combined, 0, plan, &line.s)
    if status == OK and plan.constant:
        move_constant(rows, row, plan, &line.s)
    return status


cdef inline int subtract_line(const Line *line, const Line *other, Scratch *out) noexcept nogil:
    """The terms of one line minus those of another, in vw's order: linear terms, the other's terms, interactions."""
    cdef const Scratch *a = &line.s
    cdef const Scratch *b = &other.s
    cdef size_t i, n = a.linear, more = a.terms - a.linear
    out.terms = 0
    if not reserve_terms(out, a.terms + b.terms):
        return NO_MEMORY
    memcpy(out.index, a.index, n * sizeof(uint32_t))
    memcpy(out.value, a.value, n * sizeof(float))
    for i in range(b.terms):
        out.index[n + i] = b.index[i]
        out.value[n + i] = -b.value[i]
    memcpy(out.index + n + b.terms, a.index + n, more * sizeof(uint32_t))
    memcpy(out.value + n + b.terms, a.value + n, more * sizeof(float))
    out.terms = a.terms + b.terms
    out.linear, out.constant, out.groups = a.linear, a.constant, a.groups
    memcpy(out.group, a.group, a.groups * sizeof(Group))
    return OK
