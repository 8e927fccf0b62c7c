"""Per-thread scratch arrays that grow: stored features of one example, its groups, its flat row of terms."""

from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.stdlib cimport free, realloc
from libc.string cimport memset

from features.plan cimport LETTERS, MAX_NAMES
from base.status cimport NO_MEMORY, OK, TOO_MANY


cdef enum:
    MOST_TERMS = 100000000       # of a row: 800 MB. ``vwlite/features.py`` says so
    LONG = 1 << 20               # terms of a row that is worked on alone, and whose memory is given back


cdef struct Group:
    const uint32_t *index        # (size,) hashes of the group's features, unmasked
    const float *value           # (size,)
    size_t size
    int number                   # namespace character, or LETTERS + k for the k-th full name


cdef struct Scratch:
    # the flat row: what the learner sees
    uint32_t *index              # (terms,) masked
    float *value                 # (terms,)
    size_t terms
    size_t linear                # the first of them are linear (constant included), the others interactions
    bint constant                # whether there is a constant
    size_t max_terms
    size_t count                 # features as Vowpal Wabbit counts them
    bint near                    # its slots are in the caches, as far as anybody knows
    # copies of its slots in the table, see learners/slot_cache.pxd
    float *copies                # (max_copies, 16)
    size_t max_copies
    bint copied                  # they may be learned on
    bint scanned                 # rates have been found for this row
    bint finite                  # ... and all its values are numbers
    # the example's groups, in namespace order
    Group group[LETTERS + MAX_NAMES]
    int groups
    int16_t where[LETTERS + MAX_NAMES]   # group number -> position in group, or -1
    int16_t run[LETTERS + MAX_NAMES]     # position in group -> how many groups from it on follow each other in memory
    # of a row without groups: pieces to be copied, as pairs of segments in store_index, and the letters that they are for
    bint cut
    uint32_t pieces
    uint32_t segments
    uint8_t *letters             # (segments,) behind the pieces
    # copies of features where a group is not one stretch of the batch
    uint32_t *store_index        # (stored,)
    float *store_value           # (stored,)
    size_t stored
    size_t max_stored


cdef inline void open_scratch(Scratch *s) noexcept nogil:
    s.index = s.store_index = NULL
    s.value = s.store_value = s.copies = NULL
    s.terms = s.max_terms = s.stored = s.max_stored = s.count = 0
    s.groups = 0
    s.max_copies = 0
    s.cut = s.near = s.copied = s.scanned = False
    memset(s.where, 0xff, sizeof(s.where))


cdef inline void close_scratch(Scratch *s) noexcept nogil:
    free(s.index)
    free(s.value)
    free(s.copies)
    free(s.store_index)
    free(s.store_value)


cdef inline bint grow_pair(uint32_t **index, float **value, size_t *room, size_t need) noexcept nogil:
    """Make room for ``need`` entries; False when memory has run out (the old arrays stay valid)."""
    cdef size_t size = room[0] * 2 if room[0] * 2 > need else need
    cdef void *grown = realloc(index[0], size * sizeof(uint32_t))
    if grown == NULL:
        return False
    index[0] = <uint32_t *>grown
    grown = realloc(value[0], size * sizeof(float))
    if grown == NULL:
        return False
    value[0] = <float *>grown
    room[0] = size
    return True


cdef inline int ask_for_terms(Scratch *s, size_t more) noexcept nogil:
    """``room_for_terms`` of one row: OK, NO_MEMORY, or TOO_MANY where nobody can have meant so many."""
    if more > MOST_TERMS or s.terms + more > MOST_TERMS:
        return TOO_MANY
    return OK if room_for_terms(s, more) else NO_MEMORY


cdef inline void give_back(Scratch *s) noexcept nogil:
    """The memory of a row's terms, which nobody reads any more."""
    free(s.index)
    free(s.value)
    free(s.copies)
    s.index = NULL
    s.value = s.copies = NULL
    s.terms = s.max_terms = s.max_copies = 0


cdef inline void hand_on(Scratch *s, Scratch *other) noexcept nogil:
    """The memory of a row's terms, which nobody reads any more, is for another's."""
    give_back(other)
    other.index, other.value, other.max_terms = s.index, s.value, s.max_terms
    s.index = NULL
    s.value = NULL
    s.terms = s.max_terms = 0


cdef inline bint room_for_terms(Scratch *s, size_t more) noexcept nogil:
    return s.terms + more <= s.max_terms or grow_pair(&s.index, &s.value, &s.max_terms, s.terms + more + 64)


cdef inline bint room_to_store(Scratch *s, size_t more) noexcept nogil:
    return s.stored + more <= s.max_stored or grow_pair(
        &s.store_index, &s.store_value, &s.max_stored, s.stored + more + 64)
