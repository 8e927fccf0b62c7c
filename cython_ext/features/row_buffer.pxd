"""Growing buffers for the expansion of one example: its groups, copies of features, and its row of terms."""

from libc.stdint cimport int16_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from features.plan cimport LETTERS, MAX_NAMES
from base.status cimport NO_MEMORY, OK, TOO_MANY


cdef enum:
    MAX_TERMS = 100000000  # of a row: 800 MB; also in vwlite/features/term_weights.py
    LONG_ROW = 1 << 20     # terms of a row that is learned alone and whose memory is freed afterwards


cdef struct Group:
    const uint32_t *index        # (size,) hashes of the group's features, unmasked
    const float *value           # (size,)
    size_t size
    int number                   # namespace character, or LETTERS + k for the k-th full name


cdef struct Scratch:
    # the row of terms, which the learner reads
    uint32_t *index                          # (terms,) slots: masked hashes
    float *value                             # (terms,)
    size_t terms
    size_t linear                            # the number of linear terms, constant included; interactions follow them
    bint constant                            # whether there is a constant
    size_t max_terms
    size_t count                             # features as Vowpal Wabbit counts them
    bint in_cache                            # its slots are presumably in the processor's caches
    # copies of its slots of the weight table, see learners/slot_cache.pxd
    float *copies                            # (max_copies, 16)
    size_t max_copies
    bint copied                              # the copies are valid: no two terms share a slot
    bint scanned                             # the rates of the row's slots have been computed
    bint finite                              # ... and all of the row's values are finite
    # the example's groups, in namespace order
    Group group[LETTERS + MAX_NAMES]
    int groups
    bint are_segments                        # the groups are the segments of a row of the batch, in order
    int16_t where[LETTERS + MAX_NAMES]       # group number -> index in group, or -1
    int16_t n_adjacent[LETTERS + MAX_NAMES]  # index in group -> number of groups from it on that are adjacent in memory
    # where no groups are made: ranges of segments to be copied, as pairs in store_index, and the characters they are valid for
    bint ranges_valid
    uint32_t segment_ranges
    uint32_t segments
    uint8_t *letters                         # (segments,) behind the ranges, in the same memory
    # copies of the features of groups that are not contiguous in the batch
    uint32_t *store_index                    # (stored,)
    float *store_value                       # (stored,)
    size_t stored
    size_t max_stored
    float *work                              # (max_work,) for random features
    size_t max_work


cdef inline void open_scratch(Scratch *s) noexcept nogil:
    s.index = s.store_index = NULL
    s.value = s.store_value = s.copies = s.work = NULL
    s.terms = s.max_terms = s.stored = s.max_stored = s.count = 0
    s.groups = 0
    s.max_copies = s.max_work = 0
    s.ranges_valid = s.are_segments = s.in_cache = s.copied = s.scanned = False
    memset(s.where, 0xff, sizeof(s.where))


cdef inline void close_scratch(Scratch *s) noexcept nogil:
    free(s.index)
    free(s.value)
    free(s.copies)
    free(s.store_index)
    free(s.store_value)
    free(s.work)


cdef inline bint grow_pair(uint32_t **index, float **value, size_t *capacity, size_t needed) noexcept nogil:
    """Grow both arrays to at least ``needed`` entries; False when memory has run out (the old arrays stay valid)."""
    cdef size_t size = capacity[0] * 2 if capacity[0] * 2 > needed else needed
    cdef void *grown = realloc(index[0], size * sizeof(uint32_t))
    if grown == NULL:
        return False
    index[0] = <uint32_t *>grown
    grown = realloc(value[0], size * sizeof(float))
    if grown == NULL:
        return False
    value[0] = <float *>grown
    capacity[0] = size
    return True


cdef inline int reserve_row_terms(Scratch *s, size_t more) noexcept nogil:
    """``reserve_terms`` with a limit: OK, NO_MEMORY, or TOO_MANY for more than MAX_TERMS terms in a row."""
    if more > MAX_TERMS or s.terms + more > MAX_TERMS:
        return TOO_MANY
    return OK if reserve_terms(s, more) else NO_MEMORY


cdef inline void free_terms(Scratch *s) noexcept nogil:
    """Free the memory of a row's terms."""
    free(s.index)
    free(s.value)
    free(s.copies)
    s.index = NULL
    s.value = s.copies = NULL
    s.terms = s.max_terms = s.max_copies = 0


cdef inline void move_terms(Scratch *s, Scratch *other) noexcept nogil:
    """Move the memory of a row's terms, which are no longer needed, to another buffer."""
    free_terms(other)
    other.index, other.value, other.max_terms = s.index, s.value, s.max_terms
    s.index = NULL
    s.value = NULL
    s.terms = s.max_terms = 0


cdef inline bint reserve_terms(Scratch *s, size_t more) noexcept nogil:
    return s.terms + more <= s.max_terms or grow_pair(&s.index, &s.value, &s.max_terms, s.terms + more + 64)


cdef inline bint reserve_work(Scratch *s, size_t size) noexcept nogil:
    cdef void *grown
    if size <= s.max_work:
        return True
    grown = realloc(s.work, size * sizeof(float))
    if grown == NULL:
        return False
    s.work, s.max_work = <float *>grown, size
    return True


cdef inline bint reserve_store(Scratch *s, size_t more) noexcept nogil:
    return s.stored + more <= s.max_stored or grow_pair(
        &s.store_index, &s.store_value, &s.max_stored, s.stored + more + 64)
