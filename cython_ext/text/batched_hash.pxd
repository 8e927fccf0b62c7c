"""Batched hashing of feature names: names are queued, and the hashes of a full queue are computed together, with AVX2."""

from libc.stdint cimport int32_t, uint32_t

from base.byte_scan cimport digits, nondigits

cdef extern from "text/batched_hash_simd.h" nogil:
    enum:
        MAX_NAME "VWL_MAX_NAME"
        QUEUE_SIZE "VWL_QUEUE_SIZE"
    ctypedef struct HashQueue "vwl_hash_queue":
        const char *at[16]           # first bytes of the names; 16 bytes are read from each
        uint32_t *to[16]             # where the hashes are to be written
        uint32_t length[16]
        uint32_t seed[16]
        uint32_t number[16]          # hash of a name that is a number
        int32_t numeric[16]          # -1: the name is a number and `number` its hash; 0: hash its bytes
        uint32_t count               # names in the queue
    bint has_batched_hash "vwl_has_batched_hash"() noexcept
    void flush_queue "vwl_flush_queue"(HashQueue *queue) noexcept
    void open_queue "vwl_open_queue"(HashQueue *queue, const char *text) noexcept


cdef inline int32_t is_number(const char *p, size_t length, bint hash_all) noexcept nogil:
    """-1 if a name of up to 8 bytes is hashed as a number, else 0."""
    return -<int32_t>(not hash_all and (nondigits(p) & <uint32_t>((1 << length) - 1)) == 0)


cdef inline bint can_enqueue(const char *p, size_t length, bint first) noexcept nogil:
    """Whether ``enqueue`` can take a name.

    The ``first`` name of a namespace block may be a number and has at most 8 bytes; others have at most MAX_NAME bytes and do not
    begin with a digit.
    """
    return length <= 8 if first else length <= MAX_NAME and <unsigned char>(p[0] - 48) > 9


cdef inline void enqueue(HashQueue *queue, const char *p, size_t length, uint32_t seed, bint hash_all, bint first,
                         uint32_t *to) noexcept nogil:
    """Queue a name. ``flush_queue`` writes its hash to ``to``; it must be called when the queue holds QUEUE_SIZE queue."""
    cdef uint32_t k = queue.count
    queue.at[k], queue.to[k], queue.length[k], queue.seed[k] = p, to, <uint32_t>length, seed
    queue.numeric[k] = 0
    if first:
        queue.numeric[k] = is_number(p, length, hash_all)
        queue.number[k] = <uint32_t>digits(p, <int>length) + seed
    queue.count = k + 1


cdef inline void drop_queued(HashQueue *queue, const uint32_t *end) noexcept nogil:
    """Remove the names from the queue whose hashes would be written at ``end`` or after it."""
    while queue.count and queue.to[queue.count - 1] >= end:
        queue.count -= 1
